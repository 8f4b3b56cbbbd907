// iocomp's interface over Writer: its struct is filled in, nothing is thrown, failures end in the exit
// status.
#include "weir/iocomp.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "iocomp/writer.hpp"

namespace {

using weir::iocomp::Block;
using weir::iocomp::Settings;
using weir::iocomp::Writer;

constexpr const char* default_names[ioLibCount] = {"mpiio.dat", "hdf5.h5", "adios2.h5", "adios2.bp4",
                                                   "adios2.bp5"};

// The struct is the program's, often on its stack and never cleaned up. What it points to lives here, until
// MPI_Finalize.
struct Instance {
  std::unique_ptr<Writer> writer;
  std::size_t local[2] = {0, 0};
  std::size_t start[2] = {0, 0};
  std::size_t global[2] = {0, 0};
  std::vector<int> window_flags;
  std::vector<int> flags;
  std::vector<MPI_Win> windows;
  std::vector<double*> arrays;
  std::vector<char*> file_names;
};

std::vector<std::unique_ptr<Instance>>& instances() {
  static auto* const all = new std::vector<std::unique_ptr<Instance>>();  // outlives the handlers of exit()
  return *all;
}

bool ends_badly = false;

// The instance of a struct; none for a struct that iocompInit has not seen, whatever it contains.
Instance* instance_of(const iocomp_params* params) {
  for (const auto& instance : instances()) {
    if (params != nullptr && params->weir == instance.get()) return instance.get();
  }
  return nullptr;
}

void complain(const std::string& message) {
  ends_badly = true;
  std::fprintf(stderr, "iocomp: %s\n", message.c_str());
}

// Runs the body with the struct's writer; no exception leaves the C interface.
template <class Body>
void with_writer(iocomp_params* params, const char* call, Body&& body) noexcept {
  Instance* instance = instance_of(params);
  if (instance == nullptr)
    return complain(std::string(call) + ": iocompInit was not called with this struct");
  Writer& writer = *instance->writer;
  const int before = writer.failures();
  try {
    body(*instance, writer);
  } catch (const std::bad_alloc&) {
    writer.report(std::string(call) + ": out of memory");
  } catch (const std::exception& error) {
    writer.report(error.what());
  }
  if (writer.failures() > before) ends_badly = true;
}

// A program that knows nothing of failures must not end as if there were none.
void fail_at_exit() {
  if (!ends_badly) return;
  std::fflush(nullptr);
  ::_exit(EXIT_FAILURE);
}

// MPI deletes the attributes of MPI_COMM_SELF first of all in MPI_Finalize: the last moment to write.
int finish(MPI_Comm, int, void*, void*) {
  for (const auto& instance : instances()) {
    Writer& writer = *instance->writer;
    const int before = writer.failures();
    writer.stop();
    if (writer.failures() > before) ends_badly = true;
  }
  instances().clear();
  return MPI_SUCCESS;
}

void prepare_the_end() {
  static bool done = false;
  if (done) return;
  done = true;
  std::atexit(fail_at_exit);
  int key = MPI_KEYVAL_INVALID;
  if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish, &key, nullptr) != MPI_SUCCESS) return;
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  MPI_Comm_free_keyval(&key);
}

void fill_in(iocomp_params* params, Instance& instance, MPI_Comm world, int windows) {
  Writer& writer = *instance.writer;
  const Settings& settings = writer.settings();
  MPI_Comm_rank(writer.comm(), &params->compServerRank);
  MPI_Comm_size(writer.comm(), &params->compServerSize);
  params->globalComm = world;
  params->compServerComm = writer.comm();
  params->ioServerComm = settings.servers ? MPI_COMM_NULL : writer.comm();
  params->ioServerRank = settings.servers ? -1 : params->compServerRank;
  params->ioServerSize = settings.servers ? 0 : params->compServerSize;
  params->colour = compColour;
  params->NDIM = settings.default_name.empty() ? NUM_DIM : 2;
  params->localArray = instance.local;
  params->arrayStart = instance.start;
  params->globalArray = instance.global;
  params->dataType = MPI_DOUBLE;
  static const char* const libraries[ioLibCount] = {"MPI-IO", "HDF5", "ADIOS2 HDF5", "ADIOS2 BP4",
                                                    "ADIOS2 BP5"};
  for (int i = 0; i < ioLibCount; ++i) {
    std::snprintf(params->ioLibs[i], sizeof params->ioLibs[i], "%s", libraries[i]);
    params->FILENAMES[i] = const_cast<char*>(default_names[i]);
  }
  static const char* const engines[3] = {"HDF5", "BP4", "BP5"};
  for (int i = 0; i < 3; ++i) params->ADIOS2_IOENGINES[i] = const_cast<char*>(engines[i]);
  const auto count = static_cast<std::size_t>(std::max(windows, 1));
  instance.window_flags.assign(count, WIN_DEACTIVATE);
  instance.flags.assign(count, -1);
  instance.windows.assign(count, MPI_WIN_NULL);
  instance.arrays.assign(count, nullptr);
  instance.file_names.assign(count, nullptr);
  params->wintestflags = instance.window_flags.data();
  params->flag = instance.flags.data();
  params->winMap = instance.windows.data();
  params->array = instance.arrays.data();
  params->writeFile = instance.file_names.data();
}

MPI_Comm start(iocomp_params* params, MPI_Comm comm, const Settings& settings, bool shared, int windows) {
  if (params == nullptr) {
    complain("iocompInit: the struct is a null pointer");
    return MPI_COMM_NULL;
  }
  *params = iocomp_params();
  params->globalComm = params->ioServerComm = params->compServerComm = params->interComm = MPI_COMM_NULL;
  params->cartcomm = params->newComm = params->ioComm = MPI_COMM_NULL;
  params->group = MPI_GROUP_NULL;
  params->hyperthreadFlag = settings.servers && !shared;
  params->sharedFlag = shared;
  params->ioLibNum = settings.io_library;
  params->NODESIZE = static_cast<int>(settings.node_size);
  params->numWin = windows;
  try {
    auto instance = std::make_unique<Instance>();
    instance->writer = std::make_unique<Writer>(comm, settings);
    prepare_the_end();
    fill_in(params, *instance, comm, windows);
    params->weir = instance.get();
    instances().push_back(std::move(instance));
    return params->compServerComm;
  } catch (const std::exception& error) {
    prepare_the_end();
    complain(error.what());
    return MPI_COMM_NULL;
  }
}

Settings settings_of(bool servers, int io_library, int node_size) {
  Settings settings;
  settings.servers = servers;
  settings.io_library = io_library;
  settings.node_size = node_size > 0 ? static_cast<std::uint32_t>(node_size) : 0;
  return settings;
}

void set_window(iocomp_params* params, const char* call, const double* array, int value) {
  with_writer(params, call, [&](Instance& instance, Writer&) {
    for (std::size_t i = 0; i < instance.arrays.size(); ++i) {
      if (instance.arrays[i] == array) instance.window_flags[i] = value;
    }
  });
}

[[noreturn]] void end_job(const std::string& message, int code) {
  std::fprintf(stderr, "%s\n", message.c_str());
  int running = 0;
  MPI_Initialized(&running);
  if (running != 0) MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

}  // namespace

MPI_Comm iocompInit(iocomp_params* params, MPI_Comm comm, bool flag, int io_library, int node_size,
                    bool shared, int windows) {
  Settings settings = settings_of(flag || shared, io_library, node_size);
  settings.late_names = flag;
  return start(params, comm, settings, shared && !flag, windows);
}

MPI_Comm iocompInit_1_1(iocomp_params* params, MPI_Comm comm, bool flag, int io_library, int node_size) {
  Settings settings = settings_of(flag, io_library, node_size);
  settings.default_name = default_names[std::clamp(io_library, 0, ioLibCount - 1)];
  return start(params, comm, settings, false, 0);
}

void preDataSend(iocomp_params* params, double* array, const char* file) {
  with_writer(params, "preDataSend", [&](Instance&, Writer& writer) {
    if (file == nullptr || *file == '\0')
      throw weir::Error(weir::ErrorCode::invalid_argument, -1, "preDataSend: the name of the file is empty");
    writer.name(array, file);
  });
}

void dataSend(double* data, iocomp_params* params, MPI_Request* request, std::size_t size) {
  if (request != nullptr) *request = MPI_REQUEST_NULL;
  with_writer(params, "dataSend", [&](Instance& instance, Writer& writer) {
    const double begin = MPI_Wtime();
    const Block block = writer.send(data, size, request);
    params->NDIM = static_cast<int>(block.global.size());
    std::copy(block.local.begin(), block.local.end(), instance.local);
    std::copy(block.start.begin(), block.start.end(), instance.start);
    std::copy(block.global.begin(), block.global.end(), instance.global);
    params->localDataSize = size;
    params->globalDataSize = 1;
    for (const std::uint64_t length : block.global) params->globalDataSize *= length;
    if (params->writeCount < 100) {
      params->timerStart[params->writeCount] = begin;
      params->writeTime[params->writeCount] = MPI_Wtime() - begin;
    }
    ++params->writeCount;
  });
}

int dataSendTest(iocomp_params* params, MPI_Request* request, double* array) {
  int answer = -1;
  with_writer(params, "dataSendTest", [&](Instance&, Writer& writer) {
    if (writer.settings().servers) answer = writer.may_change(request, array) ? 1 : 0;
  });
  return answer;
}

int dataSendTest_1_1(iocomp_params* params, MPI_Request* request) {
  return dataSendTest(params, request, nullptr);
}

void dataWait(iocomp_params* params, MPI_Request* request, double* array, const char* file) {
  with_writer(params, "dataWait",
              [&](Instance&, Writer& writer) { writer.wait(request, array, file == nullptr ? "" : file); });
}

void dataWait_1_1(iocomp_params* params, MPI_Request* request) {
  dataWait(params, request, nullptr, nullptr);
}

void stopSend(iocomp_params* params) {
  with_writer(params, "stopSend", [&](Instance&, Writer& writer) { writer.stop(); });
}

void winInits(iocomp_params* params, std::size_t size) {
  with_writer(params, "winInits", [&](Instance& instance, Writer& writer) {
    for (double*& array : instance.arrays) {
      array = writer.settings().servers
                  ? writer.allocate(size)
                  : static_cast<double*>(std::calloc(std::max<std::size_t>(size, 1), sizeof *array));
      if (array == nullptr) throw std::bad_alloc();
    }
  });
}

void winActivateInfo(iocomp_params* params, double* array) {
  set_window(params, "winActivateInfo", array, WIN_ACTIVATE);
}

void winTestInfo(iocomp_params* params, double* array) {
  set_window(params, "winTestInfo", array, WIN_TEST);
}

void winFinalise(iocomp_params* params) {
  with_writer(params, "winFinalise", [&](Instance& instance, Writer& writer) {
    if (!writer.settings().servers) return;
    writer.free_arrays();
    std::fill(instance.arrays.begin(), instance.arrays.end(), nullptr);
  });
}

void error_report_fn(int code, int line, const char* file) {
  if (code != 0)
    end_job("error code " + std::to_string(code) + " at line " + std::to_string(line) + " of " + file, code);
}

void malloc_check(double* test) {
  if (test == nullptr) end_job("malloc_check: an allocation failed", 1);
}

void free_check(double* test) {
  if (test != nullptr) end_job("free_check: an array was not freed", 1);
}

int iocompFailures(iocomp_params* params, const char** message) {
  const Instance* instance = instance_of(params);
  if (message != nullptr) *message = nullptr;
  if (instance == nullptr) return ends_badly ? 1 : 0;
  ends_badly = false;
  if (message != nullptr && instance->writer->failures() > 0)
    *message = instance->writer->first_failure().c_str();
  return instance->writer->failures();
}
