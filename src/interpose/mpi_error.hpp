// Failures of ours as MPI errors: the class that the MPI library would have given, and our words behind
// MPI_Error_string.
//
// Threads: any. LOCAL.
#pragma once

#include <mpi.h>

#include "core/error.hpp"

namespace weir::interpose {

int error_class_of(const Failure& failure);

// An error code of that class with the failure's message; where the MPI library cannot carry one, the class
// itself, and rank 0 prints the message. The same message gives the same code.
int error_code_of(const Failure& failure);

// Tells the file's error handler, as MPI does; MPI_FILE_NULL stands for files that are not open. Returns the
// code.
int raise(MPI_File file, int code);

}  // namespace weir::interpose
