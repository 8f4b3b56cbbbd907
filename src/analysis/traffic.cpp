// What all figures share: which counters tell the traffic, units, scales.
#include <array>
#include <cmath>

#include "analysis/figures.hpp"

namespace weir::analysis {

namespace {

constexpr double k_computer_scale = 160.0 * 1024 * 1024;

}  // namespace

Machine machine_of(const std::optional<store::Topology>& topology) {
  Machine machine;
  if (!topology) return machine;
  machine.link_bytes_per_second = topology->link_bytes_per_second;
  machine.clock_hz = topology->clock_hz;
  machine.links = topology->links;
  if (topology->name == "k-computer") machine.target_scale = k_computer_scale;
  return machine;
}

Traffic traffic_of(const Observations& seen) {
  Traffic traffic{.read = seen.find("ost.read_bytes"), .write = seen.find("ost.write_bytes"), .part = "OST"};
  if (traffic.read != nullptr || traffic.write != nullptr) return traffic;
  traffic = {
      .read = seen.find("block.read_bytes"), .write = seen.find("block.write_bytes"), .part = "device"};
  if (traffic.read != nullptr || traffic.write != nullptr) return traffic;
  return {};
}

bool is_stacked_device(std::string_view name) {
  constexpr std::array<std::string_view, 7> stacked{"loop", "dm-", "md", "ram", "zram", "zd", "sr"};
  for (const std::string_view prefix : stacked) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

double round_up(double value) {
  if (!(value > 0) || !std::isfinite(value)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0, 10.0}) {
    if (value <= step * power * (1 + 1e-9)) return step * power;
  }
  return 10.0 * power;
}

}  // namespace weir::analysis
