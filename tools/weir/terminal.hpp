// Output for people: colours where a terminal is, aligned tables, and JSON in lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"

namespace weir::cli {

// A terminal, and the user's; TERM is not dumb, NO_COLOR is not set.
bool stdout_has_colors();
// The variable that tells ranks that are started by us that their standard output ends at a terminal.
inline constexpr const char* users_terminal = "WEIR_TERMINAL";

std::size_t terminal_width();  // of stdout, else COLUMNS, else 80

enum class Style { bold, dim, green, red, yellow, cyan };
std::string styled(std::string_view text, Style style);  // the text itself where stdout_has_colors() is false

// Names and texts come from files: what could steer a terminal is shown, not sent.
std::string printable(const std::string& text);

// What is no UTF-8, such as names of files may hold, is replaced.
std::string pretty(const Json& json);

// Into a file, which it replaces; to standard output where the path is empty or "-".
Status put(const std::string& path, const std::string& text);

// Columns as wide as their widest cell; numbers are right-aligned by column. Cells may carry styles.
class Table {
 public:
  enum class Align { left, right };
  Table(std::vector<std::string> titles, std::vector<Align> alignment);
  void add(std::vector<std::string> cells);
  std::string text() const;

 private:
  std::vector<Align> alignment_;
  std::vector<std::vector<std::string>> rows_;  // the first holds the titles
};

}  // namespace weir::cli
