#include "session/sink.hpp"

#include "session/meter.hpp"

namespace weir::session {

using offload::Progress;

std::shared_ptr<Progress> DirectSink::write(const files::WriteRequest& request) {
  const Timed timed(storing_seconds_);
  return Progress::finished(file_->write(request));
}

std::shared_ptr<Progress> DirectSink::reserve(const files::Heading& heading) {
  const Timed timed(storing_seconds_);
  return Progress::finished(file_->reserve(heading));
}

std::shared_ptr<Progress> DirectSink::set_attribute(const backends::Attribute& attribute) {
  return Progress::finished(file_->set_attribute(attribute));
}

std::shared_ptr<Progress> DirectSink::close(const std::optional<Failure>& unseen, bool) {
  const Timed timed(storing_seconds_);
  return Progress::finished(file_->close(unseen));
}

}  // namespace weir::session
