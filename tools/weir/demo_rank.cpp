#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "backends/backend.hpp"
#include "core/json.hpp"
#include "demo.hpp"
#include "terminal.hpp"
#include "weir/weir.hpp"

namespace weir::cli {

namespace {

constexpr int rounds = 3;

struct Outcome {
  std::string backend;
  std::string file;
  std::string failure;                // empty: all went well
  std::vector<double> write_seconds;  // by round
  std::vector<double> read_seconds;
  bool verified = true;
};

std::string file_of(std::string_view backend) {
  if (backend == "hdf5") return "demo.h5";
  if (backend == "adios2-hdf5") return "demo-adios2.h5";
  if (backend.starts_with("adios2-")) return "demo-" + std::string(backend.substr(7)) + ".bp";
  return "demo-" + std::string(backend) + ".dat";
}

// One smooth field in row blocks for writing and, to be sure that files do not depend on who wrote them,
// column blocks for reading.
class Field {
 public:
  Field(const DemoSettings& settings, int rank, int ranks)
      : rank_(static_cast<std::uint64_t>(rank)), ranks_(static_cast<std::uint64_t>(ranks)) {
    const std::uint64_t elements = std::max<std::uint64_t>(1, settings.bytes / sizeof(double));
    columns_ =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::sqrt(static_cast<double>(elements))));
    rows_ = elements / columns_;
  }
  Extent shape() const { return {rows_, columns_}; }
  std::pair<Extent, Extent> row_block() const {
    const std::uint64_t begin = rows_ * rank_ / ranks_;
    return {{begin, 0}, {rows_ * (rank_ + 1) / ranks_ - begin, columns_}};
  }
  std::pair<Extent, Extent> column_block() const {
    const std::uint64_t begin = columns_ * rank_ / ranks_;
    return {{0, begin}, {rows_, columns_ * (rank_ + 1) / ranks_ - begin}};
  }
  double value(std::uint64_t row, std::uint64_t column, int step) const {
    return static_cast<double>(row * columns_ + column) + 0.001 * step;
  }
  void fill(std::vector<double>& data, const std::pair<Extent, Extent>& block, int step) const {
    data.resize(block.second[0] * block.second[1]);
    for (std::uint64_t i = 0; i < data.size(); ++i) {
      data[i] = value(block.first[0] + i / block.second[1], block.first[1] + i % block.second[1], step);
    }
  }
  std::uint64_t bytes() const { return rows_ * columns_ * sizeof(double); }

 private:
  std::uint64_t rank_;
  std::uint64_t ranks_;
  std::uint64_t rows_ = 0;
  std::uint64_t columns_ = 0;
};

// Adds up the time spent in I/O, leaving out what the demo computes in between.
class Stopwatch {
 public:
  template <class Body>
  auto timed(Body&& body) {
    const double start = MPI_Wtime();
    struct Add {
      double& total;
      double start;
      ~Add() { total += MPI_Wtime() - start; }
    } add{seconds_, start};
    return body();
  }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 0;
};

double write_file(Session& session, const std::string& path, const std::string& backend, const Field& field,
                  int steps) {
  const auto block = field.row_block();
  std::vector<double> data;
  Stopwatch io;
  File out = io.timed([&] { return session.create(path, {.backend = backend, .checksums = true}); });
  for (int step = 0; step < steps; ++step) {
    field.fill(data, block, step);
    io.timed([&] {
      out.write("temperature", data,
                {.shape = field.shape(), .offset = block.first, .count = block.second, .step = step})
          .wait();
    });
  }
  io.timed([&] {
    out.set_attribute("title", "weir demo");
    out.set_variable_attribute("temperature", "unit", "K");
    out.close();
  });
  return io.seconds();
}

// The time it took, and whether the values are those that were written.
std::pair<double, bool> read_file(Session& session, const std::string& path, const Field& field, int steps) {
  const auto block = field.column_block();
  std::vector<double> data(block.second[0] * block.second[1]);
  std::vector<double> expected;
  bool same = true;
  Stopwatch io;
  Reader in = io.timed([&] { return session.open(path); });
  for (int step = 0; step < steps; ++step) {
    io.timed(
        [&] { in.read("temperature", data, {.offset = block.first, .count = block.second, .step = step}); });
    field.fill(expected, block, step);
    same = same && data == expected;
  }
  io.timed([&] { in.close(); });
  return {io.seconds(), same};
}

int session_rank(const Session& session) {
  int rank = 0;
  MPI_Comm_rank(session.compute(), &rank);
  return rank;
}

// One round of one backend: adds its times, or the reason why it cannot go on.
void try_backend(Session& session, Outcome& outcome, const DemoSettings& settings, const Field& field) {
  const std::string path = settings.folder + "/" + outcome.file;
  try {
    MPI_Barrier(session.compute());
    outcome.write_seconds.push_back(write_file(session, path, outcome.backend, field, settings.steps));
    const auto [seconds, same] = read_file(session, path, field, settings.steps);
    outcome.read_seconds.push_back(seconds);
    int verified = same ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &verified, 1, MPI_INT, MPI_MIN, session.compute());
    if (verified == 0) outcome.failure = "read back other values than were written";
    if (!settings.keep && session_rank(session) == 0) {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
      std::filesystem::remove(path + ".json", ignored);
    }
  } catch (const Error& error) {
    outcome.failure = error.what();
  }
  outcome.verified = outcome.failure.empty();
}

// MiB/s in the median round.
double rate(const DemoSettings& settings, const Field& field, std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return static_cast<double>(field.bytes()) * settings.steps / seconds[seconds.size() / 2] / 0x1p20;
}

void print_table(const std::vector<Outcome>& outcomes, const DemoSettings& settings, const Field& field) {
  using Align = Table::Align;
  Table table({"backend", "file", "write MiB/s", "read MiB/s", "verified"},
              {Align::left, Align::left, Align::right, Align::right, Align::left});
  for (const Outcome& outcome : outcomes) {
    if (!outcome.failure.empty()) {
      table.add({outcome.backend, outcome.file, "-", "-", styled("no: " + outcome.failure, Style::red)});
    } else {
      table.add(
          {outcome.backend, outcome.file, fmt::format("{:.0f}", rate(settings, field, outcome.write_seconds)),
           fmt::format("{:.0f}", rate(settings, field, outcome.read_seconds)), styled("yes", Style::green)});
    }
  }
  fmt::print("{}", table.text());
}

void print_json(const std::vector<Outcome>& outcomes, const DemoSettings& settings, const Field& field,
                int ranks) {
  Json json = {{"ranks", ranks}, {"steps", settings.steps}, {"bytes_per_step", field.bytes()}};
  json["backends"] = Json::array();
  for (const Outcome& outcome : outcomes) {
    Json row = {{"backend", outcome.backend}, {"file", outcome.file}, {"verified", outcome.verified}};
    if (outcome.failure.empty()) {
      row["write_mib_per_s"] = rate(settings, field, outcome.write_seconds);
      row["read_mib_per_s"] = rate(settings, field, outcome.read_seconds);
    } else {
      row["failure"] = outcome.failure;
    }
    json["backends"].push_back(std::move(row));
  }
  fmt::print("{}\n", pretty(json));
}

Status run(const DemoSettings& settings) {
  Session session(MPI_COMM_WORLD);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Field field(settings, rank, ranks);
  if (rank == 0 && !settings.json) {
    fmt::print(
        "One array [{}, {}] of float64 ({}), {} steps, written in row blocks by {} ranks, with checksums,\n"
        "and read back in column blocks, through every backend that stores files; median of {} rounds:\n\n",
        field.shape()[0], field.shape()[1], format_bytes(field.bytes()), settings.steps, ranks, rounds);
    std::fflush(stdout);
  }
  std::vector<Outcome> outcomes;
  for (const backends::Entry& entry : backends::table()) {
    if (!entry.missing.empty() || !entry.stores_files || entry.name == "faulty") continue;
    outcomes.push_back({.backend = std::string(entry.name), .file = file_of(entry.name)});
  }
  // The first to write finds cold memory; let that be nobody in the table.
  Outcome warm_up{.backend = "posix", .file = "warm-up.dat"};
  DemoSettings warm_up_settings = settings;
  warm_up_settings.keep = false;
  try_backend(session, warm_up, warm_up_settings, field);

  // In turn, so that what else the machine does hits all of them alike.
  for (int round = 0; round < rounds; ++round) {
    for (Outcome& outcome : outcomes) {
      if (rank == 0 && isatty(STDERR_FILENO) != 0) {
        fmt::print(stderr, "\rround {} of {}: {} ...\x1b[K", round + 1, rounds, outcome.backend);
      }
      if (outcome.failure.empty()) try_backend(session, outcome, settings, field);
    }
  }
  if (rank != 0) return {};
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\x1b[K");
  if (settings.json) {
    print_json(outcomes, settings, field, ranks);
  } else {
    print_table(outcomes, settings, field);
  }
  const auto failed =
      std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome& o) { return !o.failure.empty(); });
  if (failed > 0)
    return fail(ErrorCode::io, fmt::format("{} of {} backends failed", failed, outcomes.size()));
  return {};
}

}  // namespace

Status run_demo_rank(const DemoSettings& settings) {
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Status status;
  try {
    status = run(settings);
  } catch (const Error& error) {  // before the first file: a plan or a setting that cannot be used
    if (rank == 0) status = fail(error.code(), error.what());
  }
  MPI_Finalize();
  return status;
}

}  // namespace weir::cli
