// A Plan as JSON. Only "weir_plan", the version of this format, is needed; what is left out has its default
// value.
//
//   {
//     "weir_plan": 1,
//     "ranks": 8,                             for that many ranks; left out: for any number
//     "mode": "servers",                      synchronous, servers or thread
//     "roles": {
//       "mapping": "hyperthread",
//       "servers": "4-7",                     the ranks that serve
//       "server_of": "4-7"                    of the first compute rank, the second, ...
//     },
//     "placement": {
//       "hosts": "nid[000001-000002]",        node 0, node 1; left out: the platform's nodes
//       "nodes": "0x8",                       of rank 0, rank 1, ...
//       "pus": "0-3,128-131",                 of rank 0, rank 1, ...
//       "pus_per_rank": "1x8",                left out: 1
//       "oversubscribe": false
//     },
//     "aggregators": {"ranks": "4-7", "targets": "0-3", "targets_per_rank": "1x4"},
//     "throttle": {"requests_per_target": 4},
//     "backend": {"name": "hdf5", "options": {"deflate": "4"}}
//   }
//
// Lists of numbers are text as in platform/numbers.hpp, so that regular plans of a million ranks are a few
// hundred characters. Unknown keys, wrong types and a newer version are errors that name the file and the
// place.
//
// Threads: plain functions of their arguments.
#pragma once

#include <filesystem>

#include "core/json.hpp"
#include "plan/plan.hpp"

namespace weir {

inline constexpr std::uint64_t plan_format_version = 1;

Json plan_to_json(const Plan& plan);
Result<Plan> plan_from_json(const Json& json);  // the result passes check(plan)

Result<Plan> load_plan(const std::filesystem::path& path);
Status save_plan(const Plan& plan,
                 const std::filesystem::path& path);  // atomically; a plan that fails check() is not written

}  // namespace weir
