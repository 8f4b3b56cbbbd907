#include "store/table_reader.hpp"

#include <algorithm>
#include <cctype>

namespace weir::store {

namespace {

std::string plain(std::string_view title) {
  std::string name;
  for (const char c : title) {
    if (c != ' ' && c != '_' && c != '-')
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

}  // namespace

std::optional<std::string> next_line(std::istream& text, bool& too_long) {
  too_long = false;
  std::string line;
  std::streambuf& buffer = *text.rdbuf();
  int c = buffer.sbumpc();
  if (c == std::istream::traits_type::eof()) return std::nullopt;
  for (; c != std::istream::traits_type::eof() && c != '\n'; c = buffer.sbumpc()) {
    if (line.size() < longest_line) {
      line += static_cast<char>(c);
    } else {
      too_long = true;
    }
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

Result<std::vector<std::string>> split_csv(std::string_view line) {
  std::vector<std::string> fields(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ',') {
      fields.emplace_back();
    } else if (line[i] == '"' && fields.back().empty()) {
      for (++i;; ++i) {
        if (i >= line.size()) return fail(ErrorCode::invalid_argument, "a quote is not closed");
        if (line[i] != '"') {
          fields.back() += line[i];
        } else if (i + 1 < line.size() && line[i + 1] == '"') {
          fields.back() += line[i++];
        } else {
          break;
        }
      }
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

Titles::Titles(const std::vector<std::string>& titles) : titles_(titles) {
  for (const std::string& title : titles_) plain_.push_back(plain(title));
}

std::optional<std::size_t> Titles::find(std::string_view title) const {
  const auto found = std::find(plain_.begin(), plain_.end(), plain(title));
  if (found == plain_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - plain_.begin());
}

std::optional<std::size_t> Titles::find(std::initializer_list<std::string_view> titles) const {
  for (const std::string_view title : titles) {
    if (const auto column = find(title)) return column;
  }
  return std::nullopt;
}

}  // namespace weir::store
