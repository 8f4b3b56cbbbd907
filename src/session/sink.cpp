#include "session/sink.hpp"

#include "core/timed.hpp"
#include "session/session_state.hpp"

namespace weir::session {

using offload::Progress;

std::shared_ptr<Progress> DirectSink::run(const std::function<Status()>& body) {
  const Timed timed(state_.meter().storing_seconds);
  Status status;
  state_.run_where_files_are([&] { status = body(); });
  return Progress::finished(std::move(status));
}

DirectSink::~DirectSink() {
  give_up();
}

void DirectSink::give_up() {
  state_.run_where_files_are([&] { file_.reset(); });
}

std::shared_ptr<Progress> DirectSink::write(const files::WriteRequest& request) {
  return run([&] { return file_->write(request); });
}

std::shared_ptr<Progress> DirectSink::reserve(const files::Heading& heading) {
  return run([&] { return file_->reserve(heading); });
}

std::shared_ptr<Progress> DirectSink::set_attribute(const backends::Attribute& attribute) {
  return run([&] { return file_->set_attribute(attribute); });
}

std::shared_ptr<Progress> DirectSink::close(const std::optional<Failure>& unseen, bool) {
  return run([&] { return file_->close(unseen); });
}

}  // namespace weir::session
