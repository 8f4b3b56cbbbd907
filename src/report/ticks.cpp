#include "report/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weir::report {

namespace {

std::string superscript(int exponent) {
  static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string result;
  for (const char c : std::to_string(exponent)) result += c == '-' ? "⁻" : digits[c - '0'];
  return result;
}

// With so many digits behind the point and a real minus; zero has no sign.
std::string fixed(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  return value < 0 && !zero ? "−" + text : text;
}

std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

// The labels of ticks that are multiples of `step`: all with the same digits, and far from 1 with a power of
// ten.
std::vector<std::string> tick_labels(const std::vector<double>& ticks, double step) {
  const double largest = std::max(std::abs(ticks.front()), std::abs(ticks.back()));
  const int power = static_cast<int>(std::floor(std::log10(largest)));
  const bool far = largest >= 1e6 || largest < 1e-3;
  const double unit = far ? std::pow(10.0, power) : 1;
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step / unit) + 1e-9)));
  std::vector<std::string> labels;
  for (const double tick : ticks) {
    std::string label = fixed(tick / unit, decimals);
    if (far && tick != 0) label += "×10" + superscript(power);
    labels.push_back(tick == 0 ? "0" : std::move(label));
  }
  return labels;
}

}  // namespace

double Axis::position(double value) const {
  if (scale == Scale::linear) return (value - first) / (last - first);
  return (std::log2(value) - std::log2(first)) / (std::log2(last) - std::log2(first));
}

Axis linear_axis(double low, double high, int wanted) {
  // All values equal: some room around them, so that there is an axis at all. Beyond the last digits of a
  // double, and near its smallest numbers, there are no ticks.
  constexpr double as_good_as_zero = 1e-290;
  const double largest = std::max(std::abs(low), std::abs(high));
  if (largest < as_good_as_zero) {
    low = 0;
    high = 1;
  } else if (high - low <= largest * 1e-9) {
    low -= largest * 0.5;
    high += largest * 0.5;
  }
  const double rough = (high - low) / std::max(wanted, 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double factor = rough / power;
  const double step = power * (factor <= 1.0001 ? 1 : factor <= 2.0001 ? 2 : factor <= 5.0001 ? 5 : 10);
  const double from = std::floor(low / step + 1e-6);
  const double to = std::ceil(high / step - 1e-6);
  Axis axis{.first = from * step, .last = to * step};
  for (double i = from; i <= to; ++i) axis.ticks.push_back(i * step);
  axis.labels = tick_labels(axis.ticks, step);
  return axis;
}

Axis log2_axis(double low, double high, int most) {
  const int from = static_cast<int>(std::floor(std::log2(low) + 1e-9));
  const int to = std::max(from + 1, static_cast<int>(std::ceil(std::log2(high) - 1e-9)));
  const int step = std::max(1, (to - from + std::max(most, 2) - 2) / (std::max(most, 2) - 1));
  Axis axis{.scale = Scale::log2, .first = std::exp2(from), .last = std::exp2(to)};
  for (int power = from; power <= to; power += step) {
    axis.ticks.push_back(std::exp2(power));
    axis.labels.push_back(power >= -10 && power <= 20
                              ? without_trailing_zeros(fixed(std::exp2(power), power < 0 ? -power : 0))
                              : "2" + superscript(power));
  }
  return axis;
}

std::string format_number(double value) {
  if (value == 0) return "0";
  const double amount = std::abs(value);
  if (amount >= 999500 || amount < 0.0009995) {
    const std::string text = fmt::format("{:.2e}", amount);  // "1.23e+06"
    const std::size_t e = text.find('e');
    return (value < 0 ? "−" : "") + without_trailing_zeros(text.substr(0, e)) + "×10" +
           superscript(std::stoi(text.substr(e + 1)));
  }
  const int decimals = amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : amount >= 0.9995 ? 2 : 3;
  return fixed(value, decimals);
}

}  // namespace weir::report
