// Whoever writes a plain file, the ranks themselves, a thread or I/O servers: layout of aggregators,
// throttling and file domains apply to them, and the file is the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/file.hpp"
#include "core/options.hpp"
#include "support.hpp"
#include "watched_writes.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;

// Columns: every rank has a part of every line.
void write_columns(const std::string& path, const OptionMap& options) {
  const Extent shape = {40, 37};
  const Box mine = part_of(shape, 1, world_rank(), world_size());
  File out = session().create(path, {.backend = "posix", .options = options});
  for (int step = 0; step < 3; ++step) {
    const auto data = values_of<double>(shape, mine, step);
    out.write("T", data, {.shape = shape, .offset = mine.offset, .count = mine.count, .step = step}).wait();
  }
  out.close();
}

TEST(Writers, AggregateAlikeInAllModes) {
  const SharedFolder folder;
  write_columns(folder / "plain.dat", {});
  MPI_Barrier(world());
  const std::string plain = read_text(folder / "plain.dat").value();
  ASSERT_EQ(plain.size(), 40U * 37 * 8 * 3);
  const std::vector<OptionMap> all = {
      {{"collective", "auto"}},
      {{"collective", "two-phase"}, {"cb_nodes", "2"}, {"cb_buffer_size", "4KiB"}},
      {{"collective", "two-phase"},
       {"req", "1"},
       {"rr", "yes"},
       {"agg", "yes"},
       {"striping_unit", "1000"},
       {"striping_factor", "3"}},
      {{"collective", "two-phase"}, {"aggregators", "0"}, {"domains", "cyclic"}, {"striping_unit", "500"}},
      {{"collective", "segmented"}, {"req", "1"}},
      {{"collective", "direct"}, {"req", "1"}}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string path = folder / ("file" + std::to_string(i) + ".dat");
    write_columns(path, all[i]);
    MPI_Barrier(world());
    EXPECT_TRUE(read_text(path).value() == plain) << "options " << i;
  }
}

// Whoever writes: as many of them, and at as many a time, as was asked for.
TEST(Writers, KeepToAggregatorsAndRequests) {
  const auto writes_of = [](const OptionMap& options) {
    const SharedFolder folder;
    write_columns(folder / "watched.dat", options);
    MPI_Barrier(world());
    return watched_writes(folder.path());
  };
  const auto with = [](OptionMap more) {
    more.merge(OptionMap{{"collective", "two-phase"},
                         {"cb_buffer_size", "4KiB"},
                         {"striping_unit", "4KiB"},
                         {"striping_factor", "2"}});
    return more;
  };
  const std::size_t writers = processes_of(writes_of({{"collective", "direct"}})).size();
  const std::string all = std::to_string(writers);
  const auto throttled = writes_of(with({{"req", "1"}, {"cb_nodes", all}}));
  EXPECT_EQ(processes_of(throttled).size(), writers);
  EXPECT_EQ(most_at_a_target(throttled, 4096, 2), 1U);
  EXPECT_EQ(processes_of(writes_of(with({{"cb_nodes", "1"}}))).size(), 1U);
  if (writers < 3) return;
  const auto free = writes_of(with({{"cb_nodes", all}}));
  EXPECT_GT(most_at_a_target(free, 4096, 2), 1U) << "nothing would be seen if req were ignored";
  // An aggregator keeps to one of two targets where domains are cyclic.
  for (const std::int64_t process : processes_of(throttled)) {
    std::set<std::uint64_t> targets;
    for (const WatchedWrite& write : throttled)
      if (write.process == process) targets.insert(write.offset / 4096 % 2);
    EXPECT_EQ(targets.size(), 1U);
  }
}

TEST(Writers, WrongSettingsAreRefusedOnAllRanks) {
  const SharedFolder folder;
  const auto failure = [&](const OptionMap& options) {
    return common_failure([&] { write_columns(folder / "f.dat", options); });
  };
  EXPECT_THAT(failure({{"collective", "perhaps"}}), HasSubstr("collective"));
  EXPECT_THAT(failure({{"collective", "auto"}, {"req", "-1"}}), HasSubstr("req"));
  EXPECT_THAT(failure({{"collective", "auto"}, {"aggregators", "0+x"}}), HasSubstr("aggregators"));
  EXPECT_THAT(failure({{"collective", "auto"}, {"domains", "odd"}}), HasSubstr("domains"));
}

}  // namespace
}  // namespace weir::test
