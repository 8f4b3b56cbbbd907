#include "http_text.hpp"

#include <fmt/format.h>

namespace weir::cli {

Result<Url> split_url(const std::string& url) {
  constexpr std::string_view scheme = "http://";
  const auto wrong = [&](std::string cause, std::string advice) {
    return fail(ErrorCode::invalid_argument, std::move(cause), std::move(advice));
  };
  if (!url.starts_with(scheme)) return wrong("only http:// can be read", "save the page, and name the file");
  if (url.find_first_of(" \r\n\t") != std::string::npos) return wrong("an address has no blanks", "");
  Url parts;
  std::string authority = url.substr(scheme.size());
  if (const std::size_t slash = authority.find('/'); slash != std::string::npos) {
    parts.path = authority.substr(slash);
    authority.resize(slash);
  }
  const std::size_t bracket = authority.rfind(']'), colon = authority.rfind(':');
  if (colon != std::string::npos && (bracket == std::string::npos || colon > bracket)) {
    parts.port = authority.substr(colon + 1);
    authority.resize(colon);
  }
  if (authority.size() > 2 && authority.front() == '[') authority = authority.substr(1, authority.size() - 2);
  parts.host = authority;
  if (parts.host.empty() || parts.port.empty()) return wrong("the address names no host", "");
  return parts;
}

Result<std::string> body_of(std::string answer) {
  const std::size_t head_end = answer.find("\r\n\r\n");
  const std::string_view status = std::string_view(answer).substr(0, answer.find("\r\n"));
  if (!status.starts_with("HTTP/1.") || head_end == std::string::npos)
    return fail(ErrorCode::corrupt, "this is no answer of an HTTP server");
  if (status.size() < 12 || status.substr(9, 3) != "200")
    return fail(ErrorCode::io, fmt::format("the server says '{}'", status.substr(0, 100)));
  answer.erase(0, head_end + 4);
  return answer;
}

}  // namespace weir::cli
