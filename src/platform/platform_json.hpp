// A Platform as JSON. Short enough to write by hand:
//
//   {
//     "weir_platform": 1,                                     version of this format; required
//     "name": "cluster",
//     "node_types": [
//       {
//         "name": "compute",
//         "cores": 128,
//         "threads": 2,                                       of every core; numbered: all first threads,
//         then all second ones "packages": 2,                                      equal parts "numa": 8,
//         equal parts of cores and of memory "memory": "256GiB",                                 of the node;
//         or a number of bytes "caches": [{"level": 3, "bytes": "16MiB", "cores": 4}]   "cores": how many
//         share one
//       }
//     ],
//     "nodes": [{"hosts": "nid[000001-005860]"}],             with several types: "type"; also "slots",
//     "switch" "switches": [{"name": "s1", "parent": "s0"}],           parents first "links": [{"level":
//     "machine", "bytes_per_second": 25e9, "latency_seconds": 2e-6}], "storage": [{"targets": "ost[0-11]",
//     "server": "oss0", "write_bytes_per_second": 1e9, "read_bytes_per_second": 1e9}]
//   }
//
// Only "weir_platform", "node_types" with "name" and "cores", and "nodes" with "hosts" are needed. Irregular
// nodes are said in full; lists of numbers are as in numbers.hpp:
//
//   "model": "AMD EPYC 7742"
//   "threads": ["0-7", {"cores": "0-3", "pus": "8-11"}]       OS numbers of the first threads of cores 0 ..
//   7, of the second threads of cores 0 .. 3 "packages": "6,2"                                         cores
//   of each "numa": [{"os": "0-1", "bytes": 1024, "cores": "4x2"}]    cores of each, one after the other; or
//   "first": "0,4" says where each begins "caches": [{"level": 2, "bytes": 1024, "cores": "2x4", "first":
//   "0-6:2"}] "unusable": "3"                                           PUs that may not be used
//
// Unknown keys, wrong types and a newer version are errors that name the place. platform_to_json writes the
// short form where it says the same, so a saved file reads back as an equal value.
//
// Threads: plain functions of their arguments.
#pragma once

#include <filesystem>

#include "core/json.hpp"
#include "platform/platform.hpp"

namespace weir {

inline constexpr std::uint64_t platform_format_version = 1;

Json platform_to_json(const Platform& platform);  // REQUIRES: check(platform)
Result<Platform> platform_from_json(const Json& json);

Result<Platform> load_platform(const std::filesystem::path& path);
Status save_platform(const Platform& platform, const std::filesystem::path& path);  // atomically

}  // namespace weir
