// Blocks of a file that is being written, asked for before the data comes, on file systems that are known to
// gain by it: on ext4 a block that has its place already takes a quarter less time to write than one that
// gets it page by page. The size of the file stays, and so does what it reads as. Elsewhere, and while the
// disk is nearly full, nothing is asked for. Advice: a failure is none; whoever writes will hear of it.
//
// Threads: one at a time per object. LOCAL.
#pragma once

#include <filesystem>

#include "core/file.hpp"
#include "core/options.hpp"

namespace weir::backends {

class EarlyBlocks {
 public:
  EarlyBlocks() = default;  // asks for nothing

  // Of a file that is open for writing; the descriptor stays the caller's.
  static EarlyBlocks of(int descriptor);
  // Of a file that a library has open: it is opened once more, if it is on such a file system.
  static EarlyBlocks beside(const std::filesystem::path& path);

  // All of this range is about to be written; ranges that are too small to gain are left alone.
  void ask_for(std::uint64_t offset, std::uint64_t length);
  // So many bytes are about to be written behind the end, as far as can be told.
  void ask_for_growth(std::uint64_t length);
  // The file is written: blocks behind its end are given back.
  void finish();

 private:
  bool has_room_for(std::uint64_t length);

  Descriptor own_;
  int descriptor_ = -1;            // none: this file system does not gain
  std::uint64_t asked_until_ = 0;  // by ask_for_growth()
  std::uint64_t budget_ = 0;       // bytes that may be asked for before the file system is looked at again
};

// For backends that do so; REQUIRES: such an option where `options` come from.
Option early_blocks_option();
inline bool wants_early_blocks(const Options& options) {
  return options.flag("allocate");
}

}  // namespace weir::backends
