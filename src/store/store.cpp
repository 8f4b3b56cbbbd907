#include "store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "store/block_table.hpp"
#include "store/database.hpp"
#include "store/job_table.hpp"
#include "store/node_table.hpp"
#include "store/schema.hpp"
#include "store/series_index.hpp"

namespace weir::store {

using telemetry::Nanoseconds;
using telemetry::Series;

struct Store::State {
  std::string location;
  std::unique_ptr<Database> database;
  SeriesIndex index;
  std::int64_t writes_since_count = 0;

  // Now and then: is there enough to sort? The write itself is done by then, so a failure of this is no
  // failure of the write; it is tried again after the next ones.
  void after_write(std::size_t samples) {
    constexpr std::int64_t often = 64;
    writes_since_count += 1 + static_cast<std::int64_t>(samples) / (most_small_samples / often);
    if (writes_since_count < often) return;
    writes_since_count = 0;
    const auto small = count_small_blocks(*database);
    if (small && (small->blocks >= most_small_blocks || small->samples >= most_small_samples))
      (void)sort_small_blocks(*database);
  }
};

namespace {

bool is_postgresql(const std::string& location) {
  return location.starts_with("postgresql://") || location.starts_with("postgres://");
}

Nanoseconds less(Nanoseconds time, Nanoseconds margin) {
  return time < INT64_MIN + margin ? INT64_MIN : time - margin;
}
Nanoseconds more(Nanoseconds time, Nanoseconds margin) {
  return time > INT64_MAX - margin ? INT64_MAX : time + margin;
}

}  // namespace

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::string& location, Access access) {
  if (location.empty())
    return fail(ErrorCode::invalid_argument, "the store has no name", "give a path with --store");
  auto state = std::make_unique<State>();
  state->location = location;
  auto database = is_postgresql(location) ? open_postgresql(location, access) : open_sqlite(location, access);
  if (!database)
    return in(Result<Store>(tl::make_unexpected(std::move(database).error())), "open store", location);
  state->database = std::move(*database);
  WEIR_ASSIGN(const int version, in(stored_version(*state->database), "open store", location));
  if (version == 0 && access != Access::create)
    return in(Result<Store>(fail(ErrorCode::not_found, "there is no store in it",
                                 "`weir ingest` or `weir run` makes one")),
              "open store", location);
  if (access != Access::read) WEIR_TRY(in(migrate(*state->database), "prepare store", location));
  if (access == Access::read && version != schema_version())
    return in(Result<Store>(fail(
                  ErrorCode::unsupported,
                  fmt::format("its tables have version {}, this Weir's have {}", version, schema_version()),
                  "open it once for writing (weir store compact) to bring it up to date")),
              "open store", location);
  return Store(std::move(state));
}

Status Store::write(const telemetry::Batch& batch) {
  if (batch.points.empty()) return {};
  // Points sorted by series, keeping their order, without a comparison.
  const std::size_t series = batch.table.size();
  std::vector<std::size_t> next(series + 1, 0);
  for (const telemetry::Point& point : batch.points) ++next.at(point.series + std::size_t{1});
  std::vector<SeriesName> names;
  struct Part {
    std::size_t begin = 0, count = 0;
  };
  std::vector<Part> parts;
  for (std::uint32_t s = 0; s < series; ++s) {
    const std::size_t count = next[s + std::size_t{1}];
    next[s + std::size_t{1}] += next[s];
    if (count == 0) continue;
    parts.push_back({next[s], count});
    names.push_back({batch.table.counter_of(s), batch.table.node_of(s), batch.table.component_of(s),
                     batch.table.job_of(s)});
  }
  std::vector<std::int64_t> times(batch.points.size());
  std::vector<std::uint64_t> values(batch.points.size());
  for (const telemetry::Point& point : batch.points) {
    const std::size_t at = next[point.series]++;
    times[at] = point.time;
    values[at] = point.value;
  }
  const auto work = [&]() -> Status {
    WEIR_ASSIGN(const std::vector<std::int64_t> numbers, state_->index.numbers(*state_->database, names));
    std::vector<ColumnView> views;
    views.reserve(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto series_times = std::span(times).subspan(parts[i].begin, parts[i].count);
      const auto series_values = std::span(values).subspan(parts[i].begin, parts[i].count);
      const std::size_t count = put_in_order(series_times, series_values);
      views.push_back({numbers[i], series_times.first(count), series_values.first(count)});
    }
    const auto by_number = [](const ColumnView& a, const ColumnView& b) { return a.series < b.series; };
    if (!std::is_sorted(views.begin(), views.end(), by_number))
      std::sort(views.begin(), views.end(), by_number);
    WEIR_TRY(write_columns(*state_->database, views));
    state_->after_write(batch.points.size());
    return {};
  };
  return in(work(), "write samples", state_->location);
}

Status Store::write(std::span<const Series> columns) {
  std::vector<SeriesName> names;
  std::size_t samples = 0;
  for (const Series& column : columns) {
    if (column.times.size() != column.values.size())
      throw std::logic_error("a series needs as many times as values");
    names.push_back({column.key.counter, column.key.node, column.key.component, column.key.job});
    samples += column.times.size();
  }
  const auto work = [&]() -> Status {
    WEIR_ASSIGN(const std::vector<std::int64_t> numbers, state_->index.numbers(*state_->database, names));
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i].times.empty()) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
    // Columns out of order, or of the same series, are rare: only those are copied.
    std::vector<std::unique_ptr<Segment>> copies;
    std::vector<ColumnView> views;
    for (std::size_t i = 0; i < order.size();) {
      const Series& column = columns[order[i]];
      std::size_t end = i + 1;
      while (end < order.size() && numbers[order[end]] == numbers[order[i]]) ++end;
      const bool ordered = end == i + 1 && std::adjacent_find(column.times.begin(), column.times.end(),
                                                              std::greater_equal<>()) == column.times.end();
      if (ordered) {
        views.push_back({numbers[order[i]], column.times, column.values});
      } else {
        auto copy = std::make_unique<Segment>();
        for (std::size_t k = i; k < end; ++k) {
          const Series& part = columns[order[k]];
          copy->times.insert(copy->times.end(), part.times.begin(), part.times.end());
          copy->values.insert(copy->values.end(), part.values.begin(), part.values.end());
        }
        put_in_order(copy->times, copy->values);
        views.push_back({numbers[order[i]], copy->times, copy->values});
        copies.push_back(std::move(copy));
      }
      i = end;
    }
    WEIR_TRY(write_columns(*state_->database, views));
    state_->after_write(samples);
    return {};
  };
  return in(work(), "write samples", state_->location);
}

Status Store::read(const SeriesQuery& query, const std::function<Status(const Series&)>& each) {
  if (query.margin < 0) throw std::logic_error("a margin is a span of time");
  const auto work = [&]() -> Status {
    WEIR_ASSIGN(const std::vector<SeriesIndex::Found> found, SeriesIndex::find(*state_->database, query));
    std::vector<std::int64_t> numbers;
    numbers.reserve(found.size());
    for (const SeriesIndex::Found& series : found) numbers.push_back(series.number);
    auto at = found.begin();
    Series series;
    return read_columns(*state_->database, numbers, less(query.from, query.margin),
                        more(query.to, query.margin),
                        [&](std::int64_t number, const Segment& samples) -> Status {
                          while (at->number != number) ++at;
                          series.key = at->key;
                          series.times = samples.times;
                          series.values = samples.values;
                          return each(series);
                        });
  };
  return in(work(), "read samples", state_->location);
}

Result<std::vector<Series>> Store::read_all(const SeriesQuery& query) {
  std::vector<Series> all;
  WEIR_TRY(read(query, [&](const Series& series) -> Status {
    all.push_back(series);
    return {};
  }));
  return all;
}

Result<std::vector<CounterSummary>> Store::counters() {
  std::vector<CounterSummary> counters;
  WEIR_TRY(in(
      state_->database->run("SELECT counter, COUNT(*) FROM weir_series GROUP BY counter ORDER BY counter", {},
                            [&](const Row& row) -> Status {
                              counters.push_back({row.text(0), static_cast<std::uint64_t>(row.integer(1))});
                              return {};
                            }),
      "list counters", state_->location));
  return counters;
}

Result<TimeRange> Store::times() {
  TimeRange range{0, 0};
  WEIR_TRY(in(state_->database->run("SELECT MIN(first_ns), MAX(last_ns) FROM weir_blocks", {},
                                    [&](const Row& row) -> Status {
                                      if (!row.null(0)) range = {row.integer(0), more(row.integer(1), 1)};
                                      return {};
                                    }),
              "read times", state_->location));
  return range;
}

Status Store::put(const Job& job) {
  return put(std::span<const Job>(&job, 1));
}

Status Store::put(std::span<const Job> jobs) {
  return in(in_transaction(*state_->database,
                           [&]() -> Status {
                             for (const Job& job : jobs) WEIR_TRY(write_job(*state_->database, job));
                             return {};
                           }),
            "write jobs", state_->location);
}

Result<Job> Store::job(const std::string& id) {
  WEIR_ASSIGN(std::vector<Job> found, jobs({.ids = {id}}));
  if (!found.empty()) return std::move(found.front());
  WEIR_ASSIGN(const std::string near, jobs_near(*state_->database, id));
  return in(Result<Job>(fail(ErrorCode::not_found, fmt::format("there is no job '{}'{}", id, near))),
            "find job", state_->location);
}

Result<std::vector<Job>> Store::jobs(const JobQuery& query) {
  return in(read_jobs(*state_->database, query), "list jobs", state_->location);
}

Status Store::finish(const std::string& id, JobState state, Nanoseconds end_ns,
                     const std::map<std::string, double>& figures) {
  return in(in_transaction(*state_->database,
                           [&]() -> Status {
                             WEIR_ASSIGN(std::vector<Job> found, read_jobs(*state_->database, {.ids = {id}}));
                             if (found.empty())
                               return fail(ErrorCode::not_found, fmt::format("there is no job '{}'", id));
                             Job& job = found.front();
                             job.state = state;
                             job.end_ns = end_ns;
                             for (const auto& [name, value] : figures) job.figures[name] = value;
                             return write_job(*state_->database, job);
                           }),
            "finish job", state_->location);
}

Status Store::put(std::span<const Node> nodes) {
  return in(in_transaction(*state_->database, [&] { return write_nodes(*state_->database, nodes); }),
            "write nodes", state_->location);
}

Result<std::vector<Node>> Store::nodes(const NodeQuery& query) {
  return in(read_nodes(*state_->database, query), "list nodes", state_->location);
}

Status Store::put(const Topology& topology) {
  return in(in_transaction(*state_->database, [&] { return write_topology(*state_->database, topology); }),
            "write topology", state_->location);
}

Result<std::optional<Topology>> Store::topology() {
  return in(read_topology(*state_->database), "read topology", state_->location);
}

Result<Summary> Store::summary() {
  Database& database = *state_->database;
  Summary summary{
      .location = state_->location, .format = std::string(database.format()), .version = schema_version()};
  WEIR_ASSIGN(summary.bytes, in(database.size(), "measure", state_->location));
  const auto number = [](std::uint64_t& into) {
    return [&into](const Row& row) -> Status {
      into = static_cast<std::uint64_t>(row.integer(0));
      return {};
    };
  };
  WEIR_TRY(database.run("SELECT COUNT(*) FROM weir_jobs", {}, number(summary.jobs)));
  WEIR_TRY(database.run("SELECT COUNT(*) FROM weir_nodes", {}, number(summary.nodes)));
  WEIR_TRY(database.run("SELECT COUNT(*) FROM weir_series", {}, number(summary.series)));
  WEIR_TRY(database.run("SELECT COUNT(*) FROM weir_blocks", {}, number(summary.blocks)));
  WEIR_TRY(database.run("SELECT CAST(COALESCE(SUM(samples), 0) AS BIGINT) FROM weir_blocks", {},
                        number(summary.samples)));
  WEIR_ASSIGN(const SmallBlocks small, count_small_blocks(database));
  summary.small_blocks = static_cast<std::uint64_t>(small.blocks);
  WEIR_ASSIGN(summary.times, times());
  return summary;
}

Result<Store::Compacted> Store::compact() {
  const auto work = [&]() -> Result<Compacted> {
    Database& database = *state_->database;
    WEIR_ASSIGN(const Summary before, summary());
    WEIR_ASSIGN(SmallBlocks small, count_small_blocks(database));
    while (small.blocks > 0) {
      WEIR_TRY(sort_small_blocks(database));
      const std::int64_t had = small.blocks;
      WEIR_ASSIGN(small, count_small_blocks(database));
      if (small.blocks >= had) break;  // others write faster than we sort
    }
    WEIR_TRY(merge_large_blocks(database));
    WEIR_TRY(database.give_back_space());
    WEIR_ASSIGN(const Summary after, summary());
    return Compacted{before.blocks, after.blocks};
  };
  return in(work(), "compact", state_->location);
}

Result<std::vector<std::string>> Store::check() {
  std::vector<std::string> problems;
  const auto work = [&]() -> Status {
    Database& database = *state_->database;
    std::int64_t series = 0;
    WEIR_TRY(database.run("SELECT COALESCE(MAX(id), 0) FROM weir_series", {}, [&](const Row& row) -> Status {
      series = row.integer(0);
      return {};
    }));
    WEIR_TRY(database.run("SELECT id, grp, first_ns, last_ns, samples, data FROM weir_blocks", {},
                          [&](const Row& row) -> Status {
                            const auto wrong = [&](std::string_view what) {
                              problems.push_back(fmt::format("block {}: {}", row.integer(0), what));
                            };
                            const auto block = Block::decode(row.bytes(5));
                            if (!block) {
                              wrong(block.error().cause);
                              return {};
                            }
                            std::int64_t first = INT64_MAX, last = INT64_MIN, samples = 0;
                            for (const Block::Column& column : block->columns()) {
                              const auto times = block->times(column);
                              first = std::min(first, times.front());
                              last = std::max(last, times.back());
                              samples += static_cast<std::int64_t>(times.size());
                              if (column.series > series)
                                wrong(fmt::format("series {} does not exist", column.series));
                              if (row.integer(1) != small_blocks && group_of(column.series) != row.integer(1))
                                wrong(fmt::format("series {} is not of its group", column.series));
                            }
                            if (first != row.integer(2) || last != row.integer(3) ||
                                samples != row.integer(4))
                              wrong("its times or its count differ from what stands beside it");
                            return {};
                          }));
    if (const auto found = jobs(); !found) problems.push_back(found.error().message());
    if (const auto found = nodes(); !found) problems.push_back(found.error().message());
    if (const auto found = topology(); !found) problems.push_back(found.error().message());
    return {};
  };
  WEIR_TRY(in(work(), "check", state_->location));
  return problems;
}

}  // namespace weir::store
