// Launches of a benchmark as jobs in a store, so that they can be reported and compared.
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::cli {

struct BenchRecord {
  std::string store;
  std::string name;           // of the job: "stream, hdf5"
  std::string configuration;  // the mapping
  std::string summary_file;   // for the figures of its sessions
};

// As run_ranks(), watched. What cannot be recorded is a failure: whoever asks for it wants it.
Status run_recorded_ranks(int ranks, const std::vector<std::string>& arguments, const BenchRecord& record);

}  // namespace weir::cli
