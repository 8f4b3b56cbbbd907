// weir platform measure: the architecture matrix of this machine, by ping-pong between real ranks.
#pragma once

#include <string>

#include "core/error.hpp"

namespace weir::cli {

struct MeasureArguments {
  std::string output;  // the platform file; empty: none
  unsigned ranks = 0;  // to start here; 0: as many as are useful
  std::string largest = "4MiB";
  double seconds = 0.05;  // for each size and pair
  bool json = false;
};

// Within a launcher: COLLECTIVE over its ranks. Alone: starts ranks of this program here and waits for them.
Status measure_platform(const MeasureArguments& arguments);

}  // namespace weir::cli
