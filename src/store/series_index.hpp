// Which series a store has, and their numbers. Numbers count up in the order in which series were first seen,
// so that those of one node, and of nodes that report together, are neighbours; 480 neighbours share blocks.
//
// Threads: belongs to its Store.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/database.hpp"
#include "telemetry/series.hpp"

namespace weir::store {

struct SeriesQuery;

inline constexpr std::int64_t series_of_a_group = 480;
constexpr std::int64_t group_of(std::int64_t series) {
  return (series - 1) / series_of_a_group;
}

// A key without copies of its names.
struct SeriesName {
  telemetry::CounterId counter = 0;
  std::string_view node, component, job;
};

class SeriesIndex {
 public:
  // The numbers of these series, in their order; those that are new are added, in a transaction of their own.
  Result<std::vector<std::int64_t>> numbers(Database& database, std::span<const SeriesName> names);

  // Every series of a query (its times do not count), in ascending order of numbers. Counters that this build
  // does not know are left out.
  struct Found {
    std::int64_t number = 0;
    telemetry::SeriesKey key;
  };
  static Result<std::vector<Found>> find(Database& database, const SeriesQuery& query);

 private:
  struct Entry {
    std::string name;
    std::int64_t number = 0;
  };
  // Whoever sends the same series again and again sends them in the same order: the one behind the last is
  // tried before the table is asked.
  std::deque<Entry> entries_;
  std::unordered_map<std::string_view, std::size_t> known_;  // names in entries_, by place
};

}  // namespace weir::store
