// Plan: every decision about the I/O of a program, as one value. Computed without MPI, printed (render.hpp),
// saved as JSON (plan_json.hpp), checked, replayed, simulated.
//
// A default Plan changes nothing: any number of ranks, each computes and does its own I/O where the launcher
// put it, with the backend that the program names.
//
// Threads: plain values; functions only read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "placement/placement.hpp"
#include "placement/roles.hpp"
#include "platform/platform.hpp"

namespace weir {

// Who performs the I/O that the compute ranks ask for.
enum class Mode : std::uint8_t {
  synchronous,  // they themselves; a write returns when it is done
  servers,      // dedicated ranks, while the others go on
  thread,       // a background thread in each of them
};
std::string_view to_string(Mode mode);
Result<Mode> parse_mode(std::string_view name);

// The ranks that touch the file, in the order in which file domains are dealt to them.
struct Aggregators {
  Numbers ranks;           // empty: left to the run
  NumberLists targets_of;  // by aggregator, numbers of storage targets; empty: any
  bool operator==(const Aggregators&) const = default;
};

struct Throttle {
  std::uint32_t requests_per_target = 0;  // in one step of collective I/O; 0: no limit
  bool operator==(const Throttle&) const = default;
};

struct BackendChoice {
  std::string name;   // empty: the program's choice
  OptionMap options;  // checked by the backend
  bool operator==(const BackendChoice&) const = default;
};

struct Plan {
  std::uint32_t ranks =
      0;  // the plan is for that many; 0: for any number, and then no rank is named anywhere in it
  Mode mode = Mode::synchronous;
  Roles roles;
  Placement placement;
  Aggregators aggregators;
  Throttle throttle;
  BackendChoice backend;
  bool operator==(const Plan&) const = default;

  // The aggregators as those are numbered who write: servers among themselves, in order of their ranks.
  std::vector<std::uint32_t> aggregators_among_writers() const;
  Numbers compute_ranks() const;  // ascending. REQUIRES: ranks > 0 and check() holds
};

// What is wrong with a plan, in plain words; empty: nothing. At most 20 problems, the last one then says how
// many more there are. With `ranks`: for a run of that many ranks. With a platform: also that nodes, hardware
// threads, slots and targets exist and no hardware thread is used twice unless placement.oversubscribe.
// REQUIRES: check(platform).
std::vector<std::string> problems(const Plan& plan);
std::vector<std::string> problems(const Plan& plan, std::uint32_t ranks);
std::vector<std::string> problems(const Plan& plan, std::uint32_t ranks, const Platform& platform);

// The first problem as a failure.
Status check(const Plan& plan);
Status check(const Plan& plan, std::uint32_t ranks);
Status check(const Plan& plan, std::uint32_t ranks, const Platform& platform);

}  // namespace weir
