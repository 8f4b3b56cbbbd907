#include "platform_measure.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "core/json.hpp"
#include "core/options.hpp"
#include "launch.hpp"
#include "platform/binding.hpp"
#include "platform/host_list.hpp"
#include "platform/hwloc_source.hpp"
#include "platform/lookup.hpp"
#include "platform/platform_json.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

bool under_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_STEP_ID"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

// Where a rank measures from.
struct Seat {
  std::uint32_t node = 0;
  std::uint32_t core = 0;
  bool bound = false;
};

// The cores of which some hardware thread is in the list.
Numbers cores_of(const NodeType& type, const Numbers& pus) {
  const NodeLookup lookup(type);
  Numbers cores;
  for (const std::uint32_t pu : pus)
    if (const auto core = lookup.core_of(pu)) cores.push_back(*core);
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

// Of these cores some, in the order in which they add a level: the first, one that shares a cache with it,
// and so on outwards.
Numbers useful_cores(const NodeType& type, const Numbers& cores) {
  const NodeLookup lookup(type);
  Numbers chosen;
  if (cores.empty()) return chosen;
  chosen.push_back(cores[0]);
  for (const Level level : {Level::cache, Level::numa, Level::package, Level::node}) {
    for (const std::uint32_t core : cores) {
      if (core == cores[0] || lookup.common_level(cores[0], core) != level) continue;
      chosen.push_back(core);
      break;
    }
  }
  return chosen;
}

std::uint32_t first_pu(const NodeType& type, std::uint32_t core, const Numbers& usable) {
  for (const std::uint32_t pu : type.cores[core].pus)
    if (std::find(usable.begin(), usable.end(), pu) != usable.end()) return pu;
  return type.cores[core].pus.front();
}

struct Sample {
  std::uint64_t bytes = 0;
  double seconds = 0;  // one way, the best
};

// COLLECTIVE over the two ranks; both get the same samples.
std::vector<Sample> ping_pong(int first, int second, std::uint64_t largest, double budget) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = rank == first ? second : first;
  std::vector<char> data(largest, 'w');
  std::vector<Sample> samples;
  for (std::uint64_t bytes = 1;; bytes = bytes == 1 ? 1024 : bytes * 8) {
    bytes = std::min(bytes, largest);
    const int count = static_cast<int>(bytes);
    double best = 1e300, spent = 0;
    int go_on = 1;
    for (int round = 0; go_on != 0; ++round) {
      const double start = MPI_Wtime();
      if (rank == first) {
        MPI_Send(data.data(), count, MPI_CHAR, other, 1, MPI_COMM_WORLD);
        MPI_Recv(data.data(), count, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(data.data(), count, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data.data(), count, MPI_CHAR, other, 1, MPI_COMM_WORLD);
      }
      const double taken = MPI_Wtime() - start;
      spent += taken;
      if (round > 0) best = std::min(best, taken / 2);  // the first one sets up connections
      // The first rank says whether there is time for another one.
      if (rank == first) go_on = round < 2 || (spent < budget && round < 10'000) ? 1 : 0;
      if (rank == first) {
        MPI_Send(&go_on, 1, MPI_INT, other, 2, MPI_COMM_WORLD);
      } else {
        MPI_Recv(&go_on, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    // What the first rank saw counts: its time spans the whole round.
    if (rank == first) {
      MPI_Send(&best, 1, MPI_DOUBLE, other, 3, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&best, 1, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    samples.push_back({bytes, best});
    if (bytes >= largest) return samples;
  }
}

// All ranks' texts, on every rank.
std::vector<std::string> gather(const std::string& text) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> lengths(static_cast<std::size_t>(size)), starts(static_cast<std::size_t>(size), 0);
  const int length = static_cast<int>(text.size());
  MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (std::size_t i = 1; i < lengths.size(); ++i) starts[i] = starts[i - 1] + lengths[i - 1];
  std::string all(static_cast<std::size_t>(starts.back() + lengths.back()), ' ');
  MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR,
                 MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    texts.push_back(all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
  return texts;
}

struct Measured {
  Level level = Level::node;
  int first = 0, second = 0;
  std::vector<Sample> samples;

  double latency() const { return samples.front().seconds; }
  double bandwidth() const {
    double best = 0;
    for (const Sample& sample : samples)
      if (sample.bytes > 1) best = std::max(best, static_cast<double>(sample.bytes) / sample.seconds);
    return best;
  }
};

// The machine that the ranks are on, and who is where in it. The same on every rank.
struct Found {
  Platform platform;
  std::vector<Seat> seats;  // by rank
};

// A rank that its launcher has bound to a core stays there; the others take the useful cores of their node in
// turn.
Status take_seats(Found& found, const std::vector<std::string>& usable_by) {
  std::vector<std::size_t> next(found.platform.nodes.size(), 0);
  for (std::size_t i = 0; i < found.seats.size(); ++i) {
    Seat& seat = found.seats[i];
    const NodeType& type = found.platform.type_of(seat.node);
    WEIR_ASSIGN(const Numbers pus, parse_numbers(usable_by[i]));
    const Numbers cores = cores_of(type, pus);
    if (cores.empty())
      return fail(ErrorCode::io,
                  fmt::format("rank {} on {} may use no core", i, found.platform.nodes[seat.node].name));
    seat.bound = cores.size() == 1;
    const Numbers useful = useful_cores(type, cores);
    seat.core = seat.bound ? cores[0] : useful[next[seat.node]++ % useful.size()];
  }
  return {};
}

Result<Found> find_out() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char host[256] = "localhost";
  if (::gethostname(host, sizeof host - 1) != 0 || !is_host_name(host)) std::strcpy(host, "localhost");
  // The node whole, and what of it this rank may use: launchers bind ranks, which is no property of the node.
  // A failure travels as an empty text: a rank that left alone would leave the others waiting.
  auto own = node_type_of_this_machine();
  std::string usable, whole;
  if (own) {
    usable = format_numbers(own->usable_pus());
    own->unusable_pus.clear();
    whole = platform_to_json({.node_types = {*own}, .nodes = {{.name = "node"}}}).dump();
  }
  const auto types = gather(whole);
  const auto usable_by = gather(usable);
  const auto hosts = gather(host);
  Found found{.platform = {.name = "measured"}};
  std::map<std::string, std::uint32_t> type_number, node_number;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto json = parse_json(types[i]);
    if (!json)
      return fail(ErrorCode::io, fmt::format("rank {} on {} cannot tell what its node is", i, hosts[i]));
    if (!node_number.contains(hosts[i])) {
      if (!type_number.contains(types[i])) {
        WEIR_ASSIGN(Platform one, platform_from_json(*json));
        type_number[types[i]] = static_cast<std::uint32_t>(found.platform.node_types.size());
        found.platform.node_types.push_back(std::move(one.node_types[0]));
        if (found.platform.node_types.size() > 1)
          found.platform.node_types.back().name += std::to_string(found.platform.node_types.size());
      }
      node_number[hosts[i]] = static_cast<std::uint32_t>(found.platform.nodes.size());
      found.platform.nodes.push_back({.name = hosts[i], .type = type_number[types[i]]});
    }
    found.seats.push_back({.node = node_number[hosts[i]]});
  }
  WEIR_TRY(take_seats(found, usable_by));
  const Seat& mine = found.seats[static_cast<std::size_t>(rank)];
  const bool bound =
      mine.bound ||
      bind_this_process({first_pu(found.platform.type_of(mine.node), mine.core, *parse_numbers(usable))})
          .has_value();
  const auto all_bound = gather(bound ? "1" : "0");
  for (std::size_t i = 0; i < found.seats.size(); ++i) found.seats[i].bound = all_bound[i] == "1";
  WEIR_TRY(check(found.platform));
  return found;
}

// One pair for each level there is. Ranks that share a core measure the scheduler, not the machine.
std::map<Level, std::pair<int, int>> pairs_of(const Found& found) {
  const PlatformLookup lookup(found.platform);
  std::map<Level, std::pair<int, int>> pairs;
  for (std::size_t i = 0; i < found.seats.size(); ++i) {
    for (std::size_t j = i + 1; j < found.seats.size(); ++j) {
      const Seat &a = found.seats[i], &b = found.seats[j];
      if (a.node == b.node && (!a.bound || !b.bound)) continue;
      const Level level = lookup.common_level({a.node, a.core}, {b.node, b.core});
      if (level == Level::core) continue;
      pairs.try_emplace(level, static_cast<int>(i), static_cast<int>(j));
    }
  }
  return pairs;
}

void print(const Found& found, const std::vector<Measured>& list, bool json) {
  if (json) {
    Json result{
        {"nodes", found.platform.nodes.size()}, {"ranks", found.seats.size()}, {"levels", Json::array()}};
    for (const Measured& one : list) {
      Json entry{{"level", to_string(one.level)},
                 {"ranks", {one.first, one.second}},
                 {"bytes_per_second", one.bandwidth()},
                 {"latency_seconds", one.latency()},
                 {"sizes", Json::array()}};
      for (const Sample& sample : one.samples)
        entry["sizes"].push_back({{"bytes", sample.bytes}, {"seconds", sample.seconds}});
      result["levels"].push_back(std::move(entry));
    }
    fmt::print("{}\n", pretty(result));
    return;
  }
  using enum Table::Align;
  std::vector<std::string> titles = {"WITHIN ONE", "RANKS", "LATENCY"};
  std::vector<Table::Align> align = {left, left, right};
  for (const Sample& sample : list.front().samples) {
    if (sample.bytes == 1) continue;
    titles.push_back(format_bytes(sample.bytes));
    align.push_back(right);
  }
  Table table(titles, align);
  for (const Measured& one : list) {
    std::vector<std::string> row = {std::string(to_string(one.level)),
                                    fmt::format("{}, {}", one.first, one.second),
                                    fmt::format("{:.2f} us", 1e6 * one.latency())};
    for (const Sample& sample : one.samples)
      if (sample.bytes != 1)
        row.push_back(fmt::format("{:.0f} MB/s", static_cast<double>(sample.bytes) / sample.seconds / 1e6));
    table.add(row);
  }
  fmt::print("{}", table.text());
}

// COLLECTIVE.
Status measure(const MeasureArguments& arguments, std::uint64_t largest) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2)
    return fail(ErrorCode::invalid_argument, "one rank cannot measure anything", "start two or more");
  WEIR_ASSIGN(Found found, find_out());
  std::vector<Measured> list;
  for (const auto& [level, pair] : pairs_of(found)) {
    MPI_Barrier(MPI_COMM_WORLD);
    std::string text;
    std::vector<Sample> samples;
    if (rank == pair.first || rank == pair.second)
      samples = ping_pong(pair.first, pair.second, largest, arguments.seconds);
    auto count = static_cast<int>(samples.size());
    MPI_Bcast(&count, 1, MPI_INT, pair.first, MPI_COMM_WORLD);
    samples.resize(static_cast<std::size_t>(count));
    MPI_Bcast(samples.data(), static_cast<int>(count * sizeof(Sample)), MPI_BYTE, pair.first, MPI_COMM_WORLD);
    list.push_back({level, pair.first, pair.second, std::move(samples)});
  }
  if (list.empty()) {
    return fail(ErrorCode::invalid_argument,
                "no two ranks have cores of their own: there is nothing between them to measure",
                "start them on more cores or nodes");
  }
  for (const Measured& one : list)
    found.platform.links.push_back(
        {.level = one.level, .bytes_per_second = one.bandwidth(), .latency_seconds = one.latency()});
  if (rank != 0) return {};
  if (!arguments.output.empty()) WEIR_TRY(save_platform(found.platform, arguments.output));
  print(found, list, arguments.json);
  return {};
}

Status start_ranks(const MeasureArguments& arguments) {
  WEIR_ASSIGN(const NodeType type, node_type_of_this_machine());
  const std::size_t useful = useful_cores(type, cores_of(type, type.usable_pus())).size();
  if (useful < 2 && arguments.ranks == 0) {
    return fail(ErrorCode::unsupported,
                "this machine has a single core: there is nothing to measure within it",
                "start it with a launcher on several nodes");
  }
  const std::size_t ranks = arguments.ranks != 0 ? arguments.ranks : useful;
  std::vector<std::string> words = {"platform",        "measure",   "--largest",
                                    arguments.largest, "--seconds", fmt::format("{}", arguments.seconds)};
  if (!arguments.output.empty()) words.insert(words.end(), {"-o", arguments.output});
  if (arguments.json) words.emplace_back("--json");
  return run_ranks(static_cast<int>(ranks), words);
}

}  // namespace

Status measure_platform(const MeasureArguments& arguments) {
  WEIR_ASSIGN(const std::int64_t largest, in(parse_bytes(arguments.largest), "--largest"));
  constexpr std::int64_t most = std::int64_t{1} << 30U;
  if (largest < 2 || largest > most)
    return fail(ErrorCode::invalid_argument, "--largest: give 2 bytes to 1 GiB");
  if (!under_launcher()) return start_ranks(arguments);
  MPI_Init(nullptr, nullptr);
  Status status = measure(arguments, static_cast<std::uint64_t>(largest));
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Finalize();
  // All ranks fail alike; one says why.
  if (!status && rank != 0) ::_exit(1);
  return status;
}

}  // namespace weir::cli
