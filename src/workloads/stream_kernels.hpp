// STREAM's four kernels, and the values that they must lead to.
//
//   copy  c = a        scale  b = s c        add  c = a + b        triad  a = b + s c
//
// Every element depends on where it is in the global array (a period of a prime number of values, so that a
// block in the wrong place is noticed) and on the loop (one loop multiplies all of it by 2s + s^2 = 1.0164,
// so that an old block is noticed). STREAM's own factor of 3 would overflow after 262 loops; this one lasts
// 40,000.
//
// Threads: plain functions and values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/error.hpp"

namespace weir::workloads {

enum class Kernel : std::uint8_t { copy, scale, add, triad };
inline constexpr std::array<const char*, 4> kernel_names = {"copy", "scale", "add", "triad"};
inline constexpr std::array<Kernel, 4> all_kernels = {Kernel::copy, Kernel::scale, Kernel::add,
                                                      Kernel::triad};

inline constexpr double stream_scalar = 0.42;
inline constexpr int most_stream_loops = 40'000;

// The same code for plain STREAM, for STREAM that writes, and for the values expected. The arrays do not
// overlap.
void stream_copy(double* c, const double* a, std::size_t n);
void stream_scale(double* b, const double* c, std::size_t n);
void stream_add(double* c, const double* a, const double* b, std::size_t n);
void stream_triad(double* a, const double* b, const double* c, std::size_t n);

// A block of the global array that begins with element `first`.
void stream_initialise(std::span<double> a, std::span<double> b, std::span<double> c, std::uint64_t first);

// What the arrays must hold, loop by loop: one period of them, brought forward by the kernels themselves.
class StreamExpectation {
 public:
  StreamExpectation();
  void advance(Kernel kernel);  // in the order copy, scale, add, triad, copy, ...
  // Compares a block that begins with element `first`. The failure names the element.
  Status compare(Kernel kernel, std::span<const double> block, std::uint64_t first) const;

 private:
  const std::vector<double>& array_of(Kernel kernel) const;  // that the kernel writes
  std::vector<double> a_, b_, c_;
};

}  // namespace weir::workloads
