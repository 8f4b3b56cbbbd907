#include "platform/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace weir {

namespace {

constexpr int deepest_group = 8;
constexpr std::size_t longest_period = 64;  // of terms that repeat; bounds the time of formatting

class Parser {
 public:
  Parser(std::string_view text, std::size_t at_most) : text_(text), at_most_(at_most) {}

  Result<Numbers> parse() {
    if (text_.empty()) return Numbers{};
    WEIR_TRY(list(0));
    if (position_ < text_.size()) return wrong("',' or the end is expected");
    return std::move(numbers_);
  }

 private:
  tl::unexpected<Failure> wrong(std::string_view what) const {
    return fail(ErrorCode::invalid_argument,
                fmt::format("list of numbers, column {}: {}", position_ + 1, what),
                "write it like 0-3,8 or 0-6:2 or 0-3x2 or 0-3*2");
  }
  tl::unexpected<Failure> too_long() const {
    return wrong(fmt::format("the list grows longer than {} numbers", at_most_));
  }

  bool take(char c) {
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  Result<std::uint32_t> number() {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) return wrong("the number is larger than 4294967295");
    if (error != std::errc{}) return wrong("a number is expected");
    position_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  Result<std::uint32_t> count() {
    WEIR_ASSIGN(const std::uint32_t value, number());
    if (value == 0) return wrong("0 times is nothing; leave the term out");
    return value;
  }

  Status list(int depth) {
    do {
      WEIR_TRY(term(depth));
    } while (take(','));
    return {};
  }

  Status term(int depth) {
    const std::size_t start = numbers_.size();
    if (take('(')) {
      if (depth == deepest_group) return wrong("groups are nested too deep");
      WEIR_TRY(list(depth + 1));
      if (!take(')')) return wrong("')' is missing");
    } else {
      WEIR_TRY(range());
    }
    if (!take('*')) return {};
    WEIR_ASSIGN(const std::uint32_t times, count());
    const std::size_t length = numbers_.size() - start;
    if (times > (at_most_ - start) / length) return too_long();
    numbers_.reserve(start + length * times);
    for (std::uint32_t i = 1; i < times; ++i) {
      for (std::size_t k = 0; k < length; ++k) numbers_.push_back(numbers_[start + k]);
    }
    return {};
  }

  Status range() {
    WEIR_ASSIGN(const std::uint32_t first, number());
    std::uint32_t last = first;
    std::uint32_t step = 1;
    std::uint32_t each = 1;
    if (take('-')) {
      WEIR_ASSIGN(last, number());
      if (take(':')) {
        WEIR_ASSIGN(step, count());
      }
    }
    if (take('x')) {
      WEIR_ASSIGN(each, count());
    }
    const std::uint64_t values = std::uint64_t{first < last ? last - first : first - last} / step + 1;
    const std::size_t room = at_most_ - numbers_.size();
    if (values > room || each > room / values) return too_long();
    for (std::uint64_t i = 0; i < values; ++i) {
      const auto delta = static_cast<std::uint32_t>(i * step);
      numbers_.insert(numbers_.end(), each, first < last ? first + delta : first - delta);
    }
    return {};
  }

  std::string_view text_;
  std::size_t at_most_;
  std::size_t position_ = 0;
  Numbers numbers_;
};

struct Term {
  std::uint32_t first = 0;
  std::int64_t step = 0;
  std::uint32_t values = 1;
  std::uint32_t each = 1;
  bool operator==(const Term&) const = default;

  std::string text() const {
    std::string text = std::to_string(first);
    if (values > 1) text += fmt::format("-{}", first + step * (values - 1));
    if (values > 1 && step != 1 && step != -1) text += fmt::format(":{}", step < 0 ? -step : step);
    if (each > 1) text += fmt::format("x{}", each);
    return text;
  }
};

// Runs of equal numbers first, then runs that climb or fall evenly.
std::vector<Term> terms_of(std::span<const std::uint32_t> numbers) {
  std::vector<Term> runs;
  for (const std::uint32_t number : numbers) {
    if (!runs.empty() && runs.back().first == number) {
      ++runs.back().each;
    } else {
      runs.push_back({.first = number});
    }
  }
  std::vector<Term> terms;
  for (std::size_t i = 0; i < runs.size();) {
    Term term = runs[i];
    std::size_t next = i + 1;
    if (next < runs.size()) term.step = std::int64_t{runs[next].first} - runs[i].first;
    while (next < runs.size() && runs[next].each == term.each &&
           std::int64_t{runs[next].first} - runs[next - 1].first == term.step) {
      ++next;
    }
    term.values = static_cast<std::uint32_t>(next - i);
    if (term.values == 2 && term.step != 1 && term.step != -1)
      term.values = 1;  // "3,9" reads better than "3-9:6"
    if (term.values == 1) term.step = 0;
    i += term.values;
    terms.push_back(term);
  }
  return terms;
}

struct Repeat {
  std::size_t period = 1;
  std::size_t times = 1;
};

// The repetition starting at `at` that covers most terms.
Repeat longest_repeat(const std::vector<Term>& terms, std::size_t at) {
  Repeat best;
  for (std::size_t period = 1; period <= longest_period && at + 2 * period <= terms.size(); ++period) {
    std::size_t end = at + period;
    while (end < terms.size() && terms[end] == terms[end - period]) ++end;
    const std::size_t times = (end - at) / period;
    if (times >= 2 && times * period > best.times * best.period) best = {period, times};
  }
  return best;
}

}  // namespace

std::string format_numbers(std::span<const std::uint32_t> numbers) {
  const std::vector<Term> terms = terms_of(numbers);
  std::string text;
  for (std::size_t i = 0; i < terms.size();) {
    const Repeat repeat = longest_repeat(terms, i);
    std::string body;
    for (std::size_t k = 0; k < repeat.period; ++k) body += (k == 0 ? "" : ",") + terms[i + k].text();
    if (!text.empty()) text += ',';
    text += repeat.period > 1 && repeat.times > 1 ? "(" + body + ")" : body;
    if (repeat.times > 1) text += fmt::format("*{}", repeat.times);
    i += repeat.period * repeat.times;
  }
  return text;
}

Result<Numbers> parse_numbers(std::string_view text, std::size_t at_most) {
  return Parser(text, at_most).parse();
}

std::string format_set(Numbers numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    if (end - i > 1) text += fmt::format("-{}", numbers[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace weir
