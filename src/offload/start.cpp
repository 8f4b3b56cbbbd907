#include "offload/start.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <new>

#include "collective/next_node.hpp"
#include "collective/peers.hpp"
#include "offload/carrier.hpp"
#include "offload/lookout.hpp"
#include "offload/mpi_link.hpp"
#include "offload/server.hpp"

namespace weir::offload {

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t least_room = 64U << 10U;  // per client
constexpr std::uint64_t most_warm = 256U << 20U;  // memory that a server takes before there is data for it

// What a server has beside the mailboxes, once for an open file and once for merging small blocks. A file
// that makes more room for what it gathers needs it twice for a moment: in all, less than a tenth of the
// budget.
constexpr std::uint64_t aside(std::uint64_t budget) {
  return budget / 32;
}

// What a server tells its client about their mailbox.
struct Invitation {
  std::array<char, 64> host{};  // a process number means nothing elsewhere
  Region::Address region;
  std::uint64_t bell = 0;             // offset of the server's bell in the region
  std::uint64_t mailbox = 0;          // offset of the mailbox
  std::uint64_t room = 0;             // for data
  cpu_set_t cores;                    // that the server runs on
  int bound = 0;                      // whether those are fewer than all
  collective::Whereabouts answers{};  // to a client on another node that asks whether the server lives
};

enum Tag : int { invitation_tag = 1, reply_tag = 2 };

// Two processes that find the same words here can see each other's memory.
std::array<char, 64> this_host() {
  std::array<char, 64> host{};
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string words;
  boot >> words;
  struct stat space {};
  if (::stat("/proc/self/ns/pid", &space) == 0) words += std::to_string(space.st_ino);
  // Nodes that are told apart by their names only, as virtual ones are, count as apart.
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  words += name.data();
  std::copy_n(words.begin(), std::min(words.size(), host.size() - 1), host.begin());
  return host;
}

bool is_bound(cpu_set_t& cores) {
  CPU_ZERO(&cores);
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 &&
         CPU_COUNT(&cores) < ::sysconf(_SC_NPROCESSORS_ONLN);
}

// What a client answers.
struct Reply {
  std::int64_t process = -1;          // -1: it cannot see the mailbox
  cpu_set_t cores{};                  // that its program may run on
  collective::Whereabouts answers{};  // where it cannot
};

bool share_cores(const cpu_set_t& a, const cpu_set_t& b) {
  cpu_set_t both;
  CPU_AND(&both, &a, &b);
  return CPU_COUNT(&both) > 0;
}

std::vector<int> clients_of(const Parts& parts, int server) {
  std::vector<int> clients;
  for (std::size_t rank = 0; rank < parts.server_of.size(); ++rank) {
    if (parts.server_of[rank] == server) clients.push_back(static_cast<int>(rank));
  }
  return clients;
}

int compute_rank(const Parts& parts, int rank) {
  return rank - static_cast<int>(std::lower_bound(parts.servers.begin(), parts.servers.end(), rank) -
                                 parts.servers.begin());
}

Lookout::Look watch(const collective::Whereabouts& where, int rank) {
  auto watched = std::make_shared<collective::NextNode>();
  watched->watch(where, {static_cast<std::uint32_t>(rank)});
  return [watched] { return watched->look(); };
}

// A process of this node.
Lookout::Look watch(std::int64_t process, int rank) {
  using collective::Peers;
  auto watched = std::make_shared<Peers>(
      std::vector<Peers::Peer>{{}, Peers::find(static_cast<pid_t>(process), rank)}, 0);
  return [watched] { return watched->look(); };
}

// The next server looks after the one after it, and so on: one that is lost, somebody notices. COLLECTIVE
// over the servers.
std::optional<Lookout::Look> watch_next_server(const mpi::Comm& servers, const Parts& parts,
                                               const Invitation& mine) {
  const std::vector<std::string> all =
      servers.gather_to_all({reinterpret_cast<const char*>(&mine), sizeof mine});
  const auto next = static_cast<std::size_t>(servers.rank() + 1) % all.size();
  if (next == static_cast<std::size_t>(servers.rank())) return std::nullopt;
  Invitation theirs;
  std::memcpy(&theirs, all[next].data(), sizeof theirs);
  if (theirs.host == mine.host) return watch(theirs.region.process, parts.servers[next]);
  return watch(theirs.answers, parts.servers[next]);
}

Status serve(const mpi::Comm& job, const mpi::Comm& servers, const Parts& parts, std::uint64_t budget) {
  const std::vector<int> ranks = clients_of(parts, job.rank());
  const std::uint64_t room = budget / std::max<std::size_t>(1, ranks.size()) / page * page;
  const std::uint64_t each = Mailbox::footprint(room);
  Status ready;
  if (room < least_room) {
    ready = fail(ErrorCode::invalid_argument,
                 fmt::format("a budget of {} bytes is too small for {} clients", budget, ranks.size()),
                 fmt::format("make it {} bytes or more", least_room * ranks.size()));
  }
  auto region =
      ready ? Region::create(page + each * ranks.size()) : Result<Region>(tl::make_unexpected(ready.error()));
  WEIR_TRY(mpi::agree(job, region ? Status() : Status(tl::make_unexpected(region.error()))));
  auto* bell = new (region->data()) Bell;
  Invitation invitation{.host = this_host(), .region = region->address(), .room = room};
  collective::NextNode answering;
  invitation.answers = answering.own();
  invitation.bound = is_bound(invitation.cores) ? 1 : 0;
  bool own_cores = invitation.bound != 0;
  std::vector<Server::Client> clients;
  std::vector<std::pair<int, Mailbox>> elsewhere;
  std::vector<Lookout::Look> watched;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    invitation.mailbox = page + i * each;
    new (region->data() + invitation.mailbox) Mailbox::Shared;
    MPI_Send(&invitation, sizeof invitation, MPI_BYTE, ranks[i], invitation_tag, job.get());
    Reply reply;
    MPI_Recv(&reply, sizeof reply, MPI_BYTE, ranks[i], reply_tag, job.get(), MPI_STATUS_IGNORE);
    own_cores = own_cores && reply.process >= 0 && !share_cores(reply.cores, invitation.cores);
    Server::Client client{.rank = compute_rank(parts, ranks[i]),
                          .mailbox = Mailbox(region->data() + invitation.mailbox, room, *bell),
                          .watch = {},
                          .warm_up = {}};
    client.warm_up = WarmUp(*region, static_cast<std::uint64_t>(client.mailbox.data() - region->data()),
                            std::min(room, most_warm / ranks.size()));
    if (reply.process >= 0) {
      client.watch.emplace(reply.process);
    } else {
      elsewhere.emplace_back(ranks[i], Mailbox(region->data() + invitation.mailbox, room, *bell));
      watched.push_back(watch(reply.answers, ranks[i]));
    }
    clients.push_back(std::move(client));
  }
  WEIR_TRY(mpi::agree(job, Status()));
  const mpi::Comm link = job.duplicate();
  std::optional<MpiReceiver> receiver;
  if (!elsewhere.empty()) receiver.emplace(link, elsewhere);
  if (auto next = watch_next_server(servers, parts, invitation)) watched.push_back(std::move(*next));
  Lookout lookout(job.rank(), std::move(watched));
  Server server(servers, *bell, std::move(clients), Courtesy(own_cores),
                static_cast<std::uint64_t>(servers.min(static_cast<std::int64_t>(aside(budget)))), lookout);
  return server.run();
}

Result<std::unique_ptr<Conduit>> connect(const mpi::Comm& job, const Parts& parts) {
  WEIR_TRY(mpi::agree(job, Status()));
  const int server = parts.server_of[static_cast<std::size_t>(job.rank())];
  Invitation invitation;
  MPI_Recv(&invitation, sizeof invitation, MPI_BYTE, server, invitation_tag, job.get(), MPI_STATUS_IGNORE);
  const bool same_host = invitation.host == this_host();
  auto region =
      same_host ? Region::open(invitation.region) : Result<Region>(fail(ErrorCode::io, "another host"));
  Reply reply{.process = region ? ::getpid() : -1};
  is_bound(reply.cores);
  collective::NextNode server_watch;
  if (!region) {
    reply.answers = server_watch.own();
    server_watch.watch(invitation.answers, {static_cast<std::uint32_t>(server)});
  }
  MPI_Send(&reply, sizeof reply, MPI_BYTE, server, reply_tag, job.get());
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  const bool possible = region || provided == MPI_THREAD_MULTIPLE;
  WEIR_TRY(mpi::agree(
      job, possible ? Status()
                    : Status(fail(ErrorCode::unsupported,
                                  "an I/O server is on another node, and MPI was started for one thread only",
                                  "start MPI by MPI_Init_thread(..., MPI_THREAD_MULTIPLE, ...), or the "
                                  "program by 'weir run'"))));
  const mpi::Comm link = job.duplicate();
  if (!region) return std::make_unique<MpiCarrier>(link, server, invitation.room, std::move(server_watch));
  ServerAddress address{.rank = server, .process = invitation.region.process, .cores = {}};
  for (int core = 0; core < CPU_SETSIZE && invitation.bound != 0; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &invitation.cores)) address.cores.push_back(core);
  }
  auto& bell = *std::launder(reinterpret_cast<Bell*>(region->data()));
  const Mailbox mailbox(region->data() + invitation.mailbox, invitation.room, bell);
  return std::make_unique<Carrier>(std::move(*region), mailbox, std::move(address));
}

}  // namespace

std::vector<std::uint32_t> nodes_of(const mpi::Comm& comm) {
  if (comm.is_serial()) return {0};
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &node);
  int leader = comm.rank();
  MPI_Bcast(&leader, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  std::vector<int> leaders(static_cast<std::size_t>(comm.size()));
  MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, comm.get());
  std::map<int, std::uint32_t> numbers;
  std::vector<std::uint32_t> nodes;
  for (const int who : leaders)
    nodes.push_back(numbers.try_emplace(who, static_cast<std::uint32_t>(numbers.size())).first->second);
  return nodes;
}

Result<std::optional<Connected>> start(const mpi::Comm& job, const Parts& parts, std::uint64_t budget) {
  const bool serves = parts.server_of[static_cast<std::size_t>(job.rank())] < 0;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(job.get(), serves ? 1 : 0, job.rank(), &part);
  const mpi::Comm mine = mpi::Comm::duplicate(part);
  MPI_Comm_free(&part);
  if (serves) {
    // Above a server there is no program that could catch anything.
    WEIR_TRY(guarded([&] { return serve(job, mine, parts, budget); }));
    return std::optional<Connected>();
  }
  WEIR_ASSIGN(std::unique_ptr<Conduit> conduit, connect(job, parts));
  return Connected{.compute = mine, .conduit = std::move(conduit)};
}

}  // namespace weir::offload
