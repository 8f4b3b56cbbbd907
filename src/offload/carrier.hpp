// A compute rank's side of an I/O server on the same node: a thread that copies data into the server's
// mailbox, so that the program neither copies nor has to call anything for its data to move. It runs on the
// server's core where that is known, never calls MPI, and ends when its owner does.
#pragma once

#include <mutex>
#include <thread>
#include <vector>

#include "collective/peers.hpp"
#include "core/core_distance.hpp"
#include "offload/backlog.hpp"
#include "offload/mailbox.hpp"
#include "offload/process_watch.hpp"
#include "offload/shared_copy.hpp"
#include "offload/warm_up.hpp"

namespace weir::offload {

// What a client has to know of its server.
struct ServerAddress {
  int rank = 0;  // in the job
  std::int64_t process = 0;
  std::vector<int> cores;  // that it is bound to; empty: not bound
};

class Carrier final : public Conduit {
 public:
  // `region` holds the mailbox's memory.
  Carrier(Region region, Mailbox mailbox, ServerAddress server);
  ~Carrier() override;  // drops what is still on its way

  void submit(Operation operation) override;
  bool maps_regions() const override { return true; }
  bool help() override;
  void leave(int rank) override;
  Report report() override;

 private:
  void work();
  bool read_answers();
  bool begin_next();
  bool copy_parts();
  double copy(std::byte* to, const Backlog::Part& part);  // how many seconds it took
  std::optional<std::string> look_after_server();
  void say_goodbye();

  Region region_;
  Mailbox mailbox_;
  ServerAddress server_;
  ProcessWatch server_watch_;      // has it ended?
  collective::Peers server_peer_;  // has it been stopped?

  std::mutex copy_mutex_;
  std::shared_ptr<SharedCopy> copy_;  // under way; guarded by copy_mutex_
  Backlog backlog_;

  CoreDistance distance_;

  // The thread's own.
  WarmUp warm_up_;
  MessageWriter letters_;
  MessageReader answers_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace weir::offload
