#include "telemetry/lustre_jobs.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "telemetry/lustre_stats.hpp"
#include "telemetry/record_builder.hpp"
#include "telemetry/text_fields.hpp"

namespace weir::telemetry {

namespace {

constexpr std::size_t most_jobs = 100'000;
constexpr std::size_t most_problems = 10;
constexpr std::size_t longest_id = 255;

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  const auto end = text.find_last_not_of(" \t");
  return text.substr(begin, end - begin + 1);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Without quotes and with \xHH as the characters they stand for; empty if no name can be made of it.
std::string unescaped(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  std::string id;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x' &&
                        hex_digit(text[i + 2]) >= 0 && hex_digit(text[i + 3]) >= 0;
    if (!escape) {
      id += text[i];
      continue;
    }
    id += static_cast<char>(hex_digit(text[i + 2]) * 16 + hex_digit(text[i + 3]));
    i += 3;
  }
  // Ids become names of series; what no name can hold stays as it was written.
  bool plain = is_utf8(id);
  for (const char c : id) plain = plain && !(c >= 0 && c < ' ') && c != 0x7f;
  if (!plain) id = shown(text);
  return id.size() <= longest_id ? id : std::string();
}

// "{ samples: 12, unit: bytes, min: 4096, max: 1048576, sum: 12582912 }"; a number that is missing is 0.
bool read_numbers(std::string_view braces, std::uint64_t& samples, std::uint64_t& sum) {
  braces = trimmed(braces);
  if (braces.size() < 2 || braces.front() != '{' || braces.back() != '}') return false;
  braces = braces.substr(1, braces.size() - 2);
  bool has_samples = false;
  while (!braces.empty()) {
    const auto comma = braces.find(',');
    const std::string_view part = braces.substr(0, comma);
    braces.remove_prefix(comma == std::string_view::npos ? braces.size() : comma + 1);
    const auto colon = part.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trimmed(part.substr(0, colon));
    if (key != "samples" && key != "sum") continue;
    const auto value = whole_number(trimmed(part.substr(colon + 1)));
    if (!value) return false;
    (key == "sum" ? sum : samples) += *value;
    has_samples = has_samples || key == "samples";
  }
  return has_samples;
}

}  // namespace

LustreJobs parse_lustre_jobs(std::string_view text) {
  LustreJobs result;
  std::unordered_map<std::string, std::size_t> by_id;
  LustreJob* job = nullptr;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = trimmed(take_line(text));
    if (line.empty() || line == "job_stats:") continue;
    const bool begins = line.starts_with("- ");
    if (begins) line = trimmed(line.substr(2));
    const auto colon = line.find(':');
    std::string_view wrong;
    if (colon == std::string_view::npos) {
      wrong = "there is no ':'";
    } else {
      const std::string_view key = line.substr(0, colon);
      const std::string_view value = trimmed(line.substr(colon + 1));
      if (begins) {
        job = nullptr;
        const std::string id = key == "job_id" ? unescaped(value) : std::string();
        if (id.empty()) {
          wrong = "an entry does not begin with a job_id of up to 255 bytes";
        } else if (const auto known = by_id.find(id); known != by_id.end()) {
          job = &result.jobs[known->second];
        } else if (result.jobs.size() == most_jobs) {
          wrong = "more than 100000 jobs";
        } else {
          by_id.emplace(id, result.jobs.size());
          job = &result.jobs.emplace_back(LustreJob{.id = id});
        }
      } else if (job != nullptr) {
        if (key == "snapshot_time") {
          job->snapshot_time = parse_lustre_time(value);
        } else if (key == "start_time") {
          job->start_time = parse_lustre_time(value);
        } else if (key == "read_bytes") {
          if (!read_numbers(value, job->read_ops, job->read_bytes)) wrong = "no numbers";
        } else if (key == "write_bytes") {
          if (!read_numbers(value, job->write_ops, job->write_bytes)) wrong = "no numbers";
        }
      }
    }
    if (!wrong.empty() && result.problems.size() < most_problems)
      result.problems.push_back(fmt::format("line {}: '{}': {}", number, shown(line), wrong));
  }
  return result;
}

}  // namespace weir::telemetry
