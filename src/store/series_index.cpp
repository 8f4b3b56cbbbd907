#include "store/series_index.hpp"

#include <algorithm>
#include <unordered_set>

#include "store/store.hpp"

namespace weir::store {

namespace {

// Beyond this many, series that come and go (one per job, say) are looked up in the database again.
constexpr std::size_t most_known = 2'000'000;

constexpr std::string_view select_series =
    "SELECT id FROM weir_series WHERE node = $1 AND counter = $2 AND component = $3 AND job = $4";

void cached_name(std::string& text, const SeriesName& name) {
  text.clear();
  text.push_back(static_cast<char>(name.counter & 0xff));
  text.push_back(static_cast<char>(name.counter >> 8));
  text.append(name.node).push_back('\0');
  text.append(name.component).push_back('\0');
  text.append(name.job);
}

Status each_matching(Database& database, const SeriesQuery& query, const Database::EachRow& each) {
  constexpr std::string_view columns = "SELECT id, counter, node, component, job FROM weir_series";
  // Few nodes are looked up one by one; for many it is quicker to look at every series.
  constexpr std::size_t few = 4000;
  if (query.nodes.empty() || query.nodes.size() > few) return database.run(columns, {}, each);
  const std::string by_node = std::string(columns) + " WHERE node = $1";
  for (const std::string& node : query.nodes)
    WEIR_TRY(database.run(by_node, std::vector<Value>{std::string_view(node)}, each));
  return {};
}

}  // namespace

Result<std::vector<std::int64_t>> SeriesIndex::numbers(Database& database,
                                                       std::span<const SeriesName> names) {
  std::vector<std::int64_t> numbers(names.size(), 0);
  std::vector<std::size_t> unknown;
  std::string text;
  std::size_t next = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    cached_name(text, names[i]);
    if (next >= entries_.size() || entries_[next].name != text) {
      const auto found = known_.find(text);
      if (found == known_.end()) {
        unknown.push_back(i);
        continue;
      }
      next = found->second;
    }
    numbers[i] = entries_[next++].number;
  }
  if (unknown.empty()) return numbers;
  const auto look_up = [&]() -> Status {
    WEIR_TRY(database.lock());
    for (const std::size_t i : unknown) {
      const std::string_view counter = telemetry::counter(names[i].counter).name;
      const std::vector<Value> values = {names[i].node, counter, names[i].component, names[i].job};
      const auto take = [&](const Row& row) -> Status {
        numbers[i] = row.integer(0);
        return {};
      };
      WEIR_TRY(database.run(select_series, values, take));
      if (numbers[i] != 0) continue;
      WEIR_TRY(database.run(
          "INSERT INTO weir_series (node, counter, component, job) VALUES ($1, $2, $3, $4) RETURNING id",
          values, take));
    }
    return {};
  };
  WEIR_TRY(in_transaction(database, look_up));
  if (entries_.size() + unknown.size() > most_known) {
    known_.clear();
    entries_.clear();
  }
  for (const std::size_t i : unknown) {
    cached_name(text, names[i]);
    if (known_.contains(text)) continue;  // twice in this call
    entries_.push_back({text, numbers[i]});
    known_.emplace(entries_.back().name, entries_.size() - 1);
  }
  return numbers;
}

Result<std::vector<SeriesIndex::Found>> SeriesIndex::find(Database& database, const SeriesQuery& query) {
  using Names = std::unordered_set<std::string_view>;
  const Names counters(query.counters.begin(), query.counters.end()),
      nodes(query.nodes.begin(), query.nodes.end()),
      components(query.components.begin(), query.components.end()),
      jobs(query.jobs.begin(), query.jobs.end());
  for (const std::string_view name : query.counters) {
    if (telemetry::find_counter(name)) continue;
    std::vector<std::string> known;
    for (const telemetry::Counter& counter : telemetry::counters()) known.emplace_back(counter.name);
    return fail(ErrorCode::invalid_argument,
                "there is no counter '" + std::string(name) + "'" + suggest(name, known));
  }
  const auto wanted = [](const Names& names, std::string_view name) {
    return names.empty() || names.contains(name);
  };
  std::vector<Found> found;
  WEIR_TRY(each_matching(database, query, [&](const Row& row) -> Status {
    const std::string_view counter = row.bytes(1);
    if (!wanted(counters, counter) || !wanted(nodes, row.bytes(2)) || !wanted(components, row.bytes(3)) ||
        !wanted(jobs, row.bytes(4)))
      return {};
    if (const auto id = telemetry::find_counter(counter))
      found.push_back({row.integer(0), {*id, row.text(2), row.text(3), row.text(4)}});
    return {};
  }));
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.number < b.number; });
  // A node named twice was looked up twice.
  found.erase(std::unique(found.begin(), found.end(),
                          [](const Found& a, const Found& b) { return a.number == b.number; }),
              found.end());
  return found;
}

}  // namespace weir::store
