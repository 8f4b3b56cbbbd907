#include "offload/backlog.hpp"

#include <algorithm>

namespace weir::offload {

Failure server_lost(const std::string& cause) {
  return {.code = ErrorCode::io,
          .cause = cause,
          .advice = "see what it printed; files that were open are lost, what was closed before is whole"};
}

Backlog::Awaited Backlog::awaited(const Operation& operation) {
  return {operation.progress, operation.path, brief(operation)};
}

void Backlog::end_with(const Failure& failure, const Awaited& request) {
  if (request.progress)
    request.progress->mark_done(in(Status(tl::make_unexpected(failure)), request.operation, request.path));
}

void Backlog::submit(Operation operation) {
  const std::scoped_lock lock(mutex_);
  if (lost_) {
    end_with(*lost_, awaited(operation));
  } else {
    queue_.push_back(std::move(operation));
  }
}

void Backlog::leave(int rank) {
  const std::scoped_lock lock(mutex_);
  leaving_ = leaving(rank);
}

void Backlog::end() {
  const std::scoped_lock lock(mutex_);
  ending_ = true;
}

Report Backlog::report() const {
  const std::scoped_lock lock(mutex_);
  return report_;
}

bool Backlog::ending() const {
  const std::scoped_lock lock(mutex_);
  return ending_;
}

std::optional<std::string> Backlog::last_letter() const {
  const std::scoped_lock lock(mutex_);
  if (!leaving_) return std::nullopt;
  return to_letter(*leaving_);
}

std::optional<std::string> Backlog::begin_next() {
  if (current_) return std::nullopt;
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.empty()) return std::nullopt;
    current_ = std::move(queue_.front());
    queue_.pop_front();
  }
  parts_.clear();
  if (current_->has_data()) current_->cold = cold_blocks_.note(current_->data, current_->bytes);
  if (current_->has_data() && !(maps_regions_ && current_->region != 0)) {
    const std::vector<Box> boxes = cut(*current_, room_);
    parts_.assign(boxes.begin(), boxes.end());
  }
  current_->pieces = parts_.size();
  unanswered_.push_back(awaited(*current_));
  return to_letter(*current_);
}

std::optional<Backlog::Part> Backlog::next_part() const {
  if (parts_.empty()) return std::nullopt;
  const std::size_t size = size_of(current_->heading.type);
  const Box& box = parts_.front();
  return Part{box, current_->data + position_of(box, current_->box) * size, volume(box.count) * size,
              current_->cold};
}

void Backlog::moved_part(std::uint64_t bytes, double seconds) {
  parts_.pop_front();
  const std::scoped_lock lock(mutex_);
  report_.transport_bytes += bytes;
  report_.transport_seconds += seconds;
}

bool Backlog::finish_moving() {
  if (!current_ || !parts_.empty()) return false;
  // What lies in a region is read there: it may be changed when it has been written.
  const bool read_in_place = maps_regions_ && current_->region != 0;
  if (!read_in_place && current_->progress) current_->progress->mark_taken();
  current_.reset();
  return true;
}

void Backlog::settle(const std::string& text) {
  const Json answer = Json::from_cbor(text);
  {
    const std::scoped_lock lock(mutex_);
    report_.storing_seconds = answer.at("report").at(0);
    report_.peak_memory = answer.at("report").at(1);
    report_.stored_bytes = answer.at("report").at(2);
  }
  const auto progress = unanswered_.front().progress;
  unanswered_.pop_front();
  Status status;
  if (answer.contains("failure")) status = tl::make_unexpected(failure_from_json(answer.at("failure")));
  if (progress) progress->mark_done(std::move(status));
}

void Backlog::give_up(const Failure& failure) {
  const std::scoped_lock lock(mutex_);
  lost_ = failure;
  report_.lost = true;
  for (const Awaited& request : unanswered_) end_with(failure, request);
  for (const Operation& operation : queue_) end_with(failure, awaited(operation));
  unanswered_.clear();
  queue_.clear();
  current_.reset();
  parts_.clear();
}

}  // namespace weir::offload
