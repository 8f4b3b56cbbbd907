#include "interpose/call_batch.hpp"

namespace weir::interpose {

bool CallBatch::takes_another(const Call& call) {
  const Sort sort = sort_of(call);
  for (std::uint32_t i = 0; i < sorts_known_; ++i) {
    if (sorts_[i].differs(sort) != 0) continue;
    if (calls_ == most_calls || stretches_ == most_stretches) return false;
    current_ = sorts_[i];
    current_number_ = i;
    begins_[stretches_++] = {calls_, i};
    offsets_[calls_++] = call.offset;
    return true;
  }
  return false;
}

void CallBatch::add(const Call& call, std::size_t& sort) {
  sort = sorts_known_++;
  sorts_[sort] = sort_of(call);
  takes_another(call);
}

void CallBatch::forget() {
  current_ = {};
  sorts_known_ = 0;
  stretches_ = 0;
}

}  // namespace weir::interpose
