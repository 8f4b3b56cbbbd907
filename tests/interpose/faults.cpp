// What goes wrong under the service, and what a program must see of it: faults CASE FOLDER. Every rank must
// get the same error class, by its code and by its error handler, with words that name the cause; and the
// file can be closed. Prints "as expected" on rank 0.
#include <fcntl.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "collective/write_lock.hpp"
#include "core/file.hpp"
#include "faults_support.hpp"

namespace {

int handled = 0;

void count_errors(MPI_File*, int*, ...) {
  ++handled;
}

constexpr int block = 1 << 16;

int write_blocks(MPI_File file) {
  const std::vector<char> data(block, static_cast<char>('a' + rank));
  return MPI_File_write_at_all(file, static_cast<MPI_Offset>(rank) * block, data.data(), block, MPI_BYTE,
                               MPI_STATUS_IGNORE);
}

void limit_file_size(rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

void full(const std::string& path) {
  MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(count_errors, &handler);
  MPI_File_set_errhandler(file, handler);
  limit_file_size(1000);
  expect(write_blocks(file), {MPI_ERR_NO_SPACE, MPI_ERR_IO, MPI_ERR_FILE}, path);
  if (handled != 1) give_up("the error handler was called " + std::to_string(handled) + " times");
  // Nobody knows what has reached the file; the pointer is where the MPI library would have it.
  MPI_Status status;
  const std::vector<char> data(block, 'x');
  if (MPI_File_write_all(file, data.data(), block, MPI_BYTE, &status) == MPI_SUCCESS) give_up("it went well");
  int count = -1;
  MPI_Offset position = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  MPI_File_get_position(file, &position);
  if (count != 0) give_up("a failed call counts " + std::to_string(count) + " bytes");
  if (position != block) give_up("after a failed call the pointer is at " + std::to_string(position));
  limit_file_size(RLIM_INFINITY);
  // It was no lasting failure.
  if (const int code = write_blocks(file); code != MPI_SUCCESS)
    give_up("once there is room: " + words_of(code));
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
  MPI_File_close(&file);
}

// A file has one split call at a time.
void begun_twice(const std::string& path) {
  MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  const char data[] = "abcdefg", other[] = "nothing";
  MPI_Status status;
  for (int i = 0; i < 2; ++i) {
    if (MPI_File_write_at_all_begin(file, 8 * rank, data, 8, MPI_CHAR) != MPI_SUCCESS) give_up("not begun");
    expect(MPI_File_write_at_all_begin(file, 8 * rank, other, 8, MPI_CHAR), {MPI_ERR_REQUEST},
           "write_at_all_begin");
    expect(MPI_File_write_ordered_begin(file, other, 8, MPI_CHAR), {MPI_ERR_REQUEST}, path);
    int count = 0;
    if (MPI_File_write_at_all_end(file, data, &status) != MPI_SUCCESS) give_up("not ended");
    MPI_Get_count(&status, MPI_CHAR, &count);
    if (count != 8) give_up("wrote " + std::to_string(count) + " bytes");
  }
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto written = weir::read_text(path);
  for (int i = 0; i < 8 * ranks; ++i)
    if (!written || written->size() != 8 * static_cast<std::size_t>(ranks) ||
        (*written)[static_cast<std::size_t>(i)] != data[i % 8])
      give_up("something else was written");
}

void throw_it(MPI_File*, int* code, ...) {
  throw std::runtime_error(words_of(*code));
}

// An error handler may throw: the program goes on.
void throws(const std::string& path) {
  MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(throw_it, &handler);
  MPI_File_set_errhandler(file, handler);
  limit_file_size(1000);
  std::string caught;
  try {
    write_blocks(file);
  } catch (const std::exception& error) {
    caught = error.what();
  }
  if (caught.empty()) give_up("nothing was thrown");
  limit_file_size(RLIM_INFINITY);
  if (const int code = write_blocks(file); code != MPI_SUCCESS)
    give_up("once there is room: " + words_of(code));
  MPI_Errhandler_free(&handler);
  MPI_File_close(&file);
}

// Calls that return at once, by a thread of Weir's. Cases that begin with this word have MPI_THREAD_MULTIPLE.
constexpr const char* threads = "threads_";

int start_blocks(MPI_File file, const std::vector<char>& data, int count, MPI_Request* request) {
  return MPI_File_iwrite_at_all(file, static_cast<MPI_Offset>(rank) * block, data.data(), count, MPI_BYTE,
                                request);
}

// A program hears of it by the file's error handler, which does not end the job, or by MPI_Wait where it
// wants to.
void threads_full(const std::string& path) {
  MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(count_errors, &handler);
  MPI_File_set_errhandler(file, handler);
  const std::vector<char> data(block, 'x');
  if (const int code = write_blocks(file); code != MPI_SUCCESS) give_up(words_of(code));
  limit_file_size(1000);
  for (const bool returns : {false, true}) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, returns ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    handled = 0;
    if (start_blocks(file, data, block, &request) != MPI_SUCCESS) give_up("it failed at once");
    const int code = MPI_Wait(&request, &status);
    if (handled != 1) give_up("the error handler was called " + std::to_string(handled) + " times");
    if (returns) expect(code, {MPI_ERR_NO_SPACE, MPI_ERR_IO, MPI_ERR_FILE}, path);
  }
  limit_file_size(RLIM_INFINITY);
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
  MPI_File_close(&file);
}

// Told by the call itself; other ranks, which passed nothing wrong, hear of it when they wait.
void threads_wrong_argument(const std::string& path) {
  MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  const std::vector<char> data(block, 'x');
  MPI_Request request = MPI_REQUEST_NULL;
  expect(start_blocks(file, data, -1, &request), {MPI_ERR_COUNT}, "-1");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int code = start_blocks(file, data, rank == ranks - 1 ? -1 : block, &request);
  if ((code == MPI_SUCCESS) != (rank != ranks - 1)) give_up(words_of(code));
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(code, {MPI_ERR_COUNT}, "-1");
  code = start_blocks(file, data, block, &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) give_up("after all was right: " + words_of(code));
  MPI_File_close(&file);
}

// A type that is nested too deep to be described, on one rank: its bytes get where they belong, and only
// they.
void threads_deep_type(const std::string& path) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_INT, &type);
  for (int i = 0; rank == 0 && i < 140; ++i) {
    MPI_Datatype deeper = MPI_DATATYPE_NULL;
    MPI_Type_dup(type, &deeper);
    MPI_Type_free(&type);
    type = deeper;
  }
  MPI_Type_commit(&type);
  MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int sent[5] = {rank + 1, -1, rank + 2, -1, rank + 3};
  int got[5] = {-2, -2, -2, -2, -2}, whole[3] = {};
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_File_iwrite_at_all(file, 12 * rank, sent, 1, type, &request) != MPI_SUCCESS) give_up("write");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (MPI_File_iread_at_all(file, 12 * rank, got, 1, type, &request) != MPI_SUCCESS) give_up("read");
  MPI_Type_free(&type);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(file, 12 * rank, whole, 3, MPI_INT, MPI_STATUS_IGNORE);
  for (int i = 0; i < 5; ++i)
    if (got[i] != (i % 2 == 0 ? sent[i] : -2) || (i % 2 == 0 && whole[i / 2] != sent[i]))
      give_up("read something else");
  MPI_File_close(&file);
}

void read_only(const std::string& path) {
  MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (const int code = write_blocks(file); code != MPI_SUCCESS) give_up(words_of(code));
  MPI_File_close(&file);
  file = open_shared(path, MPI_MODE_RDONLY);
  expect(write_blocks(file), {MPI_ERR_READ_ONLY, MPI_ERR_ACCESS}, "");
  MPI_File_close(&file);
}

void wrong_hint(const std::string& path) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "weir_req", "several");
  MPI_File file = MPI_FILE_NULL;
  expect(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file),
         {MPI_ERR_ARG, MPI_ERR_INFO_VALUE}, "weir_req");
  if (::access(path.c_str(), F_OK) == 0) give_up("the file was made");
  MPI_Info_delete(info, "weir_req");
  MPI_Info_set(info, "cb_nodes", "1");
  file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR, info);
  if (reported(file, "cb_nodes") != "1") give_up("cb_nodes is not reported");
  if (!is_served(file)) give_up("weir_collective is not reported");
  MPI_Info_free(&info);
  MPI_File_close(&file);
}

// Hints of the standard are advice: what MPI libraries go on with is no failure.
void useless_hint(const std::string& path) {
  constexpr const char* hints[][2] = {{"cb_nodes", "-1"},         {"cb_nodes", "several"},
                                      {"striping_factor", "-1"},  {"striping_factor", "0"},
                                      {"cb_buffer_size", "1024"}, {"striping_unit", "-65536"},
                                      {"cb_nodes", "-1"}};
  for (const auto& [key, value] : hints) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR, info);
    if (!is_served(file)) give_up(std::string(key) + ": not served");
    if (const int code = write_blocks(file); code != MPI_SUCCESS) give_up(words_of(code));
    MPI_File_close(&file);
    MPI_Info_free(&info);
  }
}

void wrong_environment(const std::string& path) {
  MPI_File file = MPI_FILE_NULL;
  expect(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
         {MPI_ERR_ARG, MPI_ERR_INFO_VALUE}, "WEIR_REQ");
}

// One rank passes nonsense: without the service the others would wait for ever.
void wrong_argument(const std::string& path) {
  MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  const bool wrong = rank == ranks - 1;
  char data[16] = "";
  const auto write = [&](MPI_Offset offset, int count, MPI_Datatype type) {
    return MPI_File_write_at_all(file, offset, data, count, type, MPI_STATUS_IGNORE);
  };
  expect(write(16 * rank, wrong ? -1 : 10, MPI_BYTE), {MPI_ERR_COUNT}, "-1");
  expect(write(16 * rank, 10, wrong ? MPI_DATATYPE_NULL : MPI_BYTE), {MPI_ERR_TYPE}, "write_at_all");
  expect(write(wrong ? -5 : 16 * rank, 10, MPI_BYTE), {MPI_ERR_ARG}, "-5");
  MPI_File_close(&file);
}

// Behind the end of the file there is nothing to read; the status says how much there was.
void short_read(const std::string& path) {
  MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (const int code = write_blocks(file); code != MPI_SUCCESS) give_up(words_of(code));
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  const MPI_Offset end = static_cast<MPI_Offset>(ranks) * block;
  std::vector<char> data(1000, '-');
  MPI_Status status;
  if (const int code =
          MPI_File_read_at_all(file, end - 10 * (rank + 1), data.data(), 1000, MPI_BYTE, &status);
      code != MPI_SUCCESS)
    give_up(words_of(code));
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (count != 10 * (rank + 1)) give_up("read " + std::to_string(count) + " bytes");
  if (data[static_cast<std::size_t>(count) - 1] != static_cast<char>('a' + ranks - 1) ||
      data[static_cast<std::size_t>(count)] != '-')
    give_up("read something else");
  MPI_File_close(&file);
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

// What a file costs in descriptors does not depend on how many ranks a node has.
void many_files(const std::string& path) {
  constexpr std::size_t count = 20, most_each = 4;
  std::vector<MPI_File> files;
  const std::size_t before = open_descriptors();
  for (std::size_t i = 0; i < count; ++i) {
    files.push_back(open_shared(path + std::to_string(i), MPI_MODE_CREATE | MPI_MODE_RDWR));
    if (!is_served(files.back())) give_up("not served");
    // Small pieces, so that memory is shared.
    char data[8] = "";
    const int code = MPI_File_write_at_all(files.back(), 8 * rank, data, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) give_up(words_of(code));
  }
  const std::size_t after = open_descriptors();
  if (after > before + count * most_each)
    give_up(std::to_string(after - before) + " descriptors for " + std::to_string(count) + " files");
  for (MPI_File& file : files) MPI_File_close(&file);
}

// A name with a colon is that of a file, or names a file system before the file: the MPI library decides.
void named_driver(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/'));
  if (::chdir(folder.c_str()) != 0) give_up("no folder");
  for (const bool both : {true, false}) {
    const std::string name = both ? "both" : "one", whole = "ufs:" + name;
    if (rank == 0 && both) {
      const weir::Descriptor other(::open(name.c_str(), O_WRONLY | O_CREAT, 0666));
      if (::pwrite(other.get(), "as it was", 9, 0) != 9) give_up("the other file cannot be made");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_shared(whole, MPI_MODE_CREATE | MPI_MODE_RDWR);
    if (is_served(file) == (both && ::access(whole.c_str(), F_OK) == 0)) give_up(name + ": served, or not");
    if (const int code = write_blocks(file); code != MPI_SUCCESS) give_up(words_of(code));
    MPI_File_close(&file);
    const bool has_whole = ::access(whole.c_str(), F_OK) == 0;
    const auto written = weir::read_text(has_whole ? whole : name);
    if (!written || written->size() != static_cast<std::size_t>(ranks) * block || written->front() != 'a')
      give_up(name + ": the file was not written");
    if (const auto other = weir::read_text(name); both && has_whole && (!other || *other != "as it was"))
      give_up("another file was written to");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Atomic mode and other representations are the MPI library's, and what both write is one file.
void left_alone(const std::string& path) {
  MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_set_atomicity(file, 1);
  if (const int code = write_blocks(file); code != MPI_SUCCESS) give_up(words_of(code));
  MPI_File_set_atomicity(file, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<char> data(block, '-');
  const int other = (rank + 1) % ranks;
  MPI_File_read_at_all(file, static_cast<MPI_Offset>(other) * block, data.data(), block, MPI_BYTE,
                       MPI_STATUS_IGNORE);
  if (data[0] != static_cast<char>('a' + other) || data[block - 1] != data[0]) give_up("read something else");
  MPI_File_close(&file);
}

// File types that MPI libraries place differently: what a rank writes alone, all read together, wherever it
// is.
void odd_view(const std::string& path) {
  const int length = 1;
  const MPI_Aint at = 4 * rank;
  MPI_Datatype one = MPI_DATATYPE_NULL, shifted = MPI_DATATYPE_NULL, padded = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &one);
  MPI_Type_create_resized(one, at, 4 * ranks, &shifted);
  MPI_Type_contiguous(3, MPI_DOUBLE_INT, &padded);
  for (MPI_Datatype type : {shifted, padded}) {
    // ROMIO of Open MPI 4 ends the job.
    if (type == padded && std::getenv("OMPI_MCA_io") != nullptr) continue;
    MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_set_size(file, 4096);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, type == shifted ? 0 : 400 * rank, MPI_INT, type, "native", MPI_INFO_NULL);
    int wrote[20] = {}, read[20] = {};
    for (int i = 0; i < 20; ++i) wrote[i] = rank * 100 + i + 1;
    MPI_File_write_at(file, 0, wrote, 20, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(file, 0, read, 20, MPI_INT, MPI_STATUS_IGNORE);
    if (std::memcmp(wrote, read, sizeof read) != 0) give_up("read something else");
    MPI_File_close(&file);
  }
  for (MPI_Datatype* type : {&one, &shifted, &padded}) MPI_Type_free(type);
}

// Writes of one character at the beginning of a file that the MPI library carries out, whatever Weir serves.
const char fresh = '!';
struct Way {
  const char* name;
  bool atomic;
  int (*write)(MPI_File file, MPI_Request* request);
};
constexpr Way ways[] = {
    {"alone", false,
     [](MPI_File file, MPI_Request*) {
       return MPI_File_write_at(file, 0, &fresh, 1, MPI_CHAR, MPI_STATUS_IGNORE);
     }},
    {"atomic", true,
     [](MPI_File file, MPI_Request*) {
       return MPI_File_write_at_all(file, 0, &fresh, 1, MPI_CHAR, MPI_STATUS_IGNORE);
     }},
    {"ordered", false,
     [](MPI_File file, MPI_Request*) {
       return MPI_File_write_ordered(file, &fresh, 1, MPI_CHAR, MPI_STATUS_IGNORE);
     }},
    {"split", true,
     [](MPI_File file, MPI_Request*) { return MPI_File_write_at_all_begin(file, 0, &fresh, 1, MPI_CHAR); }},
    {"started", false, [](MPI_File file, MPI_Request* request) {
       return MPI_File_iwrite_at_all(file, 0, &fresh, 1, MPI_CHAR, request);
     }}};

// A file that Weir does not serve, or that it does.
MPI_File open_alone(const std::string& path, bool sequential) {
  MPI_File file = MPI_FILE_NULL;
  const int mode = MPI_MODE_WRONLY | (sequential ? MPI_MODE_SEQUENTIAL : 0);
  if (const int code = MPI_File_open(MPI_COMM_SELF, path.c_str(), mode, MPI_INFO_NULL, &file);
      code != MPI_SUCCESS)
    give_up("open " + path + ": " + words_of(code));
  return file;
}

bool can_be_had_alone(const std::string& path) {
  const weir::Descriptor own(::open(path.c_str(), O_RDWR));
  return weir::collective::WriteLock(own.get(), weir::collective::WriteLock::Kind::exclusive).held();
}

// Rank 0 writes a hole back as it was, slowly, as collective calls do; meanwhile the last rank writes there.
void waits_in(const std::string& path, const Way& way, bool sequential) {
  const std::string name = std::string(way.name) + (sequential ? " in sequential mode" : "");
  MPI_File file = MPI_FILE_NULL;
  if (rank == 0) {
    const weir::Descriptor made(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0666));
    if (::pwrite(made.get(), "-", 1, 0) != 1) give_up("the file cannot be made");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == ranks - 1) {
    file = open_alone(path, sequential);
    if (way.atomic && MPI_File_set_atomicity(file, 1) != MPI_SUCCESS) give_up(name + ": no atomic mode");
  }
  if (rank == 0) {
    const weir::Descriptor own(::open(path.c_str(), O_RDWR));
    char hole = 0;
    const weir::collective::WriteLock alone(own.get(), weir::collective::WriteLock::Kind::exclusive);
    if (!alone.held() || ::pread(own.get(), &hole, 1, 0) != 1) give_up("the file cannot be locked");
    MPI_Barrier(MPI_COMM_WORLD);
    ::usleep(200'000);  // time enough to see who does not wait
    if (::pwrite(own.get(), &hole, 1, 0) != 1) give_up("the file cannot be written");
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank != ranks - 1) return;
  MPI_Request request = MPI_REQUEST_NULL;
  if (const int code = way.write(file, &request); code != MPI_SUCCESS) give_up(name + ": " + words_of(code));
  const bool split = std::strcmp(way.name, "split") == 0;
  const bool started = std::strcmp(way.name, "started") == 0;
  if (can_be_had_alone(path) != (!split && !started)) give_up(name + ": others may fill holes, or may not");
  if (split) MPI_File_write_at_all_end(file, &fresh, MPI_STATUS_IGNORE);
  if (split && !can_be_had_alone(path)) give_up(name + ": nobody may fill holes any more");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  if (!can_be_had_alone(path)) give_up(name + ": nobody may fill holes once the file is closed");
  char found = 0;
  if (weir::Descriptor own(::open(path.c_str(), O_RDONLY));
      ::pread(own.get(), &found, 1, 0) != 1 || found != fresh)
    give_up(name + ": a write into a hole was lost");
}

void waits(const std::string& path) {
  for (const Way& way : ways) {
    waits_in(path, way, false);
    MPI_Barrier(MPI_COMM_WORLD);
  }
#if defined(OPEN_MPI)
  waits_in(path, ways[2], true);  // ordered: the only kind for files that are open in sequential mode
#endif
}

void dies_from(int first, const std::string& path) {
  MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (const int code = write_blocks(file); code != MPI_SUCCESS) give_up(words_of(code));
  if (rank >= first) ::raise(SIGKILL);
  write_blocks(file);
  give_up("a call without one of the ranks came to an end");
}

void dies(const std::string& path) {
  dies_from(ranks - 1, path);
}

void half_dies(const std::string& path) {
  dies_from(ranks / 2, path);
}

// Ranks that are on the way to the call get no time limit; one that is stopped does.
void stops_from(int first, const std::string& path) {
  MPI_File file = open_shared(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (const int code = write_blocks(file); code != MPI_SUCCESS) give_up(words_of(code));
  if (rank >= first) {
    ::sleep(2);  // while it lives, it answers the others, or they would never miss it
    ::raise(SIGSTOP);
    for (;;) ::pause();  // a launcher that ends the job makes stopped processes go on first
  }
  write_blocks(file);
  give_up("a call without one of the ranks came to an end");
}

void stops(const std::string& path) {
  stops_from(ranks - 1, path);
}

void half_stops(const std::string& path) {
  stops_from(ranks / 2, path);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  const bool threaded = argc > 1 && std::strncmp(argv[1], threads, std::strlen(threads)) == 0;
  MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) return 2;
  const Case cases[] = {{"full", full},
                        {"begun_twice", begun_twice},
                        {"throws", throws},
                        {"threads_full", threads_full},
                        {"threads_wrong_argument", threads_wrong_argument},
                        {"threads_deep_type", threads_deep_type},
                        {"read_only", read_only},
                        {"wrong_hint", wrong_hint},
                        {"useless_hint", useless_hint},
                        {"wrong_environment", wrong_environment},
                        {"wrong_argument", wrong_argument},
                        {"short_read", short_read},
                        {"named_driver", named_driver},
                        {"many_files", many_files},
                        {"left_alone", left_alone},
                        {"odd_view", odd_view},
                        {"waits", waits},
                        {"dies", dies},
                        {"half_dies", half_dies},
                        {"stops", stops},
                        {"half_stops", half_stops}};
  run_case(cases, argv[1], argv[2]);
  MPI_Finalize();
}
