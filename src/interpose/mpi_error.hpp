// Failures of ours as MPI errors: the class that the MPI library would have given, and our words behind
// MPI_Error_string.
//
// Threads: any. LOCAL.
#pragma once

#include <mpi.h>

#include <string_view>

#include "core/error.hpp"

namespace weir::interpose {

// Causes that have an error class of their own. A failure of another rank comes as words: they tell it apart.
inline constexpr std::string_view wrong_count = "a wrong count", wrong_type = "no data type",
                                  split_before = "a split call of the file has begun and not ended";

int error_class_of(const Failure& failure);

// An error code of that class with the failure's message; where the MPI library cannot carry one, the class
// itself, and rank 0 prints the message. The same message gives the same code.
int error_code_of(const Failure& failure);

// Tells the file's error handler, as MPI does; MPI_FILE_NULL stands for files that are not open. Returns the
// code.
int raise(MPI_File file, int code);

// Whether the program made an error handler of its own for the file.
bool has_own_handler(MPI_File file);
// Whether errors that belong to no file and no other communicator are returned, and not more than that.
bool world_returns_errors();

}  // namespace weir::interpose
