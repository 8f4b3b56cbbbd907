#include "session/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "session/checksum.hpp"

namespace weir::session {

namespace {

constexpr std::size_t longest_name = 255;

Status check_characters(const std::string& name) {
  if (name.empty()) return fail(ErrorCode::invalid_argument, "the name is empty");
  if (name.size() > longest_name) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the name has {} bytes, at most {} can be stored", name.size(), longest_name));
  }
  const bool control = std::any_of(name.begin(), name.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (control) return fail(ErrorCode::invalid_argument, "the name contains a control character");
  return {};
}

}  // namespace

Status check_name(const std::string& name) {
  WEIR_TRY(check_characters(name));
  if (name.starts_with(reserved_prefix)) {
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

Status check_attribute_name(const std::string& name) {
  WEIR_TRY(check_characters(name));
  if (name.find('/') != std::string::npos)
    return fail(ErrorCode::invalid_argument, "the name of an attribute cannot contain '/'");
  if (name.starts_with("weir"))
    return fail(ErrorCode::invalid_argument, "attributes that begin with 'weir' are kept for Weir itself");
  return {};
}

}  // namespace weir::session
