// Names of nodes, as launchers and schedulers write them.
//
//   a,b[1-3,07-09],c[0-1]n[2-5]   Slurm's node list: the rightmost bracket turns fastest, leading zeros count
//   node1:16,node2:8              with a count of slots (MPICH, mpirun --host)
//
// A host file has one such host list a line, with `slots=4` and `max_slots=8` behind it (Open MPI) or `:4` at
// the name (MPICH); `#` starts a comment. A name given again adds its slots (1 where none is said), as Open
// MPI takes `a,a` and a file with a name per rank.
//
// Threads: plain functions of their arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace weir {

// A list that expands to more hosts, or a host with more slots, is refused.
inline constexpr std::size_t most_hosts = 1'000'000;
inline constexpr std::uint32_t most_slots = 1'000'000;

struct Host {
  std::string name;
  std::uint32_t slots = 0;  // how many ranks may run there; 0: not said
  bool operator==(const Host&) const = default;
};

// Errors name the column (and the line, in a host file) and what is wrong there. An empty list is an error.
Result<std::vector<Host>> parse_host_list(std::string_view text);
Result<std::vector<Host>> parse_host_file(std::string_view text);

// Letters, digits, '-', '_' and '.', at most 255 of them.
bool is_host_name(std::string_view name);

// Short text that parse_host_list expands to the same names in the same order. REQUIRES: is_host_name() of
// each, none twice.
std::string format_host_list(std::span<const std::string> names);

}  // namespace weir
