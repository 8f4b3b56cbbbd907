// Weir's collective I/O against that of the MPI library, on access patterns of parallel programs.
//
//     mpirun -n 16 build/bench/collective_bench [--patterns tile,bt,hpio,ior] [--configs auto,T:,S:,N:]
//     [--mib 64]
//         [--rounds 5] [--steps 1] [--team 0] [--folder DIR] [--json]
//
// Each round runs all sides once, in turn, so that what else the machine does hits them alike. Reported: the
// median over rounds of MB/s, with quartiles, write and read, checked by reading back. With Open MPI the
// other side is OMPIO or ROMIO, as it is told: mpirun --mca io ompio, --mca io romio321. On several nodes:
// tools/vcluster run -n 16 -- build/bench/collective_bench.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "collective/collective.hpp"
#include "core/file.hpp"
#include "core/json.hpp"

namespace weir::bench {
namespace {

using aggregation::RowBuilder;
using aggregation::Rows;

struct Arguments {
  std::vector<std::string> patterns = {"tile", "bt", "hpio", "ior"};
  std::vector<std::string> configs = {"auto", "T:", "S:", "N:"};
  std::uint64_t mib = 64;
  int rounds = 5;
  int steps = 1;
  std::uint32_t team = 0;
  std::string folder = "/tmp";
  bool json = false;
};

int rank = 0;
int ranks = 1;

[[noreturn]] void stop(const std::string& what) {
  fmt::print(stderr, "collective_bench: {}\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
  throw std::logic_error("MPI_Abort came back");
}

std::vector<std::string> split(const std::string& text) {
  // Configurations contain commas: a new one begins where a way of collective I/O is named.
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    if (!parts.empty() && part.find('=') != std::string::npos && part.find(':') == std::string::npos) {
      parts.back() += (parts.back().back() == ':' ? "" : ",") + part;
    } else {
      parts.push_back(part);
    }
    at = comma + 1;
  }
  return parts;
}

// This rank's pieces of a pattern of about so many bytes in total.
Rows pieces_of(const std::string& pattern, std::uint64_t bytes) {
  const auto p = static_cast<std::uint64_t>(rank);
  const auto n = static_cast<std::uint64_t>(ranks);
  RowBuilder builder;
  if (pattern == "ior") {  // one block a rank
    builder.add(p * (bytes / n), bytes / n);
  } else if (pattern == "hpio") {  // regions of 5,992 bytes, 256 bytes apart
    builder.add({.offset = p * 6248,
                 .length = 5992,
                 .count = std::max<std::uint64_t>(1, bytes / n / 5992),
                 .stride = n * 6248});
  } else if (pattern == "tile" || pattern == "tile-modified" || pattern == "tile-small") {
    int dims[2] = {0, 0};
    MPI_Dims_create(ranks, 2, dims);
    const auto columns = static_cast<std::uint64_t>(dims[1]);
    // Modified: the ranks are reordered before they are laid out.
    const std::uint64_t place = pattern == "tile-modified" ? (p * 7 + 3) % n : p;
    const std::uint64_t width = pattern == "tile-small" ? 1024 : 65536;
    const std::uint64_t height = std::max<std::uint64_t>(1, bytes / n / width);
    builder.add({.offset = (place / columns * height * columns + place % columns) * width,
                 .length = width,
                 .count = height,
                 .stride = columns * width});
  } else if (pattern == "bt") {  // diagonal multi-partition of a cube of 5 doubles a point
    std::uint64_t q = 1;
    while ((q + 1) * (q + 1) <= n) ++q;
    std::uint64_t cell = 1;
    while ((cell + 1) * (cell + 1) * (cell + 1) * q * q * q * 40 <= bytes) ++cell;
    if (p >= q * q) return {};
    const std::uint64_t line = cell * q * 40;
    for (std::uint64_t cz = 0; cz < q; ++cz) {
      const std::uint64_t cx = (p % q + cz) % q;
      const std::uint64_t cy = (p / q + q - cz) % q;
      for (std::uint64_t z = 0; z < cell; ++z)
        builder.add({.offset = ((cz * cell + z) * cell * q + cy * cell) * line + cx * cell * 40,
                     .length = cell * 40,
                     .count = cell,
                     .stride = line});
    }
  } else {
    stop(fmt::format("there is no pattern '{}'; it can be tile, tile-small, tile-modified, bt, hpio or ior",
                     pattern));
  }
  return builder.take();
}

double cpu_seconds() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double seconds_of_slowest(double& cpu, const std::function<void()>& body) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  const double cpu_start = cpu_seconds();
  body();
  double seconds = MPI_Wtime() - start;
  cpu += cpu_seconds() - cpu_start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

// One way of moving the data: a view is set once, then each step writes or reads all of it, `stride` bytes
// further on.
class Side {
 public:
  virtual ~Side() = default;
  virtual void transfer(bool writing, std::vector<std::byte>& data, int step) = 0;
};

class MpiSide : public Side {
 public:
  MpiSide(const std::string& path, const Rows& rows, std::uint64_t stride) : stride_(stride) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    for (aggregation::Cursor cursor(rows); !cursor.done(); cursor.advance(cursor.piece().length)) {
      lengths.push_back(static_cast<int>(cursor.piece().length));
      places.push_back(static_cast<MPI_Aint>(cursor.piece().offset));
    }
    MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_BYTE,
                             &type_);
    MPI_Type_commit(&type_);
    MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file_);
  }
  MpiSide(const MpiSide&) = delete;
  MpiSide& operator=(const MpiSide&) = delete;
  ~MpiSide() override {
    MPI_File_close(&file_);
    MPI_Type_free(&type_);
  }
  void transfer(bool writing, std::vector<std::byte>& data, int step) override {
    const auto displacement = static_cast<MPI_Offset>(stride_ * static_cast<std::uint64_t>(step));
    MPI_File_set_view(file_, displacement, MPI_BYTE, type_, "native", MPI_INFO_NULL);
    const auto count = static_cast<int>(data.size());
    if (writing)
      MPI_File_write_at_all(file_, 0, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE);
    else
      MPI_File_read_at_all(file_, 0, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE);
  }

 private:
  std::uint64_t stride_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_File file_ = MPI_FILE_NULL;
};

class WeirSide : public Side {
 public:
  WeirSide(const std::string& path, const Rows& rows, std::uint64_t stride, const std::string& config,
           std::uint32_t team)
      : rows_(rows), stride_(stride) {
    auto settings = aggregation::parse_configuration(config);
    if (!settings) stop(settings.error().message());
    settings->team = team;
    file_ = open_file(path, O_RDWR | O_CREAT).value();
    auto io = collective::Collective::create(mpi::Comm::duplicate(MPI_COMM_WORLD),
                                             {.descriptor = file_.get(), .path = path}, *settings);
    if (!io) stop(io.error().message());
    io_ = std::move(*io);
  }
  void transfer(bool writing, std::vector<std::byte>& data, int step) override {
    collective::Request request{.file = rows_, .memory = {}};
    for (auto& row : request.file) row.offset += stride_ * static_cast<std::uint64_t>(step);
    if (!data.empty())
      request.memory = {{.offset = reinterpret_cast<std::uintptr_t>(data.data()), .length = data.size()}};
    const auto outcome = writing ? io_->write(request) : io_->read(request);
    if (!outcome.status) stop(outcome.status.error().message());
  }
  collective::Collective& io() { return *io_; }

 private:
  Rows rows_;
  std::uint64_t stride_;
  Descriptor file_;
  std::unique_ptr<collective::Collective> io_;
};

struct Series {
  std::vector<double> mb_per_s;
  double at(double share) {
    std::sort(mb_per_s.begin(), mb_per_s.end());
    return mb_per_s[static_cast<std::size_t>(share * static_cast<double>(mb_per_s.size() - 1) + 0.5)];
  }
};

void fill(std::vector<std::byte>& data, int step) {
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] =
        static_cast<std::byte>((i * 2654435761U + static_cast<std::size_t>(rank * 40503 + step * 7)) >> 7U);
}

void run_pattern(const Arguments& arguments, const std::string& pattern, Json& report) {
  const std::string path = arguments.folder + "/weir-collective-bench";
  const Rows rows = pieces_of(pattern, arguments.mib << 20U);
  std::uint64_t end = rows.empty() ? 0 : rows.back().end();
  MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  std::vector<std::byte> data(aggregation::total_bytes(rows));
  std::vector<std::byte> back(data.size());
  std::uint64_t total = data.size();
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);

  std::vector<std::string> names = arguments.configs;
  names.insert(names.begin(), "mpi-io");
  std::map<std::string, std::array<Series, 2>> series;
  std::map<std::string, collective::Accounting> accounts;
  std::map<std::string, double> cpu_of;  // seconds of all ranks, a round
  bool verified = true;
  for (int round = -1; round < arguments.rounds; ++round) {  // the first one warms up
    for (const std::string& name : names) {
      if (rank == 0) (void)std::filesystem::remove(path);
      MPI_Barrier(MPI_COMM_WORLD);
      std::unique_ptr<Side> side;
      if (name == "mpi-io")
        side = std::make_unique<MpiSide>(path, rows, end);
      else
        side = std::make_unique<WeirSide>(path, rows, end, name, arguments.team);
      double seconds[2] = {0, 0};
      double cpu = 0;
      for (int step = 0; step < arguments.steps; ++step) {
        fill(data, step);
        seconds[0] += seconds_of_slowest(cpu, [&] { side->transfer(true, data, step); });
      }
      for (int step = 0; step < arguments.steps; ++step) {
        std::fill(back.begin(), back.end(), std::byte{0});
        seconds[1] += seconds_of_slowest(cpu, [&] { side->transfer(false, back, step); });
        fill(data, step);
        verified = verified && back == data;
      }
      if (round < 0) continue;
      cpu_of[name] += cpu / arguments.rounds;
      for (int d = 0; d < 2; ++d)
        series[name][static_cast<std::size_t>(d)].mb_per_s.push_back(static_cast<double>(total) *
                                                                     arguments.steps / 1e6 / seconds[d]);
      if (auto* weir = dynamic_cast<WeirSide*>(side.get())) accounts[name] += weir->io().accounting();
    }
  }
  int good = verified ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) (void)std::filesystem::remove(path);
  for (const std::string& name : names) {
    std::array<double, collective::phase_count> phases = accounts[name].seconds;
    std::uint64_t sent = accounts[name].sent_between_nodes;
    MPI_Allreduce(MPI_IN_PLACE, phases.data(), collective::phase_count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &sent, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &cpu_of[name], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank != 0) continue;
    Json row{{"pattern", pattern}, {"side", name}, {"verified", good == 1}};
    const char* directions[2] = {"write", "read"};
    for (std::size_t d = 0; d < 2; ++d) {
      Series& own = series[name][d];
      row[directions[d]] = {{"mb_per_s", own.at(0.5)},
                            {"quartiles", {own.at(0.25), own.at(0.75)}},
                            {"ratio", own.at(0.5) / series["mpi-io"][d].at(0.5)}};
    }
    row["cpu_seconds"] = cpu_of[name];
    row["sent_between_nodes"] = sent;
    for (std::size_t i = 0; i < collective::phase_count; ++i)
      row["seconds"][std::string(to_string(static_cast<collective::Phase>(i)))] = phases[i];
    if (!arguments.json)
      fmt::print(
          "{:<14} {:<24} write {:8.1f} MB/s ({:5.2f}x)  read {:8.1f} MB/s ({:5.2f}x)  CPU {:6.3f} s  {}\n",
          pattern, name, row["write"]["mb_per_s"].get<double>(), row["write"]["ratio"].get<double>(),
          row["read"]["mb_per_s"].get<double>(), row["read"]["ratio"].get<double>(), cpu_of[name],
          good == 1 ? "verified" : "WRONG");
    report.push_back(std::move(row));
  }
  std::fflush(stdout);
  if (good == 0) stop("what was read is not what was written");
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--json") {
      arguments.json = true;
      continue;
    }
    if (i + 1 == argc) stop(name + " needs a value");
    const std::string value = argv[++i];
    if (name == "--patterns")
      arguments.patterns = split(value);
    else if (name == "--configs")
      arguments.configs = split(value);
    else if (name == "--mib")
      arguments.mib = static_cast<std::uint64_t>(std::max(1, std::stoi(value)));
    else if (name == "--rounds")
      arguments.rounds = std::max(1, std::stoi(value));
    else if (name == "--steps")
      arguments.steps = std::max(1, std::stoi(value));
    else if (name == "--team")
      arguments.team = static_cast<std::uint32_t>(std::stoi(value));
    else if (name == "--folder")
      arguments.folder = value;
    else
      stop("there is no option " + name);
  }
  return arguments;
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &weir::bench::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &weir::bench::ranks);
  {
    const auto arguments = weir::bench::parse(argc, argv);
    weir::Json report = weir::Json::array();
    for (const auto& pattern : arguments.patterns) weir::bench::run_pattern(arguments, pattern, report);
    if (arguments.json && weir::bench::rank == 0) fmt::print("{}\n", report.dump(2));
  }
  MPI_Finalize();
}
