// The vocabulary shared by the programming interface and everything behind it: element types, extents,
// errors.
//
// Threads: all of it is plain values; use freely.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#if defined(__GNUC__)
#define WEIR_API __attribute__((visibility("default")))
#else
#define WEIR_API
#endif

namespace weir {

// Lengths of an array along its dimensions, slowest first (C order). Always 64-bit.
using Extent = std::vector<std::uint64_t>;

// A number of elements that says: as many as the block has, the caller vouches for the buffer.
inline constexpr std::uint64_t as_needed = UINT64_MAX;

// The type of an element. The values are part of the C interface and of stored files: append only.
enum class Type : std::uint8_t {
  int8 = 0,
  int16 = 1,
  int32 = 2,
  int64 = 3,
  uint8 = 4,
  uint16 = 5,
  uint32 = 6,
  uint64 = 7,
  float32 = 8,
  float64 = 9,
  long_double = 10,
  complex64 = 11,   // std::complex<float>
  complex128 = 12,  // std::complex<double>
  complex_long_double = 13,
};
inline constexpr int type_count = 14;

// The Type of a C++ element type; does not compile for types that Weir cannot store.
template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, float>) {
    return Type::float32;
  } else if constexpr (std::is_same_v<T, double>) {
    return Type::float64;
  } else if constexpr (std::is_same_v<T, long double>) {
    return Type::long_double;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return Type::complex64;
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    return Type::complex128;
  } else if constexpr (std::is_same_v<T, std::complex<long double>>) {
    return Type::complex_long_double;
  } else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>,
                  "Weir stores C integers, floats and complex numbers");
    constexpr int log2_size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<Type>((std::is_signed_v<T> ? 0 : 4) + log2_size);
  }
}

// What is stored of the steps and points that a program writes. The work is done by whoever writes the file:
// the I/O servers, where there are any.
//
//     {.operation = "mean", .steps = 10}          one mean for every 10 steps
//     {.every = {2, 2}}                           every second point along both dimensions: 0, 2, 4, ...
//
// A result carries the number of the last of its steps. Steps that are left over when the file is closed give
// one more result, of fewer steps. NaN wins: a result of which any step is NaN is NaN.
//
// Types: the mean of integers is stored as float64, the sum of integers as int64 or uint64; everything else
// keeps its type. Sums and means of float32 are formed in double precision. Complex numbers have no min and
// max.
struct Reduction {
  std::string operation =
      {};  // over steps: "mean", "min", "max", "sum", or "instant", the last; "": all are stored
  std::uint64_t steps = 1;  // so many give one result
  Extent every = {};        // every k-th point, k for each dimension; left out: all points

  bool operator==(const Reduction&) const = default;
};

// Why an operation failed. The values are those of weir_status in weir.h: append only.
enum class ErrorCode : int {
  ok = 0,
  invalid_argument = 1,  // the caller asked for something impossible: a wrong shape, name, option
  not_found = 2,         // no such file, variable, step
  unsupported = 3,       // possible elsewhere, not with this backend or this build
  io = 4,                // the operating system or a storage library reported a failure
  corrupt = 5,           // a file is truncated, foreign, or fails its checksum
  disagreement = 6,      // ranks passed different arguments to a collective call
  state = 7,             // called at the wrong time: a closed file, a step that has passed
  no_memory = 8,         // an array, a table or a buffer does not fit into memory
};

// What the C++ interface throws. what() names the operation, the object, the rank and the cause, and says
// what to do.
class WEIR_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, int rank, const std::string& message)
      : std::runtime_error(message), code_(code), rank_(rank) {}
  ErrorCode code() const noexcept { return code_; }
  int rank() const noexcept {
    return rank_;
  }  // where it happened, in the file's communicator; -1: not tied to a rank

 private:
  ErrorCode code_;
  int rank_;
};

}  // namespace weir
