#include "pattern/type_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weir::pattern {

tl::unexpected<Failure> wrong_type(std::string what) {
  return fail(ErrorCode::invalid_argument, std::move(what));
}

tl::unexpected<Failure> type_too_large() {
  return wrong_type("a data type is larger than any file or memory");
}

void Bounds::take(std::int64_t from, std::int64_t to, bool part_fixed) {
  if (fixed && !part_fixed) return;
  if (part_fixed && !fixed) {
    fixed = true;
    lower.reset();
    upper.reset();
  }
  lower = lower ? std::min(*lower, from) : from;
  upper = upper ? std::max(*upper, to) : to;
}

Status TypeBuilder::add_strided(std::int64_t count, std::int64_t stride, std::int64_t length,
                                std::int64_t displacement, const Datatype& of) {
  if (length < 0 || count < 0)
    return wrong_type(fmt::format("a data type of {} blocks of length {}", count, length));
  depth_ = std::max(depth_, of.depth_);
  if (length == 0 || count == 0) return {};
  if (!of.node_ && !of.fixed_bounds_) return {};  // without bytes or bounds it is nowhere
  alignment_ = std::max(alignment_, of.alignment_);
  std::int64_t row = 0, rows = 0, low = 0, high = 0;
  if (__builtin_mul_overflow(length - 1, of.extent(), &row) ||
      __builtin_mul_overflow(count - 1, stride, &rows) ||
      __builtin_add_overflow(displacement, std::min<std::int64_t>(row, 0), &low) ||
      __builtin_add_overflow(low, std::min<std::int64_t>(rows, 0), &low) ||
      __builtin_add_overflow(low, of.lower(), &low) ||
      __builtin_add_overflow(displacement, std::max<std::int64_t>(row, 0), &high) ||
      __builtin_add_overflow(high, std::max<std::int64_t>(rows, 0), &high) ||
      __builtin_add_overflow(high, of.upper(), &high))
    return type_too_large();
  bounds_.take(low, high, of.fixed_bounds_);
  WEIR_ASSIGN(Placed block,
              make_loop(static_cast<std::uint64_t>(length), of.extent(), {of.offset_, of.node_}));
  WEIR_ASSIGN(block, make_loop(static_cast<std::uint64_t>(count), stride, block));
  WEIR_ASSIGN(block, shifted(std::move(block), displacement));
  parts_.push_back(std::move(block));
  return {};
}

Result<Datatype> TypeBuilder::finish() {
  Datatype type{Datatype::Empty{}};
  type.depth_ = depth_ + 1;
  if (type.depth_ > Datatype::most_depth)
    return wrong_type(fmt::format("a data type nested more than {} deep", Datatype::most_depth));
  WEIR_ASSIGN(const Placed whole, make_list(std::move(parts_)));
  type.node_ = whole.node;
  type.offset_ = whole.offset;
  type.size_ = whole.node ? whole.node->size : 0;
  type.lower_ = bounds_.lower.value_or(0);
  type.upper_ = bounds_.upper.value_or(0);
  type.fixed_bounds_ = bounds_.fixed;
  type.alignment_ = alignment_;
  std::int64_t extent = 0;
  if (__builtin_sub_overflow(type.upper_, type.lower_, &extent)) return type_too_large();
  const auto alignment = static_cast<std::int64_t>(alignment_);
  if (!bounds_.fixed && extent % alignment != 0 &&
      __builtin_add_overflow(type.upper_, alignment - extent % alignment, &type.upper_))
    return type_too_large();
  if (__builtin_sub_overflow(type.upper_, type.lower_, &extent)) return type_too_large();
  return type;
}

Result<Datatype> TypeBuilder::array(const Placed& placed, std::int64_t extent, unsigned dimensions,
                                    const Datatype& of) {
  Datatype type{Datatype::Empty{}};
  type.depth_ = of.depth_ + 1 + dimensions;
  if (type.depth_ > Datatype::most_depth)
    return wrong_type(fmt::format("a data type nested more than {} deep", Datatype::most_depth));
  type.node_ = placed.node;
  type.offset_ = placed.offset;
  type.size_ = placed.node ? placed.node->size : 0;
  type.lower_ = 0;
  type.upper_ = extent;
  type.alignment_ = of.alignment_;
  type.fixed_bounds_ = true;
  return type;
}

}  // namespace weir::pattern
