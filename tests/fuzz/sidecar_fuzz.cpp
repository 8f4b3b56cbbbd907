// FILE.json of a plain file: whatever it says, a layout that passes its own checks or a failure.
#include "backends/raw_layout.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = weir::parse_json({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  const auto layout = weir::backends::RawLayout::from_json(*json);
  if (!layout) return 0;
  // What was accepted once is written and accepted again, unchanged.
  const weir::Json again = layout->to_json();
  const auto reread = weir::backends::RawLayout::from_json(again);
  if (!reread || reread->to_json() != again) __builtin_trap();
  return 0;
}
