// A small file of the kernel that is read again and again without being opened again.
//
// Threads: belongs to one thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/file.hpp"

namespace weir::telemetry {

class KeptFile {
 public:
  // An attribute of sysfs comes whole with one read; a sequence of /proc or debugfs may come in pieces.
  enum class Kind { attribute, sequence };

  // Opens at once; a file that cannot be opened reads as nothing.
  KeptFile(std::filesystem::path path, Kind kind);

  // Its content now, in `buffer`, or nothing: it is not there, went away, or is longer than 64 MiB.
  std::optional<std::string_view> read(std::string& buffer) const;
  const std::filesystem::path& path() const { return path_; }
  explicit operator bool() const { return static_cast<bool>(file_); }

 private:
  std::filesystem::path path_;
  Kind kind_;
  Descriptor file_;
};

}  // namespace weir::telemetry
