#include <algorithm>
#include <cmath>

#include "store/synthetic_k.hpp"
#include "store/synthetic_k_machine.hpp"

namespace weir::store {

namespace {

using telemetry::Nanoseconds;
using telemetry::Series;

constexpr std::size_t stretch_of_intervals = 60;
constexpr int nodes_of_a_stretch = 240;
constexpr double request_bytes = 1024.0 * 1024.0;
constexpr double packet_bytes = 1920;

// What one job asks of one I/O node, apart from noise.
struct NodeLoad {
  const PlannedJob* job = nullptr;
  double write_rate[k::targets_of_a_server] = {};  // bytes/s to each OST
  double depth = 3, wait_us = 300, active = 8;     // as its requests find the server
  double link_use = 0;                             // bytes/s through the node
  int hot_link = -1;
};

// Counters of one I/O node between two samples.
struct Growth {
  double link_bytes[k::links.size()] = {}, link_wait[k::links.size()] = {};
  double written[k::targets_of_a_server] = {}, read[k::targets_of_a_server] = {};
  double requests = 0, depth = 0, wait_us = 0, active = 0;
};

class Machine {
 public:
  explicit Machine(const SyntheticOptions& options) : options_(options), jobs_(k_computer_jobs(options)) {}

  // The loads of an I/O node, over all jobs that its cabinet serves.
  std::vector<NodeLoad> loads(const k::IoPlace& place) const {
    std::vector<NodeLoad> all;
    for (const PlannedJob& planned : jobs_) {
      if (place.x() < planned.x || place.x() >= planned.x + 4 || place.y() < planned.y ||
          place.y() >= planned.y + 4)
        continue;
      all.push_back(load(planned, place));
    }
    return all;
  }
  const SyntheticOptions& options() const { return options_; }

  // Missing samples, and servers that begin anew.
  bool sampled(const std::vector<NodeLoad>& loads, Nanoseconds time) const {
    for (const NodeLoad& load : loads) {
      if (load.job->fault != Fault::sampling_gap) continue;
      const Job& job = load.job->job;
      const Nanoseconds length = job.end_ns - job.start_ns, gap = job.start_ns + length * 2 / 5;
      if (time >= gap && time < gap + std::max(length / 4, 5 * options_.interval)) return false;
    }
    return true;
  }
  bool restarts(const std::vector<NodeLoad>& loads, const k::IoPlace& place, Nanoseconds before,
                Nanoseconds now) const {
    for (const NodeLoad& load : loads) {
      if (load.job->fault != Fault::counter_reset || !place.local()) continue;
      const Job& job = load.job->job;
      const Nanoseconds moment = job.start_ns + (job.end_ns - job.start_ns) / 2;
      const bool chosen = place.x() == load.job->x + 1 && place.a == 0 && place.b == 1;  // four of 96 servers
      if (chosen && before <= moment && moment < now) return true;
    }
    return false;
  }

 private:
  NodeLoad load(const PlannedJob& planned, const k::IoPlace& place) const {
    NodeLoad load;
    load.job = &planned;
    const auto chance = [&](std::uint64_t what) {
      return k::scramble(options_.seed * 31 + what, static_cast<std::uint64_t>(place.number()) ^
                                                        static_cast<std::uint64_t>(planned.job.start_ns));
    };
    std::fill(std::begin(load.write_rate), std::end(load.write_rate), planned.target_rate);
    load.link_use = 8 * planned.target_rate;
    switch (planned.fault) {
      case Fault::slow_target:
        if (place.x() == planned.x + 2 && place.y() == planned.y + 1 && place.a == 1 && place.b == 2 &&
            place.c == 0) {
          load.write_rate[1] *= 0.12;
          load.depth = 40;
          load.wait_us = 25'000;
        }
        break;
      case Fault::half_of_targets: {
        const bool carries = place.x() < planned.x + 2;
        for (double& rate : load.write_rate) rate *= carries ? 2 : 0;
        load.link_use *= carries ? 1.8 : 0.2;
        break;
      }
      case Fault::hot_link:
        if (place.x() == planned.x + 1 && place.y() == planned.y + 3 && place.a == 0 && place.b == 1 &&
            place.c == 1)
          load.hot_link = 2;  // Y+
        break;
      case Fault::deep_queues:
        load.depth = 180;
        load.wait_us = 70'000;
        load.active = 2;
        break;
      case Fault::unbalanced_servers: {
        // From a tenth to about twice the mean, without a pattern.
        const double factor = 0.1 + 1.8 * k::unit(chance(1));
        for (double& rate : load.write_rate) rate *= factor;
        load.link_use *= factor;
        load.depth *= 0.5 + factor;
        load.wait_us *= 0.5 + factor;
        break;
      }
      default:
        break;
    }
    return load;
  }

  SyntheticOptions options_;
  std::vector<PlannedJob> jobs_;
};

class IoNode {
 public:
  IoNode(const Machine& machine, int number)
      : machine_(&machine),
        place_(k::io_place(number)),
        name_(k::io_name(number)),
        loads_(machine.loads(place_)) {
    const auto chance = k::scramble(machine.options().seed, static_cast<std::uint64_t>(number) + 77);
    offset_ = static_cast<Nanoseconds>(chance % 1'000'000'000);
    last_ = machine.options().start - machine.options().interval + offset_;
    for (const std::string_view link : k::links) {
      add("link.bytes", link);
      add("link.wait_cycles", link);
    }
    if (place_.local()) {
      for (const std::string_view name :
           {"ost_io.req_qdepth.count", "ost_io.req_qdepth.sum", "ost_io.req_waittime.count",
            "ost_io.req_waittime.sum", "ost_io.req_active.count", "ost_io.req_active.sum"})
        add(name, "");
      for (int t = 0; t < k::targets_of_a_server; ++t) {
        add("ost.write_bytes", k::target_name(place_.first_target() + t));
        add("ost.read_bytes", k::target_name(place_.first_target() + t));
      }
    }
  }
  bool serves_a_job() const { return !loads_.empty(); }

  // Appends the node's series over these intervals.
  void sample(std::uint64_t from, std::uint64_t to, std::vector<Series>& into) {
    const std::size_t first = into.size();
    for (const telemetry::SeriesKey& key : keys_) {
      Series& series = into.emplace_back();
      series.key = key;
      series.times.reserve(to - from);
      series.values.reserve(to - from);
    }
    const Nanoseconds interval = machine_->options().interval;
    for (std::uint64_t i = from; i < to; ++i) {
      noise_ =
          k::scramble(k::scramble(machine_->options().seed, static_cast<std::uint64_t>(place_.number())) + i);
      const auto jitter = static_cast<Nanoseconds>(noise_ % 1'000'000);
      const Nanoseconds now =
          machine_->options().start + static_cast<Nanoseconds>(i) * interval + offset_ % interval + jitter;
      if (machine_->restarts(loads_, place_, last_, now))
        std::fill(values_.begin(), values_.end(), std::uint64_t{0});
      advance(last_, now);
      last_ = now;
      if (!machine_->sampled(loads_, now)) continue;
      for (std::size_t s = 0; s < keys_.size(); ++s) {
        into[first + s].times.push_back(now);
        into[first + s].values.push_back(values_[s]);
      }
    }
  }

 private:
  void add(std::string_view counter, std::string_view component) {
    keys_.push_back({*telemetry::find_counter(counter), name_, std::string(component), {}});
    // Servers have been up for a while.
    values_.push_back(k::scramble(keys_.size(), static_cast<std::uint64_t>(place_.number())) >> 24);
  }

  double noisy(double amount, double spread) {
    noise_ = k::scramble(noise_);
    return amount * (1 + spread * (2 * k::unit(noise_) - 1));
  }

  void advance(Nanoseconds before, Nanoseconds now) {
    Growth growth;
    const double seconds = static_cast<double>(now - before) * 1e-9;
    for (const NodeLoad& load : loads_) {
      const Nanoseconds from = std::max(before, load.job->job.start_ns),
                        to = std::min(now, load.job->job.end_ns);
      if (from < to) grow(growth, load, static_cast<double>(to - from) * 1e-9);
    }
    std::size_t s = 0;
    for (std::size_t l = 0; l < k::links.size(); ++l) {
      // Heartbeats of the system, in whole packets.
      values_[s++] +=
          static_cast<std::uint64_t>((growth.link_bytes[l] + noisy(seconds * 2000, 1)) / packet_bytes) *
          static_cast<std::uint64_t>(packet_bytes);
      values_[s++] += static_cast<std::uint64_t>(growth.link_wait[l]);
    }
    if (!place_.local()) return;
    const auto requests = static_cast<std::uint64_t>(growth.requests);
    for (const double sum : {growth.depth, growth.wait_us, growth.active}) {
      values_[s++] += requests;
      values_[s++] += static_cast<std::uint64_t>(sum);
    }
    for (int t = 0; t < k::targets_of_a_server; ++t) {
      values_[s++] += static_cast<std::uint64_t>(growth.written[t] / request_bytes) *
                      static_cast<std::uint64_t>(request_bytes);
      values_[s++] += static_cast<std::uint64_t>(growth.read[t] / request_bytes) *
                      static_cast<std::uint64_t>(request_bytes);
    }
  }

  void grow(Growth& growth, const NodeLoad& load, double seconds) {
    constexpr double weights[k::links.size()] = {0.9, 0.9, 0.7, 0.7, 1.2, 1.2, 1.0, 0.5, 0.5, 1.0};
    for (std::size_t l = 0; l < k::links.size(); ++l) {
      const bool hot = static_cast<int>(l) == load.hot_link;
      const double bytes = hot ? noisy(0.93 * k::link_bytes_per_second * seconds, 0.02)
                               : noisy(load.link_use * weights[l] * seconds, 0.05);
      const double use = bytes / (k::link_bytes_per_second * seconds);
      growth.link_bytes[l] += bytes;
      growth.link_wait[l] += noisy((hot ? 0.55 : 0.02 * use * use) * k::clock_hz * seconds, 0.1);
    }
    if (!place_.local()) return;
    double bytes = 0;
    for (int t = 0; t < k::targets_of_a_server; ++t) {
      const double written = noisy(load.write_rate[t] * seconds, 0.05),
                   read = noisy(0.2 * load.write_rate[t] * seconds, 0.05);
      growth.written[t] += written;
      growth.read[t] += read;
      bytes += written + read;
    }
    const double requests = std::floor(bytes / request_bytes);
    growth.requests += requests;
    growth.depth += requests * noisy(load.depth, 0.1);
    growth.wait_us += requests * noisy(load.wait_us, 0.1);
    growth.active += requests * noisy(load.active, 0.1);
  }

  const Machine* machine_;
  k::IoPlace place_;
  std::string name_;
  std::vector<NodeLoad> loads_;
  std::vector<telemetry::SeriesKey> keys_;
  std::vector<std::uint64_t> values_;
  Nanoseconds offset_ = 0, last_ = 0;
  std::uint64_t noise_ = 0;
};

}  // namespace

Status generate_k_counters(const SyntheticOptions& options,
                           const std::function<Status(const std::vector<Series>&)>& each) {
  const Machine machine(options);
  std::vector<IoNode> nodes;
  for (int number = 0; number < k::cabinets * k::io_of_a_cabinet; ++number) {
    IoNode node(machine, number);
    if (options.whole_machine || node.serves_a_job()) nodes.push_back(std::move(node));
  }
  std::vector<Series> series;
  for (std::uint64_t from = 0; from < options.intervals; from += stretch_of_intervals) {
    const std::uint64_t to = std::min(from + stretch_of_intervals, options.intervals);
    for (std::size_t n = 0; n < nodes.size();) {
      series.clear();
      for (const std::size_t end = n + nodes_of_a_stretch; n < nodes.size() && n < end; ++n)
        nodes[n].sample(from, to, series);
      WEIR_TRY(each(series));
    }
  }
  return {};
}

}  // namespace weir::store
