// Timelines of a job.
#include <algorithm>

#include "analysis/figures.hpp"

namespace weir::analysis {

namespace {

class Maker {
 public:
  explicit Maker(const Observations& seen) : seen_(seen) {}

  void add(std::string id, std::string title, std::string unit, const Bins& bins, std::vector<double> values,
           double factor = 1.0) {
    if (std::none_of(values.begin(), values.end(), is_known)) return;
    for (double& value : values) value *= factor;
    made_.push_back({.id = std::move(id),
                     .title = std::move(title),
                     .unit = std::move(unit),
                     .start_ns = bins.start(),
                     .step_ns = bins.step(),
                     .values = std::move(values)});
  }
  void total(std::string id, std::string title, std::string unit, const CounterParts* counter,
             double factor = 1.0) {
    if (counter == nullptr) return;
    const Bins bins = counter->total.folded(counter->period);
    add(std::move(id), std::move(title), std::move(unit), bins, bins.rates(counter->parts.size()), factor);
  }
  void mean(std::string id, std::string title, std::string unit, const CounterParts* counter, double factor) {
    if (counter == nullptr) return;
    const Bins bins = counter->total.folded(counter->period);
    add(std::move(id), std::move(title), std::move(unit), bins, bins.mean_rates(), factor);
  }
  void requests(std::string id, std::string title, std::string unit, std::string_view sum,
                double factor = 1.0) {
    const MeanParts* parts = seen_.find_mean(sum);
    if (parts == nullptr) return;
    const Bins bins = parts->total.folded(parts->period);
    add(std::move(id), std::move(title), std::move(unit), bins, bins.ratios(), factor);
  }
  std::vector<Timeline> take() { return std::move(made_); }

 private:
  const Observations& seen_;
  std::vector<Timeline> made_;
};

// Only parts that are not made of others, rebuilt from their own bins.
void add_devices(Maker& maker, std::string id, std::string title, const CounterParts* counter) {
  if (counter == nullptr) return;
  const bool any_real = std::any_of(counter->parts.begin(), counter->parts.end(),
                                    [](const Part& part) { return !is_stacked_device(part.component); });
  std::vector<double> sum;
  const Part* first = nullptr;
  Bins shape;
  for (const Part& part : counter->parts) {
    if (any_real && is_stacked_device(part.component)) continue;
    const Bins bins = part.over_time.folded(counter->period);
    const std::vector<double> rates = bins.mean_rates();
    if (first == nullptr) {
      sum.assign(rates.size(), 0.0);
      first = &part;
      shape = bins;
    }
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += rates[i];  // unknown stays unknown
  }
  if (first != nullptr) maker.add(std::move(id), std::move(title), "B/s", shape, std::move(sum));
}

}  // namespace

std::vector<Timeline> make_timelines(const Observations& seen, const Machine& machine) {
  Maker maker(seen);
  const Traffic traffic = traffic_of(seen);
  if (traffic.part == "device") {
    add_devices(maker, "write_throughput", "Write throughput", traffic.write);
    add_devices(maker, "read_throughput", "Read throughput", traffic.read);
  } else {
    maker.total("write_throughput", "Write throughput", "B/s", traffic.write);
    maker.total("read_throughput", "Read throughput", "B/s", traffic.read);
  }
  maker.requests("req_qdepth", "Requests in the servers' queues", "requests", "ost_io.req_qdepth.sum");
  maker.requests("req_waittime", "Wait of a request in the queue", "s", "ost_io.req_waittime.sum", 1e-6);
  maker.requests("req_active", "Threads at work in a server", "threads", "ost_io.req_active.sum");
  for (const std::string_view counter : {"link.bytes", "ib.tx_bytes", "cxi.tx_bytes"}) {
    const CounterParts* bytes = seen.find(counter);
    if (bytes == nullptr) continue;
    if (machine.link_bytes_per_second > 0) {
      maker.mean("R_BW", "Mean use of the links", "1", bytes, 1.0 / machine.link_bytes_per_second);
    }
    maker.total("link_throughput", "Bytes over the links", "B/s", bytes);
    break;
  }
  if (machine.clock_hz > 0) {
    maker.mean("link_wait", "Share of the time packets waited for a link", "1", seen.find("link.wait_cycles"),
               1.0 / machine.clock_hz);
  }
  maker.mean("device_qdepth", "Requests in a device's queue", "requests", seen.find("block.queue_ms"), 1e-3);
  maker.mean("device_busy", "Share of the time a device was busy", "1", seen.find("block.busy_ms"), 1e-3);
  maker.total("net_rx", "Network, received", "B/s", seen.find("net.rx_bytes"));
  maker.total("net_tx", "Network, sent", "B/s", seen.find("net.tx_bytes"));
  maker.total("cpu_busy", "Processor cores in use", "cores", seen.find("host.cpu_busy_ms"), 1e-3);
  maker.mean("io_wait", "Share of the time some task waited for I/O", "1", seen.find("host.io_some_us"),
             1e-6);
  return maker.take();
}

}  // namespace weir::analysis
