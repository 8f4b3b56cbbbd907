#include "analysis/thresholds.hpp"

#include <fmt/format.h>

#include <array>

namespace weir::analysis {

namespace {

constexpr std::array table{
    ThresholdEntry{"slow_target_ratio", &Thresholds::slow_target_ratio,
                   "a target below this share of the median is slow"},
    ThresholdEntry{"slow_target_share", &Thresholds::slow_target_share,
                   "as long as no more than this share of the targets is"},
    ThresholdEntry{"idle_target_ratio", &Thresholds::idle_target_ratio,
                   "a target below this share of the busiest ones stands idle"},
    ThresholdEntry{"idle_target_share", &Thresholds::idle_target_share,
                   "so many of the targets idle is a finding"},
    ThresholdEntry{"neighbour_share", &Thresholds::neighbour_share,
                   "share of the traffic that others may have on the job's servers"},
    ThresholdEntry{"neighbour_critical_share", &Thresholds::neighbour_critical_share,
                   "share of others that is critical"},
    ThresholdEntry{"hot_link_ratio", &Thresholds::hot_link_ratio,
                   "a link that waits so many times the usual wait is hot"},
    ThresholdEntry{"hot_link_wait", &Thresholds::hot_link_wait, "and waits at least this share of the time"},
    ThresholdEntry{"deep_queue", &Thresholds::deep_queue,
                   "requests in a server's queue from which it is deep"},
    ThresholdEntry{"idle_link_use", &Thresholds::idle_link_use,
                   "links used less than this share of their bandwidth are idle"},
    ThresholdEntry{"server_variation", &Thresholds::server_variation,
                   "coefficient of variation between servers that is uneven"},
    ThresholdEntry{"server_excess", &Thresholds::server_excess,
                   "so is a server that carries this many times the mean"},
    ThresholdEntry{"coverage", &Thresholds::coverage, "share of the time that samples must cover"},
    ThresholdEntry{"gap_periods", &Thresholds::gap_periods,
                   "a distance of samples of so many periods is a gap"},
    ThresholdEntry{"fewest_intervals", &Thresholds::fewest_intervals, "sampling intervals a job must last"},
    ThresholdEntry{"device_busy", &Thresholds::device_busy,
                   "share of the time from which a device is saturated"},
    ThresholdEntry{"small_request", &Thresholds::small_request,
                   "bytes of a request below which requests are small"},
    ThresholdEntry{"link_full", &Thresholds::link_full, "use of a link from which it is full"},
    ThresholdEntry{"fewest_bytes", &Thresholds::fewest_bytes,
                   "bytes below which a job did no I/O to speak of"},
};

}  // namespace

std::span<const ThresholdEntry> threshold_table() {
  return table;
}

Result<Thresholds> thresholds_from_json(const Json& json) {
  WEIR_ASSIGN(const JsonObject object, JsonObject::of(json, "thresholds"));
  std::vector<std::string> names;
  for (const ThresholdEntry& entry : table) names.emplace_back(entry.name);
  WEIR_TRY(object.only(names));
  Thresholds thresholds;
  for (const ThresholdEntry& entry : table) {
    const std::string name(entry.name);
    if (!object.has(name)) continue;
    WEIR_ASSIGN(const double value, object.number(name));
    if (!(value > 0)) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("thresholds: '{}' is {}, not more than 0", name, value),
                  std::string(entry.meaning));
    }
    thresholds.*entry.value = value;
  }
  return thresholds;
}

Result<Thresholds> load_thresholds(const std::filesystem::path& path) {
  WEIR_ASSIGN(const Json json, load_json(path));
  return in(thresholds_from_json(json), "read thresholds", path.string());
}

Json to_json(const Thresholds& thresholds) {
  Json json = Json::object();
  for (const ThresholdEntry& entry : table) json[std::string(entry.name)] = thresholds.*entry.value;
  return json;
}

}  // namespace weir::analysis
