// The coordinate form of Matrix Market (math.nist.gov/MatrixMarket/formats.html).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/file.hpp"
#include "pattern/pattern.hpp"
#include "pattern/pattern_file.hpp"

namespace weir::pattern {

namespace {

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  // The next line; false at the end.
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    ++number_;
    return true;
  }

  tl::unexpected<Failure> wrong(std::string_view what) const {
    return fail(ErrorCode::corrupt, fmt::format("line {}: {}", number_, what));
  }

 private:
  std::string_view rest_;
  std::uint64_t number_ = 0;
};

std::string_view next_word(std::string_view& line) {
  constexpr std::string_view blank = " \t\r\f\v";
  const std::size_t begin = std::min(line.find_first_not_of(blank), line.size());
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(blank));
  line.remove_prefix(word.size());
  return word;
}

template <class Number>
bool parse(std::string_view word, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

struct Header {
  bool values = true;  // not `pattern`
  bool symmetric = false;
  std::uint64_t rows = 0, columns = 0, entries = 0;
};

Result<Header> read_header(Lines& lines, std::uint64_t bytes) {
  Header header;
  std::string_view line;
  if (!lines.next(line)) return fail(ErrorCode::corrupt, "the matrix file is empty");
  std::string lower(line);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  std::string_view words(lower);
  if (next_word(words) != "%%matrixmarket") return lines.wrong("it does not begin with %%MatrixMarket");
  if (next_word(words) != "matrix" || next_word(words) != "coordinate")
    return lines.wrong("only 'matrix coordinate' can be read");
  const std::string_view field = next_word(words), symmetry = next_word(words);
  if (field != "real" && field != "integer" && field != "double" && field != "pattern")
    return lines.wrong(fmt::format("values of kind '{}' cannot be read", field));
  if (symmetry != "general" && symmetry != "symmetric")
    return lines.wrong(fmt::format("a '{}' matrix cannot be read", symmetry));
  header.values = field != "pattern";
  header.symmetric = symmetry == "symmetric";
  while (lines.next(line)) {
    std::string_view rest = line;
    const std::string_view word = next_word(rest);
    if (word.empty() || word.front() == '%') continue;
    if (!parse(word, header.rows) || !parse(next_word(rest), header.columns) ||
        !parse(next_word(rest), header.entries) || !next_word(rest).empty())
      return lines.wrong("it should say the numbers of rows, columns and entries");
    if (header.rows > most_ranks || header.columns > most_ranks)
      return lines.wrong(
          fmt::format("{} x {} are more than {} ranks", header.rows, header.columns, most_ranks));
    if (header.symmetric && header.rows != header.columns)
      return lines.wrong("a symmetric matrix must be square");
    if (header.entries > bytes / 4) return lines.wrong("it announces more entries than the file can hold");
    return header;
  }
  return lines.wrong("the line with the numbers of rows, columns and entries is missing");
}

}  // namespace

std::string to_matrix_market(const SparseMatrix& matrix) {
  const bool symmetric = is_symmetric(matrix);
  const bool whole = std::all_of(matrix.value.begin(), matrix.value.end(), [](double value) {
    return value == std::floor(value) && value < 9007199254740992.0;
  });
  std::string body;
  std::uint64_t entries = 0;
  for (std::uint64_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t at = matrix.row_begin[row]; at < matrix.row_begin[row + 1]; ++at) {
      if (symmetric && matrix.column[at] > row) continue;
      ++entries;
      if (whole) {
        fmt::format_to(std::back_inserter(body), "{} {} {}\n", row + 1, matrix.column[at] + std::uint64_t{1},
                       static_cast<std::uint64_t>(matrix.value[at]));
      } else {
        fmt::format_to(std::back_inserter(body), "{} {} {}\n", row + 1, matrix.column[at] + std::uint64_t{1},
                       matrix.value[at]);
      }
    }
  }
  return fmt::format("%%MatrixMarket matrix coordinate {} {}\n{} {} {}\n", whole ? "integer" : "real",
                     symmetric ? "symmetric" : "general", matrix.rows, matrix.columns, entries) +
         body;
}

Result<SparseMatrix> from_matrix_market(std::string_view text) {
  Lines lines(text);
  WEIR_ASSIGN(const Header header, read_header(lines, text.size()));
  std::vector<Triple> triples;
  triples.reserve(header.entries);
  std::string_view line;
  while (lines.next(line)) {
    std::string_view rest = line;
    const std::string_view first = next_word(rest);
    if (first.empty() || first.front() == '%') continue;
    if (triples.size() == header.entries)
      return lines.wrong(fmt::format("more than the {} entries announced", header.entries));
    std::uint64_t row = 0, column = 0;
    double value = 1;
    if (!parse(first, row) || !parse(next_word(rest), column) ||
        (header.values && !parse(next_word(rest), value)) || !next_word(rest).empty())
      return lines.wrong("it should be row, column and value");
    if (row < 1 || row > header.rows || column < 1 || column > header.columns)
      return lines.wrong(
          fmt::format("({}, {}) is outside of a {} x {} matrix", row, column, header.rows, header.columns));
    if (!std::isfinite(value) || value < 0) return lines.wrong(fmt::format("{} is no weight", value));
    if (header.symmetric && column > row)
      return lines.wrong("a symmetric matrix has only its lower half here");
    triples.push_back({static_cast<std::uint32_t>(row - 1), static_cast<std::uint32_t>(column - 1), value});
  }
  if (triples.size() != header.entries)
    return fail(ErrorCode::corrupt, fmt::format("the matrix file is truncated: {} of {} entries are there",
                                                triples.size(), header.entries));
  SparseMatrix matrix = header.symmetric ? from_pairs(header.rows, triples)
                                         : from_triples(header.rows, header.columns, triples);
  WEIR_TRY(matrix.check());  // sums may have left what a number can hold
  return matrix;
}

Status save_matrix(const SparseMatrix& matrix, const std::filesystem::path& path) {
  return in(write_text_atomically(path, to_matrix_market(matrix)), "save the matrix", path.string());
}

Result<SparseMatrix> load_matrix(const std::filesystem::path& path) {
  WEIR_ASSIGN(const std::string text, read_text(path));
  return in(from_matrix_market(text), "load the matrix", path.string());
}

}  // namespace weir::pattern
