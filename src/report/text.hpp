// Text in drawings: how wide it is, and how it is made to fit. Widths are those of DejaVu Sans, one of the
// wider fonts there are, and do not depend on what is installed: what fits here fits in whatever font a
// viewer takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::report {

inline constexpr double line_height = 1.25;  // in font sizes
inline constexpr double ascent = 0.76;       // of capitals and digits, in font sizes
inline constexpr double descent = 0.24;

// Valid UTF-8 on one line: control characters become spaces, what is not UTF-8 becomes U+FFFD.
std::string clean(std::string_view text);

// As it stands between the tags, or in an attribute, of HTML and SVG.
std::string escaped_markup(std::string_view text);

// REQUIRES of all below: clean text.
std::vector<char32_t> code_points(std::string_view text);
double text_width(std::string_view text, double size, bool bold = false);
std::size_t text_columns(std::string_view text);  // in a terminal

// Lines of at most that width, cut at spaces and after - _ / : and commas; nullopt if that takes more lines
// than allowed.
std::optional<std::vector<std::string>> wrap(std::string_view text, double width, double size, bool bold,
                                             std::size_t max_lines);
// Cut short with an ellipsis, where it is too long.
std::string shorten(std::string_view text, double width, double size, bool bold = false);
std::string shorten_columns(std::string_view text, std::size_t columns);
// wrap(), and where that fails as many lines as allowed, the last of them cut short.
std::vector<std::string> fit(std::string_view text, double width, double size, bool bold,
                             std::size_t max_lines);

}  // namespace weir::report
