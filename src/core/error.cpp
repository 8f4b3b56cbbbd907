#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace weir {

std::string Failure::message() const {
  std::string text;
  if (!object.empty()) text += object + ": ";
  text += operation;
  if (rank >= 0) text += fmt::format("{}(rank {})", operation.empty() ? "" : " ", rank);
  if (!operation.empty() || rank >= 0) text += ": ";
  text += cause;
  if (!advice.empty()) text += "; " + advice;
  return text;
}

void add_context(Failure& failure, std::string_view operation, std::string_view object) {
  // Ranks that disagree about the call would each add their own idea of it.
  if (failure.code == ErrorCode::disagreement) return;
  if (failure.operation.empty()) {
    failure.operation = operation;
  } else if (!failure.operation.starts_with(operation)) {
    failure.operation = fmt::format("{}: {}", operation, failure.operation);
  }
  if (failure.object.empty()) failure.object = object;
}

namespace {

std::string advice_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space or write to another file system";
    case EACCES:
    case EPERM:
    case EROFS:
      return "ask for the right to do that, or choose another folder";
    case ENOENT:
      return "check the path: what is not there is not created on the way";
    case EISDIR:
      return "choose the name of a file, not of a folder";
    case ENOTDIR:
      return "a part of the path is a file, not a folder";
    case EMFILE:
      return "raise the limit of open files (ulimit -n)";
    default:
      return {};
  }
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

tl::unexpected<Failure> fail_errno(int error, std::string operation, std::string object) {
  const ErrorCode code = error == ENOENT ? ErrorCode::not_found : ErrorCode::io;
  return tl::make_unexpected(Failure{.code = code,
                                     .cause = std::strerror(error),
                                     .operation = std::move(operation),
                                     .object = std::move(object),
                                     .advice = advice_for(error)});
}

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::ok:
      return "ok";
    case ErrorCode::invalid_argument:
      return "invalid argument";
    case ErrorCode::not_found:
      return "not found";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::io:
      return "I/O error";
    case ErrorCode::corrupt:
      return "corrupt file";
    case ErrorCode::disagreement:
      return "ranks disagree";
    case ErrorCode::state:
      return "wrong state";
    case ErrorCode::no_memory:
      return "out of memory";
  }
  return "unknown error";
}

std::string suggest(std::string_view word, const std::vector<std::string>& names) {
  const auto closest = std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return edit_distance(word, a) < edit_distance(word, b);
  });
  if (closest == names.end()) return {};
  if (edit_distance(word, *closest) <= std::max<std::size_t>(1, word.size() / 3)) {
    return fmt::format("; did you mean '{}'?", *closest);
  }
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    list += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return "; it can be " + list;
}

}  // namespace weir
