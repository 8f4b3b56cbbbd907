#include "offload/remote_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "files/reduction.hpp"

namespace weir::offload {

RemoteFile::RemoteFile(Conduit& conduit, Arrays& arrays, std::uint64_t number, const std::string& path,
                       const files::CreateOptions& options, const backends::Entry& entry,
                       std::uint32_t most_in_flight)
    : conduit_(conduit),
      arrays_(arrays),
      number_(number),
      path_(path),
      catalogue_(entry),
      most_in_flight_(most_in_flight) {
  Operation create;
  create.kind = Operation::Kind::create;
  // A server has a working folder of its own.
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  create.path = error || path.empty() || !entry.stores_files ? path : absolute.string();
  create.options = options;
  submit(std::move(create));
}

Failure RemoteFile::refuse(Conduit& conduit, std::uint64_t number, const std::string& path,
                           const Failure& failure) {
  const auto say = [&](Operation::Kind kind) {
    Operation refusal;
    refusal.kind = kind;
    refusal.file = number;
    refusal.path = path;
    refusal.unseen = failure;
    refusal.progress = std::make_shared<Progress>();
    auto progress = refusal.progress;
    conduit.submit(std::move(refusal));
    return progress;
  };
  const auto creating = say(Operation::Kind::create);
  say(Operation::Kind::close);
  creating->wait_done();
  return creating->failed() ? creating->status().error() : failure;
}

Status RemoteFile::check_open() const {
  if (!open_) return fail(ErrorCode::state, "the file is closed");
  return {};
}

std::shared_ptr<Progress> RemoteFile::submit(Operation operation) {
  operation.file = number_;
  if (operation.path.empty()) operation.path = path_;
  operation.progress = std::make_shared<Progress>();
  auto progress = operation.progress;
  if (operation.unseen && operation.kind != Operation::Kind::close) progress->mark_refused();
  conduit_.submit(std::move(operation));
  return progress;
}

void RemoteFile::forget_what_was_refused() {
  for (; !assumed_.empty() && assumed_.front().progress->done(); assumed_.pop_front()) {
    const Assumed& assumed = assumed_.front();
    if (!assumed.progress->failed()) continue;
    catalogue_.forget_box(assumed.name, assumed.box);
    if (assumed.reduced && --reduced_[assumed.name] == 0) reduced_.erase(assumed.name);
    if (assumed.new_step) catalogue_.forget_slot(assumed.name, *assumed.new_step);
  }
}

std::shared_ptr<Progress> RemoteFile::write(const files::WriteRequest& request, int rank) {
  if (!open_) return Progress::finished(in(check_open(), "use", path_));
  while (!in_flight_.empty() && in_flight_.front()->done()) in_flight_.pop_front();
  while (most_in_flight_ > 0 && in_flight_.size() >= most_in_flight_) {
    in_flight_.front()->wait_done();
    in_flight_.pop_front();
  }
  forget_what_was_refused();
  if (request.independent && (files::reduces(request.reduce) || reduced_.contains(request.name))) {
    return Progress::finished(in(Status(fail(ErrorCode::unsupported, "an independent write cannot be reduced",
                                             "let all ranks write together, or write without a reduction")),
                                 files::describe_write(request.name, request.step), path_));
  }
  Operation write;
  write.kind = Operation::Kind::write;
  write.heading = request.heading();
  write.independent = request.independent;
  write.reduce = request.reduce;
  auto resolved = in(
      catalogue_.resolve(request), [&] { return files::describe_write(request.name, request.step); }, path_);
  if (resolved && request.independent && resolved->fresh_slot) {
    resolved = in(Result<files::Catalogue::Resolved>(fail(ErrorCode::state,
                                                          "no room was reserved for an independent write",
                                                          "call reserve() on all ranks first")),
                  files::describe_write(request.name, request.step), path_);
  }
  if (!resolved) {
    resolved.error().rank = rank;
    if (request.independent) return Progress::finished(tl::make_unexpected(resolved.error()));
    write.unseen = resolved.error();
    return submit(std::move(write));
  }
  std::optional<std::int64_t> new_step;
  if (resolved->fresh_slot) {
    new_step = request.step.value_or(catalogue_.last_step());
    catalogue_.note_slot(resolved->info, *new_step);
  }
  catalogue_.note_box(request.name, resolved->box);
  write.heading.shape = resolved->info.shape;
  write.box = resolved->box;
  write.data = request.data;
  write.bytes = volume(write.box.count) * size_of(request.type);
  if (write.has_data()) {
    if (const auto place = arrays_.locate(request.data, write.bytes)) {
      write.region = place->region;
      write.place = place->offset;
    }
  }
  auto progress = submit(std::move(write));
  arrays_.note_use(request.data, progress);
  if (most_in_flight_ > 0) in_flight_.push_back(progress);
  const bool reduced = files::reduces(request.reduce);
  if (reduced) ++reduced_[request.name];
  assumed_.push_back({progress, request.name, resolved->box, new_step, reduced});
  return progress;
}

std::shared_ptr<Progress> RemoteFile::reserve(const files::Heading& heading, int rank) {
  if (!open_) return Progress::finished(in(check_open(), "use", path_));
  forget_what_was_refused();
  Operation reserve;
  reserve.kind = Operation::Kind::reserve;
  reserve.heading = heading;
  auto info = catalogue_.resolve_variable(heading);
  if (reduced_.contains(heading.name))
    info = fail(ErrorCode::unsupported, "a variable that is reduced has no room to reserve");
  info = in(std::move(info), fmt::format("reserve variable '{}'", heading.name), path_);
  if (info) {
    reserve.heading.shape = info->shape;
    if (catalogue_.is_fresh(heading.name, heading.step))
      catalogue_.note_slot(*info, heading.step.value_or(catalogue_.last_step()));
  } else {
    info.error().rank = rank;
    reserve.unseen = info.error();
  }
  return submit(std::move(reserve));
}

std::shared_ptr<Progress> RemoteFile::set_attribute(const backends::Attribute& attribute, int rank,
                                                    const Status& mine) {
  if (!open_) return Progress::finished(in(check_open(), "use", path_));
  Operation set;
  set.kind = Operation::Kind::attribute;
  set.attribute = attribute;
  if (Status good = in(mine ? catalogue_.check_attribute(attribute) : mine,
                       fmt::format("set attribute '{}'", attribute.name), path_);
      !good) {
    good.error().rank = rank;
    set.unseen = good.error();
  } else {
    catalogue_.note_attribute(attribute);
  }
  return submit(std::move(set));
}

void RemoteFile::give_up(int rank) {
  if (!open_) return;
  open_ = false;
  Operation close;
  close.kind = Operation::Kind::close;
  close.unseen =
      Failure{.code = ErrorCode::state, .cause = "given up by the program", .object = path_, .rank = rank};
  close.gave_up = true;
  submit(std::move(close));
}

std::shared_ptr<Progress> RemoteFile::close(const std::optional<Failure>& unseen, bool later) {
  if (!open_) return Progress::finished(in(check_open(), "close", path_));
  open_ = false;
  Operation close;
  close.kind = Operation::Kind::close;
  close.unseen = unseen;
  close.later = later;
  return submit(std::move(close));
}

}  // namespace weir::offload
