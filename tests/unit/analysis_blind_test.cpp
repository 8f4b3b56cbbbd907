// The planted bottlenecks of the synthetic K computer must be found from what is in the store alone, and
// nothing must be found on healthy jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "analysis/analyse.hpp"
#include "analysis_site.hpp"
#include "store/synthetic_k.hpp"

namespace weir::analysis {
namespace {

std::string code_of(store::Fault fault) {
  const std::map<store::Fault, std::string> codes{
      {store::Fault::slow_target, "slow-target"},      {store::Fault::half_of_targets, "idle-targets"},
      {store::Fault::other_job, "shared-servers"},     {store::Fault::hot_link, "hot-link"},
      {store::Fault::deep_queues, "queue-idle-links"}, {store::Fault::sampling_gap, "sampling-gap"},
      {store::Fault::counter_reset, "counter-reset"},  {store::Fault::unbalanced_servers, "uneven-servers"}};
  return codes.at(fault);
}

std::string all_of(const JobAnalysis& job) {
  std::string text = job.job.id + ":";
  for (const Insight& insight : job.insights) text += "\n  " + insight.code + ": " + insight.sentence;
  return text;
}

class Blind : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Blind, EveryFaultIsFoundAndNoneInvented) {
  const store::SyntheticOptions options{.seed = GetParam(), .whole_machine = false};
  Site folder;
  auto store = store::Store::open((folder.folder() / "k.db").string());
  ASSERT_TRUE(store) << store.error().message();
  const auto written = store::write_k_computer(*store, options);
  ASSERT_TRUE(written) << written.error().message();
  std::map<std::string, store::Fault> faults;
  for (const store::Planted& planted : store::planted(options)) faults[planted.job] = planted.fault;
  ASSERT_EQ(faults.size(), 8U);
  const auto jobs = store->jobs({.with_nodes = false});
  ASSERT_TRUE(jobs);
  const auto finder = read_servers(*store);
  ASSERT_TRUE(finder);
  std::size_t healthy = 0;
  for (const store::Job& planned : *jobs) {
    const auto job = analyse(*store, *finder, planned.id);
    ASSERT_TRUE(job) << job.error().message();
    EXPECT_EQ(job->job.targets, 192U) << planned.id;
    std::set<std::string> codes;
    for (const Insight& insight : job->insights) {
      codes.insert(insight.code);
      if (insight.code == "slow-target" || insight.code == "hot-link") {
        EXPECT_EQ(insight.objects.size(), 1U) << insight.sentence;
      }
      EXPECT_FALSE(insight.sentence.empty() || insight.advice.empty()) << insight.code;
    }
    const auto fault = faults.find(planned.id);
    if (fault == faults.end()) {
      // The neighbour of a job that shares its servers has a neighbour too.
      codes.erase("shared-servers");
      EXPECT_TRUE(codes.empty()) << all_of(*job);
      ++healthy;
    } else {
      EXPECT_EQ(codes, std::set<std::string>{code_of(fault->second)})
          << to_string(fault->second) << ", " << all_of(*job);
    }
  }
  EXPECT_GE(healthy, 2U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Blind, testing::Values(1, 2));

}  // namespace
}  // namespace weir::analysis
