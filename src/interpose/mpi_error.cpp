#include "interpose/mpi_error.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "interpose/next.hpp"

namespace weir::interpose {

int error_class_of(const Failure& failure) {
  // Failures of system calls carry their cause in the words of the C library.
  static const std::array<std::pair<int, int>, 8> causes = {{{ENOSPC, MPI_ERR_NO_SPACE},
                                                             {EFBIG, MPI_ERR_NO_SPACE},
                                                             {EDQUOT, MPI_ERR_QUOTA},
                                                             {EROFS, MPI_ERR_READ_ONLY},
                                                             {EACCES, MPI_ERR_ACCESS},
                                                             {EPERM, MPI_ERR_ACCESS},
                                                             {EBADF, MPI_ERR_ACCESS},
                                                             {ENOENT, MPI_ERR_NO_SUCH_FILE}}};
  for (const auto& [number, error_class] : causes)
    if (failure.cause.find(std::strerror(number)) != std::string::npos) return error_class;
  switch (failure.code) {
    case ErrorCode::invalid_argument:
      if (failure.cause.find(wrong_count) != std::string::npos) return MPI_ERR_COUNT;
      if (failure.cause.find(wrong_type) != std::string::npos) return MPI_ERR_TYPE;
      if (failure.cause.find(split_before) != std::string::npos) return MPI_ERR_REQUEST;
      return MPI_ERR_ARG;
    case ErrorCode::no_memory:
      return MPI_ERR_NO_MEM;
    case ErrorCode::unsupported:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    case ErrorCode::disagreement:
      return MPI_ERR_NOT_SAME;
    default:
      return MPI_ERR_IO;
  }
}

int error_code_of(const Failure& failure) {
  // MPI has no way to take a code back: a program that goes on after thousands of errors must not use up all
  // of them.
  constexpr std::size_t most_codes = 64;
  static std::mutex mutex;
  static std::map<std::string, int> known;
  const int error_class = error_class_of(failure);
  std::string message = "weir: " + failure.message();
  if (message.size() >= MPI_MAX_ERROR_STRING) message.resize(MPI_MAX_ERROR_STRING - 1);
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(message); found != known.end()) return found->second;
  int code = error_class;
  if (known.size() >= most_codes) return code;
#if defined(OPEN_MPI)
  int added = MPI_SUCCESS;
  if (PMPI_Add_error_code(error_class, &added) == MPI_SUCCESS &&
      PMPI_Add_error_string(added, message.c_str()) == MPI_SUCCESS)
    code = added;
#else
  // MPICH 4.0 has no words for codes that are added to its own classes: they are printed instead.
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::fprintf(stderr, "%s\n", message.c_str());
#endif
  known.emplace(std::move(message), code);
  return code;
}

namespace {

enum class Handler : std::uint8_t { returns, ends, own };

// Gives the handle back.
Handler kind_of(MPI_Errhandler handler) {
  Handler kind = Handler::own;
  if (handler == MPI_ERRORS_RETURN) kind = Handler::returns;
  if (handler == MPI_ERRORS_ARE_FATAL) kind = Handler::ends;
#if MPI_VERSION >= 4
  if (handler == MPI_ERRORS_ABORT) kind = Handler::ends;
#endif
  PMPI_Errhandler_free(&handler);
  return kind;
}

Handler handler_of(MPI_File file) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  return next::get_errhandler(file, &handler) == MPI_SUCCESS ? kind_of(handler) : Handler::ends;
}

}  // namespace

int raise(MPI_File file, int code) {
  if (code == MPI_SUCCESS) return code;
  // MPI_File_call_errhandler would do, were it not that Open MPI 4 takes MPI_FILE_NULL for a mistake there.
  if (handler_of(file) != Handler::returns) next::call_errhandler(file, code);
  return code;
}

bool has_own_handler(MPI_File file) {
  return handler_of(file) == Handler::own;
}

bool world_returns_errors() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  return PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler) == MPI_SUCCESS &&
         kind_of(handler) == Handler::returns;
}

}  // namespace weir::interpose
