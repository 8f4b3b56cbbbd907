// Files that fluentd's out_file wrote: a line a record, time TAB tag TAB JSON.
//
//   2019-08-01T12:00:00+09:00<TAB>tofu.stats<TAB>{"node":"io0001","link":"X+","wait_cycles":8112,"bytes":912380}
//
// The time of a line has no fraction by default: a time in the record (record.hpp) comes first. Such lines
// are also what `weir collect --output` writes, with nanoseconds.
//
// Threads: reentrant.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "telemetry/record.hpp"

namespace weir::telemetry {

// "2019-08-01T12:00:00+09:00", with a fraction and with Z too, or seconds since 1970, with a fraction too.
std::optional<Nanoseconds> parse_log_time(std::string_view text);
std::string format_log_time(Nanoseconds time);  // UTC, nine digits of a fraction

// Counts in the tally in either case.
Status add_fluentd_line(std::string_view line, Batch& batch, Tally& tally);

// One line with its end, for the points that make one record (same_record).
std::string fluentd_line(const Batch& batch, std::size_t first, std::size_t count, std::string_view tag);

// Reads a file, plain or gzip, with a bounded amount of memory. `store` gets the samples in batches; when it
// fails, reading ends with its failure. `problem` is told of each line that is not taken in, as
// "FILE:12: ...". A last line without its end is taken as it is: a file may be read while it is written.
using StoreBatch = std::function<Status(const Batch&)>;
using TellProblem = std::function<void(const std::string&)>;
Result<Tally> read_fluentd_file(const std::filesystem::path& path, const StoreBatch& store,
                                const TellProblem& problem);

}  // namespace weir::telemetry
