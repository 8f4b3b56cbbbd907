// Slurm topologies: no crash, and a platform that takes one is whole.
#include <cstdlib>

#include "platform/sites.hpp"
#include "platform/slurm_topology.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto topology = weir::parse_topology({reinterpret_cast<const char*>(data), size});
  if (!topology) return 0;
  std::size_t nodes = 0;
  for (const weir::TopologySwitch& one : *topology) nodes += one.nodes.size();
  if (nodes > 10'000) return 0;
  weir::Platform platform = **weir::find_site("1x2");
  if (weir::use_topology(platform, *topology, true) && !weir::check(platform)) std::abort();
  return 0;
}
