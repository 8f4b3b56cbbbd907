// The end of `weir demo`: the report of its own runs.
#pragma once

#include <string>

#include "core/error.hpp"

namespace weir::cli {

// Of the runs in this store, those of one backend: prints which way was better and how sure that is, and
// where the page is. `page`: its path; empty: one in the user's data folder, if there is such a thing.
Status show_demo_report(const std::string& store, std::string page);

}  // namespace weir::cli
