// What `weir report --score-table` does.
#pragma once

#include <string>

#include "core/error.hpp"

namespace weir::cli {

struct ScoreArguments {
  std::string table;      // a file
  bool measured = false;  // values of runs instead of ranks
  std::string baseline;   // empty: the first configuration
  std::string json;       // a file, "-" for standard output instead of the table, or empty
};

Status report_scores(const ScoreArguments& arguments);

}  // namespace weir::cli
