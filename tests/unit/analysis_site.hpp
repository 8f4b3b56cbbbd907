// A small site like the K computer, with one job and counters of everything that served it, made wrong on
// purpose by whoever asks.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "analysis/statistics.hpp"
#include "store/store.hpp"

namespace weir::analysis {

inline constexpr std::int64_t site_second = 1'000'000'000;
inline constexpr std::int64_t site_start = 1'564'617'600 * site_second;  // when samples begin
inline constexpr std::int64_t job_start = site_start + 600 * site_second;
inline constexpr double site_clock = 312.5e6;
inline constexpr double site_link = 5e9;

// What a part does in one minute. Fields are rates per second, or means per request.
struct Minute {
  double write = 100e6, read = 20e6;            // of an OST
  double depth = 8, wait_us = 2000, busy = 16;  // of a server
  double link_bytes = 0.2 * site_link, link_wait = 0.001;
};

struct SiteOptions {
  std::int64_t minutes = 20;  // of the job; samples begin 10 minutes before it and end 10 after
  double noise = 0.05;
  std::uint64_t seed = 1;
  // Changes what a part does: server's number, target's number or link's number (-1: not of this kind),
  // minute since start of the job (from -10 on).
  std::function<void(Minute&, int server, int target, int link, int minute)> change;
  // Changes a series before it is stored.
  std::function<void(telemetry::Series&)> damage;
  std::vector<store::Job> others;
  std::map<std::string, double> figures;
};

class Site {
 public:
  static constexpr int columns_x = 4, columns_y = 4, zs = 17;

  Site() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-site-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Site() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  static std::string node_name(int x, int y, int z, int a, int b, int c) {
    return "n" + std::to_string(x) + std::to_string(y) + "z" + std::to_string(z) + std::to_string(a) +
           std::to_string(b) + std::to_string(c);
  }

  static std::vector<store::Node> nodes() {
    std::vector<store::Node> result;
    for (int x = 0; x < columns_x; ++x) {
      for (int y = 0; y < columns_y + 2; ++y) {  // two rows of columns belong to nobody
        for (int z = 0; z < zs; ++z) {
          for (int abc = 0; abc < 12; ++abc) {
            const int a = abc / 6;
            const int b = abc / 2 % 3;
            const int c = abc % 2;
            store::Node node;
            node.name = node_name(x, y, z, a, b, c);
            node.coordinates = {x, y, z, a, b, c};
            if (z == 0)
              node.role = c == 0   ? store::NodeRole::local_io
                          : b == 0 ? store::NodeRole::boot_io
                                   : store::NodeRole::global_io;
            if (node.role == store::NodeRole::local_io)
              node.targets = {node.name + "-ost0", node.name + "-ost1"};
            result.push_back(std::move(node));
          }
        }
      }
    }
    return result;
  }

  static store::Topology topology() {
    store::Topology topology;
    topology.name = "k-computer";
    topology.dimensions = {{"X", columns_x, true}, {"Y", columns_y + 2, false},
                           {"Z", zs, true},        {"A", 2, false},
                           {"B", 3, true},         {"C", 2, false}};
    topology.links = {"X+", "X-", "Y+", "Y-", "Z+", "Z-", "A", "B+", "B-", "C"};
    topology.link_bytes_per_second = site_link;
    topology.clock_hz = site_clock;
    topology.serving_rule = "z-link";
    return topology;
  }

  // 3,072 nodes: the paper's 8 x 12 x 32.
  static store::Job job(const std::string& id = "4711") {
    store::Job job;
    job.id = id;
    job.user = "u1";
    job.name = "ior";
    job.state = store::JobState::completed;
    job.submit_ns = site_start;
    job.start_ns = job_start;
    job.shape = {8, 12, 32};
    for (const store::Node& node : nodes()) {
      if (node.role == store::NodeRole::compute && node.coordinates[1] < columns_y)
        job.nodes.push_back(node.name);
    }
    job.node_count = job.nodes.size();
    return job;
  }

  store::Store& fill(const SiteOptions& options) {
    auto opened = store::Store::open((folder_ / "site.db").string());
    EXPECT_TRUE(opened) << opened.error().message();
    store_ = std::make_unique<store::Store>(std::move(*opened));
    const std::vector<store::Node> table = nodes();
    EXPECT_TRUE(store_->put(table));
    EXPECT_TRUE(store_->put(topology()));
    store::Job job = Site::job();
    job.end_ns = job_start + options.minutes * 60 * site_second;
    job.figures = options.figures;
    EXPECT_TRUE(store_->put(job));
    EXPECT_TRUE(store_->put(options.others));
    std::vector<telemetry::Series> series;
    Random random(options.seed);
    int server = 0;
    int target = 0;
    for (const store::Node& node : table) {
      if (node.role == store::NodeRole::compute || node.coordinates[1] >= columns_y) continue;
      add_links(series, node, server, options, random);
      if (node.role == store::NodeRole::local_io) {
        add_requests(series, node, server, options, random);
        for (const std::string& name : node.targets)
          add_target(series, node, name, server, target++, options, random);
      }
      ++server;
    }
    if (options.damage) {
      for (telemetry::Series& one : series) options.damage(one);
    }
    const Status written = store_->write(series);
    EXPECT_TRUE(written) << written.error().message();
    return *store_;
  }

  store::Store& store() { return *store_; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  // Adds up `rate` of each minute, sampled every minute.
  static void grow(std::vector<telemetry::Series>& series, const std::string& counter,
                   const std::string& node, const std::string& component, const SiteOptions& options,
                   const std::function<double(int)>& amount) {
    telemetry::Series one{
        .key = {*telemetry::find_counter(counter), node, component, {}}, .times = {}, .values = {}};
    double value = 1e9;
    for (int minute = -10; minute <= options.minutes + 10; ++minute) {
      one.times.push_back(job_start + minute * 60 * site_second);
      one.values.push_back(static_cast<std::uint64_t>(value));
      value += amount(minute);
    }
    series.push_back(std::move(one));
  }

  static Minute at(const SiteOptions& options, Random& random, int server, int target, int link, int minute) {
    Minute now;
    const auto vary = [&](double& value) { value *= 1 + options.noise * (2 * random.uniform() - 1); };
    for (double* value :
         {&now.write, &now.read, &now.depth, &now.wait_us, &now.busy, &now.link_bytes, &now.link_wait})
      vary(*value);
    if (minute < 0 || minute >= options.minutes) now = {0, 0, 0.1, 100, 1, 0, 0};
    if (options.change) options.change(now, server, target, link, minute);
    return now;
  }

  static void add_target(std::vector<telemetry::Series>& series, const store::Node& node,
                         const std::string& name, int server, int target, const SiteOptions& options,
                         Random& random) {
    grow(series, "ost.write_bytes", node.name, name, options,
         [&](int m) { return 60 * at(options, random, server, target, -1, m).write; });
    grow(series, "ost.read_bytes", node.name, name, options,
         [&](int m) { return 60 * at(options, random, server, target, -1, m).read; });
  }

  static void add_links(std::vector<telemetry::Series>& series, const store::Node& node, int server,
                        const SiteOptions& options, Random& random) {
    const auto links = topology().links;
    for (int link = 0; link < static_cast<int>(links.size()); ++link) {
      const std::string& name = links[static_cast<std::size_t>(link)];
      grow(series, "link.bytes", node.name, name, options,
           [&](int m) { return 60 * at(options, random, server, -1, link, m).link_bytes; });
      grow(series, "link.wait_cycles", node.name, name, options,
           [&](int m) { return 60 * site_clock * at(options, random, server, -1, link, m).link_wait; });
    }
  }

  static void add_requests(std::vector<telemetry::Series>& series, const store::Node& node, int server,
                           const SiteOptions& options, Random& random) {
    constexpr double requests = 6000;  // a minute
    const std::vector<std::pair<std::string, double Minute::*>> kinds{
        {"req_qdepth", &Minute::depth}, {"req_waittime", &Minute::wait_us}, {"req_active", &Minute::busy}};
    for (const auto& [name, field] : kinds) {
      grow(series, "ost_io." + name + ".count", node.name, "", options,
           [&](int m) { return m >= 0 && m < options.minutes ? requests : 0; });
      grow(series, "ost_io." + name + ".sum", node.name, "", options, [&, f = field](int m) {
        return m >= 0 && m < options.minutes ? requests * at(options, random, server, -1, -1, m).*f : 0;
      });
    }
  }

  std::filesystem::path folder_;
  std::unique_ptr<store::Store> store_;
};

}  // namespace weir::analysis
