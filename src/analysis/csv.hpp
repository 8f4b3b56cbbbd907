// Tables that people write: CSV with a line of titles. Quoted fields, CRLF, a byte order mark, blank lines
// and tabs or semicolons instead of commas are understood. Errors name the line.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace weir::analysis {

struct Csv {
  struct Row {
    std::uint64_t line = 0;  // where it starts, from 1
    std::vector<std::string> fields;
  };
  std::string name;  // of the file, for errors
  std::vector<std::string> titles;
  std::vector<Row> rows;  // as many fields as titles, each without blanks around it

  std::optional<std::size_t> column(std::string_view title) const;  // letter case does not count
  // "ranks.csv:3: column 'R_BW': 'x' is not a number".
  tl::unexpected<Failure> wrong(const Row& row, std::size_t column, std::string_view problem,
                                std::string advice = {}) const;
  Result<double> number(const Row& row, std::size_t column) const;  // finite
};

// `wide`, if there is a column of that title, may hold unquoted separators: a row with too many fields gives
// them to it ("T:agg=1,rr=0,req=4" as people paste it). At most 100,000 rows of 1,000 fields.
Result<Csv> parse_csv(std::string_view text, std::string_view name, std::string_view wide = {});

}  // namespace weir::analysis
