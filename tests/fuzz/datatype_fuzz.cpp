// Data types of a program's making, as absurd as can be: refused, or flattened into sound accesses of the
// right size.
#include <cstdlib>
#include <cstring>

#include "pattern/datatype.hpp"

using namespace weir::pattern;

namespace {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  std::uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  // Mostly small, sometimes anything.
  std::int64_t number() {
    const std::uint8_t first = byte();
    if (first < 250) return static_cast<std::int64_t>(first) - 8;
    std::uint64_t value = 0;
    for (int at = 0; at < 8; ++at) value = value << 8U | byte();
    return static_cast<std::int64_t>(value);
  }
  std::vector<std::int64_t> numbers(std::size_t count) {
    std::vector<std::int64_t> result(count);
    for (std::int64_t& value : result) value = number();
    return result;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

weir::Result<Datatype> derive(Input& in, const std::vector<Datatype>& types) {
  const Datatype& of = types[in.byte() % types.size()];
  const std::size_t count = in.byte() % 6;
  const auto a = in.numbers(count), b = in.numbers(count), c = in.numbers(count);
  const std::int64_t x = in.number(), y = in.number(), z = in.number();
  const ArrayOrder order = in.byte() % 2 == 0 ? ArrayOrder::c : ArrayOrder::fortran;
  switch (in.byte() % 11) {
    case 0:
      return Datatype::contiguous(x, of);
    case 1:
      return Datatype::vector(x, y, z, of);
    case 2:
      return Datatype::hvector(x, y, z, of);
    case 3:
      return Datatype::indexed(a, b, of);
    case 4:
      return Datatype::hindexed(a, b, of);
    case 5:
      return Datatype::indexed_block(x, a, of);
    case 6:
      return Datatype::hindexed_block(x, a, of);
    case 7: {
      std::vector<Datatype> parts;
      for (std::size_t at = 0; at < count; ++at) parts.push_back(types[in.byte() % types.size()]);
      return Datatype::structure(a, b, parts);
    }
    case 8:
      return Datatype::subarray(a, b, c, order, of);
    case 9: {
      std::vector<Distribution> how;
      for (std::size_t at = 0; at < count; ++at) how.push_back(static_cast<Distribution>(in.byte() % 3));
      std::int64_t processes = 1;
      for (const std::int64_t each : c) (void)__builtin_mul_overflow(processes, each, &processes);
      return Datatype::darray(processes, x, a, how, b, c, order, of);
    }
    default:
      return Datatype::resized(x, y, of);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in(data, size);
  std::vector<Datatype> types{Datatype::named(1), Datatype::named(8), Datatype::named(12, 16, 8)};
  while (!in.empty() && types.size() < 40) {
    auto type = derive(in, types);
    if (type) types.push_back(std::move(*type));
  }
  const Datatype& type = types.back();
  int blocks = 0;
  type.for_each_block(2, [&](std::int64_t, std::uint64_t) { return ++blocks < 10'000; });
  if (const auto flat = flatten(type)) {
    std::uint64_t total = 0;
    for (const Access& access : *flat) {
      if (!check(access)) std::abort();
      total += bytes(access) * access.repeat;
    }
    if (total != type.size()) std::abort();
  }
  if (const auto view = View::make(64, Datatype::named(1), type)) {
    const auto count = static_cast<std::uint64_t>(in.byte()) + 100;
    if (const auto accesses = view->accesses(7, count)) {
      std::uint64_t total = 0;
      for (const Access& access : *accesses) {
        if (!check(access)) std::abort();
        total += bytes(access) * access.repeat;
      }
      if (total != count) std::abort();
    }
  }
  return 0;
}
