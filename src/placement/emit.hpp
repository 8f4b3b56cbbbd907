// A placement in the words of a launcher. One file each.
//
// - slurm: a shell script that runs the command it is given: `sh FILE ./program arguments` inside an
//   allocation. Ranks go to nodes block by block (--distribution=block:block) and to hardware threads by
//   --cpu-bind=map_cpu, or mask_cpu where a rank has several. Nodes that are not filled alike become parts of
//   a heterogeneous step (Slurm 20.11 and later), all in one MPI_COMM_WORLD.
// - openmpi: a rank file of Open MPI 4, with OS numbers of hardware threads, for `mpirun --mca
//   rmaps_rank_file_physical 1 --use-hwthread-cpus --rankfile FILE`. Open MPI 5 takes the same lines with
//   `--map-by rankfile:file=FILE`, but knows no OS numbers, only hwloc's logical ones; where the two differ,
//   let Weir bind: `--bind-to none` and WEIR_PLAN.
// - mpich: a shell script like Slurm's, around `mpiexec -bind-to user:...`. Hydra has one list for all nodes;
//   where nodes would need different ones, binding is left to Weir.
// - openmpi5, openmpi-seq, mpich-hostfile, cray: files for ranks in any order (emit_files.cpp).
// - romio, ompio: the aggregators of a plan as hints of these I/O libraries (emit_hints.cpp).
//
// Launchers are not strict: they take typing errors without a word, or hang. So what is made here is checked
// here, and what is read back (rank_file.hpp) is taken only if every line is right.
//
// Threads: plain functions of their arguments. REQUIRES: check() of a plan with these roles and placement.
#pragma once

#include <string_view>

#include "placement/placement.hpp"
#include "placement/roles.hpp"

namespace weir {

struct EmitRequest {
  Roles roles;
  Placement placement;
  bool name_hosts = false;   // say the names of hosts; else the launcher's first node is node 0, and so on
  Numbers core_of = {};      // by rank, hwloc's logical number of its core; empty: not known
  Numbers aggregators = {};  // ranks in the order of file domains; empty: not chosen
  // Prints the plan, which the ranks have to read (WEIR_PLAN), or else servers would compute; the text then
  // says how, and a script sees to it. Empty: they can do without.
  std::string plan_command = {};
};

// All forms by name: one table for --emit, its checks and its help.
struct Emitter {
  std::string_view name;
  std::string_view what;  // one line, for --help
  Result<std::string> (*emit)(const EmitRequest& request);
};
const std::vector<Emitter>& emitters();
Result<Emitter> find_emitter(std::string_view name);

// Fail if the placement names no nodes.
Result<std::string> emit_slurm(const EmitRequest& request);
Result<std::string> emit_openmpi(const EmitRequest& request);
Result<std::string> emit_mpich(const EmitRequest& request);
Result<std::string> emit_openmpi5(const EmitRequest& request);
Result<std::string> emit_openmpi_seq(const EmitRequest& request);
Result<std::string> emit_mpich_hostfile(const EmitRequest& request);
Result<std::string> emit_cray(const EmitRequest& request);

// Fail if the plan has no aggregators, or the library cannot be told of them.
Result<std::string> emit_romio(const EmitRequest& request);
Result<std::string> emit_ompio(const EmitRequest& request);

// The options of MPICH's mpiexec, before the program.
struct MpichOptions {
  std::vector<std::string> words;
  bool binds = false;  // the launcher binds the ranks
};
Result<MpichOptions> mpich_options(const EmitRequest& request);

// Ranks in a row on one node.
struct RankRun {
  std::uint32_t first = 0, count = 0, node = 0;
};
std::vector<RankRun> rank_runs(const Placement& placement);

// How the plan gets to the ranks, if there is a plan_command: as comments above the launcher's command, as an
// option of Open MPI's launcher (with a blank before it), and as lines of a script.
std::string plan_comment(const EmitRequest& request);
std::string plan_option(const EmitRequest& request);
std::string plan_lines(const EmitRequest& request);

// Fails if the placement has no nodes, or names are wanted and there are none.
Status check_emittable(const EmitRequest& request);

}  // namespace weir
