// Where the time of a session's I/O goes, on this rank.
#pragma once

#include <cstdint>

namespace weir::session {

struct Meter {
  std::uint64_t files = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes = 0;
  double sending_seconds = 0;
  double waiting_seconds = 0;
  double closing_seconds = 0;
  double storing_seconds = 0;  // of files that this rank writes itself
};

}  // namespace weir::session
