// Host lists, host files and lists of numbers: no crash, and what is accepted folds and expands to itself.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "platform/host_list.hpp"
#include "platform/numbers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)weir::parse_host_file(text);
  if (const auto hosts = weir::parse_host_list(text); hosts && hosts->size() < 10'000) {
    std::vector<std::string> names;
    for (const weir::Host& host : *hosts) names.push_back(host.name);
    const auto again = weir::parse_host_list(weir::format_host_list(names));
    const bool same = again && std::equal(names.begin(), names.end(), again->begin(), again->end(),
                                          [](const std::string& name, const weir::Host& host) {
                                            return name == host.name;
                                          });
    if (!same) std::abort();
  }
  if (const auto numbers = weir::parse_numbers(text, 10'000)) {
    if (weir::parse_numbers(weir::format_numbers(*numbers)) != *numbers) std::abort();
  }
  return 0;
}
