// A Platform as text for people, at most 80 columns wide: equal nodes once, a row for each NUMA domain.
//
// Threads: plain function of its argument. REQUIRES: check(platform).
#pragma once

#include <string>

#include "platform/platform.hpp"

namespace weir {

std::string render(const Platform& platform);

}  // namespace weir
