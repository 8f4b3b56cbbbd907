// Files that are built into the program. Empty: was not there when it was built.
#pragma once

#include <string_view>

namespace weir::report::assets {

std::string_view page_frame();
std::string_view page_style();
std::string_view page_script();
std::string_view echarts();

}  // namespace weir::report::assets
