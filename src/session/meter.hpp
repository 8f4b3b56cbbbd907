// Where the time of a session's I/O goes, on this rank, and what came of it.
//
// Threads: the program's, one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "offload/progress.hpp"

namespace weir::session {

struct Meter {
  std::uint64_t files = 0;         // that were closed, whole
  std::uint64_t writes = 0;        // into those
  std::uint64_t bytes = 0;         // that the program gave for them
  std::uint64_t stored_bytes = 0;  // that this rank itself has put into them
  double sending_seconds = 0;
  double waiting_seconds = 0;
  double closing_seconds = 0;
  double storing_seconds = 0;  // of files that this rank writes itself
};

// The writes to one file. They count when the file is whole: what failed is in no file.
class WritesOfFile {
 public:
  void add(const std::shared_ptr<offload::Progress>& write, std::uint64_t bytes) {
    count_finished();
    under_way_.push_back({write, bytes});
  }
  // REQUIRES: the file was closed, without a failure; so all writes are done.
  void count(Meter& meter) {
    count_finished();
    ++meter.files;
    meter.writes += writes_;
    meter.bytes += bytes_;
  }

 private:
  struct Write {
    std::shared_ptr<offload::Progress> progress;
    std::uint64_t bytes;
  };
  void count_finished() {
    std::erase_if(under_way_, [this](const Write& write) {
      if (!write.progress->done()) return false;
      if (!write.progress->failed()) {
        ++writes_;
        bytes_ += write.bytes;
      }
      return true;
    });
  }

  std::vector<Write> under_way_;
  std::uint64_t writes_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace weir::session
