#include "workloads/stream_kernels.hpp"

#include <fmt/format.h>

#include <cmath>

namespace weir::workloads {

namespace {

constexpr std::uint64_t period = 8191;  // a prime: block sizes are hardly ever a multiple of it

// More than rounding, less than the difference between two neighbours or two loops.
constexpr double tolerance = 1e-10;

double first_value(std::uint64_t element) {
  return 1.0 + static_cast<double>(element % period) / static_cast<double>(period);
}

}  // namespace

void stream_copy(double* __restrict c, const double* __restrict a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) c[i] = a[i];
}

void stream_scale(double* __restrict b, const double* __restrict c, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) b[i] = stream_scalar * c[i];
}

void stream_add(double* __restrict c, const double* __restrict a, const double* __restrict b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

void stream_triad(double* __restrict a, const double* __restrict b, const double* __restrict c,
                  std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + stream_scalar * c[i];
}

void stream_initialise(std::span<double> a, std::span<double> b, std::span<double> c, std::uint64_t first) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = first_value(first + i);
    b[i] = 2.0;
    c[i] = 0.0;
  }
}

StreamExpectation::StreamExpectation() : a_(period), b_(period), c_(period) {
  stream_initialise(a_, b_, c_, 0);
}

void StreamExpectation::advance(Kernel kernel) {
  switch (kernel) {
    case Kernel::copy:
      stream_copy(c_.data(), a_.data(), period);
      break;
    case Kernel::scale:
      stream_scale(b_.data(), c_.data(), period);
      break;
    case Kernel::add:
      stream_add(c_.data(), a_.data(), b_.data(), period);
      break;
    case Kernel::triad:
      stream_triad(a_.data(), b_.data(), c_.data(), period);
      break;
  }
}

const std::vector<double>& StreamExpectation::array_of(Kernel kernel) const {
  if (kernel == Kernel::triad) return a_;
  return kernel == Kernel::scale ? b_ : c_;
}

Status StreamExpectation::compare(Kernel kernel, std::span<const double> block, std::uint64_t first) const {
  const std::vector<double>& expected = array_of(kernel);
  std::uint64_t phase = first % period;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const double wanted = expected[phase];
    // Written so that a NaN is a difference.
    if (!(std::abs(block[i] - wanted) <= tolerance * std::abs(wanted))) {
      return fail(ErrorCode::corrupt,
                  fmt::format("element {} of '{}' is {} and should be {}", first + i,
                              kernel_names[static_cast<std::size_t>(kernel)], block[i], wanted));
    }
    if (++phase == period) phase = 0;
  }
  return {};
}

}  // namespace weir::workloads
