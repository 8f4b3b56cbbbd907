#include "session/sink.hpp"

#include "core/timed.hpp"
#include "session/session_state.hpp"

namespace weir::session {

using offload::Progress;

DirectSink::DirectSink(std::unique_ptr<files::OutputFile> file, State& state)
    : path_(file->path()), file_(std::move(file)), state_(state) {
  state_.direct_files().insert(this);
}

std::shared_ptr<Progress> DirectSink::run(const std::function<Status()>& body, Ranks ranks) {
  if (!file_)
    return Progress::finished(in(Status(fail(ErrorCode::state, "the file is closed")), "use", path_));
  const Timed timed(state_.meter().storing_seconds);
  Status status;
  const auto call = [&] { status = body(); };
  if (ranks == Ranks::together) {
    state_.run_together(call);
  } else {
    state_.run_where_files_are(call);
  }
  return Progress::finished(std::move(status));
}

DirectSink::~DirectSink() {
  state_.direct_files().erase(this);
  give_up();
}

void DirectSink::give_up() {
  if (is_open()) state_.give_up(std::move(file_));
}

std::shared_ptr<Progress> DirectSink::write(const files::WriteRequest& request) {
  return run([&] { return file_->write(request); }, request.independent ? Ranks::alone : Ranks::together);
}

std::shared_ptr<Progress> DirectSink::reserve(const files::Heading& heading) {
  return run([&] { return file_->reserve(heading); });
}

std::shared_ptr<Progress> DirectSink::set_attribute(const backends::Attribute& attribute,
                                                    const Status& mine) {
  return run([&] { return file_->set_attribute(attribute, mine); });
}

std::shared_ptr<Progress> DirectSink::close(const std::optional<Failure>& unseen, bool) {
  return run([&] {
    Status status = file_->close(unseen);
    if (status) state_.meter().stored_bytes += file_->stored_bytes();
    return status;
  });
}

}  // namespace weir::session
