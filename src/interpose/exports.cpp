// The functions that libweir-mpiio.so puts in front of the MPI library: each makes a value of its arguments,
// and hands it on.
//
// Every function is here under its MPI_ and its PMPI_ name. Programs call the first; Open MPI's Fortran
// bindings and other tools call the second.
#include <atomic>

#include "interpose/next.hpp"
#include "interpose/roles.hpp"

using namespace weir::interpose;

#define WEIR_EXPORT extern "C" __attribute__((visibility("default")))

#define WEIR_BUFFER_read void*
#define WEIR_BUFFER_write const void*

#define WEIR_TAKES_at_status(Buffer, Count) \
  MPI_File file, MPI_Offset offset, Buffer buffer, Count count, MPI_Datatype type, MPI_Status *status
#define WEIR_PASSES_at_status file, offset, buffer, count, type, status
#define WEIR_NOTES_at_status offset, count, type
#define WEIR_FILLS_at_status \
  .offset = offset, .buffer = memory, .count = count, .type = type, .status = status

#define WEIR_TAKES_at_request(Buffer, Count) \
  MPI_File file, MPI_Offset offset, Buffer buffer, Count count, MPI_Datatype type, MPI_Request *request
#define WEIR_PASSES_at_request file, offset, buffer, count, type, request
#define WEIR_NOTES_at_request offset, count, type
#define WEIR_FILLS_at_request \
  .offset = offset, .buffer = memory, .count = count, .type = type, .request = request

#define WEIR_TAKES_at(Buffer, Count) \
  MPI_File file, MPI_Offset offset, Buffer buffer, Count count, MPI_Datatype type
#define WEIR_PASSES_at file, offset, buffer, count, type
#define WEIR_NOTES_at offset, count, type
#define WEIR_FILLS_at .offset = offset, .buffer = memory, .count = count, .type = type

#define WEIR_TAKES_status(Buffer, Count) \
  MPI_File file, Buffer buffer, Count count, MPI_Datatype type, MPI_Status *status
#define WEIR_PASSES_status file, buffer, count, type, status
#define WEIR_NOTES_status MPI_Offset{0}, count, type
#define WEIR_FILLS_status .buffer = memory, .count = count, .type = type, .status = status

#define WEIR_TAKES_request(Buffer, Count) \
  MPI_File file, Buffer buffer, Count count, MPI_Datatype type, MPI_Request *request
#define WEIR_PASSES_request file, buffer, count, type, request
#define WEIR_NOTES_request MPI_Offset{0}, count, type
#define WEIR_FILLS_request .buffer = memory, .count = count, .type = type, .request = request

#define WEIR_TAKES_plain(Buffer, Count) MPI_File file, Buffer buffer, Count count, MPI_Datatype type
#define WEIR_PASSES_plain file, buffer, count, type
#define WEIR_NOTES_plain MPI_Offset{0}, count, type
#define WEIR_FILLS_plain .buffer = memory, .count = count, .type = type

#define WEIR_TAKES_end(Buffer, Count) MPI_File file, Buffer buffer, MPI_Status *status
#define WEIR_PASSES_end file, buffer, status
#define WEIR_NOTES_end MPI_Offset{0}, MPI_Count{0}, MPI_DATATYPE_NULL
#define WEIR_FILLS_end .buffer = memory, .status = status

namespace {

// Whether the call is noted: it is like the one before it, and nobody but the recorder listens.
template <Direction direction, Pointer pointer, Reach reach, Phase phase>
inline bool noted(MPI_File file, MPI_Offset offset, MPI_Count count, MPI_Datatype type) {
  Recorder* const recorder = only_watcher;
  if (pointer == Pointer::ordered || recorder == nullptr || inside) [[unlikely]]
    return false;
  if (phase == Phase::ended) return true;  // all was said when it began
  return recorder->goes_on({file, type, count, form_of(direction, pointer, reach)}, offset);
}

// Carries out a call that was noted. The individual pointer must be asked for again if the call fails, also
// by an exception of the program's error handler; all else goes on by one jump.
template <Pointer pointer, Phase phase, class Function, class... Arguments>
inline int carry_on(Function* function, MPI_File file, Arguments... arguments) {
  if (pointer == Pointer::given || phase == Phase::ended) return function(file, arguments...);
  const Inside now;
  try {
    const int code = function(file, arguments...);
    if (code != MPI_SUCCESS) [[unlikely]]
      failed_after_all(file);
    return code;
  } catch (...) {
    failed_after_all(file);
    throw;
  }
}

}  // namespace

// A call like the one before it is noted, and goes on from here by one jump to the MPI library itself: after
// a system call every indirect jump and every return is a surprise to the processor, and costs more than all
// that the recorder does. Each line of memory counts too, of code, of data and of the stack: what happens
// seldom is in functions of its own, and the next function is found by one load, without a guard beside it.
#define WEIR_DEFINE(symbol, Count, name_, form, direction_, pointer_, reach_, phase_)                       \
  using symbol##_type = int (*)(WEIR_TAKES_##form(WEIR_BUFFER_##direction_, Count));                        \
  static int symbol##_first(WEIR_TAKES_##form(WEIR_BUFFER_##direction_, Count));                            \
  static constinit std::atomic<symbol##_type> symbol##_next = symbol##_first;                               \
  static int symbol##_first(WEIR_TAKES_##form(WEIR_BUFFER_##direction_, Count)) {                           \
    const auto function = find_next_as<symbol##_type>(#symbol);                                             \
    symbol##_next.store(function, std::memory_order_relaxed);                                               \
    return function(WEIR_PASSES_##form);                                                                    \
  }                                                                                                         \
  [[gnu::noinline]] static int symbol##_otherwise(WEIR_TAKES_##form(WEIR_BUFFER_##direction_, Count)) {     \
    const symbol##_type function = symbol##_next.load(std::memory_order_relaxed);                           \
    if (inside || !active) return function(WEIR_PASSES_##form);                                             \
    void* const memory = const_cast<void*>(static_cast<const void*>(buffer));                               \
    const auto carry_out = [&] { return function(WEIR_PASSES_##form); };                                    \
    return transfer({.name = #name_,                                                                        \
                     .direction = Direction::direction_,                                                    \
                     .pointer = Pointer::pointer_,                                                          \
                     .reach = Reach::reach_,                                                                \
                     .phase = Phase::phase_,                                                                \
                     .file = file,                                                                          \
                     WEIR_FILLS_##form},                                                                    \
                    Next(carry_out));                                                                       \
  }                                                                                                         \
  WEIR_EXPORT __attribute__((aligned(64))) int symbol(WEIR_TAKES_##form(WEIR_BUFFER_##direction_, Count)) { \
    if (!noted<Direction::direction_, Pointer::pointer_, Reach::reach_, Phase::phase_>(                     \
            file, WEIR_NOTES_##form)) [[unlikely]]                                                          \
      return symbol##_otherwise(WEIR_PASSES_##form);                                                        \
    return carry_on<Pointer::pointer_, Phase::phase_>(symbol##_next.load(std::memory_order_relaxed),        \
                                                      WEIR_PASSES_##form);                                  \
  }

#define WEIR_CALL(name, form, direction, pointer, reach, phase)                   \
  WEIR_DEFINE(MPI_File_##name, int, name, form, direction, pointer, reach, phase) \
  WEIR_DEFINE(PMPI_File_##name, int, name, form, direction, pointer, reach, phase)
#include "interpose/calls.def"
#undef WEIR_CALL

#if MPI_VERSION >= 4
// The same with counts of 64 bits; the second half of a split call has none.
#define WEIR_LARGE_end(...)
#define WEIR_LARGE_at_status WEIR_DEFINE
#define WEIR_LARGE_at_request WEIR_DEFINE
#define WEIR_LARGE_at WEIR_DEFINE
#define WEIR_LARGE_status WEIR_DEFINE
#define WEIR_LARGE_request WEIR_DEFINE
#define WEIR_LARGE_plain WEIR_DEFINE
#define WEIR_CALL(name, form, direction, pointer, reach, phase)                                   \
  WEIR_LARGE_##form(MPI_File_##name##_c, MPI_Count, name, form, direction, pointer, reach, phase) \
      WEIR_LARGE_##form(PMPI_File_##name##_c, MPI_Count, name, form, direction, pointer, reach, phase)
#include "interpose/calls.def"
#undef WEIR_CALL
#endif

// WEIR_CONTROL(name, parameters, arguments, role): the calls that move no data.
#define WEIR_CONTROL_AS(symbol, parameters, arguments, role)          \
  WEIR_EXPORT int symbol parameters {                                 \
    using Function = decltype(&symbol);                               \
    static const Function function = find_next_as<Function>(#symbol); \
    if (!active || inside) return function arguments;                 \
    const auto carry_out = [&] { return function arguments; };        \
    const Next next(carry_out);                                       \
    return role;                                                      \
  }
#define WEIR_CONTROL(name, parameters, arguments, role)    \
  WEIR_CONTROL_AS(MPI_##name, parameters, arguments, role) \
  WEIR_CONTROL_AS(PMPI_##name, parameters, arguments, role)

WEIR_CONTROL(File_open, (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file),
             (comm, name, mode, info, file), file_open(comm, name, mode, info, file, next))
WEIR_CONTROL(File_get_amode, (MPI_File file, int* mode), (file, mode), get_amode(file, mode, next))
WEIR_CONTROL(File_close, (MPI_File * file), (file), file_close(file, next))
WEIR_CONTROL(File_set_view,
             (MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
              const char* representation, MPI_Info info),
             (file, displacement, etype, filetype, representation, info),
             set_view(file, displacement, etype, filetype, representation, info, next))
WEIR_CONTROL(File_seek, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence),
             seek(file, offset, whence, next))
WEIR_CONTROL(File_set_atomicity, (MPI_File file, int flag), (file, flag), set_atomicity(file, flag, next))
WEIR_CONTROL(File_set_info, (MPI_File file, MPI_Info info), (file, info), set_info(file, info, next))
WEIR_CONTROL(File_get_info, (MPI_File file, MPI_Info* info), (file, info), get_info(file, info, next))
WEIR_CONTROL(Type_free, (MPI_Datatype * type), (type), type_free(next))
WEIR_CONTROL(Init, (int* argc, char*** argv), (argc, argv), init(argc, argv, next))
WEIR_CONTROL(Init_thread, (int* argc, char*** argv, int required, int* provided),
             (argc, argv, required, provided), init_thread(required, next))
WEIR_CONTROL(Finalize, (), (), finalize(next))
