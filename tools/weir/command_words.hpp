// The words of a command that is given as one text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace weir::cli {

// As a shell would take them apart: blanks between them, quotes around them. At least one word.
Result<std::vector<std::string>> command_words(std::string_view text);

}  // namespace weir::cli
