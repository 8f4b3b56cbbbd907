// The way between a compute rank and an I/O server on another node: MPI, in chunks. What a server on the same
// node finds in its mailbox because the client put it there, an MPI link puts there on the client's behalf.
//
// Both sides have a thread that calls MPI, so that data moves while the program computes and the server
// writes: MPI has to be started with MPI_THREAD_MULTIPLE. While there is nothing to do the threads sleep for
// up to a millisecond at a time.
#pragma once

#include <atomic>
#include <list>
#include <thread>
#include <vector>

#include "collective/next_node.hpp"
#include "mpi/comm.hpp"
#include "offload/backlog.hpp"
#include "offload/mailbox.hpp"

namespace weir::offload {

// Messages on their way out, with what they are made of.
class Outbox {
 public:
  Outbox(MPI_Comm comm, int peer) : comm_(comm), peer_(peer) {}
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  ~Outbox();  // cancels nothing: waits
  void send(std::string bytes, int tag);
  void send(const std::byte* bytes, std::uint64_t size, int tag);  // REQUIRES: they stay until sent
  bool sent();                                                     // is everything gone?
  void abandon();  // nobody takes it any more: it stays as it is until the process ends

 private:
  struct Message {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  MPI_Comm comm_;
  int peer_;
  std::list<Message> messages_;
};

// The client's side.
class MpiCarrier final : public Conduit {
 public:
  // `comm` is used by the thread alone; `server` is a rank in it. `room`: of the ring at the server. `watch`:
  // whether the server answers.
  MpiCarrier(mpi::Comm comm, int server, std::uint64_t room, collective::NextNode watch);
  ~MpiCarrier() override;

  void submit(Operation operation) override;
  bool maps_regions() const override { return false; }
  void leave(int rank) override;
  Report report() override;

 private:
  void work();
  bool read_messages();
  bool begin_next();
  bool send_parts();
  bool server_is_lost();

  mpi::Comm comm_;
  int server_;
  collective::NextNode watch_;
  Ring ring_;
  Backlog backlog_;
  Bell bell_;

  // The thread's own.
  bool lost_ = false;  // the server
  Outbox outbox_;
  std::uint64_t freed_ = 0;
  std::thread thread_;  // last: it uses all of the above
};

// The server's side, of all its clients on other nodes.
class MpiReceiver {
 public:
  // `comm` is used by the thread alone. `clients` are ranks in it, each with its mailbox.
  MpiReceiver(mpi::Comm comm, const std::vector<std::pair<int, Mailbox>>& clients);
  MpiReceiver(const MpiReceiver&) = delete;
  MpiReceiver& operator=(const MpiReceiver&) = delete;
  ~MpiReceiver();  // when the last answers have been sent

 private:
  struct Link {
    Link(MPI_Comm comm, int peer, const Mailbox& box) : rank(peer), mailbox(box), outbox(comm, peer) {}
    int rank;
    Mailbox mailbox;
    Outbox outbox;
    MessageWriter letters;
    MessageReader answers;
    std::string piece;                  // a letter that waits for its data
    std::vector<MPI_Request> arriving;  // that data
    std::uint64_t freed = 0;            // as the client knows
  };
  void work();
  bool receive(Link& link);
  bool answer(Link& link);

  mpi::Comm comm_;
  std::list<Link> links_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace weir::offload
