// A machine from outside: the first byte chooses JSON, hwloc XML or a synthetic description. No crash; what
// is accepted passes check(), can be drawn and looked up, and survives JSON.
#include <cstdlib>

#include "platform/hwloc_source.hpp"
#include "platform/lookup.hpp"
#include "platform/platform_json.hpp"
#include "platform/render.hpp"
#include "platform/xml_source.hpp"

// hwloc leaks a few bytes when it refuses a synthetic description.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhwloc";
}

namespace {

void exercise(const weir::Platform& platform) {
  if (!weir::check(platform)) std::abort();
  (void)weir::render(platform);
  const weir::PlatformLookup lookup(platform);
  const auto last = static_cast<std::uint32_t>(platform.nodes.size() - 1);
  (void)lookup.common_level({0, 0}, {last, platform.type_of(last).core_count() - 1});
  const auto text = weir::platform_to_json(platform).dump();
  const auto json = weir::parse_json(text);
  if (!json || weir::platform_from_json(*json) != platform) std::abort();
}

void exercise(weir::Result<weir::NodeType> type) {
  if (!type) return;
  weir::Platform platform;
  platform.node_types.push_back(std::move(*type));
  platform.nodes.push_back({.name = "n"});
  exercise(platform);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 8 == 0) {
    exercise(weir::node_type_from_synthetic(text));
  } else if (data[0] % 2 == 0) {
    exercise(weir::node_type_from_xml(text));
  } else if (const auto json = weir::parse_json(text)) {
    if (const auto platform = weir::platform_from_json(*json)) exercise(*platform);
  }
  return 0;
}
