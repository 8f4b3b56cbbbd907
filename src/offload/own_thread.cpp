#include "offload/own_thread.hpp"

#include <exception>
#include <future>

#include "core/caches.hpp"
#include "core/timed.hpp"

namespace weir::offload {

OwnThread::OwnThread(mpi::Comm comm) : comm_(std::move(comm)) {
  worker_.post([this] { ColdBlocks::answer(distance_); });
  cold_blocks_ = ColdBlocks::beside(distance_);
}

void OwnThread::submit(Operation operation) {
  worker_.post([this, operation = std::move(operation)] {
    Status status;
    {
      const Timed timed(storing_seconds_);
      status = leaving_ ? Status(fail(ErrorCode::state, "the program has left the session"))
                        : guarded([&] { return perform(operation); });
      // Data of what failed may be gone, with a rank that has left.
      if (status && operation.has_data() && cold_blocks_.note(operation.data, operation.bytes))
        evict(operation.data, operation.bytes);
    }
    if (operation.progress) operation.progress->mark_done(std::move(status));
  });
}

void OwnThread::leave(int rank) {
  leaving_ = true;
  worker_.post([this, rank] {
    files_.clear();
    mpi::take_leave(comm_, *leaving(rank).unseen);
  });
}

void OwnThread::run(const std::function<void()>& body) {
  std::promise<void> over;
  worker_.post([&] {
    try {
      body();
      over.set_value();
    } catch (...) {
      over.set_exception(std::current_exception());
    }
  });
  over.get_future().get();
}

Report OwnThread::report() {
  Report report;
  run([&] {
    report.storing_seconds = storing_seconds_;
    report.stored_bytes = stored_bytes_;
  });
  report.transport = "none (a thread of the rank)";
  return report;
}

Status OwnThread::perform(const Operation& operation) {
  if (operation.kind == Operation::Kind::create) {
    OpenFile& open = files_[operation.file];
    const Status mine = operation.unseen ? Status(tl::make_unexpected(*operation.unseen)) : Status();
    auto file = files::OutputFile::create(comm_, operation.path, operation.options, mine);
    if (!file) {
      open.failed = file.error();
      return tl::make_unexpected(file.error());
    }
    open.file = std::move(*file);
    return {};
  }
  if (operation.kind == Operation::Kind::stop) {
    const bool left = !files_.empty();
    files_.clear();
    WEIR_TRY(mpi::vote_to_end(comm_, "end the session"));
    if (left)
      return fail(ErrorCode::state, "a file was not closed, and given up",
                  "close files before the session ends");
    return {};
  }
  const auto found = files_.find(operation.file);
  if (found == files_.end()) return fail(ErrorCode::state, "the file is closed");
  OpenFile& open = found->second;
  Status status = open.file ? perform_on(open, operation) : Status(tl::make_unexpected(*open.failed));
  if (!status && !open.failed) open.failed = status.error();
  if (operation.kind == Operation::Kind::close) {
    if (status) stored_bytes_ += open.file->stored_bytes();
    files_.erase(found);
  }
  return status;
}

Status OwnThread::perform_on(OpenFile& open, const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::write:
      if (operation.unseen) {
        const auto refused =
            open.file->begin(operation.heading, {}, Status(tl::make_unexpected(*operation.unseen)));
        return refused ? Status() : Status(tl::make_unexpected(refused.error()));
      }
      return open.file->write({.name = operation.heading.name,
                               .type = operation.heading.type,
                               .shape = operation.heading.shape,
                               .offset = operation.box.offset,
                               .count = operation.box.count,
                               .step = operation.heading.step,
                               .data = operation.data,
                               .elements = as_needed,
                               .independent = operation.independent,
                               .reduce = operation.reduce});
    case Operation::Kind::reserve:
      return open.file->reserve(operation.heading);
    case Operation::Kind::attribute:
      return open.file->set_attribute(
          operation.attribute, operation.unseen ? Status(tl::make_unexpected(*operation.unseen)) : Status());
    case Operation::Kind::close: {
      const bool says_nothing = operation.gave_up || (operation.later && !operation.unseen);
      return open.file->close(
          says_nothing && open.failed ? open.failed : operation.unseen,
          [&](const Failure& refused) { operation.progress->mark_done(tl::make_unexpected(refused)); });
    }
    default:
      return {};
  }
}

}  // namespace weir::offload
