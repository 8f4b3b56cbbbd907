// One call of MPI-IO as a value: what the program asked for, whichever of the sixty functions it used.
//
// A Call borrows the program's arguments and lives as long as the call does. LOCAL.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace weir::interpose {

enum class Direction : std::uint8_t { read, write };
enum class Pointer : std::uint8_t { given, individual, shared, ordered };
enum class Reach : std::uint8_t { alone, together };
enum class Phase : std::uint8_t { blocking, started, begun, ended };

// Which function a call is of, as one number to compare. Calls that differ by their phase only are alike.
using Form = std::uint32_t;
constexpr Form form_of(Direction direction, Pointer pointer, Reach reach) {
  return static_cast<Form>(direction) | static_cast<Form>(pointer) << 8U | static_cast<Form>(reach) << 16U;
}
constexpr Pointer pointer_of(Form form) {
  return static_cast<Pointer>(form >> 8U & 0xffU);
}

struct Call {
  const char* name;  // "write_at_all"
  Direction direction;
  Pointer pointer;
  Reach reach;
  Phase phase;
  MPI_File file = MPI_FILE_NULL;
  MPI_Offset offset = 0;  // where pointer is given
  void* buffer = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Status* status = nullptr;    // where phase is blocking or ended
  MPI_Request* request = nullptr;  // where phase is started
};

// The call as the next library in line carries it out: the MPI library, or another tool before it.
class Next {
 public:
  template <class Function>
  explicit Next(const Function& function)
      : object_(&function),
        invoke_([](const void* object) { return (*static_cast<const Function*>(object))(); }) {}
  int operator()() const { return invoke_(object_); }

 private:
  const void* object_;
  int (*invoke_)(const void*);
};

}  // namespace weir::interpose
