// TOKIO's format: what is given out comes back as the same growth; foreign files are told.
#include "store/tokio.hpp"

#include <fstream>

#include "store_support.hpp"

namespace weir::store {
namespace {

using testing::HasSubstr;

constexpr std::int64_t second = 1'000'000'000;

// Bytes a series grew by, minute by minute.
std::vector<std::uint64_t> growth_of(Store& store, const telemetry::SeriesKey& key) {
  std::vector<std::uint64_t> growth;
  const Samples samples = all_samples(store);
  const auto found = samples.find(key);
  if (found == samples.end()) return growth;
  std::optional<std::uint64_t> before;
  for (const auto& [time, value] : found->second) {
    if (before) growth.push_back(value - *before);
    before = value;
  }
  return growth;
}

TEST_F(StoreTest, TokioThereAndBack) {
  if (!on_sqlite()) GTEST_SKIP() << "the same code";
  const telemetry::SeriesKey target = written("oss1", "lfs-OST0000"),
                             queue = {telemetry::counter_id("ost_io.req_qdepth.sum"), "oss1", "", ""},
                             link = {telemetry::counter_id("link.bytes"), "io1", "X+", ""};
  const std::string path = (folder_ / "day.hdf5").string();
  {
    Store store = open();
    telemetry::Batch batch;
    std::uint64_t total = 1000;
    for (std::int64_t t = 0; t <= 10; ++t) {
      for (const auto& key : {target, queue, link}) batch.add(key, (1'564'617'600 + 60 * t) * second, total);
      total += static_cast<std::uint64_t>(t + 1) * 100;
    }
    EXPECT_WELL(store.write(batch));
    const auto tally = export_tokio(store, path, {.counters = {}, .window = {}, .seconds = 60});
    if (!tally && tally.error().code == ErrorCode::unsupported) GTEST_SKIP() << tally.error().message();
    ASSERT_TRUE(tally) << tally.error().message();
    EXPECT_EQ(tally->series, 3U);
    EXPECT_EQ(tally->samples, 30U);
  }
  Store back = *Store::open((folder_ / "back.db").string());
  const auto tally = import_tokio(back, path, [](const std::string& problem) { ADD_FAILURE() << problem; });
  ASSERT_TRUE(tally) << tally.error().message();
  EXPECT_EQ(tally->series, 3U);
  EXPECT_EQ(tally->rejected, 0U);
  const std::vector<std::uint64_t> expected = {100, 200, 300, 400, 500, 600, 700, 800, 900, 1000};
  for (const auto& key : {target, queue, link}) EXPECT_EQ(growth_of(back, key), expected) << describe(key);
  EXPECT_EQ(back.times()->from, 1'564'617'600 * second);
}

TEST_F(StoreTest, TokioRefusesOtherFiles) {
  if (!on_sqlite()) GTEST_SKIP() << "the same code";
  Store store = open();
  const std::string path = (folder_ / "x.hdf5").string();
  const auto nothing = export_tokio(store, path, {});
  ASSERT_FALSE(nothing);
  if (nothing.error().code == ErrorCode::unsupported) GTEST_SKIP() << nothing.error().message();
  EXPECT_THAT(nothing.error().message(), HasSubstr("no samples"));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(import_tokio(store, path, {}));
  std::ofstream(path) << "no HDF5";
  const auto foreign = import_tokio(store, path, {});
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.error().message(), HasSubstr("no HDF5 file"));
}

}  // namespace
}  // namespace weir::store
