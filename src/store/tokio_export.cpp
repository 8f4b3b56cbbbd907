#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>

#include "core/file.hpp"
#include "store/hdf5_handle.hpp"
#include "store/tokio.hpp"

namespace weir::store {

namespace {

constexpr std::int64_t nanoseconds = 1'000'000'000;
constexpr std::size_t most_rows = 20'000'000;
constexpr std::size_t columns_at_a_time = 64;

const std::map<std::string_view, std::string>& own_names() {
  static const std::map<std::string_view, std::string> names = {
      {"ost.read_bytes", "/datatargets/readbytes"},
      {"ost.write_bytes", "/datatargets/writebytes"},
      {"ost.read_ops", "/datatargets/readops"},
      {"ost.write_ops", "/datatargets/writeops"}};
  return names;
}

struct Rows {
  std::int64_t start = 0, step = 1;  // seconds
  std::size_t count = 0;
};

// A table that grows by some columns at a time; memory holds only those.
class Table {
 public:
  Table(hid_t file, std::string path, const Rows& rows, std::size_t columns)
      : path_(std::move(path)), rows_(rows) {
    const hsize_t extent[2] = {rows.count, columns};
    const hsize_t chunk[2] = {std::min<hsize_t>(rows.count, 1440),
                              std::min<hsize_t>(columns, columns_at_a_time)};
    const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose),
        links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.get(), 1);
    H5Pset_chunk(properties.get(), 2, chunk);
    H5Pset_shuffle(properties.get());
    H5Pset_deflate(properties.get(), 4);
    space_ = Hdf5Handle(H5Screate_simple(2, extent, nullptr), H5Sclose);
    data_ = Hdf5Handle(H5Dcreate2(file, path_.c_str(), H5T_IEEE_F64LE, space_.get(), links.get(),
                                  properties.get(), H5P_DEFAULT),
                       H5Dclose);
    good_ = static_cast<bool>(data_);
  }

  void add(const telemetry::Series& series) {
    columns_.push_back(series.key.component.empty() ? series.key.node : series.key.component);
    nodes_.push_back(series.key.node);
    std::vector<double>& column = pending_.emplace_back(rows_.count, -0.0);
    const std::vector<telemetry::Interval> intervals = telemetry::intervals(series);
    // Each interval shares itself out over the rows it touches; a row that is not wholly covered is not
    // known.
    std::vector<double> known(rows_.count, 0);
    for (const telemetry::Interval& interval : intervals) {
      if (!interval.has_difference() || interval.end <= interval.begin) continue;
      const double length = static_cast<double>(interval.end - interval.begin);
      const std::int64_t base = rows_.start * nanoseconds, step = rows_.step * nanoseconds;
      std::int64_t row = std::max<std::int64_t>((interval.begin - base) / step, 0);
      for (; row < static_cast<std::int64_t>(rows_.count); ++row) {
        const std::int64_t from = std::max(interval.begin, base + row * step),
                           to = std::min(interval.end, base + (row + 1) * step);
        if (base + row * step >= interval.end) break;
        if (from >= to) continue;
        const auto at = static_cast<std::size_t>(row);
        column[at] = (known[at] > 0 ? column[at] : 0.0) +
                     static_cast<double>(interval.difference) * static_cast<double>(to - from) / length;
        known[at] += static_cast<double>(to - from);
      }
    }
    for (std::size_t i = 0; i < rows_.count; ++i) {
      // Samples are seldom taken on the second: a little at the edges may be missing.
      if (known[i] < 0.5 * static_cast<double>(rows_.step * nanoseconds)) {
        column[i] = -0.0;
      } else {
        column[i] = std::abs(column[i]);
        ++samples;
      }
    }
    if (pending_.size() == columns_at_a_time) flush();
  }

  bool finish(std::string_view unit) {
    flush();
    return good_ && write_texts(data_.get(), "columns", columns_) &&
           write_texts(data_.get(), "nodes", nodes_) && write_text(data_.get(), "units", std::string(unit)) &&
           write_text(data_.get(), "version", "1") &&
           write_integer(data_.get(), "updated", static_cast<std::int64_t>(std::time(nullptr))) &&
           data_.close();
  }

  std::uint64_t samples = 0;

 private:
  void flush() {
    if (pending_.empty() || !good_) return;
    std::vector<double> values(rows_.count * pending_.size());
    for (std::size_t c = 0; c < pending_.size(); ++c) {
      for (std::size_t r = 0; r < rows_.count; ++r) values[r * pending_.size() + c] = pending_[c][r];
    }
    const hsize_t start[2] = {0, written_}, size[2] = {rows_.count, pending_.size()};
    const Hdf5Handle memory(H5Screate_simple(2, size, nullptr), H5Sclose);
    good_ =
        H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, start, nullptr, size, nullptr) >= 0 &&
        H5Dwrite(data_.get(), H5T_NATIVE_DOUBLE, memory.get(), space_.get(), H5P_DEFAULT, values.data()) >= 0;
    written_ += pending_.size();
    pending_.clear();
  }

  std::string path_;
  Rows rows_;
  Hdf5Handle space_, data_;
  std::vector<std::string> columns_, nodes_;
  std::vector<std::vector<double>> pending_;
  std::size_t written_ = 0;
  bool good_ = false;
};

bool write_times(hid_t file, const std::string& path, const Rows& rows) {
  if (H5Lexists(file, path.c_str(), H5P_DEFAULT) > 0) return true;
  std::vector<std::int64_t> times(rows.count);
  for (std::size_t i = 0; i < rows.count; ++i)
    times[i] = rows.start + static_cast<std::int64_t>(i) * rows.step;
  const hsize_t count = rows.count;
  const Hdf5Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Hdf5Handle data(
      H5Dcreate2(file, path.c_str(), H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose);
  return data && H5Dwrite(data.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, times.data()) >= 0;
}

Result<Rows> rows_of(Store& store, const TokioExport& options) {
  WEIR_ASSIGN(TimeRange range, store.times());
  if (range.from == range.to) return fail(ErrorCode::not_found, "there are no samples to give out");
  range.from = std::max(range.from, options.window.from);
  range.to = std::min(range.to, options.window.to);
  if (range.from >= range.to) return fail(ErrorCode::invalid_argument, "there are no samples in this window");
  double seconds = options.seconds;
  if (seconds == 0) {
    telemetry::Nanoseconds period = 0;
    // The first series with two samples tells.
    const Status looked = store.read({.counters = options.counters, .from = range.from, .to = range.to},
                                     [&](const telemetry::Series& series) -> Status {
                                       period = telemetry::sampling_period(series.times);
                                       if (period > 0) return fail(ErrorCode::state, "found");
                                       return {};
                                     });
    if (!looked && period == 0) return tl::make_unexpected(looked.error());
    seconds = std::max(1.0, std::round(static_cast<double>(period) / static_cast<double>(nanoseconds)));
  }
  if (seconds < 1 || seconds != std::floor(seconds))
    return fail(ErrorCode::invalid_argument, "a row of the format has a whole number of seconds");
  Rows rows;
  rows.step = static_cast<std::int64_t>(seconds);
  rows.start = range.from / nanoseconds / rows.step * rows.step;
  const std::int64_t count = (range.to / nanoseconds - rows.start) / rows.step + 1;
  if (count < 1 || static_cast<std::size_t>(count) > most_rows)
    return fail(ErrorCode::invalid_argument, fmt::format("{} rows are too many", count),
                "choose longer ones, or a window");
  rows.count = static_cast<std::size_t>(count);
  return rows;
}

Result<TokioTally> fill(Store& store, hid_t file, const Rows& rows, const TokioExport& options) {
  TokioTally tally;
  WEIR_ASSIGN(const std::vector<CounterSummary> counters, store.counters());
  const TimeRange window{rows.start * nanoseconds,
                         (rows.start + static_cast<std::int64_t>(rows.count) * rows.step) * nanoseconds};
  for (const CounterSummary& summary : counters) {
    const auto id = telemetry::find_counter(summary.name);
    if (!id || telemetry::counter(*id).kind != telemetry::CounterKind::cumulative) continue;
    if (!options.counters.empty() &&
        std::find(options.counters.begin(), options.counters.end(), summary.name) == options.counters.end())
      continue;
    const SeriesQuery query{
        .counters = {summary.name}, .from = window.from, .to = window.to, .margin = rows.step * nanoseconds};
    std::size_t columns = 0;
    WEIR_TRY(store.read(query, [&](const telemetry::Series&) -> Status {
      ++columns;
      return {};
    }));
    if (columns == 0) continue;
    const auto named = own_names().find(summary.name);
    const std::string path = named != own_names().end() ? named->second : "/weir/" + summary.name + "/values";
    Table table(file, path, rows, columns);
    std::size_t added = 0;
    WEIR_TRY(store.read(query, [&](const telemetry::Series& series) -> Status {
      if (added++ < columns) table.add(series);
      return {};
    }));
    if (!table.finish(telemetry::counter(*id).unit) ||
        !write_times(file, path.substr(0, path.rfind('/')) + "/timestamps", rows))
      return fail(ErrorCode::io, fmt::format("{} cannot be written", path), "is there space left?");
    tally.series += columns;
    tally.samples += table.samples;
  }
  return tally;
}

}  // namespace

Result<TokioTally> export_tokio(Store& store, const std::string& path, const TokioExport& options) {
  const QuietHdf5 quiet;
  const auto work = [&]() -> Result<TokioTally> {
    WEIR_ASSIGN(const Rows rows, rows_of(store, options));
    std::error_code error;
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
      return fail(ErrorCode::invalid_argument, "this is no file that could be replaced");
    const std::string part = path + ".part";
    // Attributes over 64 KiB, such as the names of 5,184 targets, need the later formats.
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    Hdf5Handle file(H5Fcreate(part.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
    if (!file)
      return fail(ErrorCode::io, "the file cannot be made", "is the folder there, and may you write to it?");
    auto tally = fill(store, file.get(), rows, options);
    const bool whole =
        tally && write_text(file.get(), "version", "1") && write_integer(file.get(), "start", rows.start) &&
        write_integer(file.get(), "end", rows.start + static_cast<std::int64_t>(rows.count) * rows.step);
    if (!(file.close() && whole)) {
      std::error_code ignored;
      std::filesystem::remove(part, ignored);
      if (!tally) return tally;
      return fail(ErrorCode::io, "the file cannot be written", "is there space left?");
    }
    WEIR_TRY(rename_path(part, path));
    return tally;
  };
  return in(work(), "export", path);
}

}  // namespace weir::store
