// What the sessions of a program said of themselves (WEIR_SUMMARY_FILE: a JSON object a line), as figures of
// its job.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace weir::cli {

// bytes_written, io_seconds (what the program saw), storing_seconds (what storage took), hidden_share. Sums
// over sessions; nothing of no session.
Result<std::map<std::string, double>> session_figures(std::string_view text);

// No file: none.
Result<std::map<std::string, double>> load_session_figures(const std::string& path);

}  // namespace weir::cli
