// `weir bench stream`: STREAM that writes its arrays, synchronously and not.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "bench_folder.hpp"
#include "bench_options.hpp"
#include "bench_report.hpp"
#include "core/options.hpp"
#include "platform/hwloc_source.hpp"
#include "workloads/stream_kernels.hpp"

namespace weir::cli {

namespace {

constexpr std::int64_t default_array_bytes = std::int64_t{16} << 20;
constexpr std::int64_t slowdown_array_bytes = std::int64_t{64} << 20;  // more than most caches hold
constexpr int default_loops = 20;
constexpr int default_write_every = 5;
constexpr int writes_to_compare = 4;
constexpr int slowdown_writes = 2;
constexpr int rounds_to_calibrate = 3;
// A few percent are asked for on machines where a tenth of a second differs from the next by more: what is
// compared so closely takes turns, the more of them the shorter they are.
constexpr std::int64_t most_turns = 4;
constexpr std::int64_t bytes_of_one_turn = std::int64_t{64} << 20;
constexpr int most_times_a_write = 100;
constexpr int paper_write_every = 10;  // of the paper on iocomp, for its Table IV
constexpr double margin = 1.25;        // both times vary: compute is to be the longer one in all rounds
constexpr double far = 1.5;

// How much one backend computes between two writes.
struct Rhythm {
  int loops = default_loops;
  int write_every = default_write_every;
  bool spread = false;
  int slowdown_write_every = 0;  // compute is compared with plain STREAM in another rhythm; 0: in this one
  int writes() const { return (loops + write_every - 1) / write_every; }
};

Result<std::int64_t> array_bytes_of(const StreamArguments& arguments) {
  if (arguments.size.empty()) return default_array_bytes;
  WEIR_ASSIGN(const std::int64_t bytes, in(parse_bytes(arguments.size), "read --size"));
  constexpr std::int64_t most = std::int64_t{1} << 46;
  if (bytes < 8 || bytes > most) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("--size: an array needs from 8 bytes to {}", format_bytes(most)));
  }
  return bytes;
}

// Of the arrays in which compute is compared with plain STREAM: what a cache has room for measures who else
// uses that. As the user says, if he does; and little beside what the machine has.
std::int64_t slowdown_array_bytes_of(const StreamArguments& arguments, std::int64_t array_bytes,
                                     int ranks_that_share) {
  if (!arguments.size.empty()) return array_bytes;
  constexpr std::int64_t part = 64;
  const std::int64_t memory = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  return std::clamp(memory / part / ranks_that_share, array_bytes, slowdown_array_bytes);
}

void warn_of_caches(std::int64_t array_bytes, std::vector<std::string>& notes) {
  std::uint64_t largest = 0;
  if (const auto here = node_type_of_this_machine()) {
    for (const Cache& cache : here->caches) largest = std::max(largest, cache.bytes);
  }
  if (largest / 3 < static_cast<std::uint64_t>(array_bytes)) return;
  notes.push_back(fmt::format(
      "The last cache, {}, has room for the arrays of {}: compute also depends on what else is in it. A "
      "larger --size tells more, and takes longer.",
      format_bytes(largest), format_bytes(static_cast<std::uint64_t>(array_bytes))));
}

// What the user wants between two writes.
struct Interval {
  int loops = 0;  // 0: to be calibrated
  int times_a_write = 1;
  bool calibrated() const { return loops == 0; }
};

Result<Interval> interval_of(const StreamArguments& arguments) {
  const std::string& text = arguments.write_every;
  if (text.empty()) return Interval{.loops = arguments.settings.compare ? 0 : default_write_every};
  if (text == "auto") return Interval{};
  const bool times = text.back() == 'x';
  const int most = times ? most_times_a_write : workloads::most_stream_loops;
  const auto number = parse_integer(times ? text.substr(0, text.size() - 1) : text);
  if (!number || *number < 1 || *number > most) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("--write-every: '{}' is neither 'auto', nor '1x' to '{}x', nor a number from 1 to {}",
                    text, most_times_a_write, workloads::most_stream_loops));
  }
  const auto value = static_cast<int>(*number);
  return times ? Interval{.times_a_write = value} : Interval{.loops = value};
}

Rhythm rhythm_of(const StreamArguments& arguments, int write_every, bool calibrated) {
  const bool spread = arguments.order == "spread" || (arguments.order.empty() && arguments.settings.compare);
  Rhythm rhythm{.loops = arguments.loops, .write_every = write_every, .spread = spread};
  if (rhythm.loops == 0) rhythm.loops = calibrated ? writes_to_compare * write_every : default_loops;
  return rhythm;
}

Json to_json(const Rhythm& rhythm) {
  Json json = {{"loops", rhythm.loops},
               {"write_every", rhythm.write_every},
               {"writes", rhythm.writes()},
               {"spread", rhythm.spread}};
  if (rhythm.slowdown_write_every > 0) json["slowdown_write_every"] = rhythm.slowdown_write_every;
  return json;
}

// Seconds of one synchronous write of the four arrays, and of one loop.
struct Pace {
  double io = 0;
  double compute = 0;
};

Result<Pace> try_rhythm(const BenchRun& run, const std::string& backend, const Rhythm& rhythm) {
  const BenchCase one{.mapping = "sequential", .backend = backend, .parameters = to_json(rhythm)};
  WEIR_ASSIGN(const auto samples, launch_cases(run, {one}, true, false));
  const BenchSample& sample = samples.front();
  if (!sample.failure.empty()) return fail(ErrorCode::io, sample.failure);
  // Of plain STREAM: after a synchronous write a loop finds its data gone from the caches.
  return Pace{.io = io_seconds(sample) / rhythm.writes(),
              .compute = std::max(sample.values.at("plain_compute") / rhythm.loops, 1e-9)};
}

// Each by itself: a machine that others use may be slow for a moment.
Pace middle(std::vector<Pace> tries) {
  const auto half = tries.begin() + static_cast<std::ptrdiff_t>(tries.size() / 2);
  Pace pace;
  for (double Pace::*const part : {&Pace::io, &Pace::compute}) {
    std::ranges::nth_element(tries, half, {}, part);
    pace.*part = (*half).*part;
  }
  return pace;
}

// So many loops between writes that they take at least so many times as long as a synchronous write of the
// four arrays, for each backend.
class Calibration {
 public:
  Calibration(const StreamArguments& arguments, const BenchSettings& settings, int times_a_write)
      : arguments_(arguments), settings_(settings), times_a_write_(times_a_write) {}

  Status calibrate(const BenchRun& run) {
    BenchSettings quick = run.settings;
    quick.verify = quick.keep = false;
    const BenchRun quick_run{.workload = run.workload,
                             .settings = quick,
                             .launches = run.launches,
                             .common = run.common,
                             .files = run.files,
                             .scratch = run.scratch};
    std::map<std::string, std::vector<Pace>> tries;
    // The first round writes after every loop; those that count, in the rhythm that this suggests: some
    // backends write faster if there is time in between.
    for (int round = 0; round <= rounds_to_calibrate; ++round) {
      for (const std::string& backend : run.settings.backends) {
        const Rhythm tried = round == 0 ? Rhythm{.loops = writes_to_compare, .write_every = 1}
                                        : rhythm_of(arguments_, loops_for(paces_.at(backend)), true);
        WEIR_ASSIGN(const Pace pace, try_rhythm(quick_run, backend, tried));
        if (round == 0)
          paces_[backend] = pace;
        else
          tries[backend].push_back(pace);
      }
    }
    for (const auto& [backend, found] : tries) paces_[backend] = middle(found);
    return {};
  }

  // Memory that was never used is slow once, and so are the writes that meet it: the round that warms up may
  // find that they are far faster than they were before. Little differences are chance.
  void look_again(const std::vector<BenchRow>& rows, const std::vector<BenchSample>& samples) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const BenchCase& what = rows[i].what;
      if (what.mapping != "sequential" || !samples[i].failure.empty()) continue;
      Pace& pace = paces_.at(what.backend);
      const double io = io_seconds(samples[i]) / what.parameters.at("writes").get<int>();
      if (far * io < pace.io) pace.io = io;
    }
  }

  // Compute is compared with plain STREAM in the paper's rhythm, or a slower one that storage keeps up with.
  Rhythm rhythm_for(const std::string& backend) const {
    Rhythm rhythm = rhythm_of(arguments_, loops_for(paces_.at(backend)), true);
    if (times_a_write_ == 1 && settings_.compare && !settings_.brief)
      rhythm.slowdown_write_every = std::max(paper_write_every, rhythm.write_every);
    return rhythm;
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    for (const std::string& backend : settings_.backends) {
      const Rhythm rhythm = rhythm_for(backend);
      notes.push_back(fmt::format(
          "{}: a synchronous write of the four arrays takes {:.3f} s, a loop {:.3f} s: "
          "each is written every {} {}{}.",
          backend, paces_.at(backend).io, paces_.at(backend).compute, rhythm.write_every,
          rhythm.write_every == 1 ? "loop" : "loops", rhythm.spread ? ", the four spread over them" : ""));
    }
    return notes;
  }

 private:
  int loops_for(const Pace& pace) const {
    return static_cast<int>(
        std::clamp(std::ceil(margin * times_a_write_ * pace.io / pace.compute), 1.0, 1000.0));
  }

  const StreamArguments& arguments_;
  const BenchSettings& settings_;
  int times_a_write_;
  std::map<std::string, Pace> paces_;
};

Status check_files(const BenchRun& run, const std::vector<BenchRow>& rows) {
  const auto bytes_of = [&](const char* elements, double writes) {
    return 4.0 * sizeof(double) * run.common.at(elements).get<double>() * writes;
  };
  double most = 0;
  double all = 0;
  double beside = 0;
  for (const BenchRow& row : rows) {
    const Json& parameters = row.what.parameters;
    const double bytes = bytes_of("elements", parameters.at("writes").get<double>());
    most = std::max(most, bytes);
    all += bytes;
    // That of the library, that of the one who merely writes, and one that was removed a moment ago.
    if (parameters.contains("slowdown_write_every"))
      beside = 3 * bytes_of("slowdown_elements", slowdown_writes);
  }
  return check_room(run.files, 1.1 * ((run.settings.keep ? all : most) + beside));
}

}  // namespace

Status bench_stream(const StreamArguments& arguments) {
  std::vector<std::string> notes;
  WEIR_ASSIGN(const std::int64_t array_bytes, array_bytes_of(arguments));
  WEIR_ASSIGN(const Interval interval, interval_of(arguments));
  WEIR_ASSIGN(const BenchSettings settings, settle(arguments, notes));
  const bool calibrated = interval.calibrated();
  const int shares = settings.strong ? 1 : settings.compute;
  const auto elements_of = [&](std::int64_t bytes) {
    return static_cast<std::uint64_t>(bytes) / sizeof(double) * static_cast<std::uint64_t>(shares);
  };
  const std::int64_t slowdown_bytes = slowdown_array_bytes_of(arguments, array_bytes, shares);
  const std::int64_t turns = std::clamp<std::int64_t>(bytes_of_one_turn / slowdown_bytes, 1, most_turns);

  const Interrupts interrupts;
  WEIR_ASSIGN(const BenchFolder files,
              settings.keep ? BenchFolder::kept(settings.folder.empty() ? "weir-bench" : settings.folder)
                            : BenchFolder::temporary(settings.folder));
  WEIR_ASSIGN(const BenchFolder scratch, BenchFolder::temporary(""));
  BenchRun run{.workload = "stream",
               .settings = settings,
               .launches = {},
               .common = {{"elements", elements_of(array_bytes)},
                          {"slowdown_elements", elements_of(slowdown_bytes)},
                          {"slowdown_writes", slowdown_writes},
                          {"turns", turns}},
               .files = files.path(),
               .scratch = scratch.path()};
  WEIR_ASSIGN(run.launches, launches_of(settings));
  if (calibrated) {
    WEIR_ASSIGN(run.launches["sequential"], launch_of("sequential", settings.compute));
  }
  for (const auto& [mapping, launch] : run.launches)
    notes.insert(notes.end(), launch.notes.begin(), launch.notes.end());

  std::vector<BenchRow> rows;
  for (BenchCase& one : cases_of(settings)) {
    one.parameters = to_json(rhythm_of(arguments, std::max(interval.loops, 1), calibrated));
    rows.push_back({.what = std::move(one)});
  }
  WEIR_TRY(check_files(run, rows));
  Calibration calibration(arguments, settings, interval.times_a_write);
  const auto set_rhythms = [&](std::vector<BenchRow>& all) {
    for (BenchRow& row : all) row.what.parameters = to_json(calibration.rhythm_for(row.what.backend));
  };
  Warmed warmed;
  if (calibrated) {
    WEIR_TRY(calibration.calibrate(run));
    set_rhythms(rows);
    WEIR_TRY(check_files(run, rows));
    warmed = [&](std::vector<BenchRow>& all, const std::vector<BenchSample>& samples) {
      calibration.look_again(all, samples);
      set_rhythms(all);
    };
  }
  WEIR_TRY(run_rounds(run, rows, warmed));
  notes.insert(notes.begin(), fmt::format("STREAM on {} compute {}: three arrays of {} {}.", settings.compute,
                                          settings.compute == 1 ? "rank" : "ranks",
                                          format_bytes(static_cast<std::uint64_t>(array_bytes)),
                                          settings.strong ? "shared by all" : "on each"));
  if (settings.compare && !settings.brief) {
    if (slowdown_bytes != array_bytes && calibrated)
      notes.push_back(fmt::format("How much compute is slowed is asked with arrays of {}.",
                                  format_bytes(static_cast<std::uint64_t>(slowdown_bytes))));
    warn_of_caches(calibrated ? slowdown_bytes : array_bytes, notes);
  }
  if (calibrated) {
    const auto found = calibration.notes();
    notes.insert(notes.end(), found.begin(), found.end());
  }
  return finish({.workload = "stream",
                 .settings = settings,
                 .parameters = {{"array_bytes_of_all_ranks", elements_of(array_bytes) * sizeof(double)},
                                {"slowdown_array_bytes_of_all_ranks",
                                 elements_of(calibrated ? slowdown_bytes : array_bytes) * sizeof(double)},
                                {"write_every_calibrated", calibrated},
                                {"compute_times_a_write", calibrated ? interval.times_a_write : 0}},
                 .notes = notes,
                 .results = results_of(std::move(rows))});
}

}  // namespace weir::cli
