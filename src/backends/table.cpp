#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "backends/adios2.hpp"
#include "backends/backend.hpp"
#include "backends/faulty.hpp"
#include "backends/hdf5.hpp"
#include "backends/memory.hpp"
#include "backends/null.hpp"
#include "backends/raw.hpp"
#include "core/file.hpp"

namespace weir::backends {

namespace fs = std::filesystem;

std::span<const Entry> table() {
  // Formats with a signature come first: a plain file is only known by the .json beside it.
  static const std::vector<Entry> entries = {
      hdf5_entry(),  adios2_bp5_entry(), adios2_bp4_entry(), adios2_hdf5_entry(), posix_entry(),
      mpiio_entry(), null_entry(),       memory_entry(),     faulty_entry(),
  };
  return entries;
}

mpi::Comm comm_for(const Entry& entry, const mpi::Comm& comm) {
  return entry.keeps_books_only ? comm : comm.duplicate();
}

Result<const Entry*> find(std::string_view name) {
  std::vector<std::string> names;
  for (const Entry& entry : table()) {
    if (entry.name == name) {
      if (entry.missing.empty()) return &entry;
      return fail(ErrorCode::unsupported, fmt::format("backend '{}': {}", name, entry.missing),
                  "'weir version' lists what is there");
    }
    names.emplace_back(entry.name);
  }
  return fail(ErrorCode::invalid_argument, fmt::format("unknown backend '{}'{}", name, suggest(name, names)));
}

Result<const Entry*> choose_for_writing(const fs::path& path) {
  const std::string extension = path.extension().string();
  for (const Entry& entry : table()) {
    const auto& own = entry.extensions;
    if (std::find(own.begin(), own.end(), extension) != own.end()) return find(entry.name);
  }
  return find("posix");
}

Result<const Entry*> choose_for_reading(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return fail_errno(error ? error.value() : ENOENT, "open", path.string());
  // A file that cannot be read is not one that nobody knows. Others than files and folders are not opened: a
  // pipe would wait for its other end.
  if (fs::is_regular_file(path, error) || fs::is_directory(path, error)) {
    WEIR_TRY(open_file(path, O_RDONLY));
    if (fs::is_directory(path, error) && ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0)
      return fail_errno(errno, "open", path.string());
  }
  for (const Entry& entry : table()) {
    if (entry.recognises != nullptr && entry.recognises(path)) return find(entry.name);
  }
  return in(
      Result<const Entry*>(fail(
          ErrorCode::corrupt, "no backend recognises this file",
          "a posix or mpiio file needs its FILE.json beside it; if you know the format, name the backend")),
      "open", path.string());
}

}  // namespace weir::backends
