#include "pattern/datatype.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pattern/type_builder.hpp"

namespace weir::pattern {

Datatype Datatype::named(std::uint64_t size, std::uint64_t extent, std::uint64_t alignment) {
  Datatype type{Empty{}};
  // make_block refuses only what no predefined type is.
  if (const auto block = make_block(size)) type.node_ = block->node;
  type.size_ = type.node_ ? size : 0;
  type.upper_ = static_cast<std::int64_t>(extent);
  type.alignment_ = std::max<std::uint64_t>(alignment, 1);
  return type;
}

Result<Datatype> Datatype::contiguous(std::int64_t count, const Datatype& of) {
  TypeBuilder builder;
  WEIR_TRY(builder.add(count, 0, of));
  return builder.finish();
}

Result<Datatype> Datatype::vector(std::int64_t count, std::int64_t length, std::int64_t stride,
                                  const Datatype& of) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(stride, of.extent(), &bytes)) return type_too_large();
  return hvector(count, length, bytes, of);
}

Result<Datatype> Datatype::hvector(std::int64_t count, std::int64_t length, std::int64_t stride,
                                   const Datatype& of) {
  TypeBuilder builder;
  WEIR_TRY(builder.add_strided(count, stride, length, 0, of));
  return builder.finish();
}

namespace {

Status check_lists(std::size_t lengths, std::size_t displacements) {
  if (lengths != displacements)
    return wrong_type(fmt::format("a data type of {} lengths and {} displacements", lengths, displacements));
  return {};
}

}  // namespace

Result<Datatype> Datatype::hindexed(std::span<const std::int64_t> lengths,
                                    std::span<const std::int64_t> displacements, const Datatype& of) {
  WEIR_TRY(check_lists(lengths.size(), displacements.size()));
  TypeBuilder builder;
  for (std::size_t at = 0; at < lengths.size(); ++at)
    WEIR_TRY(builder.add(lengths[at], displacements[at], of));
  return builder.finish();
}

Result<Datatype> Datatype::indexed(std::span<const std::int64_t> lengths,
                                   std::span<const std::int64_t> displacements, const Datatype& of) {
  std::vector<std::int64_t> bytes(displacements.begin(), displacements.end());
  for (std::int64_t& displacement : bytes) {
    if (__builtin_mul_overflow(displacement, of.extent(), &displacement)) return type_too_large();
  }
  return hindexed(lengths, bytes, of);
}

Result<Datatype> Datatype::hindexed_block(std::int64_t length, std::span<const std::int64_t> displacements,
                                          const Datatype& of) {
  const std::vector<std::int64_t> lengths(displacements.size(), length);
  return hindexed(lengths, displacements, of);
}

Result<Datatype> Datatype::indexed_block(std::int64_t length, std::span<const std::int64_t> displacements,
                                         const Datatype& of) {
  const std::vector<std::int64_t> lengths(displacements.size(), length);
  return indexed(lengths, displacements, of);
}

Result<Datatype> Datatype::structure(std::span<const std::int64_t> lengths,
                                     std::span<const std::int64_t> displacements,
                                     std::span<const Datatype> of) {
  WEIR_TRY(check_lists(lengths.size(), displacements.size()));
  WEIR_TRY(check_lists(lengths.size(), of.size()));
  TypeBuilder builder;
  for (std::size_t at = 0; at < lengths.size(); ++at)
    WEIR_TRY(builder.add(lengths[at], displacements[at], of[at]));
  return builder.finish();
}

Result<Datatype> Datatype::resized(std::int64_t lower, std::int64_t extent, const Datatype& of) {
  Datatype type = of;
  if (++type.depth_ > most_depth)
    return wrong_type(fmt::format("a data type nested more than {} deep", most_depth));
  type.lower_ = lower;
  if (__builtin_add_overflow(lower, extent, &type.upper_)) return type_too_large();
  type.fixed_bounds_ = true;
  return type;
}

std::int64_t Datatype::true_lower() const {
  return node_ ? offset_ + node_->lower : 0;
}

std::int64_t Datatype::true_upper() const {
  return node_ ? offset_ + node_->upper : 0;
}

namespace {

bool walk(const Placed& placed, std::int64_t origin, const Datatype::Visit& visit) {
  const TypeNode& node = *placed.node;
  std::int64_t at = origin + placed.offset;
  if (node.is_block()) return visit(at, node.size);
  for (std::uint64_t index = 0; index < node.count; ++index) {
    if (!walk(node.body, at + static_cast<std::int64_t>(index) * node.stride, visit)) return false;
  }
  for (const Placed& part : node.parts) {
    if (!walk(part, at, visit)) return false;
  }
  return true;
}

}  // namespace

void Datatype::for_each_block(std::uint64_t count, const Visit& visit) const {
  if (!node_) return;
  for (std::uint64_t index = 0; index < count; ++index) {
    std::int64_t origin = 0, edge = 0;
    if (__builtin_mul_overflow(static_cast<std::int64_t>(index), extent(), &origin) ||
        __builtin_add_overflow(origin, true_lower(), &edge) ||
        __builtin_add_overflow(origin, true_upper(), &edge))
      return;  // nothing can be there
    if (!walk({offset_, node_}, origin, visit)) return;
  }
}

}  // namespace weir::pattern
