// What a session does: the program's options and the plan of the environment, made one.
//
// What the program asks for comes before what the plan says. Threads: the program's, one at a time.
#pragma once

#include <string>
#include <vector>

#include "mpi/comm.hpp"
#include "offload/start.hpp"
#include "plan/plan.hpp"
#include "weir/weir.hpp"

namespace weir::session {

// Something that has to be the same on all ranks of a session.
struct Setting {
  std::string name, value;
  std::string advice;
};

struct Decision {
  Plan plan;                  // roles that are empty are left to the start of the session
  bool places = false;        // ranks are pinned as plan.roles.mapping says; else as plan.placement says
  bool plan_is_over = false;  // its I/O servers belong to an earlier session of this program
  std::vector<Setting> settings;
};

// LOCAL.
Result<Decision> decide(const SessionOptions& options, std::uint32_t ranks);
Result<std::uint64_t> decide_budget(const SessionOptions& options);

// Makes one outcome of what the ranks decided: fails everywhere if one failed, or if a setting differs, which
// is named with both values. COLLECTIVE, one small reduction when all is well.
Status agree_on(const mpi::Comm& comm, const Result<Decision>& mine);

// The roles for servers. A plan's stay; else they follow from the mapping and from where the ranks are.
Result<offload::Parts> assign_parts(Roles& roles, const SessionOptions& options,
                                    const std::vector<std::uint32_t>& node_of);

// Pins this rank where the plan's placement says, unless the launcher did already. LOCAL.
Status pin(const Placement& placement, int rank);

// The same for a mapping without a placement, whose ranks are on these nodes. As with 'weir run', ranks are
// not bound where there are more than cores, and rank 0 says so; a mapping that a machine cannot do is a
// failure. COLLECTIVE.
Status pin_by_mapping(const mpi::Comm& comm, const Roles& roles, const std::vector<std::uint32_t>& node_of);

// I/O servers serve one session and end with it. Sessions of communicators that hold one would wait for it
// for ever. LOCAL, both.
void note_servers(const mpi::Comm& job, const std::vector<int>& servers);
Status check_no_servers_among(MPI_Comm comm);

}  // namespace weir::session
