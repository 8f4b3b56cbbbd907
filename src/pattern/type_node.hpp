// The inside of a Datatype: nested loops over blocks, in the order of the type map. Private to the data
// types.
#pragma once

#include <memory>
#include <vector>

#include "pattern/access.hpp"

namespace weir::pattern {

struct TypeNode;

struct Placed {
  std::int64_t offset = 0;
  std::shared_ptr<const TypeNode> node;  // null: no bytes
};

// A block (count 0, no parts), a loop (count of body, a stride apart), or a list of parts. Never empty.
struct TypeNode {
  std::uint64_t size = 0;  // bytes of data
  std::int64_t lower = 0;  // from the first byte, wherever it stands in the order, to behind the last one
  std::int64_t upper = 0;
  std::uint64_t count = 0;
  std::int64_t stride = 0;
  Placed body;
  std::vector<Placed> parts;
  std::vector<std::uint64_t> before;  // bytes of data in front of each part

  bool is_block() const { return count == 0 && parts.empty(); }
};

// Each fails if a size or an offset leaves 63 bits.
Result<Placed> make_block(std::uint64_t size);
Result<Placed> make_loop(std::uint64_t count, std::int64_t stride, const Placed& body);
Result<Placed> make_list(std::vector<Placed> parts);
Result<Placed> shifted(Placed placed, std::int64_t by);

// Appends accesses, not yet ordered, of the node repeated by `levels`, or only of its bytes of data from
// begin to end. Fail when there would be more than `limit`.
struct Emit {
  std::vector<Access>& out;
  std::uint64_t limit;
  std::vector<Level> levels;

  Status whole(const Placed& placed, std::int64_t origin);
  Status part(const Placed& placed, std::int64_t origin, std::uint64_t begin, std::uint64_t end);
};

}  // namespace weir::pattern
