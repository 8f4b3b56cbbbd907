#include "analysis/csv.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>

namespace weir::analysis {

namespace {

constexpr std::size_t most_rows = 100'000;
constexpr std::size_t most_fields = 1'000;

tl::unexpected<Failure> wrong_line(std::string_view name, std::uint64_t line, std::string problem,
                                   std::string advice = {}) {
  Failure failure{
      .code = ErrorCode::invalid_argument, .cause = std::move(problem), .advice = std::move(advice)};
  failure.object = fmt::format("{}:{}", name, line);
  return tl::make_unexpected(std::move(failure));
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool same_letters(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(a[i])) != std::tolower(static_cast<unsigned char>(b[i])))
      return false;
  }
  return true;
}

char separator_of(std::string_view titles) {
  for (const char candidate : {',', '\t', ';'}) {
    if (titles.find(candidate) != std::string_view::npos) return candidate;
  }
  return ',';
}

// Takes one record from the front of the text. A quoted field may hold line ends.
class Records {
 public:
  Records(std::string_view text, std::string_view name) : text_(text), name_(name) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
    while (!text_.empty() && blank_line()) skip_line();
    separator_ = separator_of(text_.substr(0, text_.find('\n')));
  }

  bool at_end() {
    while (!text_.empty() && blank_line()) skip_line();
    return text_.empty();
  }

  Result<Csv::Row> next() {
    Csv::Row row{.line = line_, .fields = {}};
    while (true) {
      if (row.fields.size() == most_fields) {
        return wrong_line(name_, row.line, fmt::format("more than {} fields", most_fields));
      }
      WEIR_ASSIGN(std::string value, field(row.line));
      row.fields.push_back(std::move(value));
      if (text_.empty()) return row;
      const char end = text_.front();
      text_.remove_prefix(1);
      if (end == '\n') {
        ++line_;
        return row;
      }
    }
  }

 private:
  bool blank_line() const { return trimmed(text_.substr(0, text_.find('\n'))).empty(); }
  void skip_line() {
    const std::size_t end = text_.find('\n');
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    ++line_;
  }

  // Leaves the separator, the line end or nothing at the front.
  Result<std::string> field(std::uint64_t row_line) {
    const std::size_t first = text_.find_first_not_of(" \r");
    if (first != std::string_view::npos && text_[first] == '"') {
      text_.remove_prefix(first + 1);
      return quoted(row_line);
    }
    std::size_t end = 0;
    while (end < text_.size() && text_[end] != separator_ && text_[end] != '\n') ++end;
    const std::string value(trimmed(text_.substr(0, end)));
    text_.remove_prefix(end);
    return value;
  }

  Result<std::string> quoted(std::uint64_t row_line) {
    std::string value;
    while (!text_.empty()) {
      const char c = text_.front();
      text_.remove_prefix(1);
      if (c == '\n') ++line_;
      if (c != '"') {
        value += c;
        continue;
      }
      if (!text_.empty() && text_.front() == '"') {
        value += '"';
        text_.remove_prefix(1);
        continue;
      }
      while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\r')) text_.remove_prefix(1);
      if (!text_.empty() && text_.front() != separator_ && text_.front() != '\n') {
        return wrong_line(name_, row_line, "text after a closing quotation mark",
                          "write a quotation mark inside a field twice");
      }
      return value;
    }
    return wrong_line(name_, row_line, "a quotation mark is never closed");
  }

  std::string_view text_;
  std::string_view name_;
  std::uint64_t line_ = 1;
  char separator_ = ',';
};

}  // namespace

std::optional<std::size_t> Csv::column(std::string_view title) const {
  for (std::size_t i = 0; i < titles.size(); ++i) {
    if (same_letters(titles[i], title)) return i;
  }
  return std::nullopt;
}

tl::unexpected<Failure> Csv::wrong(const Row& row, std::size_t column, std::string_view problem,
                                   std::string advice) const {
  return wrong_line(name, row.line, fmt::format("column '{}': {}", titles[column], problem),
                    std::move(advice));
}

Result<double> Csv::number(const Row& row, std::size_t column) const {
  const std::string& text = row.fields[column];
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty()) return wrong(row, column, "it is empty", "every row needs a number there");
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return wrong(row, column, fmt::format("'{}' is not a number", text.substr(0, 40)));
  }
  return value;
}

Result<Csv> parse_csv(std::string_view text, std::string_view name, std::string_view wide) {
  Csv csv;
  csv.name = name;
  Records records(text, csv.name);
  if (records.at_end()) {
    return wrong_line(name, 1, "the file is empty", "its first line must hold the titles of its columns");
  }
  WEIR_ASSIGN(Csv::Row titles, records.next());
  for (std::size_t i = 0; i < titles.fields.size(); ++i) {
    if (titles.fields[i].empty())
      return wrong_line(name, titles.line, fmt::format("column {} has no title", i + 1));
    for (std::size_t j = 0; j < i; ++j) {
      if (same_letters(titles.fields[i], titles.fields[j])) {
        return wrong_line(name, titles.line,
                          fmt::format("two columns are called '{}'", titles.fields[i].substr(0, 40)));
      }
    }
  }
  csv.titles = std::move(titles.fields);
  const auto widest = wide.empty() ? std::nullopt : csv.column(wide);
  while (!records.at_end()) {
    if (csv.rows.size() == most_rows) return wrong_line(name, 1, fmt::format("more than {} rows", most_rows));
    WEIR_ASSIGN(Csv::Row row, records.next());
    if (widest && row.fields.size() > csv.titles.size()) {
      const auto surplus = static_cast<std::ptrdiff_t>(row.fields.size() - csv.titles.size());
      const auto keep = row.fields.begin() + static_cast<std::ptrdiff_t>(*widest);
      for (auto piece = keep + 1; piece <= keep + surplus; ++piece) *keep += "," + *piece;
      row.fields.erase(keep + 1, keep + 1 + surplus);
    }
    if (row.fields.size() != csv.titles.size()) {
      return wrong_line(
          name, row.line,
          fmt::format("{} fields where the titles say {}", row.fields.size(), csv.titles.size()),
          "put text that holds a comma in quotation marks");
    }
    csv.rows.push_back(std::move(row));
  }
  return csv;
}

}  // namespace weir::analysis
