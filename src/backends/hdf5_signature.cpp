#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "backends/hdf5.hpp"
#include "core/file.hpp"

namespace weir::backends {

bool is_hdf5_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return false;  // not to wait for the other end of a pipe
  const auto file = open_file(path, O_RDONLY);
  if (!file) return false;
  constexpr char signature[] = "\x89HDF\r\n\x1a\n";
  constexpr std::size_t length = sizeof(signature) - 1;
  // The signature may follow a user block of 512 bytes, 1024, 2048, and so on.
  for (off_t at = 0; at < off_t{1} << 40; at = at == 0 ? 512 : 2 * at) {
    char found[length];
    if (::pread(file->get(), found, length, at) != static_cast<ssize_t>(length)) return false;
    if (std::memcmp(found, signature, length) == 0) return true;
  }
  return false;
}

}  // namespace weir::backends
