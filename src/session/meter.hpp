// Where the time of a session's I/O goes, on this rank.
#pragma once

#include <chrono>
#include <cstdint>

namespace weir::session {

// Adds the time of its life to a sum.
class Timed {
 public:
  explicit Timed(double& sum) : sum_(sum), start_(std::chrono::steady_clock::now()) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_;
};

struct Meter {
  std::uint64_t files = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes = 0;
  double sending_seconds = 0;
  double waiting_seconds = 0;
  double closing_seconds = 0;
  double storing_seconds = 0;  // of files that this rank writes itself
};

}  // namespace weir::session
