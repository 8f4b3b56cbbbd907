// What the file system says about a file: how it is striped, and whether parts of it are locked for one node
// at a time. And the other way round: asking for a striping when a file is made.
//
// Threads: reentrant. LOCAL: touches the file system, and no MPI.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "aggregation/striping.hpp"

namespace weir::aggregation {

struct FileSystemFacts {
  bool lustre = false;
  bool shared_locks = false;  // Lustre, GPFS, BeeGFS, NFS, ...: several nodes share it
  bool early_blocks = false;  // blocks of a file cost less when they are asked for at once, before data comes
  std::vector<StripedPart> parts = {};  // none where the file system does not say
};

// Of an open file. What cannot be found out stays unknown: this is advice, not truth.
FileSystemFacts ask_file_system(int descriptor);

// Makes an empty file with this striping where the file system is Lustre; elsewhere, where the file is there
// already, and where no striping is asked for, nothing happens. Stripes of 0 bytes are as long as the file
// system likes. Returns whether the striping was set.
Result<bool> create_striped(const std::filesystem::path& path, const Striping& striping, mode_t mode = 0666);

// The attribute that create_striped() sets: a v1 layout without targets of its own choosing.
std::vector<std::byte> lov_for(const Striping& striping);

}  // namespace weir::aggregation
