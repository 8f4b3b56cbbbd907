#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/emit.hpp"
#include "plan/mapping_plan.hpp"
#include "platform/sites.hpp"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::Not;

EmitRequest request_of(const LayoutRequest& layout, std::string_view platform, bool name_hosts) {
  const auto plan = plan_mapping(layout, **find_site(platform));
  EXPECT_TRUE(plan) << plan.error().message();
  return plan ? EmitRequest{plan->roles, plan->placement, name_hosts} : EmitRequest{};
}

TEST(EmitSlurm, MapsHardwareThreads) {
  EXPECT_THAT(*emit_slurm(request_of({.mapping = "hyperthread", .compute = 2}, "archer2", false)),
              HasSubstr("exec srun --nodes=1 --ntasks=4 --ntasks-per-node=4 --distribution=block:block "
                        "--hint=multithread --cpu-bind=map_cpu:0,1,128,129 \"$@\"\n"));
  EXPECT_THAT(*emit_slurm(request_of({.mapping = "oversubscribe"}, "2x2", true)),
              HasSubstr("exec srun --nodes=2 --ntasks=8 --ntasks-per-node=4 --nodelist=node[1-2] "
                        "--distribution=block:block --overcommit --cpu-bind=map_cpu:0,1,0,1 \"$@\"\n"));
}

TEST(EmitSlurm, NodesFilledDifferently) {
  const std::string text =
      *emit_slurm(request_of({.mapping = "hyperthread", .compute = 5, .node_size = 2}, "3x2x2", true));
  EXPECT_THAT(text, HasSubstr("--nodes=2 --ntasks=8 --ntasks-per-node=4 --nodelist=node[1-2]"));
  EXPECT_THAT(text,
              HasSubstr("\"$@\" : --nodes=1 --ntasks=2 --ntasks-per-node=2 --nodelist=node3 "
                        "--distribution=block:block --hint=multithread --cpu-bind=map_cpu:0,2 \"$@\"\n"));
}

TEST(EmitSlurm, MasksAndNoBinding) {
  EXPECT_THAT(*emit_slurm(request_of({.mapping = "thread", .compute = 2}, "1x4x2", false)),
              HasSubstr("--cpu-bind=mask_cpu:0x33,0xcc"));
  EXPECT_THAT(
      *emit_slurm(request_of({.mapping = "consecutive", .compute = 9, .overfull = true}, "2x4", false)),
      HasSubstr("--overcommit --cpu-bind=none"));
}

TEST(EmitSlurm, AnyOrder) {
  EmitRequest request{.placement = {.hosts = {"a", "b"}, .node_of = {0, 1, 0, 1}}, .name_hosts = true};
  for (const std::uint32_t pu : {0, 0, 1, 1}) request.placement.pus_of.add(pu);
  const std::string text = *emit_slurm(request);
  EXPECT_THAT(text, HasSubstr("<<'HOSTS'\na\nb\na\nb\nHOSTS\n"));
  EXPECT_THAT(text, HasSubstr("srun --ntasks=4 --distribution=arbitrary --cpu-bind=map_cpu:0,1 \"$@\""));
  request.name_hosts = false;
  EXPECT_THAT(emit_slurm(request).error().message(), HasSubstr("--hosts"));
}

TEST(EmitOpenMpi, RankFile) {
  EXPECT_THAT(
      *emit_openmpi(request_of({.mapping = "hyperthread", .compute = 2}, "1x2x2", true)),
      HasSubstr("\nrank 0=node1 slot=0\nrank 1=node1 slot=1\nrank 2=node1 slot=2\nrank 3=node1 slot=3\n"));
  EXPECT_THAT(*emit_openmpi(request_of({.mapping = "thread", .compute = 2}, "2x1x2", false)),
              HasSubstr("\nrank 0=+n0 slot=0,1\nrank 1=+n1 slot=0,1\n"));
  EXPECT_FALSE(emit_openmpi({}));
}

// Without the plan the servers would compute: the texts say how it gets to the ranks.
TEST(Emit, ThePlanIsHandedOver) {
  EmitRequest request = request_of({.mapping = "consecutive", .compute = 2}, "1x4", true);
  EXPECT_THAT(*emit_openmpi(request), Not(HasSubstr("plan.json")));
  request.plan_command = "weir plan --mapping consecutive -n 2 --emit json";
  for (const std::string& text : {*emit_openmpi(request), *emit_openmpi_seq(request)}) {
    EXPECT_THAT(text, HasSubstr("\n# weir plan --mapping consecutive -n 2 --emit json -o plan.json\n"));
    EXPECT_THAT(text, HasSubstr("\n# mpirun -x WEIR_PLAN=\"$PWD/plan.json\" "));
  }
  EmitRequest any_order = request;
  any_order.placement.hosts.push_back("b");
  any_order.placement.node_of = {0, 1, 0, 1};
  for (const std::string& text : {*emit_slurm(request), *emit_slurm(any_order), *emit_mpich(request)}) {
    EXPECT_THAT(text, HasSubstr("\n# weir plan --mapping consecutive -n 2 --emit json -o plan.json\n"));
    EXPECT_LT(text.find("export WEIR_PLAN\n"), std::min(text.find("srun -"), text.find("exec "))) << text;
  }
}

TEST(EmitMpich, BindsByTheListOfANode) {
  EXPECT_THAT(
      *emit_mpich(request_of({.mapping = "consecutive"}, "2x4", true)),
      HasSubstr("exec \"${MPIEXEC:-mpiexec}\" -hosts node1:4,node2:4 -bind-to user:0,1,2,3 -n 8 \"$@\"\n"));
  EXPECT_THAT(*emit_mpich(request_of({.mapping = "thread", .compute = 2}, "2x1x2", false)),
              HasSubstr("exec \"${MPIEXEC:-mpiexec}\" -ppn 1 -bind-to user:0+1 -n 2 \"$@\"\n"));
  // A node that is not full needs a list of its own.
  const std::string text =
      *emit_mpich(request_of({.mapping = "hyperthread", .compute = 3, .node_size = 2}, "2x2x2", true));
  EXPECT_THAT(text, HasSubstr("-hosts node1:4,node2:2 -n 6"));
  EXPECT_THAT(text, Not(HasSubstr("user:")));
  EXPECT_THAT(text, HasSubstr("Weir binds"));
}

}  // namespace
}  // namespace weir
