// Options by name, declared once: the declaration gives the check, the default, the help text and the error
// message.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace weir {

using OptionMap = std::map<std::string, std::string>;

struct Option {
  enum class Kind { boolean, integer, bytes, seconds, word, numbers, text };

  std::string_view name;
  Kind kind;
  std::string_view fallback;  // the value when not given, in the same spelling a user would use
  std::string_view help;
  std::vector<std::string_view> words = {};  // the values of a `word`
  std::int64_t least = INT64_MIN;            // bounds of an `integer`, `bytes` or each of `numbers`
  std::int64_t most = INT64_MAX;
  bool or_zero = false;  // 0 is allowed below `least`, too: it leaves the choice to others
};

// Checked values of a set of options. Made only by parse_options, so every getter finds what it asks for.
class Options {
 public:
  bool flag(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;  // also of `bytes`
  double seconds(std::string_view name) const;
  std::vector<std::int64_t> numbers(
      std::string_view name) const;                      // written "0+2+4"; commas stand between options
  const std::string& text(std::string_view name) const;  // also of `word`
  bool given(std::string_view name) const;               // said by the user, not the fallback

 private:
  friend Result<Options> parse_options(std::string_view, std::span<const Option>, const OptionMap&);
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, bool, std::less<>> given_;
};

// `owner` is named in errors: "backend 'hdf5'". Unknown names and values out of range are failures.
Result<Options> parse_options(std::string_view owner, std::span<const Option> declared,
                              const OptionMap& given);

// "deflate=4,shuffle=yes" as a map; a comma or equals sign inside a value cannot be written.
Result<OptionMap> split_options(std::string_view text);

Result<std::int64_t> parse_integer(std::string_view text);
Result<std::int64_t> parse_bytes(
    std::string_view text);  // "4194304", "4M", "4MiB", "1.5GiB"; K, M, G, T are powers of 1024
Result<double> parse_seconds(std::string_view text);  // "2", "1.5s", "20ms", "5min"
std::string format_bytes(std::uint64_t bytes);        // "4.0 MiB"

// One line per option, aligned, for --help and documents.
std::string describe_options(std::span<const Option> declared);

}  // namespace weir
