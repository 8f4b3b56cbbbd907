#include "recording/log_pattern.hpp"

#include <algorithm>
#include <iterator>

namespace weir::recording {

LogPattern pattern_of(RunLog& log, const FindTypes& types, std::uint64_t limit) {
  LogPattern result;
  const std::size_t runs = log.finish();
  result.lost = log.lost();
  for (std::size_t number = 0; number < runs; ++number) {
    const CallRun run = log.run(number);
    std::vector<pattern::Access>& accesses = run.writes ? result.writes : result.reads;
    const std::uint64_t room = limit - std::min<std::uint64_t>(accesses.size(), limit);
    const ViewTypes* const view = types(run.types);
    auto more =
        view == nullptr
            ? Result<std::vector<pattern::Access>>(fail(ErrorCode::unsupported, "an unknown data type"))
            : accesses_of(run, *view, room);
    if (more && more->size() <= room)
      accesses.insert(accesses.end(), std::make_move_iterator(more->begin()),
                      std::make_move_iterator(more->end()));
    else
      result.lost += run.calls * run.repeats;
  }
  result.reads = pattern::compressed(std::move(result.reads));
  result.writes = pattern::compressed(std::move(result.writes));
  return result;
}

}  // namespace weir::recording
