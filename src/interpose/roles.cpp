#include "interpose/roles.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "interpose/next.hpp"
#include "interpose/recorder.hpp"

namespace weir::interpose {

bool active = false;
thread_local bool inside = false;

namespace {

struct Roles {
  std::string recording;               // the path of the recording
  std::unique_ptr<Recorder> recorder;  // null: nothing is recorded
  Status so_far;                       // a recorder that failed watches no longer
};

// Never destroyed: a program may call MPI after its destructors have run.
Roles* roles = nullptr;

// Whether the program's MPI library is the one this library was built for. Handles of another one mean
// nothing to us.
bool library_matches() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  const auto version =
      reinterpret_cast<decltype(&PMPI_Get_library_version)>(::dlsym(RTLD_NEXT, "MPI_Get_library_version"));
  if (version == nullptr) return false;
  version(text, &length);
#if defined(OPEN_MPI)
  return std::strstr(text, "Open MPI") != nullptr;
#else
  return std::strstr(text, "Open MPI") == nullptr;
#endif
}

void complain(const std::string& message) {
  int initialized = 0, rank = 0;
  PMPI_Initialized(&initialized);
  if (initialized != 0) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fmt::print(stderr, "libweir-mpiio: {}\n", message);
}

// What the recorder does must never harm the program: a failure, such as no memory, makes it stop.
template <class Body>
void observe(const Body& body) {
  if (!roles->recorder || !roles->so_far) return;
  try {
    body(*roles->recorder);
  } catch (const std::exception& error) {
    roles->so_far = fail(ErrorCode::no_memory, error.what());
  }
}

__attribute__((constructor)) void start() {
  const char* const path = std::getenv("WEIR_RECORD");
  if (path == nullptr || *path == '\0') return;
  if (!library_matches()) {
    // Once per job is enough, and ranks are not known yet: Open MPI and Hydra both number their processes.
    const char* number = std::getenv("PMI_RANK");
    if (number == nullptr) number = std::getenv("OMPI_COMM_WORLD_RANK");
    if (number != nullptr && std::strcmp(number, "0") == 0)
      fmt::print(stderr,
                 "libweir-mpiio: the program uses another MPI library than Weir was built with: nothing is "
                 "recorded\n");
    return;
  }
  start_recording(path);
}

}  // namespace

void start_recording(const char* path) {
  roles = new Roles{.recording = path, .recorder = std::make_unique<Recorder>()};
  active = true;
}

int transfer(const Call& call, const Next& next) {
  const Inside now;
  MPI_Offset noted = 0;
  observe([&](Recorder& recorder) { noted = recorder.before(call); });
  const int code = next();
  observe([&](Recorder& recorder) { recorder.after(call, noted, code == MPI_SUCCESS); });
  return code;
}

int file_open(MPI_Comm, const char* name, int mode, MPI_Info, MPI_File* file, const Next& next) {
  const Inside now;
  const int code = next();
  if (code == MPI_SUCCESS) observe([&](Recorder& recorder) { recorder.opened(*file, name, mode); });
  return code;
}

int file_close(MPI_File* file, const Next& next) {
  const Inside now;
  observe([&](Recorder& recorder) { recorder.closing(*file); });
  return next();
}

int set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype, const char*,
             MPI_Info, const Next& next) {
  const Inside now;
  const int code = next();
  if (code == MPI_SUCCESS)
    observe([&](Recorder& recorder) { recorder.view_set(file, displacement, etype, filetype); });
  return code;
}

int seek(MPI_File file, MPI_Offset, int, const Next& next) {
  const Inside now;
  const int code = next();
  if (code == MPI_SUCCESS) observe([&](Recorder& recorder) { recorder.pointer_moved(file); });
  return code;
}

int finalize(const Next& next) {
  const Inside now;
  if (roles->recorder) {
    const Status saved = guarded([&] { return roles->recorder->save(roles->recording, roles->so_far); });
    if (!saved) complain(saved.error().message());
  }
  return next();
}

}  // namespace weir::interpose
