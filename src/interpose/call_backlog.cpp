#include "interpose/call_backlog.hpp"

#include <algorithm>

namespace weir::interpose {

std::size_t CallBacklog::make_room() {
  if (chunks_.empty() || chunks_.back().size() + head_words >= chunk_words) {
    spare_.reserve(chunk_words);
    chunks_.push_back(std::move(spare_));
    spare_ = {};
  }
  return chunk_words - head_words - chunks_.back().size();
}

void CallBacklog::write_head(std::uint32_t kind, std::size_t count, bool is_row, std::int64_t apart) {
  const std::uint64_t head = std::uint64_t{kind} << 32U | count << 1U | static_cast<std::uint64_t>(is_row);
  chunks_.back().push_back(static_cast<std::int64_t>(head));
  chunks_.back().push_back(apart);
  words_ += head_words;
}

void CallBacklog::push(std::uint32_t kind, const std::int64_t* offsets, std::size_t count,
                       std::int64_t unit) {
  while (count > 0) {
    const std::size_t part = std::min(count, make_room());
    write_head(kind, part, false, unit);
    chunks_.back().insert(chunks_.back().end(), offsets, offsets + part);
    words_ += part;
    offsets += part;
    count -= part;
  }
}

void CallBacklog::push_row(std::uint32_t kind, std::int64_t offset, std::size_t count, std::int64_t stride) {
  while (count > 0) {
    make_room();
    const std::size_t part = std::min(count, most_calls);
    write_head(kind, part, true, stride);
    chunks_.back().push_back(offset);
    ++words_;
    offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) +
                                       part * static_cast<std::uint64_t>(stride));
    count -= part;
  }
}

}  // namespace weir::interpose
