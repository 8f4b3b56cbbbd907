// What types and views touch in a file.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "pattern/datatype.hpp"
#include "pattern/type_node.hpp"

namespace weir::pattern {

namespace {

tl::unexpected<Failure> wrong(std::string what) {
  return fail(ErrorCode::invalid_argument, std::move(what));
}

constexpr std::uint64_t most_accesses = std::uint64_t{1} << 20U;

Result<std::vector<Access>> in_order(const std::vector<Access>& any) {
  std::vector<Access> result;
  for (const Access& access : any) {
    WEIR_ASSIGN(auto parts, ordered(access, most_accesses));
    if (parts.size() > most_accesses - result.size())
      return fail(ErrorCode::unsupported, "a data type is too irregular");
    result.insert(result.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
  }
  return result;
}

}  // namespace

Result<std::vector<Access>> flatten(const Datatype& type) {
  std::vector<Access> any;
  if (!type.node_) return any;
  WEIR_TRY((Emit{any, most_accesses, {}}.whole({type.offset_, type.node_}, 0)));
  return in_order(any);
}

Result<View> View::make(std::int64_t displacement, const Datatype& elementary, const Datatype& file_type) {
  if (displacement < 0) return wrong(fmt::format("a view with displacement {}", displacement));
  if (elementary.size() == 0 && file_type.size() > 0) return wrong("a view of elements without bytes");
  if (elementary.size() > 0 && file_type.size() % elementary.size() != 0)
    return wrong(fmt::format("a view whose file type has {} bytes, no multiple of the {} of an element",
                             file_type.size(), elementary.size()));
  std::int64_t begin = 0;
  if (__builtin_add_overflow(displacement, file_type.true_lower(), &begin) || begin < 0)
    return wrong("a view that reaches below the beginning of the file");
  View view;
  view.displacement_ = displacement;
  view.elementary_size_ = std::max<std::uint64_t>(elementary.size(), 1);
  view.file_type_ = file_type;
  return view;
}

Result<std::vector<Access>> View::accesses(std::uint64_t offset, std::uint64_t count) const {
  std::vector<Access> any;
  if (count == 0) return any;
  const std::uint64_t each = file_type_.size();
  if (each == 0) return wrong("data through a view without bytes");
  std::uint64_t begin = 0, end = 0;
  std::int64_t reach = 0;
  if (__builtin_mul_overflow(offset, elementary_size_, &begin) ||
      __builtin_add_overflow(begin, count, &end) ||
      (end - 1) / each > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
      __builtin_mul_overflow(static_cast<std::int64_t>((end - 1) / each), file_type_.extent(), &reach) ||
      __builtin_add_overflow(displacement_, reach, &reach) ||
      __builtin_add_overflow(reach, file_type_.true_upper(), &reach) || reach < 0)
    return wrong("an access beyond the largest file");
  const std::uint64_t first = begin / each, last = (end - 1) / each;
  const Placed body{file_type_.offset_, file_type_.node_};
  const auto place = [&](std::uint64_t index) {
    return displacement_ + static_cast<std::int64_t>(index) * file_type_.extent();
  };
  Emit emit{any, most_accesses, {}};
  if (first == last) {
    WEIR_TRY(emit.part(body, place(first), begin - first * each, end - first * each));
  } else {
    // The file type again and again, cut at both ends.
    std::uint64_t full = first;
    if (begin % each != 0) WEIR_TRY(emit.part(body, place(full++), begin % each, each));
    const std::uint64_t full_end = end / each;
    if (full < full_end) {
      emit.levels.push_back({full_end - full, file_type_.extent()});
      WEIR_TRY(emit.whole(body, place(full)));
      emit.levels.clear();
    }
    if (end % each != 0) WEIR_TRY(emit.part(body, place(full_end), 0, end % each));
  }
  WEIR_ASSIGN(auto result, in_order(any));
  return compressed(std::move(result));
}

}  // namespace weir::pattern
