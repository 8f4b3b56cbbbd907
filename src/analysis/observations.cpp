#include "analysis/observations.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weir::analysis {

namespace {

using telemetry::counter_id;
using telemetry::CounterId;
using telemetry::Interval;
using telemetry::IntervalMark;
using telemetry::Series;

struct Pair {
  CounterId sum, count;
};
constexpr std::array mean_pairs{
    Pair{counter_id("ost_io.req_qdepth.sum"), counter_id("ost_io.req_qdepth.count")},
    Pair{counter_id("ost_io.req_waittime.sum"), counter_id("ost_io.req_waittime.count")},
    Pair{counter_id("ost_io.req_active.sum"), counter_id("ost_io.req_active.count")},
};

std::optional<Pair> pair_of(CounterId counter) {
  for (const Pair& pair : mean_pairs) {
    if (pair.sum == counter || pair.count == counter) return pair;
  }
  return std::nullopt;
}

// Those that are shown target by target over time.
bool has_parts_over_time(CounterId counter) {
  return counter == counter_id("ost.read_bytes") || counter == counter_id("ost.write_bytes") ||
         counter == counter_id("block.read_bytes") || counter == counter_id("block.write_bytes");
}

bool is_job_counter(CounterId counter) {
  return counter == counter_id("job.read_bytes") || counter == counter_id("job.write_bytes");
}

std::string place_of(CounterId counter, const telemetry::SeriesKey& key) {
  return fmt::format("{}\n{}\n{}\n{}", counter, key.node, key.component, key.job);
}

double inside(const TimeWindow& window, const Interval& interval) {
  const auto begin = std::max(interval.begin, window.from);
  const auto end = std::min(interval.end, window.to);
  return end > begin ? static_cast<double>(end - begin) * 1e-9 : 0.0;
}

// Growth within the window of a counter of which nothing else is asked; where it falls, it began anew.
double plain_growth(const TimeWindow& window, const Series& series) {
  double sum = 0;
  for (std::size_t i = 1; i < series.times.size(); ++i) {
    const Interval interval{.begin = series.times[i - 1], .end = series.times[i]};
    if (series.values[i] <= series.values[i - 1] || interval.end <= interval.begin) continue;
    const auto difference = static_cast<double>(series.values[i] - series.values[i - 1]);
    const bool whole = interval.begin >= window.from && interval.end <= window.to;
    sum += whole ? difference : difference * inside(window, interval) / interval.seconds();
  }
  return sum;
}

// A sample from before the job alone says nothing of it.
bool any_inside(const TimeWindow& window, const std::vector<Interval>& intervals) {
  return std::any_of(intervals.begin(), intervals.end(), [&](const Interval& interval) {
    const auto [low, high] = std::minmax(interval.begin, interval.end);
    return high > window.from && low < window.to;
  });
}

}  // namespace

double CounterParts::amount() const {
  if (parts.empty()) return unknown;
  double sum = 0;
  for (const Part& part : parts) sum += part.amount;
  return sum;
}

double CounterParts::seconds() const {
  double sum = 0;
  for (const Part& part : parts) sum += part.seconds;
  return sum;
}

Observations::Observations(TimeWindow window, const Serving& serving, std::vector<std::string> own_nodes,
                           double gap_periods)
    : window_(window), how_{.gap_factor = gap_periods} {
  for (const store::Node& server : serving.servers) {
    servers_.insert(server.name);
    if (node_set_.insert(server.name).second) nodes_.push_back(server.name);
  }
  targets_.insert(serving.targets.begin(), serving.targets.end());
  for (std::string& node : own_nodes) {
    if (node_set_.insert(node).second) nodes_.push_back(std::move(node));
  }
}

std::vector<Observations::Wish> Observations::wishes() {
  return {
      {.counters = {"ost_io.start_time", "ost.start_time", "job.start_time"}},
      {.counters = {"ost.read_bytes", "ost.write_bytes"}, .everywhere = true},
      {.counters = {"ost_io.req_qdepth.sum", "ost_io.req_qdepth.count"}},
      {.counters = {"ost_io.req_waittime.sum", "ost_io.req_waittime.count"}},
      {.counters = {"ost_io.req_active.sum", "ost_io.req_active.count"}},
      {.counters = {"link.wait_cycles", "link.bytes", "ib.tx_bytes", "cxi.tx_bytes"}},
      {.counters = {"job.read_bytes", "job.write_bytes"}},
      {.counters = {"block.read_bytes", "block.write_bytes", "block.read_ops", "block.write_ops",
                    "block.read_ms", "block.write_ms", "block.busy_ms", "block.queue_ms"}},
      {.counters = {"net.rx_bytes", "net.tx_bytes", "host.cpu_busy_ms", "host.cpu_iowait_ms",
                    "host.paged_in_bytes", "host.paged_out_bytes", "host.io_some_us", "host.io_full_us"}},
  };
}

const CounterParts* Observations::find(std::string_view counter) const {
  const auto id = telemetry::find_counter(counter);
  const auto found = id ? growth_.find(*id) : growth_.end();
  return found == growth_.end() || found->second.parts.empty() ? nullptr : &found->second;
}

const MeanParts* Observations::find_mean(std::string_view sum) const {
  const auto id = telemetry::find_counter(sum);
  const auto found = id ? means_.find(*id) : means_.end();
  return found == means_.end() ? nullptr : &found->second;
}

double Observations::period_seconds() const {
  telemetry::Nanoseconds usual = 0;
  std::uint64_t most = 0;
  for (const auto& [period, series] : periods_) {
    if (series > most) {
      most = series;
      usual = period;
    }
  }
  return usual == 0 ? unknown : static_cast<double>(usual) * 1e-9;
}

bool Observations::is_ours(const telemetry::SeriesKey& key) const {
  // A target that moved to another server is still the job's.
  if (!targets_.empty() && !key.component.empty() && targets_.contains(key.component)) return true;
  return node_set_.contains(key.node);
}

const Series* Observations::starts_of(const telemetry::SeriesKey& key) const {
  const std::string_view gauge = telemetry::counter(key.counter).start;
  if (gauge.empty() || starts_.empty()) return nullptr;
  const auto found = starts_.find(place_of(*telemetry::find_counter(gauge), key));
  return found == starts_.end() ? nullptr : &found->second;
}

void Observations::take(const Series& series) {
  if (series.times.empty()) return;
  const telemetry::Counter& declared = telemetry::counter(series.key.counter);
  if (declared.kind == telemetry::CounterKind::gauge) {
    if (!declared.name.ends_with("start_time")) return;
    Series changes{.key = series.key, .times = {}, .values = {}};
    for (std::size_t i = 0; i < series.times.size(); ++i) {
      if (!changes.values.empty() && changes.values.back() == series.values[i]) continue;
      changes.times.push_back(series.times[i]);
      changes.values.push_back(series.values[i]);
    }
    starts_.insert_or_assign(place_of(series.key.counter, series.key), std::move(changes));
    return;
  }
  if (const auto pair = pair_of(series.key.counter))
    return take_mean(series, pair->sum == series.key.counter);
  if (is_job_counter(series.key.counter)) return take_job(series);
  take_growth(series);
}

// Counts what happened in the window, and the time that is known of it.
double Observations::note(const std::vector<Interval>& intervals, const Series& series) {
  double known = 0;
  for (const Interval& interval : intervals) {
    const auto [low, high] = std::minmax(interval.begin, interval.end);
    if (high <= window_.from || low >= window_.to) continue;
    ++counts_.intervals;
    counts_.resets += interval.mark == IntervalMark::reset ? 1 : 0;
    counts_.wraps += interval.mark == IntervalMark::wrap ? 1 : 0;
    counts_.clock_steps += interval.mark == IntervalMark::clock_step ? 1 : 0;
    if (interval.mark == IntervalMark::gap) {
      ++counts_.gaps;
      counts_.longest_gap_seconds = std::max(counts_.longest_gap_seconds, interval.seconds());
    }
    if (interval.has_rate()) known += inside(window_, interval);
  }
  ++counts_.series;
  const auto first = std::lower_bound(series.times.begin(), series.times.end(), window_.from);
  const auto last = std::lower_bound(first, series.times.end(), window_.to);
  counts_.samples += static_cast<std::uint64_t>(last - first);
  heard_.insert(series.key.node);
  known_seconds_ += known;
  return known;
}

Completeness Observations::completeness() const {
  Completeness result = counts_;
  result.interval_seconds = period_seconds();
  if (result.series > 0) {
    result.covered = std::min(1.0, known_seconds_ / (static_cast<double>(result.series) * window_.seconds()));
  }
  return result;
}

void Observations::take_growth(const Series& series) {
  CounterParts& counter = growth_[series.key.counter];
  if (!is_ours(series.key)) {
    counter.elsewhere += plain_growth(window_, series);
    return;
  }
  const telemetry::Nanoseconds period = telemetry::sampling_period(series.times);
  const std::vector<Interval> intervals =
      telemetry::intervals(series, {.period = period, .gap_factor = how_.gap_factor}, starts_of(series.key));
  if (!any_inside(window_, intervals)) return;
  if (counter.total.size() == 0) counter.total = Bins(window_, most_timeline_bins);
  Part part{.node = series.key.node, .component = series.key.component, .over_time = {}};
  const bool over_time = has_parts_over_time(series.key.counter);
  if (over_time) part.over_time = Bins(window_, most_matrix_bins);
  note(intervals, series);
  for (const Interval& interval : intervals) {
    const double seconds = inside(window_, interval);
    if (seconds <= 0) continue;
    part.resets += interval.mark == IntervalMark::reset ? 1 : 0;
    if (interval.mark == IntervalMark::gap) part.longest_gap = std::max(part.longest_gap, interval.seconds());
    if (!interval.has_difference()) continue;
    const double amount = static_cast<double>(interval.difference) * seconds / interval.seconds();
    part.amount += amount;
    part.seconds += seconds;
    if (interval.has_rate()) {  // a gap is no interval of sampling, however much it grew
      part.peak_amount = std::max(part.peak_amount, amount);
      part.peak_rate = std::max(part.peak_rate, interval.rate());
    }
    counter.total.add(interval);
    if (over_time) part.over_time.add(interval);
  }
  counter.period = std::max(counter.period, period);
  ++periods_[period];
  counter.parts.push_back(std::move(part));
}

void Observations::take_mean(const Series& series, bool is_sum) {
  if (!is_ours(series.key)) return;
  const Pair pair = *pair_of(series.key.counter);
  const auto found = waiting_.find(place_of(pair.sum, series.key));
  if (found == waiting_.end() || found->second.key.counter == series.key.counter) {
    waiting_.insert_or_assign(place_of(pair.sum, series.key), series);
    return;
  }
  const Series& other = found->second;
  const Series* starts = starts_of(series.key);
  const std::vector<Interval> sums = telemetry::intervals(is_sum ? series : other, how_, starts);
  const std::vector<Interval> counts = telemetry::intervals(is_sum ? other : series, how_, starts);
  if (!any_inside(window_, counts)) {
    waiting_.erase(found);
    return;
  }
  MeanParts& mean = means_[pair.sum];
  if (mean.total.size() == 0) mean.total = Bins(window_, most_timeline_bins);
  MeanPart part{.node = series.key.node};
  part.seconds = note(counts, series);
  // A reset that only the other series shows (it grew beyond its old value meanwhile) spoils both:
  // interval_means takes only intervals that both have.
  for (const telemetry::MeanInterval& interval : telemetry::interval_means(sums, counts)) {
    if (!interval.mean) continue;
    const double share = inside(window_, {.begin = interval.begin, .end = interval.end}) /
                         (static_cast<double>(interval.end - interval.begin) * 1e-9);
    const auto events = static_cast<double>(interval.events);
    part.sum += *interval.mean * events * share;
    part.count += events * share;
    mean.total.add(interval.begin, interval.end, *interval.mean * events, events);
  }
  const telemetry::Nanoseconds period = telemetry::sampling_period(series.times);
  mean.period = std::max(mean.period, period);
  ++periods_[period];
  mean.parts.push_back(std::move(part));
  waiting_.erase(found);
}

void Observations::take_job(const Series& series) {
  if (!is_ours(series.key)) return;
  const auto grown =
      telemetry::growth(telemetry::intervals(series, how_, starts_of(series.key)), window_.from, window_.to);
  // A job that began after the counter's last sample before it has no earlier sample: what it says first, it
  // moved since.
  double before = 0;
  if (series.times.front() > window_.from && series.times.front() < window_.to) {
    before = static_cast<double>(series.values.front());
  }
  if (grown.amount + before <= 0) return;
  JobTraffic& traffic = traffic_[series.key.job];
  traffic.bytes += grown.amount + before;
  traffic.targets.insert(series.key.component.empty() ? series.key.node : series.key.component);
}

}  // namespace weir::analysis
