// Tables as text, a line a row, with a line of titles first: CSV, and the output of Slurm's `sacct -P`.
//
// Threads: a reader belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace weir::store {

// Longer lines are refused.
inline constexpr std::size_t longest_line = std::size_t{16} << 20U;

// The next line without its end; nothing at the end of the text. A longer line is cut, and `too_long` set.
std::optional<std::string> next_line(std::istream& text, bool& too_long);

// One line of CSV: fields in double quotes may hold commas, and "" for a quote. Line breaks in quotes are not
// known.
Result<std::vector<std::string>> split_csv(std::string_view line);

// Which column has which title; letters of either case, blanks and '_' and '-' do not count.
class Titles {
 public:
  explicit Titles(const std::vector<std::string>& titles);
  std::optional<std::size_t> find(std::string_view title) const;
  std::optional<std::size_t> find(
      std::initializer_list<std::string_view> titles) const;  // the first there is
  const std::string& at(std::size_t column) const { return titles_[column]; }
  std::size_t size() const { return titles_.size(); }

 private:
  std::vector<std::string> titles_, plain_;
};

}  // namespace weir::store
