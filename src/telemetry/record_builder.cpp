#include "telemetry/record_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "telemetry/text_fields.hpp"

namespace weir::telemetry {

namespace {

constexpr std::size_t most_members = 512;  // remembered by place; a record may have more
constexpr std::size_t longest_name = 255;
constexpr double nanoseconds_per_second = 1e9;

bool is_name(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (plain) return text.size() <= longest_name;
  const auto control = [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; };
  return text.size() <= longest_name && is_utf8(text) && std::none_of(text.begin(), text.end(), control);
}

}  // namespace

bool is_utf8(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = at + text.size();
  while (at < end) {
    if (*at < 0x80) {
      ++at;
      continue;
    }
    const int more = *at >= 0xc2 && *at < 0xe0   ? 1
                     : *at >= 0xe0 && *at < 0xf0 ? 2
                     : *at >= 0xf0 && *at < 0xf5 ? 3
                                                 : 0;
    if (more == 0 || end - at <= more) return false;
    const unsigned char second = at[1];
    if ((*at == 0xe0 && second < 0xa0) || (*at == 0xed && second > 0x9f) || (*at == 0xf0 && second < 0x90) ||
        (*at == 0xf4 && second > 0x8f))
      return false;
    for (int i = 1; i <= more; ++i) {
      if ((at[i] & 0xc0U) != 0x80U) return false;
    }
    at += more + 1;
  }
  return true;
}

void RecordBuilder::begin(Nanoseconds event_time) {
  place_ = 0;
  node_.clear();
  component_.clear();
  job_.clear();
  group_ = Group::none;
  time_ = event_time;
  time_is_exact_ = false;
  values_.clear();
  ignored_ = 0;
  wrong_.clear();
}

RecordBuilder::Member RecordBuilder::classify(std::string_view key) {
  Member member{.key = std::string(key)};
  const auto is = [&](Role role, Group group = Group::none) {
    member.role = role;
    member.group = group;
    return member;
  };
  if (key == "node" || key == "host" || key == "hostname") return is(Role::node);
  if (key == "component") return is(Role::component);
  if (key == "ost") return is(Role::component, Group::ost);
  if (key == "link") return is(Role::component, Group::link);
  if (key == "device") return is(Role::component, Group::block);
  if (key == "interface") return is(Role::component, Group::net);
  if (key == "port") return is(Role::component, Group::ib);
  if (key == "job" || key == "jobid" || key == "job_id") return is(Role::job);
  if (key == "time_ns") return is(Role::time_ns);
  if (key == "time") return is(Role::time);
  if (const auto id = find_counter(key)) {
    member.counter = *id;
    return is(Role::counter);
  }
  if (key.size() > longest_name) return member;
  constexpr std::array<std::string_view, static_cast<std::size_t>(Group::count)> prefixes = {
      "ost_io.", "link.", "ost.", "job.", "block.", "net.", "ib."};
  for (std::size_t group = 0; group < prefixes.size(); ++group) {
    member.by_group[group] = find_counter(std::string(prefixes[group]) + member.key);
    if (member.by_group[group]) member.role = Role::short_name;
  }
  return member;
}

const RecordBuilder::Member& RecordBuilder::look_up(std::string_view key) {
  const std::size_t place = std::min(place_++, most_members - 1);
  if (place >= members_.size()) {
    members_.push_back(classify(key));
  } else if (members_[place].key != key) {
    members_[place] = classify(key);
  }
  // Beyond the places that are remembered, a value would lose its meaning to the next one.
  if (place_ > most_members) complain(key, "is one member too many");
  return members_[place];
}

void RecordBuilder::keep(std::uint64_t value, bool gauge_only) {
  if (place_ > most_members) return;  // the record is rejected anyhow
  values_.push_back({.member = place_ - 1, .value = value, .gauge_only = gauge_only});
}

void RecordBuilder::complain(std::string_view key, std::string_view what) {
  if (wrong_.empty()) wrong_ = fmt::format("'{}' {}", shown(key), what);
}

void RecordBuilder::set_time(double seconds, std::string_view key) {
  if (time_is_exact_) return;
  const double nanoseconds = seconds * nanoseconds_per_second;
  if (!(nanoseconds > 0 && nanoseconds < 9.2e18)) return complain(key, "is not a time in seconds since 1970");
  // The whole seconds apart: a double has no room for the nanoseconds of today.
  const double whole = std::floor(seconds);
  time_ = static_cast<Nanoseconds>(whole) * 1'000'000'000 +
          static_cast<Nanoseconds>(std::llround((seconds - whole) * nanoseconds_per_second));
}

void RecordBuilder::text(std::string_view key, std::string_view value) {
  const Member& member = look_up(key);
  const auto name = [&](std::string& target) {
    if (!is_name(value))
      return complain(key, "is not a name of up to 255 bytes of UTF-8 without control characters");
    target = value;
  };
  switch (member.role) {
    case Role::node:
      return name(node_);
    case Role::component:
      group_ = member.group;
      return name(component_);
    case Role::job:
      return name(job_);
    case Role::time_ns:
    case Role::time:
      ++ignored_;  // times in words: the event's own time is the same, and is not ambiguous
      return;
    case Role::counter:
    case Role::short_name: {
      // Parsers of log lines often leave numbers as texts.
      std::uint64_t number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error != std::errc() || end != value.data() + value.size() || value.empty())
        return complain(key, "is not a whole number from 0 to 2^64 - 1");
      keep(number, false);
      return;
    }
    case Role::unknown:
      ++ignored_;
      return;
  }
}

void RecordBuilder::number(std::string_view key, std::uint64_t value) {
  const Member& member = look_up(key);
  switch (member.role) {
    case Role::node:
    case Role::component:
      group_ = member.role == Role::component ? member.group : group_;
      (member.role == Role::node ? node_ : component_) = std::to_string(value);
      return;
    case Role::job:
      job_ = std::to_string(value);
      return;
    case Role::time_ns:
      if (value == 0 || value > INT64_MAX) return complain(key, "is not a time in nanoseconds since 1970");
      time_ = static_cast<Nanoseconds>(value);
      time_is_exact_ = true;
      return;
    case Role::time:
      return set_time(static_cast<double>(value), key);
    case Role::counter:
    case Role::short_name:
      keep(value, false);
      return;
    case Role::unknown:
      ++ignored_;
      return;
  }
}

void RecordBuilder::negative(std::string_view key, std::int64_t value) {
  const Member& member = look_up(key);
  if (member.role == Role::unknown) {
    ++ignored_;
  } else if (member.role == Role::job) {
    job_ = std::to_string(value);
  } else {
    complain(key, "is negative");
  }
}

void RecordBuilder::real(std::string_view key, double value) {
  const Member& member = look_up(key);
  switch (member.role) {
    case Role::time:
      return set_time(value, key);
    case Role::counter:
    case Role::short_name: {
      // Up to 2^53 a whole number written with a point or an exponent is still that number.
      if (!(value >= 0 && value <= 0x1p53)) return complain(key, "is not a whole number from 0 to 2^64 - 1");
      const double whole = std::nearbyint(value);
      keep(static_cast<std::uint64_t>(whole), whole != value);
      return;
    }
    case Role::unknown:
      ++ignored_;
      return;
    default:
      complain(key, "is a fraction");
  }
}

void RecordBuilder::other(std::string_view key) {
  const Member& member = look_up(key);
  if (member.role == Role::counter) {
    complain(key, "is not a number");
  } else {
    ++ignored_;
  }
}

Status RecordBuilder::finish(Batch& batch, Tally& tally) {
  if (group_ == Group::ost && !job_.empty()) group_ = Group::job;
  const auto id_of = [&](const Value& value) -> std::optional<CounterId> {
    const Member& member = members_[value.member];
    return member.role == Role::counter ? member.counter : member.by_group[static_cast<std::size_t>(group_)];
  };
  std::size_t known = 0;
  for (const Value& value : values_) {
    const auto id = id_of(value);
    if (!id) {
      ++ignored_;
      continue;
    }
    ++known;
    if (value.gauge_only && counter(*id).kind != CounterKind::gauge)
      complain(members_[value.member].key, "is not a whole number");
  }
  if (wrong_.empty() && node_.empty()) wrong_ = "there is no 'node'";
  if (wrong_.empty() && known == 0) wrong_ = "there is no counter";
  if (wrong_.empty() && time_ <= 0) wrong_ = "there is no time";
  if (!wrong_.empty()) {
    ++tally.rejected;
    return fail(ErrorCode::corrupt, wrong_);
  }
  const std::uint32_t origin = batch.table.origin(node_, component_, job_);
  for (const Value& value : values_) {
    const auto id = id_of(value);
    if (id) batch.points.push_back({batch.table.series(origin, *id), time_, value.value});
  }
  ++tally.records;
  tally.samples += known;
  tally.ignored += ignored_;
  return {};
}

}  // namespace weir::telemetry
