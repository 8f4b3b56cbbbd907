#include "telemetry/collector.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <time.h>

#include <chrono>
#include <cmath>
#include <set>

#include "telemetry/forward_message.hpp"

namespace weir::telemetry {

namespace {

using Clock = std::chrono::steady_clock;

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Whether the time has come; false: stop was said before.
bool wait_until(Clock::time_point time, int stop) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(time - Clock::now()).count();
    if (left <= 0 && stop < 0) return true;
    pollfd waiting{stop, POLLIN, 0};
    const timespec timeout{.tv_sec = std::max<long>(left, 0) / 1'000'000,
                           .tv_nsec = std::max<long>(left, 0) % 1'000'000 * 1000};
    const int ready = ::ppoll(&waiting, stop >= 0 ? 1 : 0, &timeout, nullptr);
    if (ready > 0) return false;
    if (left <= 0) return true;
  }
}

}  // namespace

Result<Collector> Collector::open(CollectorOptions options) {
  if (!(options.interval >= 0.001 && options.interval <= 86'400))
    return fail(ErrorCode::invalid_argument, fmt::format("an interval of {:g} s", options.interval),
                "sample every 1 ms to 1 day");
  if (options.duration && !(*options.duration >= 0 && *options.duration < 1e9))
    return fail(ErrorCode::invalid_argument, fmt::format("a duration of {:g} s", *options.duration));
  if (options.setting.node.empty()) options.setting.node = host_name();
  Collector collector(std::move(options));
  WEIR_ASSIGN(collector.sources_, open_sources(collector.options_.sources, collector.options_.setting));
  return collector;
}

void Collector::sample(Batch& batch) {
  Round round{.time = now(), .batch = batch};
  for (const auto& source : sources_) source->sample(round);
  problems_ = std::move(round.problems);
}

CollectorTally Collector::run(const Deliver& deliver, const Problem& problem, int stop) {
  constexpr std::size_t most_told = 1000;
  CollectorTally tally;
  Batch batch;
  std::set<std::string> told;  // a file that cannot be read would be told every second
  const auto one_round = [&] {
    batch.clear();
    sample(batch);
    ++tally.rounds;
    tally.samples += batch.points.size();
    tally.problems += problems_.size();
    for (const std::string& what : problems_) {
      if (told.size() < most_told && told.insert(what).second) problem(what);
    }
    if (const Status delivered = deliver(batch); !delivered) {
      ++tally.failures;
      if (told.size() < most_told && told.insert(delivered.error().message()).second)
        problem(delivered.error().message());
    }
  };

  const auto interval =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.interval));
  const auto begin = Clock::now();
  const auto end = options_.duration ? begin + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(*options_.duration))
                                     : Clock::time_point::max();
  // The next multiple of the interval on the wall clock, told on the clock that nobody sets.
  const auto since_1970 = std::chrono::nanoseconds(now());
  auto next = begin + interval - std::chrono::duration_cast<Clock::duration>(since_1970 % interval);
  auto rescan =
      begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.rescan));
  one_round();
  while (next < end) {
    if (!wait_until(next, stop)) return tally;
    if (Clock::now() >= rescan) {
      for (const auto& source : sources_) source->rescan();
      rescan = Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.rescan));
    }
    one_round();
    next += interval;
    const auto passed = Clock::now();
    if (next <= passed) {
      const auto missed = (passed - next) / interval + 1;
      tally.late += static_cast<std::uint64_t>(missed);
      next += interval * missed;
    }
  }
  if (*options_.duration > 0 && wait_until(end, stop)) one_round();
  return tally;
}

Overhead Collector::measure(double seconds) {
  // With pauses, as in earnest: rounds without one find everything in the processor's caches, and look cheap.
  constexpr auto pause = std::chrono::milliseconds(20);
  Overhead overhead;
  Batch batch;
  sample(batch);  // what only happens once
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  const double before = processor_seconds();
  while (overhead.rounds == 0 || Clock::now() < end) {
    wait_until(Clock::now() + pause, -1);
    batch.clear();
    sample(batch);
    overhead.counters = batch.points.size();
    if (pack_entries(batch).empty()) break;
    ++overhead.rounds;
  }
  overhead.round_seconds =
      (processor_seconds() - before) / static_cast<double>(std::max<std::size_t>(overhead.rounds, 1));
  return overhead;
}

}  // namespace weir::telemetry
