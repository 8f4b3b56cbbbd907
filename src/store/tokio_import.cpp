#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "store/hdf5_handle.hpp"
#include "store/tokio.hpp"

namespace weir::store {

namespace {

constexpr std::size_t most_rows = 20'000'000, most_columns = 1'000'000;
constexpr std::size_t values_at_a_time = 4'000'000;
constexpr std::int64_t nanoseconds = 1'000'000'000;

struct Dataset {
  const char* path;
  std::string_view counter;
  bool rate;
  const char* instead_of;  // not taken in where this one is
};
constexpr Dataset datasets[] = {
    {"datatargets/readbytes", "ost.read_bytes", false, nullptr},
    {"datatargets/writebytes", "ost.write_bytes", false, nullptr},
    {"datatargets/readrates", "ost.read_bytes", true, "datatargets/readbytes"},
    {"datatargets/writerates", "ost.write_bytes", true, "datatargets/writebytes"},
    {"datatargets/readops", "ost.read_ops", false, nullptr},
    {"datatargets/writeops", "ost.write_ops", false, nullptr},
};

bool exists(hid_t file, const std::string& path) {
  const std::size_t slash = path.find('/');
  if (H5Lexists(file, path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
  return slash == std::string::npos || H5Lexists(file, path.c_str(), H5P_DEFAULT) > 0;
}

class Importer {
 public:
  Importer(Store& store, hid_t file, std::map<std::string, std::string> node_of_target)
      : store_(store), file_(file), node_of_target_(std::move(node_of_target)) {}

  Status take(const std::string& path, std::string_view counter, bool rate) {
    const std::string group = path.substr(0, path.find('/'));
    WEIR_TRY(read_times(path, group));
    const Hdf5Handle data(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Handle space(data ? H5Dget_space(data.get()) : -1, H5Sclose);
    hsize_t extent[2] = {};
    if (!space || H5Sget_simple_extent_ndims(space.get()) != 2 ||
        H5Sget_simple_extent_dims(space.get(), extent, nullptr) != 2)
      return fail(ErrorCode::corrupt, "it is no table of two dimensions");
    if (extent[0] != times_.size() || extent[0] < 1 || extent[1] > most_columns)
      return fail(ErrorCode::corrupt, fmt::format("{} rows for {} timestamps", extent[0], times_.size()));
    const std::vector<std::string> columns = read_texts(data.get(), "columns", most_columns),
                                   nodes = read_texts(data.get(), "nodes", most_columns);
    if (columns.size() != extent[1])
      return fail(ErrorCode::corrupt, "the attribute `columns` does not name its columns");
    const std::size_t at_a_time = std::clamp<std::size_t>(values_at_a_time / times_.size(), 1, 1024);
    std::vector<double> values;
    for (std::size_t first = 0; first < columns.size(); first += at_a_time) {
      const std::size_t count = std::min(at_a_time, columns.size() - first);
      values.resize(times_.size() * count);
      const hsize_t start[2] = {0, first}, size[2] = {times_.size(), count};
      const Hdf5Handle memory(H5Screate_simple(2, size, nullptr), H5Sclose);
      if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start, nullptr, size, nullptr) < 0 ||
          H5Dread(data.get(), H5T_NATIVE_DOUBLE, memory.get(), space.get(), H5P_DEFAULT, values.data()) < 0)
        return fail(ErrorCode::corrupt, "its values cannot be read");
      std::vector<telemetry::Series> series;
      for (std::size_t c = 0; c < count; ++c) {
        const std::string& name = columns[first + c];
        telemetry::SeriesKey key{*telemetry::find_counter(counter), "tokio", name, {}};
        if (nodes.size() == columns.size()) {
          key.node = nodes[first + c];
          if (key.node == name) key.component.clear();  // a counter of the whole node
        } else if (const auto found = node_of_target_.find(name); found != node_of_target_.end()) {
          key.node = found->second;
        }
        series.push_back(integrate(std::move(key), values.data() + c, count, rate));
        tally.samples += series.back().times.size();
      }
      WEIR_TRY(store_.write(series));
      tally.series += series.size();
    }
    return {};
  }

  TokioTally tally;

 private:
  Status read_times(const std::string& path, const std::string& group) {
    // TOKIO's own groups share one; ours have one a counter.
    const std::string beside = path.substr(0, path.rfind('/')) + "/timestamps";
    const Hdf5Handle data(H5Dopen2(file_, beside.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Handle space(data ? H5Dget_space(data.get()) : -1, H5Sclose);
    const hssize_t count = space ? H5Sget_simple_extent_npoints(space.get()) : -1;
    if (count < 1 || static_cast<std::size_t>(count) > most_rows)
      return fail(ErrorCode::corrupt, fmt::format("/{}/timestamps is missing or too long", group));
    times_.assign(static_cast<std::size_t>(count), 0);
    if (H5Dread(data.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, times_.data()) < 0)
      return fail(ErrorCode::corrupt, fmt::format("/{}/timestamps cannot be read", group));
    for (std::size_t i = 0; i < times_.size(); ++i) {
      if (times_[i] < -INT64_MAX / nanoseconds / 2 || times_[i] > INT64_MAX / nanoseconds / 2 ||
          (i > 0 && times_[i] <= times_[i - 1]))
        return fail(ErrorCode::corrupt, fmt::format("/{}/timestamps do not ascend", group));
    }
    step_ = times_.size() > 1 ? times_[1] - times_[0] : 1;
    return {};
  }

  // Rows of what happened become a counter that grows: a sample where a known row begins, and one where it
  // ends.
  telemetry::Series integrate(telemetry::SeriesKey key, const double* values, std::size_t stride, bool rate) {
    telemetry::Series series{std::move(key), {}, {}};
    double total = 0;
    const auto add = [&](std::int64_t second) {
      const std::int64_t time = second * nanoseconds;
      if (!series.times.empty() && series.times.back() >= time) {
        series.values.back() = static_cast<std::uint64_t>(total);
        return;
      }
      series.times.push_back(time);
      series.values.push_back(static_cast<std::uint64_t>(total));
    };
    for (std::size_t i = 0; i < times_.size(); ++i) {
      const double value = values[i * stride];
      if (value == 0 && std::signbit(value)) continue;
      const std::int64_t length = i + 1 < times_.size() ? times_[i + 1] - times_[i] : step_;
      const double amount = rate ? value * static_cast<double>(length) : value;
      if (!(amount >= 0) || total + amount > 9e18) {
        ++tally.rejected;
        continue;
      }
      add(times_[i]);
      total += amount;
      add(times_[i] + length);
    }
    return series;
  }

  Store& store_;
  hid_t file_;
  std::map<std::string, std::string> node_of_target_;
  std::vector<std::int64_t> times_;
  std::int64_t step_ = 1;
};

// The counters that Weir itself gave out beside TOKIO's.
std::vector<std::string> own_groups(hid_t file) {
  std::vector<std::string> names;
  if (!exists(file, "weir")) return names;
  for (const telemetry::Counter& counter : telemetry::counters()) {
    const std::string path = "weir/" + std::string(counter.name);
    if (exists(file, path)) names.emplace_back(counter.name);
  }
  return names;
}

}  // namespace

Result<TokioTally> import_tokio(Store& store, const std::string& path,
                                const std::function<void(const std::string&)>& problem) {
  const QuietHdf5 quiet;
  if (::access(path.c_str(), R_OK) != 0) return fail_errno(errno, "open", path);
  const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file)
    return in(Result<TokioTally>(fail(ErrorCode::corrupt, "this is no HDF5 file, or it is damaged")),
              "import", path);
  WEIR_ASSIGN(const std::vector<Node> servers, store.nodes({.roles = {NodeRole::local_io}}));
  std::map<std::string, std::string> node_of_target;
  for (const Node& node : servers) {
    for (const std::string& target : node.targets) node_of_target[target] = node.name;
  }
  Importer importer(store, file.get(), std::move(node_of_target));
  bool any = false;
  const auto take = [&](const std::string& name, std::string_view counter, bool rate) -> Status {
    any = true;
    const Status taken = importer.take(name, counter, rate);
    if (taken) return {};
    if (taken.error().code != ErrorCode::corrupt) return taken;
    if (problem) problem(fmt::format("{}: /{}: {}", path, name, taken.error().cause));
    ++importer.tally.rejected;
    return {};
  };
  for (const Dataset& dataset : datasets) {
    if (!exists(file.get(), dataset.path)) continue;
    if (dataset.instead_of != nullptr && exists(file.get(), dataset.instead_of)) continue;
    WEIR_TRY(take(dataset.path, dataset.counter, dataset.rate));
  }
  for (const std::string& name : own_groups(file.get()))
    WEIR_TRY(take("weir/" + name + "/values", name, false));
  if (!any)
    return in(
        Result<TokioTally>(fail(ErrorCode::invalid_argument, "it has no /datatargets that could be taken in",
                                "TOKIO time series, version 1, are what is read")),
        "import", path);
  return importer.tally;
}

}  // namespace weir::store
