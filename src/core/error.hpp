// Expected failures as values. Misuse inside Weir itself throws std::logic_error; everything a user or a disk
// can cause is returned as Result<T> and turned into weir::Error or a code at the programming interface.
#pragma once

#include <cerrno>
#include <concepts>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "weir/types.hpp"

namespace weir {

// One failure, in parts, so that every layer can add what it knows.
struct Failure {
  ErrorCode code = ErrorCode::io;
  std::string cause;      // "No space left on device"
  std::string operation;  // "write variable 'T', step 3"
  std::string object;     // "run.h5"
  std::string advice;     // "free some space or write elsewhere"
  int rank = -1;          // where it happened; -1: not tied to a rank

  // "run.h5: write variable 'T', step 3 (rank 2): No space left on device; free some space or write
  // elsewhere"
  std::string message() const;
  Error to_exception() const { return Error(code, rank, message()); }
};

template <class T>
using Result = tl::expected<T, Failure>;
using Status = Result<void>;

inline tl::unexpected<Failure> fail(ErrorCode code, std::string cause, std::string advice = {}) {
  return tl::make_unexpected(Failure{.code = code, .cause = std::move(cause), .advice = std::move(advice)});
}

// A failed system call: its cause in words and, where there is any, advice.
tl::unexpected<Failure> fail_errno(int error, std::string operation, std::string object);

// What a caller knows of a failure: the operation it was part of, and the object where none was named closer
// to the cause.
void add_context(Failure& failure, std::string_view operation, std::string_view object);

template <class T>
Result<T> in(Result<T> result, std::string_view operation, std::string_view object = {}) {
  if (!result) add_context(result.error(), operation, object);
  return result;
}

// The same where putting the operation into words would cost too much when all goes well.
template <class T, std::invocable Describe>
Result<T> in(Result<T> result, const Describe& operation, std::string_view object = {}) {
  if (!result) add_context(result.error(), operation(), object);
  return result;
}

// Runs a body that may throw, such as a call of a storage library, and makes a failure of what it throws.
template <class Body>
auto guarded(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::no_memory, "out of memory", "use smaller blocks or more nodes");
  } catch (const std::exception& error) {
    return fail(ErrorCode::io, error.what());
  }
}

std::string_view to_string(ErrorCode code);

// "; did you mean 'deflate'?" when one of the names is close to the word, else "; it can be a, b or c".
std::string suggest(std::string_view word, const std::vector<std::string>& names);

}  // namespace weir

// Evaluates a Result; on failure returns it from the enclosing function.
#define WEIR_TRY(expression)                                      \
  do {                                                            \
    if (auto weir_result = (expression); !weir_result)            \
      return tl::make_unexpected(std::move(weir_result).error()); \
  } while (false)

#define WEIR_CONCAT_(a, b) a##b
#define WEIR_CONCAT(a, b) WEIR_CONCAT_(a, b)
// WEIR_ASSIGN(auto x, f()): x becomes the value of f(), or the failure is returned.
#define WEIR_ASSIGN(target, expression) WEIR_ASSIGN_(WEIR_CONCAT(weir_result_, __LINE__), target, expression)
#define WEIR_ASSIGN_(name, target, expression)                    \
  auto name = (expression);                                       \
  if (!name) return tl::make_unexpected(std::move(name).error()); \
  target = std::move(name).value()
