// Weir against the storage libraries it uses, called directly with the same data; and the cost of checksums.
//
//     mpirun -n 2 build/bench/backends_bench [--mib 64] [--steps 4] [--rounds 11] [--folder DIR] [--fsync]
//     [--backend NAME] [--times] [--json]
//
// Each round runs all sides once, in turn, so that what else the machine does hits them alike. Reported: the
// median over rounds of time(direct) / time(Weir) (1 = as fast), with quartiles, and of time(Weir) /
// time(Weir with checksums). With --fsync all sides are timed until the data is on disk; without, until the
// operating system has it. --times adds the medians in milliseconds: two runs with different --steps tell
// what a step costs from what a file costs.
//
// What each side does. Direct: creates the file under its final name, one call of the library a step, closes
// it; errors are looked at by the rank that has them, ranks do not wait for each other unless the library
// makes them. Weir: the same data, and what it promises besides: a temporary name and a rename, the sidecar
// of plain files (the seal of ADIOS2's folders), and after each write and read one agreement of all ranks on
// how it went. The buffer is the same for all (see Buffer).
//
// That agreement makes every rank wait for the slowest in each step, whoever asks for it. So the direct side
// runs twice: as above ("alone"), and with one reduction after each step, by which its ranks too learn of a
// failure in the same call ("agreed"). Weir writes with agreement, and is shown against both; it reads with
// agreement against the direct side that agrees, and with `independent = true` against the one that does not.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <new>
#include <span>
#include <stdexcept>
#include <vector>

#include "backends/backend.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "direct.hpp"
#include "weir/weir.hpp"

namespace weir::bench {

namespace fs = std::filesystem;

namespace {

void need(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what + ": " + std::strerror(errno));
}

// One pwrite per step: for a row block that is all there is to do.
void transfer_posix(const Work& work, bool writing) {
  const int fd = ::open(work.path.c_str(), writing ? O_CREAT | O_RDWR : O_RDONLY, 0666);
  need(fd >= 0, "open");
  for (int step = 0; step < work.steps; ++step) {
    auto* at = reinterpret_cast<char*>(work.data.data());
    std::size_t left = work.count * work.columns * sizeof(double);
    auto offset = static_cast<off_t>(
        ((static_cast<std::uint64_t>(step) * work.rows + work.first) * work.columns) * sizeof(double));
    while (left > 0) {
      const ssize_t moved = writing ? ::pwrite(fd, at, left, offset) : ::pread(fd, at, left, offset);
      need(moved > 0, "transfer");
      at += moved;
      offset += moved;
      left -= static_cast<std::size_t>(moved);
    }
    work.settle_step();
  }
  ::close(fd);
}

void transfer_mpiio(const Work& work, bool writing) {
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(work.comm, work.path.c_str(), writing ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY,
                MPI_INFO_NULL, &file);
  const auto elements = static_cast<int>(work.count * work.columns);
  for (int step = 0; step < work.steps; ++step) {
    const auto offset = static_cast<MPI_Offset>(
        ((static_cast<std::uint64_t>(step) * work.rows + work.first) * work.columns) * sizeof(double));
    if (writing) {
      MPI_File_write_at_all(file, offset, work.data.data(), elements, MPI_DOUBLE, MPI_STATUS_IGNORE);
    } else {
      MPI_File_read_at_all(file, offset, work.data.data(), elements, MPI_DOUBLE, MPI_STATUS_IGNORE);
    }
    work.settle_step();
  }
  MPI_File_close(&file);
}

}  // namespace

void write_posix(const Work& work) {
  transfer_posix(work, true);
}
void read_posix(const Work& work) {
  transfer_posix(work, false);
}
void write_mpiio(const Work& work) {
  transfer_mpiio(work, true);
}
void read_mpiio(const Work& work) {
  transfer_mpiio(work, false);
}

namespace {

struct Settings {
  std::uint64_t bytes = 64U << 20U;  // per rank and step
  int steps = 4;
  int rounds = 11;
  std::string folder = "/tmp";
  std::string only;
  bool fsync = false;
  bool json = false;
  bool times = false;
};

std::vector<Direct> directs() {
  std::vector<Direct> all = {{"posix", write_posix, read_posix}, {"mpiio", write_mpiio, read_mpiio}};
#ifdef WEIR_WITH_HDF5
  all.push_back({"hdf5", write_hdf5, read_hdf5});
#endif
#ifdef WEIR_WITH_ADIOS2
  all.push_back({"adios2-bp5", write_bp5, read_bp5});
  all.push_back({"adios2-bp4", write_bp4, read_bp4});
  all.push_back({"adios2-hdf5", write_adios2_hdf5, read_adios2_hdf5});
#endif
  return all;
}

void write_weir(Session& session, const Work& work, const std::string& backend, bool checksums, bool fsync) {
  File out = session.create(work.path, {.backend = backend, .checksums = checksums, .fsync = fsync});
  for (int step = 0; step < work.steps; ++step) {
    out.write("T", work.data,
              {.shape = {work.rows, work.columns},
               .offset = {work.first, 0},
               .count = {work.count, work.columns},
               .step = step})
        .wait();
  }
  out.close();
}

void read_weir(Session& session, const Work& work, const std::string& backend, bool independent) {
  Reader in = session.open(work.path, {.backend = backend});
  for (int step = 0; step < work.steps; ++step) {
    in.read("T", work.data,
            {.offset = {work.first, 0},
             .count = {work.count, work.columns},
             .step = step,
             .independent = independent});
  }
  in.close();
}

// The time of the slowest rank.
template <class Body>
double seconds(MPI_Comm comm, Body&& body) {
  MPI_Barrier(comm);
  double start = MPI_Wtime();
  body();
  double taken = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPI_DOUBLE, MPI_MAX, comm);
  return taken;
}

struct Spread {
  double low = 0, median = 0, high = 0;
};

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
  };
  return {at(0.25), at(0.5), at(0.75)};
}

// What is timed; each a file of its own, or a reading of one.
enum Side {
  direct_write,
  agreed_write,  // direct, with a reduction after each step
  weir_write,
  checked_write,  // Weir with checksums
  direct_read,
  agreed_read,
  weir_read_alone,
  weir_read,
  sides
};
constexpr std::array<const char*, sides> side_names = {
    "direct_write", "agreed_write", "weir_write",      "checked_write",
    "direct_read",  "agreed_read",  "weir_read_alone", "weir_read"};

// The comparisons: of which two sides, the first divided by the second.
struct Ratio {
  const char* name;  // in JSON
  const char* title;
  Side over, under;
};
constexpr std::array<Ratio, 6> ratios = {{
    {"write_vs_direct", "write", direct_write, weir_write},
    {"write_vs_agreed", "write, agreed", agreed_write, weir_write},
    {"read_alone_vs_direct", "read alone", direct_read, weir_read_alone},
    {"read_vs_agreed", "read, agreed", agreed_read, weir_read},
    {"read_vs_direct", "read : alone", direct_read, weir_read},
    {"checksums_vs_none", "checksums on : off", weir_write, checked_write},
}};

struct Row {
  std::string backend;
  std::array<Spread, ratios.size()> compared;
  std::array<double, sides> seconds{};  // medians
};

void remove_file(const Work& work, int rank) {
  MPI_Barrier(work.comm);
  if (rank == 0) {
    fs::remove_all(work.path);
    fs::remove(work.path + ".json");
  }
  MPI_Barrier(work.comm);
}

// Memory that starts 16 bytes behind the border of a page, where malloc puts large blocks while a program is
// young. Left to chance, the place of the buffer decides more than anything that is measured here: the kernel
// copies twice as fast, or half, depending on how far source and target are apart in their pages.
class Buffer {
 public:
  explicit Buffer(std::size_t elements)
      : memory_(std::aligned_alloc(page, (elements * sizeof(double) / page + 2) * page)),
        elements_(elements) {
    if (memory_ == nullptr) throw std::bad_alloc();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(memory_); }
  std::span<double> elements() const {
    return {reinterpret_cast<double*>(static_cast<std::byte*>(memory_) + 16), elements_};
  }

 private:
  static constexpr std::size_t page = 4096;
  void* memory_;
  std::size_t elements_;
};

Row compare(Session& session, const Direct& direct, const Settings& settings, int rank, int ranks) {
  Work work{.comm = session.compute(), .steps = settings.steps, .data = {}};
  work.columns = 1024;
  const std::uint64_t rows_each =
      std::max<std::uint64_t>(1, settings.bytes / (work.columns * sizeof(double)));
  work.rows = rows_each * static_cast<std::uint64_t>(ranks);
  work.first = rows_each * static_cast<std::uint64_t>(rank);
  work.count = rows_each;
  const Buffer buffer(work.count * work.columns);
  work.data = buffer.elements();
  std::fill(work.data.begin(), work.data.end(), 1.5);
  const std::string base = settings.folder + "/weir-bench-";

  std::array<std::vector<double>, ratios.size()> compared;
  std::array<std::vector<double>, sides> taken;
  for (int round = -1; round < settings.rounds; ++round) {  // the first one warms up and does not count
    std::array<double, sides> now{};
    const auto direct_side = [&](bool agrees) {
      work.path = base + "direct";
      work.agrees = agrees;
      now[agrees ? agreed_write : direct_write] = seconds(work.comm, [&] {
        direct.write(work);
        if (settings.fsync) need(sync_tree(work.path).has_value(), "fsync");
      });
      // Twice, as Weir's side does.
      double& read = now[agrees ? agreed_read : direct_read];
      read = seconds(work.comm, [&] { direct.read(work); });
      read = (read + seconds(work.comm, [&] { direct.read(work); })) / 2;
      remove_file(work, rank);
    };
    const auto weir_side = [&] {
      work.path = base + "weir";
      now[weir_write] =
          seconds(work.comm, [&] { write_weir(session, work, direct.backend, false, settings.fsync); });
      const bool alone_first = round % 2 == 0;  // neither always follows the write
      for (const bool alone : {alone_first, !alone_first}) {
        now[alone ? weir_read_alone : weir_read] =
            seconds(work.comm, [&] { read_weir(session, work, direct.backend, alone); });
      }
      remove_file(work, rank);
    };
    const auto checked_side = [&] {
      work.path = base + "checked";
      now[checked_write] =
          seconds(work.comm, [&] { write_weir(session, work, direct.backend, true, settings.fsync); });
      remove_file(work, rank);
    };
    const std::array<std::function<void()>, 4> turns = {[&] { direct_side(false); }, weir_side,
                                                        [&] { direct_side(true); }, checked_side};
    // Each comes first equally often: whoever follows another finds the page cache in another state.
    for (std::size_t i = 0; i < turns.size(); ++i)
      turns[(i + static_cast<std::size_t>(round + 1)) % turns.size()]();
    if (round < 0) continue;
    for (std::size_t i = 0; i < ratios.size(); ++i)
      compared[i].push_back(now[ratios[i].over] / now[ratios[i].under]);
    for (std::size_t i = 0; i < sides; ++i) taken[i].push_back(now[i]);
  }
  Row row{.backend = direct.backend, .compared = {}};
  for (std::size_t i = 0; i < ratios.size(); ++i) row.compared[i] = spread_of(compared[i]);
  for (std::size_t i = 0; i < sides; ++i) row.seconds[i] = spread_of(taken[i]).median;
  return row;
}

void print_json(const std::vector<Row>& rows, const Settings& settings, int ranks) {
  Json json = {{"ranks", ranks},
               {"bytes_per_block", settings.bytes},
               {"steps", settings.steps},
               {"fsync", settings.fsync},
               {"rounds", settings.rounds}};
  for (const Row& row : rows) {
    Json backend = {{"backend", row.backend}};
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      const Spread& spread = row.compared[i];
      backend[ratios[i].name] = {{"median", spread.median}, {"quartiles", {spread.low, spread.high}}};
    }
    for (std::size_t i = 0; i < sides; ++i) backend["seconds"][side_names[i]] = row.seconds[i];
    json["backends"].push_back(std::move(backend));
  }
  fmt::print("{}\n", json.dump(2));
}

void print(const std::vector<Row>& rows, const Settings& settings, int ranks) {
  fmt::print(
      "{} ranks, blocks of {}, {} steps, {} rounds{}; medians [quartiles], 1 = as fast, larger is better\n\n",
      ranks, format_bytes(settings.bytes), settings.steps, settings.rounds,
      settings.fsync ? ", to disk" : "");
  fmt::print("{:<13}", "Weir : direct");
  for (const Ratio& ratio : ratios) fmt::print(" {:>18}", ratio.title);
  fmt::print("\n");
  for (const Row& row : rows) {
    fmt::print("{:<13}", row.backend);
    for (const Spread& s : row.compared)
      fmt::print(" {:>18}", fmt::format("{:.2f} [{:.2f} {:.2f}]", s.median, s.low, s.high));
    fmt::print("\n");
  }
  if (!settings.times) return;
  fmt::print("\n{:<13}", "ms");
  for (const char* name : side_names) fmt::print(" {:>15}", name);
  for (const Row& row : rows) {
    fmt::print("\n{:<13}", row.backend);
    for (const double seconds : row.seconds) fmt::print(" {:>15.2f}", 1e3 * seconds);
  }
  fmt::print("\n");
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto value = [&] {
      if (i + 1 >= argc) throw std::runtime_error(option + " needs a value");
      return std::string(argv[++i]);
    };
    if (option == "--mib") {
      settings.bytes = std::stoull(value()) << 20U;
    } else if (option == "--steps") {
      settings.steps = std::stoi(value());
    } else if (option == "--rounds") {
      settings.rounds = std::max(1, std::stoi(value()));
    } else if (option == "--folder") {
      settings.folder = value();
    } else if (option == "--backend") {
      settings.only = value();
    } else if (option == "--fsync") {
      settings.fsync = true;
    } else if (option == "--times") {
      settings.times = true;
    } else if (option == "--json") {
      settings.json = true;
    } else {
      throw std::runtime_error("unknown option " + option + "; see the top of bench/backends_bench.cpp");
    }
  }
  return settings;
}

int run(int argc, char** argv) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Settings settings = parse(argc, argv);
  Session session(MPI_COMM_WORLD);
  std::vector<Row> rows;
  for (const Direct& direct : directs()) {
    if (!settings.only.empty() && settings.only != direct.backend) continue;
    rows.push_back(compare(session, direct, settings, rank, ranks));
  }
  if (rank == 0) (settings.json ? print_json : print)(rows, settings, ranks);
  return 0;
}

}  // namespace

}  // namespace weir::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int result = 1;
  try {
    result = weir::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "backends_bench: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return result;
}
