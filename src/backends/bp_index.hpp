// The metadata of BP4 and BP5 folders, followed as bytes: whether it is sound, and how much data it speaks
// of. ADIOS2 trusts what it reads: a cut file makes it wait for ever or crash, so everything that it will
// follow is followed here first. Threads: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "core/error.hpp"

namespace weir::backends::bp {

inline constexpr std::size_t header_size = 64;  // of every file of a folder

// The BP version that the header of md.idx states; 0: it is none of ADIOS2.
int version_in(std::string_view header);

// What the data files must hold.
struct DataNeeded {
  std::map<std::uint64_t, std::uint64_t> ends;  // by the number N of data.N, the least size in bytes
  bool all_known = true;                        // false: there are blocks of unknown length (compressed ones)

  void need(std::uint64_t file, std::uint64_t end);
};

// `index` is md.idx, `metadata` md.0, `formats` mmd.0; all as they are in the folder, read whole.
Status check_header(std::string_view index, int version);
Result<DataNeeded> follow_bp4(std::string_view index, std::string_view metadata);
Result<DataNeeded> follow_bp5(std::string_view index, std::string_view metadata, std::string_view formats);

// A failure that says so, with advice.
tl::unexpected<Failure> damaged(std::string cause);

}  // namespace weir::backends::bp
