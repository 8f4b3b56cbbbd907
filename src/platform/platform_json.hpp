// A Platform as JSON. Short enough to write by hand:
//
//   {
//     "weir_platform": 1,
//     "name": "cluster",
//     "node_types": [
//       {
//         "name": "compute",
//         "cores": 128,
//         "threads": 2,
//         "packages": 2,
//         "numa": 8,
//         "memory": "256GiB",
//         "caches": [{"level": 3, "bytes": "16MiB", "cores": 4}]
//       }
//     ],
//     "nodes": [{"hosts": "nid[000001-005860]"}],
//     "switches": [{"name": "s0"}, {"name": "s1", "parent": "s0"}],
//     "links": [{"level": "machine", "bytes_per_second": 25e9, "latency_seconds": 2e-6}],
//     "storage": [{"targets": "ost[0-11]", "server": "oss0", "write_bytes_per_second": 1e9}]
//   }
//
// Needed are "weir_platform" (the version of this format), "node_types" with "name" and "cores", and "nodes"
// with "hosts".
//
// - threads: of every core; all first threads are numbered before all second ones
// - packages, numa: that many equal parts; "memory", bytes or text, is shared out to the NUMA domains
// - caches: "cores" share one
// - nodes: also "type" (needed where there are several), "slots", "switch"
// - switches: parents first
// - storage: also "read_bytes_per_second"
//
// An irregular node is said in full. Lists of numbers are as in numbers.hpp:
//
//   "model": "AMD EPYC 7742",
//   "threads": ["0-7", {"cores": "0-3", "pus": "8-11"}],
//   "packages": "6,2",
//   "numa": [{"os": "0-1", "bytes": 1024, "cores": "4x2"}],
//   "caches": [{"level": 2, "bytes": 1024, "cores": "2x4", "first": "0-6:2"}],
//   "unusable": "3"
//
// - threads: the OS numbers of the first threads of all cores, and of the second threads of cores 0 to 3
// - packages: the cores of each, one after the other
// - numa, caches: the cores of each, one after the other; "first" says where each begins if they do not
// - unusable: hardware threads that may not be used
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
