// Checks of option values that say in words what can be given.
#pragma once

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace weir::cli {

inline bool is_whole(const std::string& text, auto& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Of a list each; nothing is cut to what fits into 63 bits.
inline CLI::Validator whole_number(std::int64_t least = 0) {
  return {[least](std::string& text) -> std::string {
            std::int64_t value = 0;
            if (is_whole(text, value) && value >= least) return {};
            return "'" + text + "': give a whole number" +
                   (least == INT64_MIN ? " of 64 bits" : " of " + std::to_string(least) + " or more");
          },
          ""};
}

// A number that is not negative.
inline CLI::Validator amount() {
  return {[](std::string& text) -> std::string {
            double value = 0;
            if (is_whole(text, value) && std::isfinite(value) && value >= 0) return {};
            return "'" + text + "': give a number of 0 or more, without a unit";
          },
          ""};
}

}  // namespace weir::cli
