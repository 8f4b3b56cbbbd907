#include "telemetry/fluentd_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <zlib.h>

#include <chrono>
#include <cstring>
#include <memory>

#include "core/file.hpp"
#include "telemetry/text_fields.hpp"

namespace weir::telemetry {

namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20U;
constexpr std::size_t batch_points = std::size_t{1} << 16U;
constexpr std::uint64_t latest_second = 9'000'000'000;

// Digits of a fraction as nanoseconds; beyond the ninth they are dropped.
std::optional<std::uint64_t> fraction_of(std::string_view digits) {
  if (digits.empty() || digits.size() > 18) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 9; ++i) {
    const char c = i < digits.size() ? digits[i] : '0';
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
  }
  return value;
}

// Two or four digits at a place of the text.
std::optional<int> digits_at(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  const auto value = whole_number(text.substr(at, count));
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

// Seconds to be taken off for "Z", "+09:00", "+0900"; nothing if it is none of these.
std::optional<int> zone_of(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() < 5 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const bool colon = text[3] == ':';
  const auto hours = digits_at(text, 1, 2);
  const auto minutes = digits_at(text, colon ? 4 : 3, 2);
  if (!hours || !minutes || *hours > 14 || *minutes > 59 || text.size() != (colon ? 6U : 5U))
    return std::nullopt;
  const int seconds = *hours * 3600 + *minutes * 60;
  return text[0] == '+' ? seconds : -seconds;
}

std::optional<Nanoseconds> parse_iso(std::string_view text) {
  using namespace std::chrono;
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') ||
      text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const auto year_number = digits_at(text, 0, 4);
  const auto month_number = digits_at(text, 5, 2);
  const auto day_number = digits_at(text, 8, 2);
  const auto hour = digits_at(text, 11, 2);
  const auto minute = digits_at(text, 14, 2);
  const auto second = digits_at(text, 17, 2);
  if (!year_number || !month_number || !day_number || !hour || !minute || !second) return std::nullopt;
  const year_month_day date{year(*year_number), month(static_cast<unsigned>(*month_number)),
                            day(static_cast<unsigned>(*day_number))};
  // A leap second (60) falls on the second after it, as for the kernel.
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60 || *year_number < 1970 || *year_number > 2250)
    return std::nullopt;
  std::string_view rest = text.substr(19);
  std::uint64_t fraction = 0;
  if (rest.starts_with('.') || rest.starts_with(',')) {
    const auto end = rest.find_first_not_of("0123456789", 1);
    const auto digits = fraction_of(rest.substr(1, end == std::string_view::npos ? end : end - 1));
    if (!digits) return std::nullopt;
    fraction = *digits;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end);
  }
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  const auto zone = zone_of(rest);
  if (!zone) return std::nullopt;
  const std::int64_t days = sys_days(date).time_since_epoch().count();
  const std::int64_t seconds = days * 86'400 + *hour * 3600 + *minute * 60 + *second - *zone;
  return seconds * 1'000'000'000 + static_cast<std::int64_t>(fraction);
}

struct GzipClose {
  void operator()(gzFile file) const { gzclose(file); }
};

// A line that has arrived whole, or as far as the file goes.
class LineTaker {
 public:
  LineTaker(std::string file, const StoreBatch& store, const TellProblem& problem)
      : file_(std::move(file)), store_(store), problem_(problem) {}

  Status take(std::string_view line) {
    ++number_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return {};
    const Status added = add_fluentd_line(line, batch_, tally_);
    if (!added) problem_(fmt::format("{}:{}: {}", file_, number_, added.error().message()));
    return batch_.points.size() >= batch_points ? flush() : Status();
  }
  void pass_over_long() {
    ++number_;
    ++tally_.rejected;
    problem_(fmt::format("{}:{}: longer than {} bytes", file_, number_, longest_line));
  }
  Status flush() {
    if (batch_.points.empty()) return {};
    WEIR_TRY(store_(batch_));
    batch_.clear();
    return {};
  }
  const Tally& tally() const { return tally_; }

 private:
  std::string file_;
  const StoreBatch& store_;
  const TellProblem& problem_;
  std::size_t number_ = 0;
  Batch batch_;
  Tally tally_;
};

}  // namespace

std::optional<Nanoseconds> parse_log_time(std::string_view text) {
  if (text.find('-') != std::string_view::npos) return parse_iso(text);
  const auto point = text.find('.');
  const auto seconds = whole_number(text.substr(0, point));
  if (!seconds || *seconds > latest_second) return std::nullopt;
  std::uint64_t fraction = 0;
  if (point != std::string_view::npos) {
    const auto digits = fraction_of(text.substr(point + 1));
    if (!digits) return std::nullopt;
    fraction = *digits;
  }
  return static_cast<Nanoseconds>(*seconds * 1'000'000'000 + fraction);
}

std::string format_log_time(Nanoseconds time) {
  using namespace std::chrono;
  const sys_time<nanoseconds> point{nanoseconds(time)};
  const auto day_point = floor<days>(point);
  const year_month_day date{day_point};
  const hh_mm_ss clock{point - day_point};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

Status add_fluentd_line(std::string_view line, Batch& batch, Tally& tally) {
  const auto reject = [&](std::string what) {
    ++tally.rejected;
    return fail(ErrorCode::corrupt, std::move(what));
  };
  const auto first = line.find('\t');
  const auto second = first == std::string_view::npos ? first : line.find('\t', first + 1);
  if (second == std::string_view::npos) return reject("not time TAB tag TAB record");
  const auto time = parse_log_time(line.substr(0, first));
  if (!time) return reject(fmt::format("'{}' is not a time", shown(line.substr(0, first))));
  auto record = parse_json(line.substr(second + 1));
  if (!record) return reject(record.error().cause);
  return add_record(batch, *time, *record, tally);
}

std::string fluentd_line(const Batch& batch, std::size_t first, std::size_t count, std::string_view tag) {
  return fmt::format("{}\t{}\t{}\n", format_log_time(batch.points.at(first).time), tag,
                     record_to_json(batch, first, count).dump());
}

Result<Tally> read_fluentd_file(const std::filesystem::path& path, const StoreBatch& store,
                                const TellProblem& problem) {
  WEIR_ASSIGN(const Descriptor opened, open_file(path, O_RDONLY));  // its failure says why
  const std::unique_ptr<gzFile_s, GzipClose> file(gzopen(path.c_str(), "rb"));
  if (!file) return fail_errno(errno != 0 ? errno : ENOMEM, "open", path.string());
  LineTaker lines(path.string(), store, problem);
  std::string pending;    // the beginning of a line
  bool too_long = false;  // of the line whose end has not come
  std::string buffer(std::size_t{256} << 10U, '\0');
  for (;;) {
    const int got = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    if (got < 0) {
      int code = 0;
      const char* const text = gzerror(file.get(), &code);
      if (code == Z_ERRNO) return fail_errno(errno, "read", path.string());
      problem(fmt::format("{}: the rest cannot be read: {}", path.string(), text));
      break;
    }
    if (got == 0) break;
    std::string_view rest(buffer.data(), static_cast<std::size_t>(got));
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      const std::string_view part = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      if (!too_long && pending.size() + part.size() > longest_line) {
        too_long = true;
        pending.clear();
      }
      if (end == std::string_view::npos) {
        if (!too_long) pending.append(part);
        break;
      }
      if (too_long) {
        lines.pass_over_long();
        too_long = false;
      } else if (pending.empty()) {
        WEIR_TRY(lines.take(part));
      } else {
        pending.append(part);
        WEIR_TRY(lines.take(pending));
        pending.clear();
      }
    }
  }
  if (too_long) lines.pass_over_long();
  if (!pending.empty()) WEIR_TRY(lines.take(pending));
  WEIR_TRY(lines.flush());
  return lines.tally();
}

}  // namespace weir::telemetry
