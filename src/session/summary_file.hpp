// What a session's I/O cost, for the program that watches over the job: one JSON object a line, so that
// several sessions and programs of a job can add theirs.
//
// LOCAL. Threads: reentrant.
#pragma once

#include <string>

#include "core/error.hpp"
#include "weir/weir.hpp"

namespace weir::session {

Status append_summary(const Summary& summary, const std::string& path);

}  // namespace weir::session
