#include "workloads/plain_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <future>

#include "core/copy.hpp"
#include "core/this_thread.hpp"

namespace weir::workloads {

PlainWriter::PlainWriter(Settings settings)
    : settings_(std::move(settings)),
      elsewhere_(settings_.copies ? settings_.bytes : 0, std::byte{1}),
      data_(settings_.bytes, std::byte{1}) {
  worker_.post([this] { begin(); });
}

void PlainWriter::begin() {
  run_this_thread_on(settings_.cores);
  auto opened = open_file(settings_.path, O_CREAT | O_TRUNC | O_WRONLY);
  if (opened) {
    file_ = std::move(*opened);
  } else {
    status_ = tl::make_unexpected(opened.error());
  }
}

void PlainWriter::write() {
  worker_.post([this] {
    if (status_) write_next();
  });
}

void PlainWriter::write_next() {
  streaming_copy(data_.data(), elsewhere_.data(), elsewhere_.size());
  status_ = write_at(file_.get(), data_.data(), data_.size(), written_, settings_.path);
  written_ += data_.size();
  if (status_ && settings_.to_disk && ::fsync(file_.get()) != 0)
    status_ = fail_errno(errno, "fsync", settings_.path);
}

Status PlainWriter::finish() {
  std::promise<void> over;
  worker_.post([&] {
    file_ = Descriptor();
    ::unlink(settings_.path.c_str());
    over.set_value();
  });
  over.get_future().get();
  return status_;
}

}  // namespace weir::workloads
