// Somebody who writes beside a program and knows nothing of Weir: a thread that writes memory of its own to a
// file, by plain system calls, and copies it first if that is wanted. What such a neighbour takes from a
// program that needs all of its memory's bandwidth, any way of writing beside it takes at least.
//
// Threads: one, besides its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/worker.hpp"

namespace weir::workloads {

class PlainWriter {
 public:
  struct Settings {
    std::string path;         // made, and removed at the end
    std::uint64_t bytes = 0;  // of one write
    bool copies = false;      // from elsewhere, as the data of a program that goes on to change it
    bool to_disk = false;     // each write waits until its data is there
    std::vector<int> cores;   // to run on
  };
  explicit PlainWriter(Settings settings);

  void write();     // the next so many bytes; returns at once
  Status finish();  // when all is written and the file removed. Nothing may be written afterwards.

 private:
  void begin();
  void write_next();

  Settings settings_;
  std::vector<std::byte> elsewhere_;
  std::vector<std::byte> data_;
  Status status_;
  Descriptor file_;
  std::uint64_t written_ = 0;
  Worker worker_;  // last: it uses all of the above
};

}  // namespace weir::workloads
