#include "files/reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>
#include <utility>

namespace weir::files {

namespace {

const std::vector<std::string> operations = {"mean", "min", "max", "sum", "instant"};

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

bool is_integer(Type type) {
  return type <= Type::uint64;
}

bool holds_complex(Type type) {
  return type >= Type::complex64;
}

// What sums are kept in: at least double precision, and integers exactly. Only means of 64-bit integers,
// whose sums do not fit into 64 bits, are rounded.
template <class T, bool for_mean>
auto sum_type() {
  if constexpr (std::is_integral_v<T>) {
    if constexpr (sizeof(T) == 8 && for_mean) {
      return static_cast<long double>(0);
    } else {
      return std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>{};
    }
  } else if constexpr (std::is_same_v<T, float>) {
    return double{};
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return std::complex<double>{};
  } else {
    return T{};
  }
}

template <class T>
T load(const std::byte* data, std::size_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(std::byte* data, std::size_t index, const T& value) {
  std::memcpy(data + index * sizeof(T), &value, sizeof(T));
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

// Multiples of k below n.
std::uint64_t multiples_below(std::uint64_t n, std::uint64_t k) {
  return n / k + (n % k != 0 ? 1 : 0);
}

}  // namespace

struct Accumulator::Cells {
  Cells() = default;
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;
  virtual ~Cells() = default;
  virtual void set(const std::byte* data) = 0;  // the first step
  virtual void add(const std::byte* data) = 0;
  virtual Status finish(std::uint64_t) { return {}; }  // makes results of the cells
  virtual const std::byte* data() const = 0;
  virtual std::uint64_t bytes() const = 0;
};

namespace {

// The last step is all that counts.
class Last final : public Accumulator::Cells {
 public:
  Last(std::uint64_t elements, std::size_t element_size) : bytes_(elements * element_size) {}
  void set(const std::byte* data) override {
    if (!bytes_.empty()) std::memcpy(bytes_.data(), data, bytes_.size());
  }
  void add(const std::byte* data) override { set(data); }
  const std::byte* data() const override { return bytes_.data(); }
  std::uint64_t bytes() const override { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
};

template <class T, bool smallest>
class Extreme final : public Accumulator::Cells {
 public:
  explicit Extreme(std::uint64_t elements) : cells_(elements) {}
  void set(const std::byte* data) override {
    if (!cells_.empty()) std::memcpy(cells_.data(), data, cells_.size() * sizeof(T));
  }
  void add(const std::byte* data) override {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const T value = load<T>(data, i);
      const bool wins = smallest ? value < cells_[i] : value > cells_[i];  // never against NaN
      if (wins || is_nan(value)) cells_[i] = value;
    }
  }
  const std::byte* data() const override { return reinterpret_cast<const std::byte*>(cells_.data()); }
  std::uint64_t bytes() const override { return cells_.size() * sizeof(T); }

 private:
  std::vector<T> cells_;
};

template <class T, bool for_mean>
class Total final : public Accumulator::Cells {
  using Sum = decltype(sum_type<T, for_mean>());

 public:
  explicit Total(std::uint64_t elements) : cells_(elements) {}
  void set(const std::byte* data) override {
    overflow_ = false;
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] = static_cast<Sum>(load<T>(data, i));
  }
  void add(const std::byte* data) override {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const Sum value = static_cast<Sum>(load<T>(data, i));
      if constexpr (std::is_integral_v<Sum>) {
        overflow_ |= __builtin_add_overflow(cells_[i], value, &cells_[i]);
      } else {
        cells_[i] += value;
      }
    }
  }
  Status finish(std::uint64_t count) override {
    if (overflow_) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("the {} does not fit into 64 bits", for_mean ? "sum for the mean" : "sum of the steps"),
          "write the variable as float64, or reduce fewer steps");
    }
    // In place: a result takes no more room than its sum, so none reaches a sum that is still needed.
    auto* out = reinterpret_cast<std::byte*>(cells_.data());
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const auto result = result_of(cells_[i], count);
      static_assert(sizeof result <= sizeof(Sum));
      store(out, i, result);
    }
    return {};
  }
  const std::byte* data() const override { return reinterpret_cast<const std::byte*>(cells_.data()); }
  std::uint64_t bytes() const override { return cells_.size() * sizeof(Sum); }

 private:
  static auto result_of(Sum sum, std::uint64_t count) {
    if constexpr (!for_mean && std::is_integral_v<T>) {
      return sum;
    } else if constexpr (!for_mean) {
      return static_cast<T>(sum);
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<double>(static_cast<long double>(sum) / static_cast<long double>(count));
    } else if constexpr (is_complex<Sum>) {
      return static_cast<T>(sum / static_cast<typename Sum::value_type>(count));
    } else {
      return static_cast<T>(sum / static_cast<Sum>(count));
    }
  }

  std::vector<Sum> cells_;
  bool overflow_ = false;
};

std::unique_ptr<Accumulator::Cells> cells_for(const std::string& operation, Type type,
                                              std::uint64_t elements) {
  if (operation == "instant") return std::make_unique<Last>(elements, size_of(type));
  return with_type(type, [&](auto element) -> std::unique_ptr<Accumulator::Cells> {
    using T = decltype(element);
    if (operation == "mean") return std::make_unique<Total<T, true>>(elements);
    if (operation == "sum") return std::make_unique<Total<T, false>>(elements);
    if constexpr (!is_complex<T>) {
      if (operation == "min") return std::make_unique<Extreme<T, true>>(elements);
      if (operation == "max") return std::make_unique<Extreme<T, false>>(elements);
    }
    throw std::logic_error("a reduction that was not checked: " + operation);
  });
}

}  // namespace

bool reduces(const Reduction& reduction) {
  return reduction != Reduction{};
}

Status check(const Reduction& reduction, Type type, const Extent& shape) {
  if (reduction.steps == 0)
    return fail(ErrorCode::invalid_argument, "a reduction over 0 steps",
                "give the number of steps for one result");
  if (reduction.operation.empty()) {
    if (reduction.steps != 1) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("a reduction over {} steps without an operation", reduction.steps),
                  "choose mean, min, max, sum or instant");
    }
  } else if (std::find(operations.begin(), operations.end(), reduction.operation) == operations.end()) {
    return fail(ErrorCode::invalid_argument, fmt::format("there is no reduction '{}'{}", reduction.operation,
                                                         suggest(reduction.operation, operations)));
  }
  if (holds_complex(type) && (reduction.operation == "min" || reduction.operation == "max")) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("complex numbers ({}) have no {}", name_of(type), reduction.operation),
                "use mean or sum, or write real and imaginary parts as variables of their own");
  }
  if (reduction.every.empty()) return {};
  if (reduction.every.size() != shape.size()) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("every {} has {} numbers, the array {} has {} dimensions", format_extent(reduction.every),
                    reduction.every.size(), format_extent(shape), shape.size()));
  }
  if (std::find(reduction.every.begin(), reduction.every.end(), 0U) != reduction.every.end()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("every {}: there is no 0th point", format_extent(reduction.every)),
                "1 keeps all points of a dimension");
  }
  return {};
}

Type result_type(const Reduction& reduction, Type type) {
  if (!is_integer(type)) return type;
  if (reduction.operation == "mean") return Type::float64;
  if (reduction.operation == "sum") return type <= Type::int64 ? Type::int64 : Type::uint64;
  return type;
}

Extent result_shape(const Extent& shape, const Extent& every) {
  return result_box(Box::whole(shape), every).count;
}

Box result_box(const Box& box, const Extent& every) {
  if (every.empty()) return box;
  Box result = box;
  for (std::size_t d = 0; d < every.size(); ++d) {
    result.offset[d] = multiples_below(box.offset[d], every[d]);
    result.count[d] = multiples_below(box.offset[d] + box.count[d], every[d]) - result.offset[d];
  }
  return result;
}

std::string describe(const Reduction& reduction) {
  std::string text;
  if (!reduction.operation.empty())
    text =
        fmt::format("{} of {} step{}", reduction.operation, reduction.steps, reduction.steps == 1 ? "" : "s");
  if (!reduction.every.empty())
    text += fmt::format("{}every {} points", text.empty() ? "" : ", ", format_extent(reduction.every));
  return text.empty() ? "no reduction" : text;
}

void subsample(const Box& box, const std::byte* data, std::size_t element_size, const Extent& every,
               std::byte* out) {
  const Box kept = result_box(box, every);
  if (kept.empty() || box.empty()) return;
  if (every.empty()) {
    std::memcpy(out, data, volume(box.count) * element_size);
    return;
  }
  const std::size_t last = box.count.size() - 1;
  std::vector<std::uint64_t> strides(box.count.size(), 1);  // of the block in memory, in elements
  for (std::size_t d = last; d-- > 0;) strides[d] = strides[d + 1] * box.count[d + 1];
  Extent at(box.count.size(), 0);  // among the points that are kept
  for (;;) {
    std::uint64_t from = 0;
    for (std::size_t d = 0; d <= last; ++d)
      from += ((kept.offset[d] + at[d]) * every[d] - box.offset[d]) * strides[d];
    const std::byte* source = data + from * element_size;
    if (every[last] == 1) {
      std::memcpy(out, source, kept.count[last] * element_size);
      out += kept.count[last] * element_size;
    } else {
      for (std::uint64_t i = 0; i < kept.count[last]; ++i, out += element_size)
        std::memcpy(out, source + i * every[last] * element_size, element_size);
    }
    std::size_t d = last;
    while (d > 0 && ++at[d - 1] == kept.count[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

Accumulator::Accumulator(const std::string& operation, Type type, std::uint64_t elements)
    : cells_(cells_for(operation, type, elements).release(), [](Cells* cells) { delete cells; }) {}

void Accumulator::add(const std::byte* data) {
  if (count_++ == 0) {
    cells_->set(data);
  } else {
    cells_->add(data);
  }
}

Result<const std::byte*> Accumulator::finish() {
  if (count_ == 0) throw std::logic_error("the result of no steps");
  WEIR_TRY(cells_->finish(std::exchange(count_, 0)));
  return cells_->data();
}

std::uint64_t Accumulator::bytes() const {
  return cells_->bytes();
}

}  // namespace weir::files
