#include "platform/node_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weir {

Status NodeBuilder::begin(const Object& object) {
  if (object.kind == Kind::core || object.kind == Kind::pu) {
    if (type_.cores.size() > most_cores)
      return fail(ErrorCode::corrupt, fmt::format("more than {} cores", most_cores));
    if (object.kind == Kind::core && in_core_) return fail(ErrorCode::corrupt, "a core inside a core");
  }
  open_.push_back({object, type_.core_count(), {}});
  switch (object.kind) {
    case Kind::core:
      type_.cores.emplace_back();
      in_core_ = true;
      break;
    case Kind::pu:
      // Trees without a level of cores (some virtual machines): every hardware thread stands for one.
      if (!in_core_) type_.cores.emplace_back();
      type_.cores.back().pus.push_back(object.os_number);
      break;
    case Kind::machine:
      machine_memory_ += object.bytes;
      break;
    default:
      break;
  }
  return {};
}

void NodeBuilder::end() {
  Open done = std::move(open_.back());
  open_.pop_back();
  const CoreSpan cores{done.first_core, type_.core_count() - done.first_core};
  const Kind kind = done.object.kind;
  if (kind == Kind::core) in_core_ = false;
  if (kind == Kind::package && cores.count > 0) type_.packages.push_back({cores});
  if (kind == Kind::cache && cores.count > 0)
    type_.caches.push_back({done.object.cache_level, done.object.bytes, cores});
  if (kind == Kind::numa) done.domains.push_back({done.object.os_number, done.object.bytes, {}});
  // In hwloc 2 memory hangs beside the cores it is near to, in hwloc 1 above them: it belongs to the first
  // object with cores.
  if (cores.count == 0 && !open_.empty()) {
    auto& above = open_.back().domains;
    above.insert(above.end(), done.domains.begin(), done.domains.end());
    return;
  }
  for (NumaDomain& domain : done.domains) {
    domain.cores = cores;
    type_.numa_domains.push_back(domain);
  }
}

void NodeBuilder::set_model(std::string_view model) {
  if (!type_.model.empty()) return;
  // It ends up on terminals and in JSON: plain text only, one blank between words.
  for (const char c : model.substr(0, 200)) {
    const bool plain = c > ' ' && c < 0x7f;
    if (plain) type_.model += c;
    if (!plain && !type_.model.empty() && type_.model.back() != ' ') type_.model += ' ';
  }
  if (type_.model.ends_with(' ')) type_.model.pop_back();
}

Result<NodeType> NodeBuilder::finish(std::string name) {
  type_.name = std::move(name);
  const CoreSpan all{0, type_.core_count()};
  if (type_.packages.empty()) type_.packages.push_back({all});
  if (type_.numa_domains.empty()) type_.numa_domains.push_back({0, machine_memory_, all});
  std::sort(type_.numa_domains.begin(), type_.numa_domains.end(),
            [](const NumaDomain& a, const NumaDomain& b) {
              return std::pair(a.cores.first, a.os_number) < std::pair(b.cores.first, b.os_number);
            });
  std::sort(type_.caches.begin(), type_.caches.end(), [](const Cache& a, const Cache& b) {
    return std::pair(a.level, a.cores.first) < std::pair(b.level, b.cores.first);
  });
  WEIR_TRY(check(type_));
  return std::move(type_);
}

}  // namespace weir
