// The words of a command, as one text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace weir::cli {

// As a shell would take them apart: blanks between them, quotes around them. At least one word.
Result<std::vector<std::string>> command_words(std::string_view text);

// The other way round: one word as a shell has to read it.
std::string shell_quoted(const std::string& word);

}  // namespace weir::cli
