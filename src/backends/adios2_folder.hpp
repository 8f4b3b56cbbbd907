// BP4 and BP5 folders as files: which one it is, whether it is whole.
#pragma once

#include <filesystem>

#include "core/file.hpp"

namespace weir::backends::bp {

// The BP version that md.idx of the folder states, 0 if this is no BP folder. LOCAL.
int folder_version(const std::filesystem::path& path);

// A folder that was found under its name once, and stays the same one: whatever becomes of the name, or of
// the working folder. ADIOS2 looks for a data file when it first reads from it.
class HeldFolder {
 public:
  HeldFolder() = default;
  static Result<HeldFolder> open(const std::filesystem::path& path);  // LOCAL
  std::filesystem::path path() const;                                 // of this process
  std::int64_t number() const { return number_; }                     // of the folder in its file system

 private:
  Descriptor descriptor_;
  std::int64_t number_ = 0;
};

// Writes weir.json into the folder: the sizes of its files, and checksums of the metadata. ADIOS2 does not
// look at it. LOCAL.
Status seal_folder(const std::filesystem::path& path);

enum class Origin { weir, foreign };

// `corrupt` unless the folder is whole, as far as can be told: by weir.json, else by following the index.
// LOCAL.
Result<Origin> check_folder(const std::filesystem::path& path, int version);

}  // namespace weir::backends::bp
