#include "analysis/metric.hpp"

#include <array>
#include <cctype>

namespace weir::analysis {

namespace {

constexpr std::array kinds{
    MetricKind{"req_qdepth", "Requests waiting in a server's queue", "requests", Direction::low_is_good,
               true},
    MetricKind{"req_waittime", "Time a request waits in the queue", "s", Direction::low_is_good, true},
    MetricKind{"req_active", "Threads at work in a server", "threads", Direction::high_is_good, true},
    MetricKind{"R_BW", "Use of a link, relative to its bandwidth", "1", Direction::high_is_good, true},
    MetricKind{"T_wait_max", "Longest wait for a link's transfer buffer", "s", Direction::low_is_good, true},
    MetricKind{"OST_mean", "Throughput of a storage target", "B/s", Direction::high_is_good, true},
    MetricKind{"throughput", "Throughput of the job, reads and writes", "B/s", Direction::high_is_good},
    MetricKind{"write_throughput", "Write throughput of the job", "B/s", Direction::high_is_good},
    MetricKind{"read_throughput", "Read throughput of the job", "B/s", Direction::high_is_good},
    MetricKind{"OST_write", "Write throughput of a storage target", "B/s", Direction::high_is_good},
    MetricKind{"OST_read", "Read throughput of a storage target", "B/s", Direction::high_is_good},
    MetricKind{"OST_imbalance", "Busiest storage target over the mean", "1", Direction::low_is_good},
    MetricKind{"link_wait", "Share of the time packets waited for a link", "1", Direction::low_is_good},
    MetricKind{"link_throughput", "Throughput of a link", "B/s", Direction::high_is_good},
    MetricKind{"device_qdepth", "Requests in a block device's queue", "requests", Direction::low_is_good},
    MetricKind{"device_waittime", "Time a request takes in a block device", "s", Direction::low_is_good},
    MetricKind{"device_busy", "Share of the time a block device was busy", "1", Direction::neither},
    MetricKind{"device_throughput", "Throughput of a block device", "B/s", Direction::high_is_good},
    MetricKind{"net_throughput", "Throughput of a network interface", "B/s", Direction::high_is_good},
    MetricKind{"cpu_busy", "Processor cores in use", "cores", Direction::neither},
    MetricKind{"elapsed", "Elapsed time", "s", Direction::low_is_good},
};

// Compares names as people type them: "req.qdepth", "Req_Qdepth" and "r_bw" are the metrics they look like.
bool same_name(std::string_view a, std::string_view b) {
  const auto counts = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (true) {
    while (i < a.size() && !counts(a[i])) ++i;
    while (j < b.size() && !counts(b[j])) ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (std::tolower(static_cast<unsigned char>(a[i])) != std::tolower(static_cast<unsigned char>(b[j])))
      return false;
    ++i;
    ++j;
  }
}

}  // namespace

std::span<const MetricKind> metric_kinds() {
  return kinds;
}

const MetricKind* find_metric(std::string_view name) {
  for (const MetricKind& kind : kinds) {
    if (same_name(kind.id, name)) return &kind;
  }
  // The paper's other spelling of Lustre's req_waittime.
  if (same_name(name, "req_waitempty")) return &kinds[1];
  return nullptr;
}

std::string_view to_string(Direction direction) {
  switch (direction) {
    case Direction::low_is_good:
      return "low";
    case Direction::high_is_good:
      return "high";
    case Direction::neither:
      break;
  }
  return "neither";
}

}  // namespace weir::analysis
