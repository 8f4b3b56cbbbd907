// weir record: the work behind the options.
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::cli {

struct RecordRequest {
  std::string output;  // the recording
  std::vector<std::string> words;
  bool json = false;
  bool quiet = false;
};

// Runs the program under the recorder. The exit code is the program's, or 1 if it made no recording.
Result<int> record(const RecordRequest& request);

// What is in a recording: files, ranks, bytes, pieces.
Status show_recording(const std::string& path, bool json);

}  // namespace weir::cli
