// Long lists of small numbers as short text: ranks, cores, hardware threads. The order of the list is kept.
//
//   list   term {"," term}
//   term   ( first ["-" last [":" step]] ["x" each] | "(" list ")" ) ["*" times]
//
//   "0-3"        0 1 2 3              "5x3"        5 5 5
//   "3-0"        3 2 1 0              "0-1x2"      0 0 1 1
//   "0-6:2"      0 2 4 6              "0-1*2"      0 1 0 1
//   "7"          7                    "(0-1,8)*2"  0 1 8 0 1 8
//
// So 1,048,576 ranks placed 128 to a node are "0-8191x128" (nodes) and "0-127*8192" (cores).
//
// Threads: plain functions of their arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace weir {

using Numbers = std::vector<std::uint32_t>;

// More numbers than this are refused, so that a few characters from outside cannot fill the memory.
inline constexpr std::size_t longest_numbers = std::size_t{1} << 24;

// Short text that parse_numbers reads back as the same list. Linear in the length of the list.
std::string format_numbers(std::span<const std::uint32_t> numbers);

// An error names the column. Blanks are not allowed inside; the empty text is the empty list.
Result<Numbers> parse_numbers(std::string_view text, std::size_t at_most = longest_numbers);

// The same numbers as ascending ranges, for people: "0-15,128-143". Keeps no order and no repeats.
std::string format_set(Numbers numbers);

}  // namespace weir
