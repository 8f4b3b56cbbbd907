#include "telemetry/kept_file.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace weir::telemetry {

namespace {

constexpr std::size_t first_size = 4096;
constexpr std::size_t largest_size = std::size_t{64} << 20U;

}  // namespace

KeptFile::KeptFile(std::filesystem::path path, Kind kind) : path_(std::move(path)), kind_(kind) {
  if (auto opened = open_file(path_, O_RDONLY | O_NONBLOCK)) file_ = std::move(*opened);
}

std::optional<std::string_view> KeptFile::read(std::string& buffer) const {
  if (!file_) return std::nullopt;
  if (buffer.size() < first_size) buffer.resize(first_size);
  std::size_t size = 0;
  for (;;) {
    const ssize_t got =
        ::pread(file_.get(), buffer.data() + size, buffer.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    size += static_cast<std::size_t>(got);
    if (got == 0 || (kind_ == Kind::attribute && size < first_size)) break;
    if (size < buffer.size()) continue;
    if (buffer.size() >= largest_size) return std::nullopt;
    buffer.resize(buffer.size() * 2);
  }
  return std::string_view(buffer.data(), size);
}

}  // namespace weir::telemetry
