#include "terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

#include "core/file.hpp"
#include "launch.hpp"

namespace weir::cli {

namespace {

// Characters that a terminal shows: neither colour sequences nor the continuation bytes of UTF-8 take room.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size());
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) {
      ++width;
    }
  }
  return width;
}

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// A launcher may give its ranks a terminal of its own making, whatever the user's is. Ours says what it is.
bool terminal_is_the_users() {
  if (is_set(users_terminal)) return true;
  return std::none_of(std::begin(rank_variables), std::end(rank_variables), is_set);
}

}  // namespace

bool stdout_has_colors() {
  static const bool yes = [] {
    const char* terminal = std::getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && terminal_is_the_users() && terminal != nullptr &&
           std::string_view(terminal) != "dumb" && !is_set("NO_COLOR");
  }();
  return yes;
}

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int number = columns == nullptr ? 0 : std::atoi(columns);
  return number > 0 ? static_cast<std::size_t>(number) : 80;
}

std::string styled(std::string_view text, Style style) {
  if (!stdout_has_colors()) return std::string(text);
  const char* code = "";
  switch (style) {
    case Style::bold:
      code = "1";
      break;
    case Style::dim:
      code = "2";
      break;
    case Style::red:
      code = "31";
      break;
    case Style::green:
      code = "32";
      break;
    case Style::yellow:
      code = "33";
      break;
    case Style::cyan:
      code = "36";
      break;
  }
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string printable(const std::string& text) {
  std::string shown;
  for (const char c : text) {
    if (c == '\n') {
      shown += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      shown += c;
    }
  }
  return shown;
}

std::string pretty(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Status put(const std::string& path, const std::string& text) {
  if (!path.empty() && path != "-") return write_text_atomically(path, text);
  fmt::print("{}", text);
  return {};
}

Table::Table(std::vector<std::string> titles, std::vector<Align> alignment)
    : alignment_(std::move(alignment)) {
  if (titles.size() != alignment_.size()) throw std::logic_error("a table needs one alignment per title");
  for (std::string& title : titles) title = styled(title, Style::bold);
  rows_.push_back(std::move(titles));
}

void Table::add(std::vector<std::string> cells) {
  if (cells.size() != alignment_.size()) throw std::logic_error("a table row has as many cells as titles");
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths(alignment_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - width_of(row[c]), ' ');
      line += c == 0 ? "" : "  ";
      line += alignment_[c] == Align::right ? padding + row[c] : row[c] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace weir::cli
