#include "interpose/roles.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "interpose/mpi_error.hpp"
#include "interpose/next.hpp"
#include "interpose/recorder.hpp"
#include "interpose/service.hpp"

namespace weir::interpose {

bool active = false;
Recorder* only_watcher = nullptr;
Recorder* watching = nullptr;
Service* serving = nullptr;
constinit thread_local bool inside = false;

namespace {

struct Roles {
  std::string recording;               // the path of the recording
  std::unique_ptr<Recorder> recorder;  // null: nothing is recorded
  Status so_far;                       // why the recorder watches no longer
  std::unique_ptr<Service> service;    // null: collective calls are the MPI library's
  bool summary = false;                // WEIR_SUMMARY: where the time of collective calls went
  bool threads = false;                // WEIR_NONBLOCKING: MPI is started with MPI_THREAD_MULTIPLE
};

// Never destroyed: a program may call MPI after its destructors have run.
Roles* roles = nullptr;

// Whether the program's MPI library is the one this library was built for: handles of another one mean
// nothing to us, and may be of another size. Both libraries are loaded then, ours behind the program's.
// Nothing of them may be called yet.
bool library_matches() {
  // A function: data of a library may have its place in the program.
  void* const ours = ::dlsym(RTLD_DEFAULT, "ompi_mpi_finalize");
#if defined(OPEN_MPI)
  Dl_info of_ours{}, of_program{};
  void* const init = ::dlsym(RTLD_NEXT, "PMPI_Init");
  return ours != nullptr && init != nullptr && ::dladdr(ours, &of_ours) != 0 &&
         ::dladdr(init, &of_program) != 0 && of_ours.dli_fbase == of_program.dli_fbase;
#else
  return ours == nullptr;
#endif
}

// Whether our calls of MPI-IO go to the MPI library itself. Another tool may come back to us by PMPI_ names.
bool directly_before_library() {
  Dl_info of_library{};
  void* const init = ::dlsym(RTLD_NEXT, "PMPI_Init");
  if (init == nullptr || ::dladdr(init, &of_library) == 0) return false;
  const auto in_library = [&](const char* symbol) {
    Dl_info of_function{};
    void* const function = ::dlsym(RTLD_NEXT, symbol);
    return function != nullptr && ::dladdr(function, &of_function) != 0 &&
           of_function.dli_fbase == of_library.dli_fbase;
  };
  bool all = true;
#define WEIR_CALL(name, form, direction, pointer, reach, phase) all = all && in_library("MPI_File_" #name);
#include "interpose/calls.def"
#undef WEIR_CALL
  return all;
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
  Recorder* const recorder = watching;
  if (recorder == nullptr) return;
  try {
    body(*recorder);
  } catch (const std::exception& error) {
    watching = only_watcher = nullptr;
    roles->so_far = fail(ErrorCode::no_memory, error.what());
  }
}

// The service has no way back when it breaks in the middle of a collective call: other ranks wait for this
// one.
template <class Body>
auto serve(const Body& body) {
  try {
    return body(*roles->service);
  } catch (const std::exception& error) {
    fmt::print(stderr, "libweir-mpiio: collective I/O cannot go on: {}; the job is ended\n", error.what());
    PMPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
  }
}

// No file can be opened by two groups at once: the MPI library has the words for it.
bool is_between_groups(MPI_Comm comm) {
  int between = 0;
  return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &between) == MPI_SUCCESS && between != 0;
}

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

__attribute__((constructor)) void start() {
  const char* const path = std::getenv("WEIR_RECORD");
  const bool records = path != nullptr && *path != '\0';
  const Result<bool> serves = collective_wanted();
  if (!records && serves && !*serves) return;
  if (!library_matches()) {
    constexpr std::string_view message =
        "libweir-mpiio: this program uses another MPI library than Weir was built with; build Weir with that "
        "one\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
    ::_exit(1);
  }
  if (records) start_recording(path);
  if (!serves || *serves) {
    const Result<bool> threads = nonblocking_wanted();
    start_serving(!serves    ? Status(tl::make_unexpected(serves.error()))
                  : !threads ? Status(tl::make_unexpected(threads.error()))
                             : Status());
  }
}

Roles& make_roles() {
  if (roles == nullptr) roles = new Roles;
  return *roles;
}

}  // namespace

void start_recording(const char* path) {
  make_roles().recording = path;
  roles->recorder = std::make_unique<Recorder>();
  watching = roles->recorder.get();
  only_watcher = serving == nullptr && directly_before_library() ? watching : nullptr;
  active = true;
}

void start_serving(const Status& environment) {
  make_roles().service = std::make_unique<Service>(environment);
  serving = roles->service.get();
  only_watcher = nullptr;
  roles->summary = is_set("WEIR_SUMMARY");
  roles->threads = nonblocking_wanted().value_or(false);
  active = true;
}

int transfer(const Call& call, const Next& next) {
  std::optional<int> served;
  int code = MPI_SUCCESS;
  {
    const Inside now;
    MPI_Offset noted = 0;
    observe([&](Recorder& recorder) { noted = recorder.before(call); });
    if (serving != nullptr) served = serve([&](Service& service) { return service.transfer(call); });
    code = served ? *served : serving != nullptr ? serving->pass(call, next) : next();
    observe([&](Recorder& recorder) { recorder.after(call, noted, code == MPI_SUCCESS); });
  }
  // The program's error handler may throw, or make calls of its own: nothing of ours is under way any more.
  return served ? raise(call.file, code) : code;
}

void failed_after_all(MPI_File file) {
  observe([&](Recorder& recorder) { recorder.take_back(file); });
}

int file_open(MPI_Comm comm, const char* name, int& mode, MPI_Info& info, MPI_File* file, const Next& next) {
  const Inside now;
  if (name == nullptr || is_between_groups(comm)) return next();
  std::optional<Service::Opening> opening;
  if (roles->service && comm != MPI_COMM_NULL) {
    auto prepared = serve([&](Service& service) { return service.prepare(comm, info, name, mode); });
    if (!prepared) {
      complain(prepared.error().message());
      return raise(MPI_FILE_NULL, error_code_of(prepared.error()));
    }
    opening = std::move(*prepared);
    if (opening->info != MPI_INFO_NULL) info = opening->info;
    mode = opening->mode;
  }
  MPI_Comm watched = MPI_COMM_NULL;
  observe([&](Recorder& recorder) { watched = recorder.opening(comm); });
  const int code = next();
  if (opening) {
    if (opening->info != MPI_INFO_NULL) PMPI_Info_free(&opening->info);
    serve([&](Service& service) { service.opened(std::move(*opening), *file, name, code == MPI_SUCCESS); });
  }
  observe([&](Recorder& recorder) { recorder.opened(watched, *file, name, mode, code == MPI_SUCCESS); });
  return code;
}

int get_amode(MPI_File file, int* mode, const Next& next) {
  const Inside now;
  const int code = next();
  if (roles->service && code == MPI_SUCCESS)
    serve([&](Service& service) { *mode |= service.further_mode(file); });
  return code;
}

int file_close(MPI_File* file, const Next& next) {
  const Inside now;
  observe([&](Recorder& recorder) { recorder.closing(*file); });
  if (roles->service) serve([&](Service& service) { service.closing(*file); });
  return next();
}

int set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
             const char* representation, MPI_Info info, const Next& next) {
  const Inside now;
  const int code = next();
  if (roles->service) {
    serve([&](Service& service) {
      service.view_set(file, displacement, etype, filetype, representation, code == MPI_SUCCESS);
      if (code == MPI_SUCCESS) service.hints_came(file, info, "MPI_File_set_view");
    });
  }
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

int set_atomicity(MPI_File file, int flag, const Next& next) {
  const Inside now;
  const int code = next();
  if (roles->service && code == MPI_SUCCESS)
    serve([&](Service& service) { service.atomicity_set(file, flag != 0); });
  return code;
}

int set_info(MPI_File file, MPI_Info info, const Next& next) {
  const Inside now;
  const int code = next();
  if (roles->service && code == MPI_SUCCESS)
    serve([&](Service& service) { service.hints_came(file, info, "MPI_File_set_info"); });
  return code;
}

int get_info(MPI_File file, MPI_Info* info, const Next& next) {
  const Inside now;
  const int code = next();
  if (roles->service && code == MPI_SUCCESS) serve([&](Service& service) { service.describe(file, *info); });
  return code;
}

int type_free(const Next& next) {
  const Inside now;
  observe([](Recorder& recorder) { recorder.freeing_type(); });
  return next();
}

// Non-blocking calls need a thread that uses MPI beside the program.
int init(int* argc, char*** argv, const Next& next) {
  if (!roles->threads) return next();
  int provided = MPI_THREAD_SINGLE;
  return find_next_as<decltype(&PMPI_Init_thread)>("MPI_Init_thread")(argc, argv, MPI_THREAD_MULTIPLE,
                                                                      &provided);
}

int init_thread(int& required, const Next& next) {
  if (roles->threads) required = MPI_THREAD_MULTIPLE;
  return next();
}

int finalize(const Next& next) {
  const Inside now;
  if (roles->recorder) {
    const Status saved = guarded([&] { return roles->recorder->save(roles->recording, roles->so_far); });
    if (!saved) complain(saved.error().message());
  }
  if (roles->service && roles->summary) serve([](Service& service) { service.print_summary(); });
  return next();
}

}  // namespace weir::interpose
