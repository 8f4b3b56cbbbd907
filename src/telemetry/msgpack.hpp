// MessagePack as the forward protocol uses it: read by pulling tokens out of bytes that stay where they are,
// measured while it arrives, written by appending.
//
// Written here and not taken from a library: what arrives is from outside, and nothing of it may make memory
// grow, stack grow or a byte be looked at twice. No token allocates; lengths that are announced are only
// believed when the bytes are there.
//
// Threads: each object belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace weir::telemetry {

inline constexpr std::size_t deepest_nesting = 32;

struct Token {
  enum class Type : std::uint8_t {
    nil,
    boolean,
    number,
    negative,
    real,
    text,
    binary,
    array,
    map,
    extension
  };

  Type type = Type::nil;
  std::int8_t extension_type = 0;
  std::uint64_t number = 0;   // number, boolean; elements of an array, pairs of a map
  std::int64_t negative = 0;  // below 0
  double real = 0;
  std::string_view bytes;  // text, binary, extension; inside what the reader was given

  bool is_bytes() const { return type == Type::text || type == Type::binary; }
};

class MsgPackReader {
 public:
  explicit MsgPackReader(std::string_view bytes)
      : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

  // The next token, or nothing if the bytes end inside it or begin with what is not MessagePack. After a
  // failure the reader stays where it is.
  bool next(Token& token);
  bool skip();  // one value with all that is in it
  bool at_end() const { return at_ == end_; }
  std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }

 private:
  const char* begin_;
  const char* at_;
  const char* end_;
};

// Finds where a value ends while its bytes arrive; each byte is looked at once.
class MsgPackMeasure {
 public:
  // `bytes` is everything of this value that is there, more each time. Its length, or nothing if it goes on.
  // A failure if it is nested too deeply, is not MessagePack, or is going to be longer than `longest`.
  Result<std::optional<std::size_t>> measure(std::string_view bytes, std::uint64_t longest);
  void restart() { *this = MsgPackMeasure(); }

 private:
  std::uint64_t at_ = 0;  // where the next token begins; may lie beyond what is there
  std::size_t depth_ = 0;
  std::uint64_t open_[deepest_nesting] = {};  // values still to come, in each array and map that is open
};

// Appends values to a text.
class MsgPackWriter {
 public:
  explicit MsgPackWriter(std::string& target) : target_(&target) {}
  void nil() { byte(0xc0); }
  void boolean(bool value) { byte(value ? 0xc3 : 0xc2); }
  void number(std::uint64_t value);
  void text(std::string_view value);
  void binary(std::string_view value);
  void array(std::uint32_t elements);
  void map(std::uint32_t pairs);
  void event_time(std::int64_t nanoseconds);  // fluentd's: seconds and nanoseconds, as extension 0

 private:
  void byte(unsigned value) { target_->push_back(static_cast<char>(value)); }
  void big_endian(std::uint64_t value, int bytes);
  std::string* target_;
};

}  // namespace weir::telemetry
