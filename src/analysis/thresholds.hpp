// When a figure becomes a finding. One table: names, defaults and meaning; a site changes them by a JSON file
// {"slow_target_ratio": 0.4}.
//
// Threads: plain values.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "core/error.hpp"
#include "core/json.hpp"

namespace weir::analysis {

struct Thresholds {
  double slow_target_ratio = 0.5;
  double slow_target_share = 0.1;
  double idle_target_ratio = 0.1;
  double idle_target_share = 0.25;
  double neighbour_share = 0.2;
  double neighbour_critical_share = 0.5;
  double hot_link_ratio = 5.0;
  double hot_link_wait = 0.05;
  double deep_queue = 64;
  double idle_link_use = 0.1;
  double server_variation = 0.3;
  double server_excess = 1.8;
  double coverage = 0.95;
  double gap_periods = 2.5;
  double fewest_intervals = 5;
  double device_busy = 0.9;
  double small_request = 65536;
  double link_full = 0.8;
  double fewest_bytes = 1e6;
};

struct ThresholdEntry {
  std::string_view name;
  double Thresholds::*value;
  std::string_view meaning;
};
std::span<const ThresholdEntry> threshold_table();

// Unknown names and values that are not positive are refused.
Result<Thresholds> thresholds_from_json(const Json& json);
Result<Thresholds> load_thresholds(const std::filesystem::path& path);
Json to_json(const Thresholds& thresholds);

}  // namespace weir::analysis
