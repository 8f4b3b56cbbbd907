// Metrics of a job, as the paper on holistic logs defines its six, and ours.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analysis/figures.hpp"
#include "analysis/statistics.hpp"

namespace weir::analysis {

namespace {

const Timeline* timeline(const std::vector<Timeline>& timelines, std::string_view id) {
  for (const Timeline& one : timelines) {
    if (one.id == id) return &one;
  }
  return nullptr;
}

// Two timelines at the coarser step of both, so that they can be compared value by value.
std::vector<double> at_step(const Timeline& line, std::int64_t step) {
  const auto group = static_cast<std::size_t>(std::max<std::int64_t>(1, step / line.step_ns));
  std::vector<double> result;
  for (std::size_t first = 0; first < line.values.size(); first += group) {
    const auto end = std::min(line.values.size(), first + group);
    result.push_back(mean(std::span(line.values).subspan(first, end - first)));
  }
  return result;
}

double correlation(const Timeline* one, const Timeline* other) {
  if (one == nullptr || other == nullptr || one->step_ns == 0 || other->step_ns == 0) return unknown;
  const std::int64_t step = std::max(one->step_ns, other->step_ns);
  // Steps that do not divide each other cannot be lined up.
  if (step % one->step_ns != 0 || step % other->step_ns != 0) return unknown;
  std::vector<double> a = at_step(*one, step);
  std::vector<double> b = at_step(*other, step);
  const std::size_t length = std::min(a.size(), b.size());
  a.resize(length);
  b.resize(length);
  return rank_correlation(a, b);
}

class Maker {
 public:
  Maker(const Observations& seen, const std::vector<Timeline>& timelines)
      : seen_(seen), timelines_(timelines) {
    add_up_throughput();
  }

  Metric& add(std::string_view id, double value, std::string how) {
    Metric metric{.kind = *find_metric(id),
                  .value = value,
                  .over_parts = {},
                  .part = {},
                  .over_time = {},
                  .how = std::move(how)};
    if (const Timeline* line = id == "throughput" ? &throughput_ : timeline(timelines_, id);
        line != nullptr) {
      metric.over_time = distribution(line->values);
      if (id != "throughput") metric.correlation = correlation(line, &throughput_);
    }
    made_.push_back(std::move(metric));
    return made_.back();
  }

  // Mean over requests; spread over servers.
  void requests(std::string_view id, std::string_view sum, double factor) {
    const MeanParts* parts = seen_.find_mean(sum);
    if (parts == nullptr) return;
    double sums = 0;
    double counts = 0;
    std::vector<double> means;
    for (const MeanPart& part : parts->parts) {
      sums += part.sum;
      counts += part.count;
      means.push_back(part.mean() * factor);
    }
    Metric& metric = add(id, counts > 0 ? sums / counts * factor : unknown,
                         fmt::format("mean over {:.0f} requests on {} servers", counts, parts->parts.size()));
    metric.part = "server";
    metric.over_parts = distribution(std::move(means));
  }

  void parts(std::string_view id, const char* part, std::vector<double> values, std::string how) {
    const double value = mean(values);
    if (!is_known(value)) return;
    Metric& metric = add(id, value, std::move(how));
    metric.part = part;
    metric.over_parts = distribution(std::move(values));
  }

  std::vector<Metric> take() { return std::move(made_); }
  const Timeline& throughput() const { return throughput_; }

 private:
  void add_up_throughput() {
    const Timeline* write = timeline(timelines_, "write_throughput");
    const Timeline* read = timeline(timelines_, "read_throughput");
    if (write == nullptr && read == nullptr) return;
    throughput_ = write != nullptr ? *write : *read;
    if (write == nullptr || read == nullptr || write->step_ns != read->step_ns) return;
    for (std::size_t i = 0; i < std::min(read->values.size(), throughput_.values.size()); ++i)
      throughput_.values[i] += read->values[i];
  }

  const Observations& seen_;
  const std::vector<Timeline>& timelines_;
  Timeline throughput_;
  std::vector<Metric> made_;
};

std::vector<double> rates(const CounterParts& counter, double factor) {
  std::vector<double> result;
  for (const Part& part : counter.parts) result.push_back(part.rate() * factor);
  return result;
}

// Reads and writes of a target together; a target of which only one is known counts with that.
std::vector<double> both(const Traffic& traffic, bool skip_stacked) {
  std::unordered_map<std::string, double> sums;
  for (const CounterParts* counter : {traffic.read, traffic.write}) {
    if (counter == nullptr) continue;
    for (const Part& part : counter->parts) {
      if (skip_stacked && is_stacked_device(part.component)) continue;
      if (is_known(part.rate())) sums[part.node + '\n' + part.component] += part.rate();
    }
  }
  std::vector<double> values;
  for (const auto& [name, value] : sums) values.push_back(value);
  std::sort(values.begin(), values.end());
  return values;
}

bool any_real_device(const CounterParts* counter) {
  return counter != nullptr &&
         std::any_of(counter->parts.begin(), counter->parts.end(),
                     [](const Part& part) { return !is_stacked_device(part.component); });
}

double total_rate(const CounterParts* counter, bool skip_stacked) {
  if (counter == nullptr) return unknown;
  double sum = 0;
  for (const Part& part : counter->parts) {
    if (!(skip_stacked && is_stacked_device(part.component)) && is_known(part.rate())) sum += part.rate();
  }
  return sum;
}

void add_traffic(Maker& maker, const Observations& seen) {
  const Traffic traffic = traffic_of(seen);
  if (traffic.part.empty()) return;
  const bool devices = traffic.part == "device";
  const bool skip = devices && (any_real_device(traffic.write) || any_real_device(traffic.read));
  const double write = total_rate(traffic.write, skip);
  const double read = total_rate(traffic.read, skip);
  const double window = seen.window().seconds();
  const std::string how =
      fmt::format("bytes on its {}s over {:.0f} s, whoever moved them", traffic.part, window);
  std::vector<double> together = both(traffic, skip);
  const std::string mean_how =
      fmt::format("mean over {} {}s of bytes per second, reads and writes", together.size(), traffic.part);
  const Distribution spread = distribution(together);
  maker.parts(devices ? "device_throughput" : "OST_mean", devices ? "device" : "OST", std::move(together),
              mean_how);
  maker.add("throughput", (is_known(write) ? write : 0) + (is_known(read) ? read : 0), how);
  if (is_known(write)) maker.add("write_throughput", write, how);
  if (is_known(read)) maker.add("read_throughput", read, how);
  if (devices) return;
  if (traffic.write != nullptr)
    maker.parts("OST_write", "OST", rates(*traffic.write, 1), "mean over OSTs of bytes written per second");
  if (traffic.read != nullptr)
    maker.parts("OST_read", "OST", rates(*traffic.read, 1), "mean over OSTs of bytes read per second");
  if (is_known(spread.most_over_mean))
    maker.add("OST_imbalance", spread.most_over_mean, "busiest OST over the mean of all");
}

void add_links(Maker& maker, const Observations& seen, const Machine& machine) {
  for (const std::string_view counter : {"link.bytes", "ib.tx_bytes", "cxi.tx_bytes"}) {
    const CounterParts* bytes = seen.find(counter);
    if (bytes == nullptr) continue;
    if (machine.link_bytes_per_second > 0) {
      maker.parts(
          "R_BW", "link", rates(*bytes, 1.0 / machine.link_bytes_per_second),
          fmt::format("mean over {} links of I/O nodes of bytes over elapsed time, relative to {:.3g} GB/s",
                      bytes->parts.size(), machine.link_bytes_per_second * 1e-9));
    }
    maker.parts("link_throughput", "link", rates(*bytes, 1.0),
                fmt::format("mean over {} links", bytes->parts.size()));
    break;
  }
  const CounterParts* waits = seen.find("link.wait_cycles");
  if (waits == nullptr || !(machine.clock_hz > 0)) return;
  std::vector<double> longest;
  for (const Part& part : waits->parts)
    longest.push_back(part.seconds > 0 ? part.peak_amount / machine.clock_hz : unknown);
  maker.parts("T_wait_max", "link", std::move(longest),
              fmt::format("longest wait of an interval on each of {} links of I/O nodes, their mean",
                          waits->parts.size()));
  maker.parts("link_wait", "link", rates(*waits, 1.0 / machine.clock_hz),
              fmt::format("mean over {} links", waits->parts.size()));
}

void add_devices(Maker& maker, const Observations& seen) {
  if (const CounterParts* queue = seen.find("block.queue_ms")) {
    maker.parts("device_qdepth", "device", rates(*queue, 1e-3), "time of all requests over elapsed time");
  }
  if (const CounterParts* busy = seen.find("block.busy_ms")) {
    maker.parts("device_busy", "device", rates(*busy, 1e-3),
                "time with a request under way over elapsed time");
  }
  const CounterParts* queue = seen.find("block.queue_ms");
  if (queue != nullptr) {
    std::unordered_map<std::string, double> requests;
    for (const char* name : {"block.read_ops", "block.write_ops"}) {
      if (const CounterParts* ops = seen.find(name)) {
        for (const Part& part : ops->parts) requests[part.node + '\n' + part.component] += part.amount;
      }
    }
    std::vector<double> waits;
    for (const Part& part : queue->parts) {
      const double count = requests[part.node + '\n' + part.component];
      if (count > 0) waits.push_back(part.amount * 1e-3 / count);
    }
    maker.parts("device_waittime", "device", std::move(waits), "time of all requests over their number");
  }
  std::unordered_map<std::string, double> interfaces;
  bool only_loopback = true;
  for (const char* name : {"net.rx_bytes", "net.tx_bytes"}) {
    if (const CounterParts* bytes = seen.find(name)) {
      for (const Part& part : bytes->parts) {
        if (is_known(part.rate())) interfaces[part.node + '\n' + part.component] += part.rate();
        only_loopback = only_loopback && part.component == "lo";
      }
    }
  }
  std::vector<double> network;
  for (const auto& [name, rate] : interfaces) {
    if (only_loopback || !name.ends_with("\nlo")) network.push_back(rate);
  }
  std::sort(network.begin(), network.end());
  maker.parts("net_throughput", "interface", std::move(network),
              "bytes received and sent per second, mean over interfaces");
  if (const CounterParts* cpu = seen.find("host.cpu_busy_ms"))
    maker.parts("cpu_busy", "node", rates(*cpu, 1e-3), "mean over nodes");
}

}  // namespace

std::vector<Metric> make_metrics(const Observations& seen, const Machine& machine,
                                 const std::vector<Timeline>& timelines) {
  Maker maker(seen, timelines);
  maker.requests("req_qdepth", "ost_io.req_qdepth.sum", 1.0);
  maker.requests("req_waittime", "ost_io.req_waittime.sum", 1e-6);
  maker.requests("req_active", "ost_io.req_active.sum", 1.0);
  add_links(maker, seen, machine);
  add_traffic(maker, seen);
  add_devices(maker, seen);
  maker.add("elapsed", seen.window().seconds(), "end minus start of the job");
  return maker.take();
}

}  // namespace weir::analysis
