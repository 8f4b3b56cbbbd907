// Folders of a benchmark that leave nothing behind, also when it is interrupted.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::cli {

// A folder; removed with all that is in it at the end of its scope, unless it is to be kept.
class BenchFolder {
 public:
  // A new one below `parent` (which must exist; empty: the temporary folder).
  static Result<BenchFolder> temporary(const std::string& parent);
  // One of that name, made if it is not there, and kept.
  static Result<BenchFolder> kept(const std::string& path);
  BenchFolder(BenchFolder&& other) noexcept;
  BenchFolder& operator=(BenchFolder&&) = delete;
  ~BenchFolder();
  const std::string& path() const { return path_; }

 private:
  BenchFolder(std::string path, bool temporary) : path_(std::move(path)), temporary_(temporary) {}
  std::string path_;
  bool temporary_;
};

// Removes what is left of a file of the benchmark that was never finished, and of those that were made beside
// it for a moment: what else is in a folder that the user named is the user's.
void remove_unfinished(const std::string& path);

// While it lives, an interrupt or a request to end is noted instead of ending this process on the spot, so
// that folders are removed. One at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  static Status check();  // a failure after a signal

 private:
  struct sigaction previous_[3];
};

// Fails when a file system has less room than `bytes`.
Status check_room(const std::string& folder, double bytes);

// Fails when a file of this name could not be made: better before a long run than after it.
Status check_writable(const std::string& path);
// The same for the results; each wants a file of its own.
struct Report {
  std::string option;  // "--json"
  std::string path;    // empty: not asked for
};
Status check_reports(const std::vector<Report>& reports);

}  // namespace weir::cli
