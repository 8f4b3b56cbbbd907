// One way in for everything that describes a machine: a name, a file, a description, a list of hosts.
//
// Threads: reentrant.
#pragma once

#include <string>

#include "platform/platform.hpp"

namespace weir {

// At most one of platform, xml and synthetic is given, and at most one of hosts, hostfile and nodes. None:
// this machine.
struct PlatformRequest {
  std::string platform;   // a site's name, "8x48", or a .json or .xml file
  std::string xml;        // a file saved by lstopo
  std::string synthetic;  // a description of hwloc
  std::string hosts;      // host_list.hpp
  std::string hostfile;
  std::uint64_t nodes = 0;  // so many nodes of the type; 0: as the source says
  // Slurm's topology.conf (slurm_topology.hpp). Where nothing else says which nodes there are, its nodes.
  std::string topology = {};
};

// The result passes check().
Result<Platform> open_platform(const PlatformRequest& request);

}  // namespace weir
