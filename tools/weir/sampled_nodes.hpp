// Which nodes a job runs on besides this one, and how they are reached: as a launcher announces them, and as
// Slurm's allocation names them. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace weir::cli {

struct SampledNodes {
  std::vector<std::string> nodes;
  std::string reach;  // the command that runs programs there; {} is the node
  std::string
      sources;  // what is sampled there, as `weir collect --sources` takes it; empty: all that is there
};

// {"nodes": "node[0-3]", "reach": "/run/cluster/enter {}", "sources": "net"}; sources may be left out.
Result<SampledNodes> parse_announcement(std::string_view text);

// The nodes of the Slurm job that this process is the script of, without this one, reached by srun. None
// outside of Slurm, in a step of a job (one process of many), with one node, or with more than `most`.
using Environment = std::function<std::string(const char* name)>;  // empty: not set
Result<std::optional<SampledNodes>> slurm_nodes(const Environment& environment, const std::string& this_host,
                                                std::size_t most = 64);

}  // namespace weir::cli
