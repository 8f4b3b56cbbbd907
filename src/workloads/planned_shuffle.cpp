#include "workloads/planned_shuffle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <stdexcept>

#include "workloads/collective_io.hpp"
#include "workloads/share.hpp"

namespace weir::workloads {

using pattern::Access;

std::vector<Stretch> stretches_in(std::span<const Access> accesses, std::int64_t begin, std::int64_t end) {
  std::vector<Stretch> result;
  std::uint64_t in_memory = 0;
  for (const Access& access : accesses) {
    const std::uint64_t size = pattern::bytes(access);
    if (access.offset < end && pattern::end(access) > begin) {
      std::uint64_t at = in_memory;
      for (pattern::PieceCursor cursor(access); !cursor.done(); cursor.advance()) {
        const pattern::Piece piece = cursor.piece();
        if (piece.offset >= end) break;
        const std::int64_t from = std::max(piece.offset, begin), to = std::min(piece.end(), end);
        if (from < to)
          result.push_back({from, static_cast<std::uint64_t>(to - from),
                            at + static_cast<std::uint64_t>(from - piece.offset)});
        at += piece.length;
      }
    }
    in_memory += size;
  }
  return result;
}

namespace {

std::uint64_t total(const std::vector<Stretch>& stretches) {
  std::uint64_t sum = 0;
  for (const Stretch& stretch : stretches) sum += stretch.length;
  return sum;
}

// The stretches one after the other, to and from the places they have in memory.
void gather(const std::vector<Stretch>& stretches, const std::byte* memory, std::byte* packed) {
  for (const Stretch& stretch : stretches) {
    std::memcpy(packed, memory + stretch.in_memory, stretch.length);
    packed += stretch.length;
  }
}

void scatter(const std::vector<Stretch>& stretches, const std::byte* packed, std::byte* memory) {
  for (const Stretch& stretch : stretches) {
    std::memcpy(memory + stretch.in_memory, packed, stretch.length);
    packed += stretch.length;
  }
}

Status to_status(int code, std::string_view what, const std::string& path) {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return in(Status(fail(ErrorCode::io, text)), what, path);
}

}  // namespace

// One rank's data for one domain, on its way.
struct PlannedShuffle::Route {
  int peer = 0;
  std::vector<Stretch> stretches;  // in_memory: of the rank's data, or of the domain's buffer
  std::vector<std::byte> packed;
};

struct PlannedShuffle::Domain {
  int number = 0;
  std::int64_t begin = 0;
  std::vector<std::byte> buffer;
  std::vector<Route> routes;         // by rank that has something for it
  std::vector<pattern::Piece> runs;  // what is touched, without the gaps
};

PlannedShuffle::PlannedShuffle(MPI_Comm comm, const IoWorkload& workload, const std::vector<int>& aggregators,
                               Kind kind)
    : comm_(mpi::Comm::duplicate(comm)), rank_(comm_.rank()) {
  const pattern::Pattern pattern = pattern_of(workload).value();
  const auto count = static_cast<std::uint32_t>(std::max<std::size_t>(aggregators.size(), 1));
  const pattern::Domains domains = pattern::even_domains(pattern, pattern.files[0].writes, count);
  const std::vector<std::uint32_t> group_of = segments_of(workload, count);
  const std::vector<Access> mine = program_of(workload, static_cast<std::uint64_t>(rank_)).all_accesses();
  for (std::size_t number = 0; number < aggregators.size(); ++number) {
    std::int64_t begin = domains.edges[number], end = domains.edges[number + 1];
    std::vector<int> members;
    bool member = false;
    for (std::size_t rank = 0; rank < group_of.size(); ++rank) {
      if (kind == Kind::segmented && group_of[rank] != number) continue;
      members.push_back(static_cast<int>(rank));
      member = member || members.back() == rank_;
    }
    if (kind == Kind::segmented) {
      begin = domains.edges.back();
      end = 0;
      for (const int rank : members) {
        for (const Access& access : program_of(workload, static_cast<std::uint64_t>(rank)).all_accesses()) {
          begin = std::min(begin, access.offset);
          end = std::max(end, pattern::end(access));
        }
      }
      end = std::max(begin, end);
    }
    Route route{aggregators[number], member ? stretches_in(mine, begin, end) : std::vector<Stretch>(), {}};
    route.packed = std::vector<std::byte>(total(route.stretches));
    if (route.packed.size() > INT_MAX) throw std::logic_error("a message of more than 2 GiB");
    routes_.push_back(std::move(route));
    if (aggregators[number] == rank_) add_domain(workload, static_cast<int>(number), begin, end, members);
  }
}

void PlannedShuffle::add_domain(const IoWorkload& workload, int number, std::int64_t begin, std::int64_t end,
                                const std::vector<int>& members) {
  Domain domain{number, begin, std::vector<std::byte>(static_cast<std::size_t>(end - begin)), {}, {}};
  for (const int rank : members) {
    const auto theirs = program_of(workload, static_cast<std::uint64_t>(rank)).all_accesses();
    Route incoming{rank, stretches_in(theirs, begin, end), {}};
    for (Stretch& stretch : incoming.stretches) {
      stretch.in_memory = static_cast<std::uint64_t>(stretch.offset - begin);
      domain.runs.push_back({stretch.offset, stretch.length});
    }
    if (incoming.stretches.empty()) continue;
    incoming.packed.resize(total(incoming.stretches));
    domain.routes.push_back(std::move(incoming));
  }
  std::sort(domain.runs.begin(), domain.runs.end(),
            [](const pattern::Piece& a, const pattern::Piece& b) { return a.offset < b.offset; });
  std::vector<pattern::Piece> joined;
  for (const pattern::Piece& run : domain.runs) {
    if (!joined.empty() && run.offset <= joined.back().end()) {
      const std::int64_t reach = std::max(joined.back().end(), run.end());
      joined.back().length = static_cast<std::uint64_t>(reach - joined.back().offset);
    } else {
      joined.push_back(run);
    }
  }
  domain.runs = std::move(joined);
  domains_.push_back(std::move(domain));
}

PlannedShuffle::~PlannedShuffle() = default;

// Messages between ranks and aggregators; what stays in a rank is copied.
Result<double> PlannedShuffle::exchange(bool towards_aggregators) {
  std::vector<MPI_Request> requests;
  const auto start_of = [&](bool sends, std::vector<std::byte>& data, int peer, int tag) {
    requests.emplace_back();
    const auto count = static_cast<int>(data.size());
    if (sends) {
      MPI_Isend(data.data(), count, MPI_BYTE, peer, tag, comm_.get(), &requests.back());
    } else {
      MPI_Irecv(data.data(), count, MPI_BYTE, peer, tag, comm_.get(), &requests.back());
    }
  };
  MPI_Barrier(comm_.get());
  const double start = MPI_Wtime();
  for (Domain& domain : domains_) {
    for (Route& route : domain.routes) {
      if (route.peer != rank_) start_of(!towards_aggregators, route.packed, route.peer, domain.number);
    }
  }
  for (std::size_t number = 0; number < routes_.size(); ++number) {
    Route& route = routes_[number];
    if (route.packed.empty()) continue;
    if (route.peer != rank_) {
      start_of(towards_aggregators, route.packed, route.peer, static_cast<int>(number));
      continue;
    }
    for (Domain& domain : domains_) {
      if (domain.number != static_cast<int>(number)) continue;
      for (Route& here : domain.routes) {
        if (here.peer != rank_) continue;
        if (towards_aggregators) {
          here.packed = route.packed;
        } else {
          route.packed = here.packed;
        }
      }
    }
  }
  const int code = MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  const double seconds = MPI_Wtime() - start;
  WEIR_TRY(mpi::agree(comm_, to_status(code, "exchange", "")));
  return slowest(seconds, comm_.get());
}

// The aggregators' part of the file.
Result<double> PlannedShuffle::transfer_domains(const std::string& path, bool writes) {
  MPI_File file = MPI_FILE_NULL;
  const int mode = writes ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
  WEIR_TRY(mpi::agree(
      comm_, to_status(MPI_File_open(comm_.get(), path.c_str(), mode, MPI_INFO_NULL, &file), "open", path)));
  MPI_Barrier(comm_.get());
  const double start = MPI_Wtime();
  int code = MPI_SUCCESS;
  for (Domain& domain : domains_) {
    for (const pattern::Piece& run : domain.runs) {
      std::int64_t at = run.offset;
      while (at < run.end() && code == MPI_SUCCESS) {
        const auto count = static_cast<int>(std::min<std::int64_t>(run.end() - at, 1 << 30));
        std::byte* data = domain.buffer.data() + (at - domain.begin);
        code = writes ? MPI_File_write_at(file, at, data, count, MPI_BYTE, MPI_STATUS_IGNORE)
                      : MPI_File_read_at(file, at, data, count, MPI_BYTE, MPI_STATUS_IGNORE);
        at += count;
      }
    }
  }
  const double seconds = MPI_Wtime() - start;
  const Status done = mpi::agree(comm_, to_status(code, writes ? "write" : "read", path));
  MPI_File_close(&file);
  WEIR_TRY(done);
  return slowest(seconds, comm_.get());
}

Result<ShuffleTimes> PlannedShuffle::write(const std::string& path, const std::byte* memory) {
  ShuffleTimes times;
  const NodeTraffic traffic(comm_.get());
  double start = MPI_Wtime();
  for (Route& route : routes_) gather(route.stretches, memory, route.packed.data());
  times.pack = slowest(MPI_Wtime() - start, comm_.get());
  const std::uint64_t before = traffic.sent();
  WEIR_ASSIGN(times.communication, exchange(true));
  times.sent_between_nodes = traffic.sent() - before;
  start = MPI_Wtime();
  for (Domain& domain : domains_) {
    for (const Route& route : domain.routes)
      scatter(route.stretches, route.packed.data(), domain.buffer.data());
  }
  times.assemble = slowest(MPI_Wtime() - start, comm_.get());
  WEIR_ASSIGN(times.io, transfer_domains(path, true));
  return times;
}

Result<ShuffleTimes> PlannedShuffle::read(const std::string& path, std::byte* memory) {
  ShuffleTimes times;
  const NodeTraffic traffic(comm_.get());
  WEIR_ASSIGN(times.io, transfer_domains(path, false));
  double start = MPI_Wtime();
  for (Domain& domain : domains_) {
    for (Route& route : domain.routes) gather(route.stretches, domain.buffer.data(), route.packed.data());
  }
  times.pack = slowest(MPI_Wtime() - start, comm_.get());
  const std::uint64_t before = traffic.sent();
  WEIR_ASSIGN(times.communication, exchange(false));
  times.sent_between_nodes = traffic.sent() - before;
  start = MPI_Wtime();
  for (const Route& route : routes_) scatter(route.stretches, route.packed.data(), memory);
  times.assemble = slowest(MPI_Wtime() - start, comm_.get());
  return times;
}

}  // namespace weir::workloads
