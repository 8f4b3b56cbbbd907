// What an evaluation means, in plain sentences.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "analysis/evaluation.hpp"

namespace weir::analysis {

std::vector<std::string> in_words(const Evaluation& evaluation);

std::string format_interval(const Interval& interval);  // "1.34 (1.20 to 1.48)", or "1.34"

}  // namespace weir::analysis
