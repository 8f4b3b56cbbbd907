// Lustre's extended attribute, and settings as a user types them.
#include "aggregation/settings.hpp"
#include "aggregation/striping.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto attribute = std::span(reinterpret_cast<const std::byte*>(data), size);
  if (const auto parts = weir::aggregation::parse_lov(attribute)) {
    for (const auto& part : *parts)
      if (!check(part.striping)) __builtin_trap();
    for (const std::uint64_t end : {std::uint64_t{0}, std::uint64_t{1} << 30U, UINT64_MAX})
      if (!check(striping_between(*parts, 0, end))) __builtin_trap();
  }
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto settings = weir::aggregation::parse_configuration(text))
    if (!weir::aggregation::parse_configuration(configuration_of(*settings))) __builtin_trap();
  (void)weir::aggregation::parse_striping(text);
  return 0;
}
