// What the imports of text share: lines counted, told about and handed over in lots.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "platform/host_list.hpp"
#include "store/imports.hpp"
#include "store/table_reader.hpp"
#include "telemetry/fluentd_file.hpp"

namespace weir::store {

inline constexpr std::size_t lot = 1000;
inline constexpr std::size_t most_nodes_in_a_lot = 200'000;  // named by the jobs of a lot

// Calls `row` with each line behind the titles; it answers with a failure of the line, or with true if taken
// and false if ignored.
template <class Row, class Flush>
Result<ImportTally> each_row(std::istream& text, const ImportSource& source, const Row& row,
                             const Flush& flush) {
  ImportTally tally;
  std::uint64_t number = 1;
  bool too_long = false;
  while (auto line = next_line(text, too_long)) {
    ++number;
    if (line->empty()) continue;
    Result<bool> taken =
        too_long ? Result<bool>(fail(ErrorCode::invalid_argument, "the line is too long")) : row(*line);
    if (!taken) {
      ++tally.rejected;
      if (source.problem)
        source.problem(fmt::format("{}:{}: {}", source.file, number, taken.error().message()));
    } else {
      ++(*taken ? tally.taken : tally.ignored);
    }
    WEIR_TRY(flush(false));
  }
  WEIR_TRY(flush(true));
  return tally;
}

// Jobs on their way into the store.
class JobLot {
 public:
  explicit JobLot(const TakeJobs& take) : take_(take) {}
  Status add(Job job) {
    WEIR_TRY(check(job));
    nodes_ += job.nodes.size();
    jobs_.push_back(std::move(job));
    return {};
  }
  Status flush(bool all) {
    if (jobs_.empty() || (!all && jobs_.size() < lot && nodes_ < most_nodes_in_a_lot)) return {};
    WEIR_TRY(take_(jobs_));
    jobs_.clear();
    nodes_ = 0;
    return {};
  }

 private:
  const TakeJobs& take_;
  std::vector<Job> jobs_;
  std::size_t nodes_ = 0;
};

// 0 where the text says that there is none.
inline Result<std::int64_t> time_of(std::string_view text, std::string_view zone, std::string_view what) {
  if (text.empty() || text == "Unknown" || text == "None" || text == "N/A" || text == "INVALID") return 0;
  auto time = telemetry::parse_log_time(text);
  if (!time) time = telemetry::parse_log_time(std::string(text) + std::string(zone));
  if (!time)
    return fail(ErrorCode::invalid_argument, fmt::format("{} '{}' is no time", what, text.substr(0, 64)),
                "write it as 2019-08-01T12:00:00 or in seconds since 1970");
  return *time;
}

inline Status set_nodes(Job& job, std::string_view text) {
  if (text.empty() || text == "None assigned" || text == "None" || text == "(null)") return {};
  const auto hosts = parse_host_list(text);
  if (!hosts) return tl::make_unexpected(hosts.error());
  for (const Host& host : *hosts) job.nodes.push_back(host.name);
  job.node_count = job.nodes.size();
  return {};
}

inline Result<std::vector<std::string>> titles_of(std::istream& text, const ImportSource& source) {
  bool too_long = false;
  auto line = next_line(text, too_long);
  if (!line || too_long)
    return in(
        Result<std::vector<std::string>>(fail(ErrorCode::invalid_argument, "the line of titles is missing")),
        "read", source.file);
  if (line->starts_with("\xef\xbb\xbf")) line->erase(0, 3);  // as spreadsheets begin their files
  if (line->find('|') != std::string::npos && line->find(',') == std::string::npos) {
    std::vector<std::string> titles(1);
    for (const char c : *line) {
      if (c == '|') {
        titles.emplace_back();
      } else {
        titles.back() += c;
      }
    }
    return titles;
  }
  return in(split_csv(*line), "read", source.file);
}

}  // namespace weir::store
