// Makes samples of one record, member by member: what the readers of JSON, MessagePack and other forms share.
// The rules are in record.hpp.
//
// Records of one kind have the same members in the same order, so that the meaning of a member is remembered
// by its place: a comparison instead of a search.
//
// Threads: belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/record.hpp"

namespace weir::telemetry {

class RecordBuilder {
 public:
  void begin(Nanoseconds event_time);
  void text(std::string_view key, std::string_view value);
  void number(std::string_view key, std::uint64_t value);
  void negative(std::string_view key, std::int64_t value);
  void real(std::string_view key, double value);
  void other(std::string_view key);  // nil, true, false, lists, maps
  // Adds the samples, or nothing and says what is wrong with the record. Counts in either case.
  Status finish(Batch& batch, Tally& tally);

 private:
  // What a short name stands for depends on what kind of component the record is about.
  enum class Group : std::uint8_t { none, link, ost, job, block, net, ib, count };
  enum class Role : std::uint8_t { node, component, job, time_ns, time, counter, short_name, unknown };
  struct Member {
    std::string key;
    Role role = Role::unknown;
    Group group = Group::none;  // of a component
    CounterId counter = 0;
    std::array<std::optional<CounterId>, static_cast<std::size_t>(Group::count)> by_group = {};
  };
  struct Value {
    std::size_t member = 0;
    std::uint64_t value = 0;
    bool gauge_only = false;  // rounded from a fraction
  };

  static Member classify(std::string_view key);
  const Member& look_up(std::string_view key);
  void keep(std::uint64_t value, bool gauge_only);  // of the member looked up last
  void complain(std::string_view key, std::string_view what);
  void set_time(double seconds, std::string_view key);

  std::vector<Member> members_;  // by place in the record
  std::size_t place_ = 0;
  std::string node_, component_, job_;
  Group group_ = Group::none;
  Nanoseconds time_ = 0;
  bool time_is_exact_ = false;
  std::vector<Value> values_;
  std::uint64_t ignored_ = 0;
  std::string wrong_;
};

// Well-formed UTF-8 (no surrogates, nothing overlong).
bool is_utf8(std::string_view text);

}  // namespace weir::telemetry
