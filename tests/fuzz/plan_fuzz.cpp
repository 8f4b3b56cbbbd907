// A plan from outside: no crash; what is accepted passes check(), can be printed, and survives JSON.
#include <cstdlib>

#include "plan/plan_json.hpp"
#include "plan/render.hpp"
#include "platform/sites.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const weir::Platform machine = **weir::find_site("2x4x2");
  const auto json = weir::parse_json({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  const auto plan = weir::plan_from_json(*json);
  if (!plan) return 0;
  if (!weir::check(*plan)) std::abort();
  (void)weir::problems(*plan, 4, machine);
  (void)weir::render(*plan);
  if (weir::plan_from_json(weir::plan_to_json(*plan)) != *plan) std::abort();
  return 0;
}
