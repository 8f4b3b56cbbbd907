// Patterns byte by byte, for comparison with what is computed without listing anything.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "pattern/pattern.hpp"

namespace weir::pattern {

inline std::vector<std::int64_t> list_bytes(const Access& access) {
  std::vector<std::int64_t> result;
  for (const Piece& piece : list_pieces(access, UINT64_MAX)) {
    for (std::int64_t at = piece.offset; at < piece.end(); ++at) result.push_back(at);
  }
  return result;
}

using Random = std::mt19937;

inline std::int64_t draw(Random& random, std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
}

// An ordered access of up to three levels.
inline Access random_access(Random& random) {
  Access access{draw(random, 0, 40), {static_cast<std::uint64_t>(draw(random, 1, 5)), {}}, 1};
  std::uint64_t inside = access.shape.block;
  for (std::int64_t levels = draw(random, 0, 3); levels > 0; --levels) {
    const Level level{static_cast<std::uint64_t>(draw(random, 1, 4)),
                      static_cast<std::int64_t>(inside) + draw(random, 0, 6)};
    inside += (level.count - 1) * static_cast<std::uint64_t>(level.stride);
    access.shape.levels.insert(access.shape.levels.begin(), level);
  }
  access.repeat = random() % 4 == 0 ? 2 : 1;
  return access;
}

inline Pattern random_pattern(Random& random, std::uint64_t ranks) {
  Pattern pattern(ranks);
  FilePattern& file = pattern.add_file("random");
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    for (std::int64_t count = draw(random, 0, 2); count > 0; --count)
      pattern.add(file.writes, rank, random_access(random));
  }
  return pattern;
}

}  // namespace weir::pattern
