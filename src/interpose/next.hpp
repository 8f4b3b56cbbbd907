// The functions behind ours: those of the MPI library, or of another tool that stands before it.
//
// The library exports MPI_File_x and PMPI_File_x alike, since Open MPI's Fortran bindings call the PMPI_
// names. So inside this module neither name may be called: it would come back here. next::x is what the
// program would have reached without us. Threads: reentrant. LOCAL.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

namespace weir::interpose {

// The address of a symbol in the libraries loaded after this one. Ends the program, with a message, where
// there is none: it could not run without it either.
void* find_next(const char* symbol);

template <class Function>
Function find_next_as(const char* symbol) {
  return reinterpret_cast<Function>(find_next(symbol));
}

// The MPI library's own functions, for what the roles ask it themselves.
namespace next {

#define WEIR_NEXT(name)                                                                         \
  template <class... Arguments>                                                                 \
  int name(Arguments... arguments) {                                                            \
    static const auto function = find_next_as<decltype(&PMPI_File_##name)>("PMPI_File_" #name); \
    return function(arguments...);                                                              \
  }
WEIR_NEXT(open)
WEIR_NEXT(close)
WEIR_NEXT(set_view)
WEIR_NEXT(get_view)
WEIR_NEXT(seek)
WEIR_NEXT(get_position)
WEIR_NEXT(get_position_shared)
WEIR_NEXT(get_byte_offset)
WEIR_NEXT(get_group)
WEIR_NEXT(get_amode)
WEIR_NEXT(get_info)
WEIR_NEXT(set_info)
WEIR_NEXT(get_size)
WEIR_NEXT(set_size)
WEIR_NEXT(get_atomicity)
WEIR_NEXT(sync)
WEIR_NEXT(get_errhandler)
WEIR_NEXT(call_errhandler)
#undef WEIR_NEXT

}  // namespace next
}  // namespace weir::interpose
