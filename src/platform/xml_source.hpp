// Node types from the XML that lstopo saves, of hwloc 1 and 2.
//
// Read by our own code, not by the library: crafted or cut files make hwloc itself crash (open-mpi/hwloc pull
// request 783 is one case), and a file from another site is input from outside. Tests compare both readers on
// the recorded machines. Threads: reentrant.
#pragma once

#include <filesystem>
#include <string_view>

#include "platform/platform.hpp"

namespace weir {

// At most 64 MiB, nested at most 64 deep. Documents with a DTD of their own are refused. Errors name the
// line.
Result<NodeType> node_type_from_xml(std::string_view text);
Result<NodeType> node_type_from_xml_file(const std::filesystem::path& path);

}  // namespace weir
