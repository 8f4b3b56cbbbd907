#include "report/text.hpp"

#include <algorithm>
#include <array>

namespace weir::report {

namespace {

// Advances of U+0020 to U+007E in thousandths of the font size.
constexpr std::array<short, 95> regular = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr std::array<short, 95> heavy = {
    348, 456,  521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415,  380, 365, 696, 696,  696,
    696, 696,  696, 696, 696, 696,  696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830,  683,
    683, 821,  837, 372, 372, 775,  637, 995, 837, 850, 733, 850, 770, 720,  682, 812, 774, 1103, 771,
    724, 725,  457, 365, 457, 838,  500, 500, 675, 716, 593, 716, 678, 435,  716, 712, 343, 343,  665,
    343, 1042, 712, 687, 716, 716,  493, 595, 478, 712, 652, 924, 645, 652,  582, 712, 365, 712,  838};

constexpr char32_t replacement = 0xFFFD;

// One code point; `at` moves on, past at least one byte. What is malformed gives the replacement.
char32_t next(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at++);
  if (first < 0x80) return first;
  const std::size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4) return replacement;
  char32_t value = first & (0x3FU >> more);
  const std::size_t begin = at;
  for (std::size_t i = 0; i < more; ++i) {
    if (at >= text.size() || (byte(at) & 0xC0U) != 0x80U) return replacement;
    value = (value << 6U) | (byte(at++) & 0x3FU);
  }
  const bool overlong = (more == 2 && value < 0x800) || (more == 3 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
    at = begin;  // its other bytes are replaced one by one
    return replacement;
  }
  return value;
}

void append(std::string& text, char32_t c) {
  const auto put = [&](char32_t bits) { text += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0U | (c >> 6U));
    put(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    put(0xE0U | (c >> 12U));
    put(0x80U | ((c >> 6U) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  } else {
    put(0xF0U | (c >> 18U));
    put(0x80U | ((c >> 12U) & 0x3FU));
    put(0x80U | ((c >> 6U) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  }
}

bool is_wide(char32_t c) {
  return (c >= 0x1100 && c < 0x1160) || (c >= 0x2E80 && c < 0xA4D0) || (c >= 0xAC00 && c < 0xD7A4) ||
         (c >= 0xF900 && c < 0xFB00) || (c >= 0xFE30 && c < 0xFE70) || (c >= 0xFF00 && c < 0xFF61) ||
         (c >= 0x1F300 && c < 0x1FB00) || (c >= 0x20000 && c < 0x40000);
}

bool is_combining(char32_t c) {
  return (c >= 0x300 && c < 0x370) || (c >= 0x200B && c < 0x2010) || (c >= 0xFE00 && c < 0xFE10);
}

double advance(char32_t c, bool bold) {
  if (c >= 0x20 && c < 0x7F) return (bold ? heavy : regular)[c - 0x20] / 1000.0;
  if (is_combining(c)) return 0;
  if (is_wide(c) || c == replacement || c == 0x2026) return 1.03;
  if (c == 0x2070 || c == 0xB2 || c == 0xB3 || c == 0xB9 || (c >= 0x2074 && c < 0x207F)) return 0.44;
  return bold ? 0.86 : 0.80;
}

bool may_cut_after(char c) {
  return c == ' ' || c == '-' || c == '_' || c == '/' || c == ':' || c == ',';
}

std::string_view without_spaces_at_end(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// How much of the text fits on a line, up to a place where it may be cut.
std::size_t front_that_fits(std::string_view text, double width, double size, bool bold) {
  std::size_t cut = 0;
  for (std::size_t end = 1; end <= text.size(); ++end) {
    if (end < text.size() && !may_cut_after(text[end - 1])) continue;
    if (text_width(without_spaces_at_end(text.substr(0, end)), size, bold) > width) break;
    cut = end;
  }
  return cut;
}

// The longest front of the text, without a code point cut in two, for which fits(front) still holds.
template <class Fits>
std::string shorten_while(std::string_view text, const Fits& fits) {
  if (fits(std::string(text))) return std::string(text);
  std::string best;
  for (std::size_t at = 0; at < text.size();) {
    next(text, at);
    std::string candidate = std::string(without_spaces_at_end(text.substr(0, at))) + "…";
    if (!fits(candidate)) break;
    best = std::move(candidate);
  }
  return best;
}

}  // namespace

std::string clean(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next(text, at);
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
    append(result, control ? U' ' : c == 0xFFFE || c == 0xFFFF ? replacement : c);
  }
  return result;
}

std::string escaped_markup(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::vector<char32_t> code_points(std::string_view text) {
  std::vector<char32_t> result;
  for (std::size_t at = 0; at < text.size();) result.push_back(next(text, at));
  return result;
}

double text_width(std::string_view text, double size, bool bold) {
  double width = 0;
  for (const char32_t c : code_points(text)) width += advance(c, bold);
  return width * size;
}

std::size_t text_columns(std::string_view text) {
  std::size_t columns = 0;
  for (const char32_t c : code_points(text)) columns += is_combining(c) ? 0 : is_wide(c) ? 2 : 1;
  return columns;
}

std::optional<std::vector<std::string>> wrap(std::string_view text, double width, double size, bool bold,
                                             std::size_t max_lines) {
  std::vector<std::string> lines;
  std::string_view rest = text;
  while (!rest.empty()) {
    if (lines.size() == max_lines) return std::nullopt;
    const std::size_t cut = front_that_fits(rest, width, size, bold);
    if (cut == 0) return std::nullopt;
    lines.emplace_back(without_spaces_at_end(rest.substr(0, cut)));
    rest.remove_prefix(cut);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
  }
  return lines;
}

std::string shorten(std::string_view text, double width, double size, bool bold) {
  return shorten_while(text, [&](const std::string& part) { return text_width(part, size, bold) <= width; });
}

std::string shorten_columns(std::string_view text, std::size_t columns) {
  return shorten_while(text, [&](const std::string& part) { return text_columns(part) <= columns; });
}

std::vector<std::string> fit(std::string_view text, double width, double size, bool bold,
                             std::size_t max_lines) {
  if (auto lines = wrap(text, width, size, bold, max_lines)) return *lines;
  std::vector<std::string> lines;
  std::string_view rest = text;
  while (!rest.empty() && lines.size() + 1 < max_lines) {
    const std::size_t cut = front_that_fits(rest, width, size, bold);
    if (cut == 0) break;
    lines.emplace_back(without_spaces_at_end(rest.substr(0, cut)));
    rest.remove_prefix(cut);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
  }
  if (!rest.empty()) lines.push_back(shorten(rest, width, size, bold));
  return lines;
}

}  // namespace weir::report
