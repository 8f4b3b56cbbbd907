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

// A number that is not negative, and not zero either where that would mean nothing.
inline CLI::Validator amount(bool may_be_zero = true) {
  return {[may_be_zero](std::string& text) -> std::string {
            double value = 0;
            if (is_whole(text, value) && std::isfinite(value) && value >= 0 && (may_be_zero || value > 0))
              return {};
            return "'" + text + "': give a number " + (may_be_zero ? "of 0 or more" : "above 0") +
                   ", without a unit";
          },
          ""};
}

}  // namespace weir::cli
