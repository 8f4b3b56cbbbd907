#include "collective/next_node.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <random>
#include <system_error>
#include <thread>

#include "core/no_signals.hpp"
#include "mpi/comm.hpp"

namespace weir::collective {

using namespace std::chrono_literals;

namespace {

constexpr auto between_looks = 1s;
constexpr auto looked_away = 5s;       // who did not ask cannot miss an answer
constexpr unsigned few_questions = 3;  // one may get lost, or its answer be late

Descriptor datagrams() {
  return Descriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Of this machine: those that others can reach, or itself if there are none.
std::array<std::uint32_t, 4> own_addresses() {
  std::array<std::uint32_t, 4> addresses{};
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return addresses;
  std::size_t count = 0;
  for (const ifaddrs* one = all; one != nullptr && count < addresses.size(); one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    addresses[count++] = reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr;
  }
  ::freeifaddrs(all);
  if (count == 0) addresses[0] = htonl(INADDR_LOOPBACK);
  return addresses;
}

}  // namespace

class Answering {
 public:
  // One for the process; none where there are no sockets or threads to be had.
  static std::shared_ptr<Answering> of_process() {
    static std::mutex mutex;
    static std::weak_ptr<Answering> shared;
    const std::lock_guard lock(mutex);
    auto answering = shared.lock();
    if (answering) return answering;
    try {
      answering = std::make_shared<Answering>();
    } catch (const std::system_error&) {
      return nullptr;
    }
    shared = answering;
    return answering;
  }

  Answering() : socket_(datagrams()), end_(::eventfd(0, EFD_CLOEXEC)) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    socklen_t size = sizeof any;
    if (!socket_ || !end_ || ::bind(socket_.get(), reinterpret_cast<sockaddr*>(&any), size) != 0 ||
        ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&any), &size) != 0)
      throw std::system_error(errno, std::generic_category());
    std::random_device random;
    where_ = {.secret = std::uint64_t{random()} << 32U | random(),
              .addresses = own_addresses(),
              .port = any.sin_port};
    thread_ = thread_without_signals([this] { answer(); });
  }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;
  ~Answering() {
    const std::uint64_t one = 1;
    (void)!::write(end_.get(), &one, sizeof one);
    thread_.join();
  }

  const Whereabouts& where() const { return where_; }

 private:
  void answer() const {
    pollfd wait[2] = {{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                      {.fd = end_.get(), .events = POLLIN, .revents = 0}};
    while (::poll(wait, 2, -1) > 0 && wait[1].revents == 0) {
      std::uint64_t question = 0;
      sockaddr_in from{};
      socklen_t size = sizeof from;
      const ssize_t got =
          ::recvfrom(socket_.get(), &question, sizeof question, 0, reinterpret_cast<sockaddr*>(&from), &size);
      if (got == sizeof question && question == where_.secret)
        ::sendto(socket_.get(), &question, sizeof question, 0, reinterpret_cast<sockaddr*>(&from), size);
    }
  }

  Descriptor socket_;
  Descriptor end_;
  Whereabouts where_;
  std::thread thread_;  // last: it uses the above
};

NextNode::NextNode() = default;
NextNode::NextNode(NextNode&&) noexcept = default;
NextNode& NextNode::operator=(NextNode&&) noexcept = default;
NextNode::~NextNode() = default;

Whereabouts NextNode::own() {
  answering_ = Answering::of_process();
  return answering_ ? answering_->where() : Whereabouts();
}

void NextNode::watch(const Whereabouts& next, std::vector<std::uint32_t> ranks) {
  if (next.port == 0) return;
  socket_ = datagrams();
  next_ = next;
  ranks_ = std::move(ranks);
  last_look_ = last_answer_ = Clock::now();
  if (socket_) ask();
}

void NextNode::ask() {
  ++unanswered_;
  for (const std::uint32_t address : next_.addresses) {
    if (address == 0) continue;
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = next_.port;
    to.sin_addr.s_addr = address;
    (void)::sendto(socket_.get(), &next_.secret, sizeof next_.secret, 0, reinterpret_cast<sockaddr*>(&to),
                   sizeof to);
  }
}

bool NextNode::answered() {
  bool any = false;
  std::uint64_t answer = 0;
  for (ssize_t got = 0; (got = ::recv(socket_.get(), &answer, sizeof answer, 0)) >= 0;)
    any = any || (got == sizeof answer && answer == next_.secret);
  return any;
}

std::optional<std::string> NextNode::look() {
  const auto now = Clock::now();
  if (!socket_ || now - last_look_ < between_looks) return std::nullopt;
  const bool any = answered();
  has_answered_ = has_answered_ || any;
  if (any || now - last_look_ > looked_away) {
    last_answer_ = now;
    unanswered_ = 0;
  }
  last_look_ = now;
  const double patience = mpi::patience();
  if (has_answered_ && unanswered_ >= few_questions &&
      now - last_answer_ >= std::chrono::duration<double>(patience))
    return fmt::format("the node of rank{} {} does not answer; waited {} s for it (WEIR_TIMEOUT)",
                       ranks_.size() == 1 ? "" : "s", fmt::join(ranks_, ", "), patience);
  ask();
  return std::nullopt;
}

}  // namespace weir::collective
