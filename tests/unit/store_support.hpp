// A store for a test: a file in a folder of its own, or, where $WEIR_TEST_POSTGRESQL gives the address of a
// server for tests, an emptied database there.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "store/database.hpp"
#include "store/store.hpp"

namespace weir::store {

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/weir-store-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    location_ = (folder_ / "test store?%.db").string();
    if (const char* server = std::getenv("WEIR_TEST_POSTGRESQL")) {
      location_ = server;
      auto database = open_postgresql(location_, Access::create);
      if (!database && database.error().code == ErrorCode::unsupported)
        GTEST_SKIP() << database.error().message();
      ASSERT_TRUE(database) << database.error().message();
      const Status emptied = (*database)->script("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
      ASSERT_TRUE(emptied) << emptied.error().message();
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  bool on_sqlite() const { return location_.starts_with("/"); }
  Store open(Access access = Access::create) {
    auto store = Store::open(location_, access);
    if (!store) throw std::runtime_error(store.error().message());
    return std::move(*store);
  }

  std::filesystem::path folder_;
  std::string location_;
};

inline telemetry::SeriesKey written(const std::string& node, const std::string& target) {
  return {telemetry::counter_id("ost.write_bytes"), node, target, {}};
}

// The whole store as a map, for comparisons.
using Samples = std::map<telemetry::SeriesKey, std::map<std::int64_t, std::uint64_t>>;
inline Samples all_samples(Store& store, const SeriesQuery& query = {}) {
  Samples samples;
  const Status done = store.read(query, [&](const telemetry::Series& series) -> Status {
    EXPECT_EQ(samples.count(series.key), 0U) << "a series came twice";
    for (std::size_t i = 0; i < series.times.size(); ++i) {
      if (i > 0) {
        EXPECT_LT(series.times[i - 1], series.times[i]);
      }
      samples[series.key][series.times[i]] = series.values[i];
    }
    return {};
  });
  EXPECT_TRUE(done) << done.error().message();
  return samples;
}

#define EXPECT_WELL(expression)                                  \
  do {                                                           \
    const auto weir_outcome = (expression);                      \
    EXPECT_TRUE(weir_outcome) << weir_outcome.error().message(); \
  } while (false)

}  // namespace weir::store
