#include "report/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include "report/ticks.hpp"

namespace weir::report {

namespace {

constexpr std::array<const char*, 6> byte_prefixes = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};

// Three digits, without the point where there are three before it.
std::string short_number(double value) {
  const double size = std::abs(value);
  if (size >= 99.95 || value == std::floor(value)) return fmt::format("{:.0f}", value);
  return size >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

bool is_bytes(std::string_view unit) {
  return unit == "B" || unit == "bytes" || unit == "B/s" || unit == "bytes/s";
}

}  // namespace

Unit readable_unit(std::string_view unit, double largest) {
  if (is_bytes(unit)) {
    std::size_t power = 0;
    double factor = 1;
    for (double size = largest; size >= 1024 && power + 1 < byte_prefixes.size(); size /= 1024) {
      ++power;
      factor /= 1024;
    }
    return {fmt::format("{}B{}", byte_prefixes[power], unit.ends_with("/s") ? "/s" : ""), factor};
  }
  if (unit == "s") {
    if (largest > 0 && largest < 1e-3) return {"µs", 1e6};
    if (largest > 0 && largest < 1) return {"ms", 1e3};
    return {"s", 1};
  }
  return {unit == "1" ? "" : std::string(unit), 1};
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

void scale(std::vector<double>& values, double factor) {
  for (double& value : values) value *= factor;
}

std::string format_quantity(double value, std::string_view unit) {
  if (std::isnan(value)) return "-";
  const Unit readable = readable_unit(unit, std::abs(value));
  const double scaled = value * readable.factor;
  const std::string number = std::abs(scaled) >= 1e6 || (scaled != 0 && std::abs(scaled) < 5e-3)
                                 ? format_number(scaled)
                                 : short_number(scaled);
  return readable.name.empty() ? number : number + " " + readable.name;
}

std::string format_share(double share) {
  if (std::isnan(share)) return "-";
  const double percent = share * 100;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return percent >= 9.95 || percent == std::floor(percent) ? fmt::format("{:.0f} %", percent)
                                                           : fmt::format("{:.1f} %", percent);
}

std::string format_duration(double seconds) {
  if (std::isnan(seconds)) return "-";
  if (seconds < 59.95) return seconds == 0 ? "0 s" : format_quantity(seconds, "s");
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  if (whole < 48 * 3600) return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} d {:02} h", whole / 86400, whole % 86400 / 3600);
}

std::string format_time(std::int64_t time_ns) {
  if (time_ns == 0) return "-";
  const std::int64_t per_second = 1000000000;
  std::time_t seconds = time_ns / per_second;
  if (time_ns % per_second < 0) --seconds;
  std::tm parts{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return "-";
  std::array<char, 64> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return {text.data(), size};
}

}  // namespace weir::report
