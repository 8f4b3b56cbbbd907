// Where time goes.
#pragma once

#include <chrono>

namespace weir {

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

}  // namespace weir
