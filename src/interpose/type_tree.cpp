#include "interpose/type_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

namespace weir::interpose {

namespace {

// FNV-1a over words: types are small, and equal hashes are compared in full.
class Hash {
 public:
  void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x100000001b3U ^ (value_ >> 29U); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

void add(Hash& hash, const TypeTree& tree) {
  hash.add(static_cast<std::uint64_t>(tree.combiner));
  hash.add(tree.size);
  hash.add(static_cast<std::uint64_t>(tree.lower));
  hash.add(static_cast<std::uint64_t>(tree.extent));
  for (const int value : tree.integers) hash.add(static_cast<std::uint64_t>(value));
  for (const MPI_Aint value : tree.addresses) hash.add(static_cast<std::uint64_t>(value));
  for (const TypeTree& part : tree.types) add(hash, part);
}

// Reads the lists of MPI_Type_get_contents one after the other, and never beyond their ends.
template <class Number>
class List {
 public:
  explicit List(const std::vector<Number>& numbers) : numbers_(numbers) {}
  std::int64_t one() {
    return at_ < numbers_.size() ? static_cast<std::int64_t>(numbers_[at_++]) : (short_ = true, 0);
  }
  std::vector<std::int64_t> many(std::int64_t count) {
    std::vector<std::int64_t> values;
    if (count < 0 || static_cast<std::uint64_t>(count) > numbers_.size() - at_) {
      short_ = true;
      return values;
    }
    values.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) values.push_back(one());
    return values;
  }
  bool is_short() const { return short_; }

 private:
  const std::vector<Number>& numbers_;
  std::size_t at_ = 0;
  bool short_ = false;
};

pattern::ArrayOrder order_of(std::int64_t code) {
  return code == MPI_ORDER_FORTRAN ? pattern::ArrayOrder::fortran : pattern::ArrayOrder::c;
}

pattern::Distribution distribution_of(std::int64_t code) {
  if (code == MPI_DISTRIBUTE_BLOCK) return pattern::Distribution::block;
  return code == MPI_DISTRIBUTE_CYCLIC ? pattern::Distribution::cyclic : pattern::Distribution::none;
}

Result<pattern::Datatype> darray(List<int>& integers, const pattern::Datatype& of) {
  const std::int64_t processes = integers.one();
  const std::int64_t rank = integers.one();
  const std::int64_t dimensions = integers.one();
  const auto sizes = integers.many(dimensions);
  std::vector<pattern::Distribution> distributions;
  for (const std::int64_t code : integers.many(dimensions)) distributions.push_back(distribution_of(code));
  auto arguments = integers.many(dimensions);
  for (std::int64_t& argument : arguments)
    if (argument == MPI_DISTRIBUTE_DFLT_DARG) argument = pattern::default_argument;
  const auto grid = integers.many(dimensions);
  return pattern::Datatype::darray(processes, rank, sizes, distributions, arguments, grid,
                                   order_of(integers.one()), of);
}

Result<pattern::Datatype> build(const TypeTree& tree) {
  using pattern::Datatype;
  if (tree.combiner == MPI_COMBINER_NAMED && tree.types.empty())
    return Datatype::named(tree.size, static_cast<std::uint64_t>(std::max<std::int64_t>(tree.extent, 0)), 1);

  std::vector<Datatype> of;
  for (const TypeTree& part : tree.types) {
    WEIR_ASSIGN(Datatype type, to_datatype(part));
    of.push_back(std::move(type));
  }
  List integers(tree.integers);
  List addresses(tree.addresses);
  auto built = [&]() -> Result<Datatype> {
    const bool structure = tree.combiner == MPI_COMBINER_STRUCT || tree.combiner == MPI_COMBINER_NAMED;
    if (!structure && of.size() != 1)
      return fail(ErrorCode::unsupported, fmt::format("a data type is made of {} others", of.size()));
    switch (tree.combiner) {
      case MPI_COMBINER_DUP:
        return of[0];
      case MPI_COMBINER_CONTIGUOUS:
        return Datatype::contiguous(integers.one(), of[0]);
      case MPI_COMBINER_VECTOR: {
        const auto counts = integers.many(3);
        return counts.size() < 3 ? of[0] : Datatype::vector(counts[0], counts[1], counts[2], of[0]);
      }
      case MPI_COMBINER_HVECTOR: {
        const auto counts = integers.many(2);
        return counts.size() < 2 ? of[0] : Datatype::hvector(counts[0], counts[1], addresses.one(), of[0]);
      }
      case MPI_COMBINER_INDEXED: {
        const std::int64_t count = integers.one();
        const auto lengths = integers.many(count);
        return Datatype::indexed(lengths, integers.many(count), of[0]);
      }
      case MPI_COMBINER_HINDEXED: {
        const std::int64_t count = integers.one();
        return Datatype::hindexed(integers.many(count), addresses.many(count), of[0]);
      }
      case MPI_COMBINER_INDEXED_BLOCK: {
        const std::int64_t count = integers.one();
        const std::int64_t length = integers.one();
        return Datatype::indexed_block(length, integers.many(count), of[0]);
      }
      case MPI_COMBINER_HINDEXED_BLOCK: {
        const std::int64_t count = integers.one();
        return Datatype::hindexed_block(integers.one(), addresses.many(count), of[0]);
      }
      case MPI_COMBINER_NAMED:
      case MPI_COMBINER_STRUCT: {
        const std::int64_t count = integers.one();
        const auto lengths = integers.many(count);
        return Datatype::structure(lengths, addresses.many(count), of);
      }
      case MPI_COMBINER_SUBARRAY: {
        const std::int64_t dimensions = integers.one();
        const auto sizes = integers.many(dimensions);
        const auto subsizes = integers.many(dimensions);
        const auto starts = integers.many(dimensions);
        return Datatype::subarray(sizes, subsizes, starts, order_of(integers.one()), of[0]);
      }
      case MPI_COMBINER_DARRAY:
        return darray(integers, of[0]);
      case MPI_COMBINER_RESIZED: {
        const std::int64_t lower = addresses.one();
        return Datatype::resized(lower, addresses.one(), of[0]);
      }
      default:
        return fail(ErrorCode::unsupported,
                    fmt::format("a data type has the unknown combiner {}", tree.combiner));
    }
  }();
  if (integers.is_short() || addresses.is_short())
    return fail(ErrorCode::unsupported, "MPI_Type_get_contents told less than the type needs");
  return built;
}

}  // namespace

std::uint64_t TypeTree::hash() const {
  Hash hash;
  add(hash, *this);
  return hash.value();
}

bool TypeTree::has_padded_names() const {
  if (combiner == MPI_COMBINER_NAMED) return static_cast<std::int64_t>(size) != extent;
  return std::any_of(types.begin(), types.end(),
                     [](const TypeTree& part) { return part.has_padded_names(); });
}

Result<pattern::Datatype> to_datatype(const TypeTree& tree) {
  WEIR_ASSIGN(pattern::Datatype type, build(tree));
  if (type.size() != tree.size) {
    return fail(ErrorCode::unsupported,
                fmt::format("a data type of {} bytes was understood as one of {}", tree.size, type.size()));
  }
  if (type.lower() == tree.lower && type.extent() == tree.extent) return type;
  return pattern::Datatype::resized(tree.lower, tree.extent, type);
}

}  // namespace weir::interpose
