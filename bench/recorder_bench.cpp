// What recording costs: mpirun -n 2 build/bench/recorder_bench [FOLDER] [SECONDS-PER-ROW] [BYTES (0: all)]
// [multiple]. Batches of calls with and without the recorder alternate in one process; "without" calls the
// MPI library itself. Prints medians over the batches, the spread of the difference (quartiles), the share of
// the I/O time that it is, and as a control the same difference between two kinds of batches that are both
// without. Time is the CPU time of the thread: what else runs on the machine does not count, and waiting for
// a disk would only make the share smaller. multiple: MPI is started for several threads, and the recorder
// takes a lock.
#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "interpose/next.hpp"
#include "interpose/roles.hpp"

namespace {

using WriteAt = int (*)(MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Status*);
using ReadAt = int (*)(MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*);

// The same by the individual pointer, which moves on by itself.
int read_on(MPI_File file, MPI_Offset, void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return MPI_File_read(file, buffer, count, type, status);
}
int read_on_plainly(MPI_File file, MPI_Offset, void* buffer, int count, MPI_Datatype type,
                    MPI_Status* status) {
  static const auto read = weir::interpose::find_next_as<decltype(&MPI_File_read)>("MPI_File_read");
  return read(file, buffer, count, type, status);
}

constexpr std::int64_t file_size = std::int64_t{16} << 20U;

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

std::int64_t wild_place(std::uint32_t i) {
  return static_cast<std::int64_t>(i * 2654435761U >> 8U);
}

struct Row {
  std::vector<double> without;  // seconds a call, by batch
  std::vector<double> difference;
  std::vector<double> control;  // between two batches without: what the measurement itself is worth
};

// One batch: so many calls at ascending offsets, from the start again when the file is full; or wildly about
// the file, where every call is news to the recorder.
template <class Function>
double batch(Function function, MPI_File file, std::vector<char>& buffer, int calls, bool wild) {
  const auto size = static_cast<std::int64_t>(buffer.size());
  const std::int64_t places = file_size / size;
  const auto place = [&](int i) { return (wild ? wild_place(static_cast<std::uint32_t>(i)) : i) % places; };
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  const double begin = cpu_seconds();
  for (int i = 0; i < calls; ++i)
    function(file, place(i) * size, buffer.data(), static_cast<int>(size), MPI_BYTE, MPI_STATUS_IGNORE);
  return (cpu_seconds() - begin) / calls;
}

template <class Function>
Row measure(Function recorded, Function plain, MPI_File file, std::size_t size, bool wild, double seconds) {
  std::vector<char> buffer(size, 'w');
  batch(plain, file, buffer, 50, wild);
  const double once = batch(plain, file, buffer, 50, wild);
  // What is put off for many calls is in every batch as often as it happens.
  constexpr int put_off = weir::interpose::CallBatch::most_calls;
  const int calls = once * put_off < 0.003 ? put_off : std::max(static_cast<int>(0.0005 / once), 4);
  Row row;
  const double end = MPI_Wtime() + seconds;
  // At least 11 batches of each kind, one with the recorder and two without. The order changes, since caches
  // and clocks favour one of the places.
  for (int round = 0; round < 11 || MPI_Wtime() < end; ++round) {
    double spent[3];
    for (int i = 0; i < 3; ++i) {
      const int kind = (round + (round % 2 == 0 ? i : 3 - i)) % 3;
      spent[kind] = batch(kind == 0 ? recorded : plain, file, buffer, calls, wild);
    }
    row.without.push_back(spent[1]);
    row.difference.push_back(spent[0] - spent[1]);
    row.control.push_back(spent[1] - spent[2]);
  }
  return row;
}

// What the recorder takes of a call, without the call: all that it touches is in the nearest cache, and its
// jumps are foreseen. `rounds` rounds of 100,000 calls; seconds a call, the median of them.
double alone(MPI_File file, int rounds, bool wild, std::uint32_t& place) {
  constexpr int calls = 100'000;
  const auto nothing = [] { return MPI_SUCCESS; };
  const weir::interpose::Next next(nothing);
  std::vector<double> each;
  for (int round = 0; round < rounds; ++round) {
    const double begin = cpu_seconds();
    for (int i = 0; i < calls; ++i, ++place)
      weir::interpose::transfer({.name = "write_at",
                                 .direction = weir::interpose::Direction::write,
                                 .pointer = weir::interpose::Pointer::given,
                                 .reach = weir::interpose::Reach::alone,
                                 .phase = weir::interpose::Phase::blocking,
                                 .file = file,
                                 .offset = (wild ? wild_place(place) : place) * 4096,
                                 .count = 4096,
                                 .type = MPI_BYTE},
                                next);
    each.push_back((cpu_seconds() - begin) / calls);
  }
  return quantile(each, 0.5);
}

// The same for a file of its own. Calls without order are put off, then folded two million calls later, then
// the log is full.
void print_alone(const std::string& name, bool wild) {
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                    MPI_INFO_NULL, &file) != MPI_SUCCESS)
    return;
  std::uint32_t place = 0;
  const double first = alone(file, 19, wild, place);
  fmt::print("the recorder alone, {}: {:.1f} ns a call", wild ? "wild" : "in order", first * 1e9);
  if (wild) {
    alone(file, 3, wild, place);
    const double folded = alone(file, 9, wild, place);
    fmt::print("; after the first two million {:.1f} ns", folded * 1e9);
  }
  fmt::print("\n");
  MPI_File_close(&file);
}

// COLLECTIVE over MPI_COMM_WORLD: rank 0 prints.
void print(const char* call, std::size_t size, bool wild, const Row& row) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double without = quantile(row.without, 0.5);
  const double cost = quantile(row.difference, 0.5);
  if (rank == 0)
    fmt::print("{:>9}  {:<12} {:>10.2f} {:>11.0f} {:>10.0f} {:>10.0f} {:>8.2f}% {:>11.0f}\n", size,
               fmt::format("{}{}", call, wild ? ", wild" : ""), without * 1e6, cost * 1e9,
               quantile(row.difference, 0.25) * 1e9, quantile(row.difference, 0.75) * 1e9,
               cost / without * 100, quantile(row.control, 0.5) * 1e9);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  int threads = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv,
                  argc > 4 && argv[4] == std::string("multiple") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &threads);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string folder = argc > 1 ? argv[1] : "/tmp";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 1.0;
  const std::size_t only =
      argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0;  // rows of calls of so many bytes
  const std::string name = folder + fmt::format("/recorder_bench.{}.{}", ::getpid(), rank);
  weir::interpose::start_recording((name + ".pattern").c_str());

  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                    MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    fmt::print(stderr, "cannot create {}\n", name);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const auto write_at = weir::interpose::find_next_as<WriteAt>("MPI_File_write_at");
  const auto read_at = weir::interpose::find_next_as<ReadAt>("MPI_File_read_at");
  std::vector<char> fill(file_size, 'f');
  write_at(file, 0, fill.data(), static_cast<int>(fill.size()), MPI_BYTE, MPI_STATUS_IGNORE);

  if (rank == 0) {
    for (const bool wild : {false, true}) print_alone(name + (wild ? ".wild" : ".order"), wild);
    fmt::print("\n");
    fmt::print("{:>9}  {:<12} {:>10} {:>11} {:>21} {:>9} {:>11}\n", "bytes", "call", "without/us",
               "recorder/ns", "quartiles/ns", "share", "control/ns");
  }
  struct Kind {
    std::size_t size;
    bool wild;
  };
  for (const auto& [size, wild] :
       {Kind{4096, false}, Kind{16384, false}, Kind{65536, false}, Kind{262144, false}, Kind{1048576, false},
        Kind{4096, true}, Kind{65536, true}}) {
    if (only != 0 && size != only) continue;
    for (const bool writes : {true, false}) {
      print(writes ? "write" : "read", size, wild,
            writes ? measure<WriteAt>(MPI_File_write_at, write_at, file, size, wild, seconds)
                   : measure<ReadAt>(MPI_File_read_at, read_at, file, size, wild, seconds));
    }
  }
  print("read on", 4096, false, measure<ReadAt>(read_on, read_on_plainly, file, 4096, false, seconds));
  MPI_File_close(&file);
  MPI_Finalize();
  ::unlink((name + ".pattern").c_str());
}
