// Numbers with units as people read them.
//
// Threads: all functions are reentrant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::report {

// "1.2 GiB" of 1288490189 "B", "95.0 MiB/s", "14.2 ms" of 0.0142 "s", "132 requests"; "-" of NaN.
std::string format_quantity(double value, std::string_view unit);
std::string format_share(double share);         // "4.1 %" of 0.041
std::string format_duration(double seconds);    // "850 ms", "12.4 s", "3 min 05 s", "2 h 03 min"
std::string format_time(std::int64_t time_ns);  // "2019-08-01 12:00:00 UTC"; "-" of 0

// A unit in which these numbers are neither tiny nor huge: "B/s" becomes "MiB/s". A value times `factor` is
// in it.
struct Unit {
  std::string name;
  double factor = 1;
};
Unit readable_unit(std::string_view unit, double largest);
double largest_of(const std::vector<double>& values);  // 0 where there is none
void scale(std::vector<double>& values, double factor);

}  // namespace weir::report
