// From what a rank logged to the bytes of the file: done once, at the end of the program.
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include <cstdint>
#include <vector>

#include "pattern/access.hpp"
#include "pattern/datatype.hpp"
#include "recording/run_log.hpp"

namespace weir::recording {

// The two types of a view.
struct ViewTypes {
  pattern::Datatype elementary;
  pattern::Datatype file_type;
};

// Whether data through such a view is the file's bytes as they are: byte i of it is byte i behind the
// displacement.
bool shows_bytes(const ViewTypes& types);

// The accesses of one CallRun, in the order of the calls where they do not form a regular whole. Takes time
// in the number of calls only where their stride and the file type have no short period in common; fails
// beyond `limit` accesses.
Result<std::vector<pattern::Access>> accesses_of(const CallRun& run, const ViewTypes& types,
                                                 std::uint64_t limit);

}  // namespace weir::recording
