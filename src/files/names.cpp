#include "files/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "files/checksum.hpp"

namespace weir::files {

namespace {

constexpr std::size_t longest_name = 255;

// Well-formed UTF-8, as every format and JSON wants it: no overlong forms, no surrogates.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const unsigned lead = byte(i);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                               : (lead & 0xF0U) == 0xE0      ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0U) != 0x80U) return false;
    }
    const unsigned second = byte(i + 1);
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool surrogate_or_beyond = (lead == 0xED && second >= 0xA0) || (lead == 0xF4 && second >= 0x90);
    if (overlong || surrogate_or_beyond) return false;
    i += length;
  }
  return true;
}

Status check_characters(const std::string& name) {
  if (name.empty()) return fail(ErrorCode::invalid_argument, "the name is empty");
  if (name.size() > longest_name) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the name has {} bytes, at most {} can be stored", name.size(), longest_name));
  }
  const bool control = std::any_of(name.begin(), name.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (control) return fail(ErrorCode::invalid_argument, "the name contains a control character");
  if (!is_utf8(name)) return fail(ErrorCode::invalid_argument, "the name is not UTF-8");
  return {};
}

}  // namespace

Status check_name(const std::string& name) {
  WEIR_TRY(check_characters(name));
  if (name.starts_with(reserved_prefix) || name + "/" == reserved_prefix) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("names that begin with '{}' are kept for Weir itself", reserved_prefix));
  }
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("'{}' has a part that is empty, '.' or '..'", name),
                  "write it like 'fields/T'");
    }
    begin = end + 1;
  }
  return {};
}

Status check_text(const std::string& text) {
  if (is_utf8(text)) return {};
  return fail(ErrorCode::invalid_argument, "the text is not UTF-8",
              "store other bytes as numbers of type uint8");
}

Status check_attribute_name(const std::string& name) {
  WEIR_TRY(check_characters(name));
  if (name.find('/') != std::string::npos)
    return fail(ErrorCode::invalid_argument, "the name of an attribute cannot contain '/'");
  if (name.starts_with("weir_") || name.starts_with("weir:"))
    return fail(ErrorCode::invalid_argument,
                "attributes that begin with 'weir_' or 'weir:' are kept for Weir itself");
  return {};
}

}  // namespace weir::files
