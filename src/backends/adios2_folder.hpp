// BP4 and BP5 folders as files: which one it is, whether it is whole.
#pragma once

#include <filesystem>

#include "core/error.hpp"

namespace weir::backends::bp {

// The BP version that md.idx of the folder states, 0 if this is no BP folder. LOCAL.
int folder_version(const std::filesystem::path& path);

// Writes weir.json into the folder: the sizes of its files, and checksums of the metadata. ADIOS2 does not
// look at it. LOCAL.
Status seal_folder(const std::filesystem::path& path);

enum class Origin { weir, foreign };

// `corrupt` unless the folder is whole, as far as can be told: by weir.json, else by following the index.
// LOCAL.
Result<Origin> check_folder(const std::filesystem::path& path, int version);

}  // namespace weir::backends::bp
