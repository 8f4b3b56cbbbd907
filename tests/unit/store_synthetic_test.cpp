// The synthetic K computer has the paper's numbers, and its planted faults are in the counters.
#include "store/synthetic_k.hpp"

#include <set>

#include "store_support.hpp"

namespace weir::store {
namespace {

using testing::IsEmpty;

TEST(StoreSynthetic, TheMachineHasThePapersNumbers) {
  const std::vector<Node> nodes = k_computer_nodes();
  std::map<NodeRole, int> roles;
  std::set<std::vector<std::int32_t>> places;
  std::set<std::string> names, targets;
  std::map<std::string, std::pair<int, int>> racks;
  for (const Node& node : nodes) {
    EXPECT_TRUE(check(node));
    ++roles[node.role];
    places.insert(node.coordinates);
    names.insert(node.name);
    targets.insert(node.targets.begin(), node.targets.end());
    (node.role == NodeRole::compute ? racks[node.rack].first : racks[node.rack].second) += 1;
    EXPECT_EQ(node.role != NodeRole::compute, node.coordinates.at(2) == 0);
  }
  EXPECT_EQ(roles[NodeRole::compute], 82'944);
  EXPECT_EQ(nodes.size() - 82'944, 5'184U);
  EXPECT_EQ(roles[NodeRole::local_io], 2'592);
  EXPECT_EQ(places.size(), nodes.size());
  EXPECT_EQ(names.size(), nodes.size());
  EXPECT_EQ(targets.size(), 5'184U);
  EXPECT_EQ(racks.size(), 864U);
  for (const auto& [rack, counts] : racks) EXPECT_EQ(counts, std::pair(96, 6)) << rack;
  EXPECT_TRUE(check(k_computer_topology()));
}

TEST(StoreSynthetic, JobsAreThePapersAndSayNothingOfTheirFaults) {
  const SyntheticOptions options;
  const std::vector<PlannedJob> jobs = k_computer_jobs(options);
  EXPECT_EQ(planted(options).size(), 8U);
  EXPECT_EQ(jobs.size(), 11U);
  std::map<std::string, Node> nodes;
  for (Node& node : k_computer_nodes()) nodes.emplace(node.name, std::move(node));
  for (const PlannedJob& planned : jobs) {
    EXPECT_TRUE(check(planned.job));
    EXPECT_GT(planned.job.start_ns, options.start);
    if (planned.first_z != 1 || planned.last_z != 16) continue;
    EXPECT_EQ(planned.job.node_count, 3072U);
    EXPECT_EQ(planned.job.shape, (std::vector<std::uint64_t>{8, 12, 32}));
    // The I/O nodes on the same Z links have 192 OSTs.
    std::set<std::vector<std::int32_t>> links;
    for (const std::string& name : planned.job.nodes) {
      std::vector<std::int32_t> place = nodes.at(name).coordinates;
      place.at(2) = 0;
      links.insert(place);
    }
    std::size_t targets = 0;
    for (const auto& [name, node] : nodes)
      targets += links.contains(node.coordinates) ? node.targets.size() : 0;
    EXPECT_EQ(targets, 192U);
    for (const auto& [name, value] : planned.job.labels)
      EXPECT_THAT(name + value, testing::Not(testing::HasSubstr("fault")));
  }
  SyntheticOptions other = options;
  other.seed = 2;
  EXPECT_NE(k_computer_jobs(other).front().x * 100 + k_computer_jobs(other).front().y,
            jobs.front().x * 100 + jobs.front().y);
}

TEST_F(StoreTest, SyntheticFaultsAreInTheCounters) {
  if (!on_sqlite()) GTEST_SKIP() << "the same code";
  SyntheticOptions options;
  options.whole_machine = false;
  options.intervals = 40;
  Store store = open();
  const auto tally = write_k_computer(store, options);
  ASSERT_TRUE(tally) << tally.error().message();
  EXPECT_EQ(tally->jobs, 11U);
  EXPECT_EQ(tally->series, 10U * 16 * (12 * 20 + 6 * 6 + 12 * 2));
  EXPECT_LT(tally->samples, tally->series * 40);  // some are missing
  EXPECT_THAT(*store.check(), IsEmpty());
  const std::vector<PlannedJob> jobs = k_computer_jobs(options);
  for (const PlannedJob& planned : jobs) {
    if (planned.fault != Fault::slow_target && planned.fault != Fault::none &&
        planned.fault != Fault::counter_reset)
      continue;
    const telemetry::Nanoseconds from = planned.job.start_ns + options.interval,
                                 to = planned.job.end_ns - options.interval;
    std::size_t slow = 0, usual = 0, falling = 0;
    const std::vector<Node> servers = *store.nodes({.roles = {NodeRole::local_io}});
    for (const Node& node : servers) {
      const int x = node.coordinates[0] - planned.x, y = node.coordinates[1] - planned.y;
      if (x < 0 || x > 3 || y < 0 || y > 3) continue;
      const std::vector<telemetry::Series> written =
          *store.read_all({.counters = {"ost.write_bytes"}, .nodes = {node.name}, .from = from, .to = to});
      for (const telemetry::Series& series : written) {
        if (series.values.back() < series.values.front()) {
          ++falling;
          continue;
        }
        const double seconds = static_cast<double>(series.times.back() - series.times.front()) * 1e-9;
        const double rate = static_cast<double>(series.values.back() - series.values.front()) / seconds;
        (rate < 0.5 * planned.target_rate ? slow : usual) += 1;
      }
    }
    EXPECT_EQ(slow + usual + falling, 192U);
    EXPECT_EQ(slow, planned.fault == Fault::slow_target ? 1U : 0U);
    EXPECT_EQ(falling, planned.fault == Fault::counter_reset ? 8U : 0U);
  }
}

}  // namespace
}  // namespace weir::store
