// How often the analysis finds what is wrong with a job, and how often it finds something where nothing is.
//
//   finding_bench [--seeds 50] [--first 1001] [--say]
//
// The sites here have nothing to do with the synthetic K computer, by which thresholds were set: servers,
// targets and links in other numbers, a table of who serves whom, writing in phases, loads that drift,
// targets that differ by nature. Each seed is a site with three healthy jobs and one job for each kind of
// fault, which is drawn at a random place and with a random strength: from what hurts to what nobody would
// notice. Results are told by strength, the borders of which are stated here and follow from no threshold.
// What is printed was not used to set any; whoever changes a threshold by looking at it should take other
// seeds afterwards.
//
// --say: for every job what was planted and what was found.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>

#include "analysis/analyse.hpp"
#include "store/store.hpp"

namespace {

using namespace weir;
using telemetry::Nanoseconds;

constexpr Nanoseconds second = 1'000'000'000;
constexpr double link_bytes_per_second = 12.5e9;
constexpr double clock_hz = 1e9;
constexpr double request_bytes = 4e6;

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "finding_bench: {}\n", result.error().message());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

enum class Kind { none, slow_target, idle_targets, other_job, hot_link, deep_queues, gap, reset, uneven };

// From `strong` on a fault is strong, from `moderate` on moderate, else mild; `falls`: less is stronger.
struct KindEntry {
  Kind kind;
  const char* what;
  std::set<std::string> codes;  // any of these names it
  double least, most;           // strengths are drawn between these
  double strong, moderate;
  bool falls = false;
  const char* unit;
};

const std::vector<KindEntry>& kinds() {
  static const std::vector<KindEntry> table = {
      {Kind::slow_target,
       "one or two slow targets",
       {"slow-target"},
       0.05,
       0.8,
       0.3,
       0.5,
       true,
       "of the speed of the others"},
      {Kind::idle_targets,
       "targets that carry next to nothing",
       {"idle-targets"},
       0.1,
       0.7,
       0.4,
       0.2,
       false,
       "of the targets"},
      {Kind::other_job,
       "another job on the same servers",
       {"shared-servers"},
       0.1,
       0.9,
       0.5,
       0.25,
       false,
       "of the bytes"},
      {Kind::hot_link, "packets wait on one link", {"hot-link"}, 0.02, 0.6, 0.2, 0.08, false, "of the time"},
      {Kind::deep_queues,
       "requests queue in the servers",
       {"queue-idle-links", "deep-queue"},
       10,
       300,
       100,
       40,
       false,
       "requests deep"},
      {Kind::gap, "samples are missing", {"sampling-gap"}, 0.03, 0.4, 0.15, 0.08, false, "of the time"},
      {Kind::reset, "servers that count anew", {"counter-reset"}, 1, 4.99, 1, 1, false, "servers"},
      {Kind::uneven,
       "uneven servers",
       {"uneven-servers"},
       0.15,
       0.9,
       0.6,
       0.35,
       false,
       "spread of the logarithm"},
  };
  return table;
}

const char* band_of(const KindEntry& entry, double strength) {
  const auto at_least = [&](double border) { return entry.falls ? strength <= border : strength >= border; };
  return at_least(entry.strong) ? "strong" : at_least(entry.moderate) ? "moderate" : "mild";
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<>(low, high)(engine_); }
  int whole(int low, int high) { return std::uniform_int_distribution<>(low, high)(engine_); }
  double normal() { return std::normal_distribution<>()(engine_); }
  // Over orders of magnitude.
  double logarithmic(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }

 private:
  std::mt19937_64 engine_;
};

struct Target {
  std::string name;
  double nature = 1;  // its own speed, beside the others'
};

struct Server {
  std::string name;
  std::vector<Target> targets;
  double load = 1;   // of the job, beside the other servers'
  double drift = 0;  // of its load, as it goes
};

struct Planned {
  store::Job job;
  Kind kind = Kind::none;
  double strength = 0;
};

// One job with its own servers, sampled from before its start until after its end.
class Island {
 public:
  Island(Random& random, int number, Kind kind, double strength, Nanoseconds start)
      : random_(random), kind_(kind), strength_(strength) {
    const int servers = random.whole(6, 24), targets = random.whole(2, 6);
    const double nature = random.uniform(0.02, 0.2);  // how much targets differ, as disks do
    const double habit = random.uniform(0, 0.12);     // and what servers are given
    for (int s = 0; s < servers; ++s) {
      Server server{.name = fmt::format("oss{}-{}", number, s),
                    .targets = {},
                    .load = std::exp(habit * random.normal())};
      for (int t = 0; t < targets; ++t)
        server.targets.push_back({.name = fmt::format("fs{}-OST{:04x}", number, s * targets + t),
                                  .nature = std::exp(nature * random.normal())});
      if (kind == Kind::uneven) server.load = std::exp(strength * random.normal());
      servers_.push_back(std::move(server));
    }
    intervals_ = random.whole(25, 120);
    interval_ = random.whole(0, 1) == 0 ? 10 * second : 60 * second;
    first_ = start;
    const int before = random.whole(2, 6);
    job_from_ = start + before * interval_ + random.whole(0, 9) * second;
    job_to_ = job_from_ + (intervals_ - 2 * before) * interval_;
    rate_ = random.logarithmic(20e6, 800e6);
    read_share_ = random.uniform(0, 0.5);
    link_use_ = random.uniform(0.02, 0.5);
    depth_ = random.logarithmic(1, 12);
    wait_us_ = random.logarithmic(100, 5000);
    period_ = random.whole(3, 12);  // writing in phases: so many intervals, with a pause
    writing_ = random.uniform(0.5, 1.0);
    noise_ = random.uniform(0.02, 0.15);
    links_ = {"p0", "p1"};
    if (random.whole(0, 1) == 1) links_.insert(links_.end(), {"p2", "p3"});
    plant();
  }

  std::vector<Planned> jobs(int number, std::vector<store::Node>& nodes) {
    std::vector<std::string> servers;
    for (const Server& server : servers_) {
      store::Node node{.name = server.name, .role = store::NodeRole::local_io};
      for (const Target& target : server.targets) node.targets.push_back(target.name);
      nodes.push_back(std::move(node));
      servers.push_back(server.name);
    }
    std::vector<Planned> planned(1);
    planned[0].kind = kind_;
    planned[0].strength = strength_;
    if (kind_ == Kind::other_job) planned.emplace_back();
    for (std::size_t j = 0; j < planned.size(); ++j) {
      store::Job& job = planned[j].job;
      job.id = fmt::format("job{}{}", number, j == 0 ? "" : "-other");
      job.user = "u";
      job.state = store::JobState::completed;
      job.start_ns = j == 0 ? job_from_ : job_from_ - interval_;
      job.end_ns = j == 0 ? job_to_ : job_to_ + interval_;
      for (int n = 0; n < 4; ++n) {
        job.nodes.push_back(fmt::format("c{}-{}-{}", number, j, n));
        nodes.push_back({.name = job.nodes.back(), .role = store::NodeRole::compute, .servers = servers});
      }
      job.node_count = job.nodes.size();
    }
    const double total = written_ + read_;
    const double others = kind_ == Kind::other_job ? strength_ * total : 0;
    planned[0].job.figures = {{"bytes_written", (total - others) * written_ / total},
                              {"bytes_read", (total - others) * read_ / total}};
    if (planned.size() == 2) planned[1].job.figures = {{"bytes_written", others}, {"bytes_read", 1.0}};
    return planned;
  }

  // REQUIRED before jobs(): what they moved is known then.
  std::vector<telemetry::Series> series() {
    std::vector<telemetry::Series> all;
    for (std::size_t s = 0; s < servers_.size(); ++s) sample(s, all);
    return all;
  }

 private:
  void plant() {
    const int servers = static_cast<int>(servers_.size());
    chosen_server_ = random_.whole(0, servers - 1);
    chosen_link_ = random_.whole(0, static_cast<int>(links_.size()) - 1);
    if (kind_ == Kind::slow_target) {
      // All stripes are as large: a slow target has as many bytes in more time only if the job waits for it;
      // what servers count meanwhile is that it gets fewer. Two at most, so that they stay few.
      for (int n = random_.whole(1, 2); n > 0; --n) {
        Server& server = servers_[static_cast<std::size_t>(random_.whole(0, servers - 1))];
        Target& target = server.targets[static_cast<std::size_t>(
            random_.whole(0, static_cast<int>(server.targets.size()) - 1))];
        target.nature = strength_;
      }
    } else if (kind_ == Kind::idle_targets) {
      std::vector<Target*> all;
      for (Server& server : servers_)
        for (Target& target : server.targets) all.push_back(&target);
      // A stretch of neighbours, as a stripe count that is too small leaves it, or anyone.
      const auto idle = static_cast<std::size_t>(std::lround(strength_ * static_cast<double>(all.size())));
      const bool together = random_.whole(0, 1) == 0;
      const auto from = static_cast<std::size_t>(random_.whole(0, static_cast<int>(all.size()) - 1));
      if (!together) {
        for (std::size_t i = all.size(); i > 1; --i)
          std::swap(all[i - 1], all[static_cast<std::size_t>(random_.whole(0, static_cast<int>(i) - 1))]);
      }
      const double rest = random_.uniform(0, 0.06);
      for (std::size_t i = 0; i < idle; ++i) all[(from + i) % all.size()]->nature *= rest;
    } else if (kind_ == Kind::gap) {
      length_ = std::max<Nanoseconds>(
          2 * interval_, static_cast<Nanoseconds>(strength_ * static_cast<double>(job_to_ - job_from_)));
      hole_ = job_from_ + static_cast<Nanoseconds>(random_.uniform(0.05, 0.95) *
                                                   static_cast<double>(job_to_ - job_from_ - length_));
      affected_ = random_.whole(1, servers);
    } else if (kind_ == Kind::reset) {
      affected_ = std::min(servers, static_cast<int>(strength_));
      hole_ = job_from_ +
              static_cast<Nanoseconds>(random_.uniform(0.1, 0.9) * static_cast<double>(job_to_ - job_from_));
    }
  }

  bool affects(std::size_t server) const {
    const std::size_t count = servers_.size();
    return (server + count - static_cast<std::size_t>(chosen_server_)) % count <
           static_cast<std::size_t>(affected_);
  }

  void sample(std::size_t s, std::vector<telemetry::Series>& all) {
    Server& server = servers_[s];
    std::vector<telemetry::SeriesKey> keys;
    std::vector<double> values;
    const auto add = [&](std::string_view counter, const std::string& component) {
      keys.push_back({*telemetry::find_counter(counter), server.name, component, {}});
      values.push_back(std::floor(random_.uniform(1e9, 1e12)));
      return values.size() - 1;
    };
    std::vector<std::size_t> link_at, target_at;
    for (const std::string& link : links_) {
      link_at.push_back(add("link.bytes", link));
      add("link.wait_cycles", link);
    }
    const std::size_t requests_at = add("ost_io.req_qdepth.count", "");
    for (const char* counter :
         {"ost_io.req_qdepth.sum", "ost_io.req_waittime.count", "ost_io.req_waittime.sum",
          "ost_io.req_active.count", "ost_io.req_active.sum"})
      add(counter, "");
    for (const Target& target : server.targets) {
      target_at.push_back(add("ost.write_bytes", target.name));
      add("ost.read_bytes", target.name);
    }
    const std::size_t at = all.size();
    for (const telemetry::SeriesKey& key : keys) all.emplace_back().key = key;
    const Nanoseconds offset = random_.whole(0, 999) * (second / 1000);
    Nanoseconds last = first_ - interval_ + offset;
    for (int i = 0; i < intervals_; ++i) {
      const Nanoseconds now = first_ + i * interval_ + offset + random_.whole(0, 20'000'000);
      const double overlap =
          static_cast<double>(std::max<Nanoseconds>(0, std::min(now, job_to_) - std::max(last, job_from_))) *
          1e-9;
      server.drift = 0.9 * server.drift + 0.05 * random_.normal();
      const bool pause = i % period_ == period_ - 1;
      const double load = overlap * (pause ? 1 - writing_ : 1) * server.load * std::exp(server.drift);
      const double noise = noise_;
      const auto noisy = [&](double value) { return value * std::max(0.0, 1 + noise * random_.normal()); };
      double bytes = 0;
      for (std::size_t t = 0; t < server.targets.size(); ++t) {
        const double write = noisy(rate_ * load * server.targets[t].nature);
        const double read = noisy(rate_ * read_share_ * load * server.targets[t].nature);
        values[target_at[t]] += std::floor(write);
        values[target_at[t] + 1] += std::floor(read);
        bytes += write + read;
        written_ += write;
        read_ += read;
      }
      const double requests = std::floor(bytes / request_bytes);
      const bool deep = kind_ == Kind::deep_queues;
      const double depth = deep ? strength_ : depth_, wait = deep ? wait_us_ * strength_ / depth_ : wait_us_;
      for (const int n : {0, 2, 4}) values[requests_at + static_cast<std::size_t>(n)] += requests;
      values[requests_at + 1] += std::floor(requests * noisy(depth));
      values[requests_at + 3] += std::floor(requests * noisy(wait));
      values[requests_at + 5] += std::floor(requests * noisy(6));
      for (std::size_t l = 0; l < links_.size(); ++l) {
        const bool hot = kind_ == Kind::hot_link && s == static_cast<std::size_t>(chosen_server_) &&
                         l == static_cast<std::size_t>(chosen_link_);
        const double use = hot ? std::max(link_use_, 0.6) : link_use_;
        // A link that is full would be a finding of its own.
        const double carried = std::min(load * use, 0.7 * overlap);
        values[link_at[l]] +=
            std::floor(noisy(carried * link_bytes_per_second) + static_cast<double>(interval_) * 1e-9 * 5000);
        values[link_at[l] + 1] +=
            std::floor(noisy(overlap * (hot ? strength_ : 0.01 * use * use) * clock_hz));
      }
      if (kind_ == Kind::reset && affects(s) && last < hole_ && hole_ <= now)
        std::fill(values.begin(), values.end(), 0.0);
      last = now;
      if (kind_ == Kind::gap && affects(s) && now >= hole_ && now < hole_ + length_) continue;
      for (std::size_t k = 0; k < keys.size(); ++k) {
        all[at + k].times.push_back(now);
        all[at + k].values.push_back(static_cast<std::uint64_t>(values[k]));
      }
    }
  }

  Random& random_;
  Kind kind_;
  double strength_;
  std::vector<Server> servers_;
  std::vector<std::string> links_;
  int intervals_ = 0, period_ = 1, chosen_server_ = 0, chosen_link_ = 0, affected_ = 0;
  Nanoseconds interval_ = 0, first_ = 0, job_from_ = 0, job_to_ = 0, hole_ = 0, length_ = 0;
  double rate_ = 0, read_share_ = 0, link_use_ = 0, depth_ = 0, wait_us_ = 0, writing_ = 1, noise_ = 0;
  double written_ = 0, read_ = 0;
};

struct Count {
  int planted = 0, found = 0, also = 0;  // also: something else was said as well, or instead
};

struct Results {
  std::map<std::pair<std::size_t, std::string>, Count> faults;  // by kind and band
  Count healthy;
  std::map<std::string, int> false_alarms;  // by code, on all jobs
};

void judge(const Planned& planned, const analysis::JobAnalysis& job, Results& results, bool say) {
  std::set<std::string> codes;
  for (const analysis::Insight& insight : job.insights) {
    if (insight.severity != analysis::Severity::info) codes.insert(insight.code);
  }
  const auto entry = std::find_if(kinds().begin(), kinds().end(),
                                  [&](const KindEntry& one) { return one.kind == planned.kind; });
  const bool wrong = entry != kinds().end();
  bool found = false;
  std::set<std::string> others = codes;
  if (wrong) {
    for (const std::string& code : entry->codes) {
      found = found || codes.contains(code);
      others.erase(code);
    }
  }
  for (const std::string& code : others) ++results.false_alarms[code];
  Count& count = wrong ? results.faults[{static_cast<std::size_t>(entry - kinds().begin()),
                                         band_of(*entry, planned.strength)}]
                       : results.healthy;
  ++count.planted;
  if (found) ++count.found;
  if (!others.empty()) ++count.also;
  if (say)
    fmt::print("{:<12} {:<36} {:>6.2f}: {}\n", job.job.id, wrong ? entry->what : "healthy", planned.strength,
               fmt::join(codes, ", "));
}

void try_site(std::uint64_t seed, const std::string& path, Results& results, bool say) {
  Random random(seed);
  store::Store store = must(store::Store::open(path));
  must(store.put(store::Topology{.name = "site",
                                 .dimensions = {},
                                 .links = {"p0", "p1", "p2", "p3"},
                                 .link_bytes_per_second = link_bytes_per_second,
                                 .clock_hz = clock_hz,
                                 .serving_rule = "table"}));
  std::vector<Planned> all;
  std::vector<store::Node> nodes;
  const auto add = [&](Kind kind, double strength) {
    const int number = static_cast<int>(all.size());
    Island island(random, number, kind, strength, (1'700'000'000 + random.whole(0, 1000)) * second);
    must(store.write(island.series()));
    for (Planned& planned : island.jobs(number, nodes)) all.push_back(std::move(planned));
  };
  for (int n = 0; n < 3; ++n) add(Kind::none, 0);
  for (const KindEntry& entry : kinds()) {
    add(entry.kind, entry.most / entry.least > 20 ? random.logarithmic(entry.least, entry.most)
                                                  : random.uniform(entry.least, entry.most));
  }
  must(store.put(nodes));
  for (const Planned& planned : all) must(store.put(planned.job));
  const analysis::ServerFinder finder = must(analysis::read_servers(store));
  for (const Planned& planned : all) {
    // The job that disturbs another is disturbed as well: it is no healthy one.
    if (planned.kind == Kind::none && planned.job.id.ends_with("-other")) continue;
    judge(planned, must(analysis::analyse(store, finder, planned.job.id)), results, say);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seeds = 50, first = 1001;
  bool say = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool more = i + 1 < argc;
    if (argument == "--seeds" && more) {
      seeds = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--first" && more) {
      first = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--say") {
      say = true;
    } else {
      fmt::print(stderr, "finding_bench [--seeds N] [--first N] [--say]\n");
      return 2;
    }
  }
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("finding_bench.{}", getpid());
  std::filesystem::create_directories(folder);
  Results results;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    if (say) fmt::print("seed {}\n", seed);
    try_site(seed, (folder / fmt::format("{}.db", seed)).string(), results, say);
  }
  std::filesystem::remove_all(folder);

  fmt::print("{} sites, seeds {} to {}; found / planted, and how often something else was said as well\n\n",
             seeds, first, first + seeds - 1);
  fmt::print("{:<36}{:>14}{:>14}{:>14}   strength\n", "fault", "strong", "moderate", "mild");
  for (std::size_t k = 0; k < kinds().size(); ++k) {
    const KindEntry& entry = kinds()[k];
    const auto cell = [&](const char* band) {
      const auto found = results.faults.find({k, band});
      if (found == results.faults.end()) return std::string("-");
      return fmt::format("{}/{} +{}", found->second.found, found->second.planted, found->second.also);
    };
    fmt::print("{:<36}{:>14}{:>14}{:>14}   {} {:g}, {:g} {}\n", entry.what, cell("strong"), cell("moderate"),
               cell("mild"), entry.falls ? "<=" : ">=", entry.strong, entry.moderate, entry.unit);
  }
  fmt::print("\nhealthy jobs: {}, of which with a finding: {}\n", results.healthy.planted,
             results.healthy.also);
  for (const auto& [code, count] : results.false_alarms)
    fmt::print("  {} was said of {} without it\n", code,
               count == 1 ? "a job" : fmt::format("{} jobs", count));
  return 0;
}
