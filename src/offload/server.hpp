// An I/O server: receives what its clients want written and writes it, together with the other servers.
//
// All clients submit the same collective operations in the same order, so each server carries out operation
// after operation as soon as it has come from all of its own clients; data of later ones arrives in the
// mailboxes meanwhile. What concerns one client only (independent writes, shared memory) is done when that
// client comes to it.
//
// Where ranks do not make the same request, all of these requests fail. Files that some of them closed or
// created are given up then: a rank that closes a file while others still write to it, since a failure made
// it give up for example, does not come back to it. What is asked of such a file later fails, for each rank
// by itself, so that the ranks find each other again at the next file.
//
// A client may leave without ending the session, after an exception for example. Then collective operations
// of the others fail, and the server ends when all have left.
//
// Threads: one. It calls MPI only for the files and for meeting the other servers; while it waits it sleeps.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "files/output_file.hpp"
#include "mpi/comm.hpp"
#include "offload/courtesy.hpp"
#include "offload/lookout.hpp"
#include "offload/mailbox.hpp"
#include "offload/operation.hpp"
#include "offload/process_watch.hpp"
#include "offload/region.hpp"
#include "offload/warm_up.hpp"

namespace weir::offload {

class Server {
 public:
  struct Client {
    int rank = 0;  // among the compute ranks
    Mailbox mailbox;
    std::optional<ProcessWatch> watch;  // of a client on this node
    WarmUp warm_up;                     // of its mailbox
  };

  // `servers` are all servers; `bell` is what clients ring; `lookout` is told which files are open. `aside`
  // is how many bytes a file may gather before they are written, and as many are for merging small blocks:
  // memory beside the mailboxes; the same on all servers.
  Server(mpi::Comm servers, Bell& bell, std::vector<Client> clients, Courtesy courtesy, std::uint64_t aside,
         Lookout& lookout);

  // COLLECTIVE over the servers. Returns when all clients have ended the session; fails if one was lost.
  Status run();

 private:
  // Ranks of failures while they are among servers, whose own count from 0.
  static constexpr int first_client = 1 << 30;
  static constexpr int nobody = first_client - 1;  // in particular

  struct Arrived {
    Operation operation;
    std::deque<Piece> pieces;    // that are here and not yet written
    std::vector<Box> in_place;   // the blocks, where the data lies in a region
    std::uint64_t received = 0;  // pieces that have come so far
    Status status;               // of an independent write, so far
  };
  struct Link {
    Client client;
    MessageReader letters;
    MessageWriter answers;
    std::deque<Arrived> queue;
    std::map<std::uint64_t, Result<Region>> regions;
    std::optional<Failure> gone;  // it has left the session, what is in its queue is the last of it
    bool listens = true;          // to answers

    bool idle() const { return gone && queue.empty(); }
  };
  struct OpenFile {
    std::string path;
    std::unique_ptr<files::OutputFile> file;  // none: it was given up, or could not be created
    std::optional<Failure> failed;  // the first failure of any operation on it, or why there is none
    std::size_t closed = 0;         // by how many clients, where there is none
  };

  bool receive();
  bool send_answers();
  Status wait_until(const std::function<bool()>& condition);
  Status check_clients() const;
  bool warm_up();
  bool work_for_single_clients();
  bool is_ready() const;

  void note_leaving(Link& link, const Operation& letter);
  bool concerns_all(const Operation& operation) const;
  const Operation* first_request() const;  // nullptr: all clients have left
  Status perform();
  Status agree_on_request();
  Status compare_requests() const;
  std::optional<Failure> what_differs() const;
  std::string words_for(const Operation& operation) const;
  void note_refused(const Failure& failure);
  void note_closed(std::uint64_t file);
  std::vector<std::string> open_paths() const;
  static void remember(OpenFile& open, Failure failure);
  Status reason_to_close() const;
  Failure cause_of_refusal(const Operation& operation, const Failure& failure) const;
  Status carry_out();
  Status create(const Operation& operation);
  Result<OpenFile*> find(const Operation& operation);
  Status write(OpenFile& open);
  Result<std::vector<files::ReducedBlock>> blocks_of(std::uint64_t round) const;
  Status close(const Operation& operation);
  void write_alone(Link& link, Arrived& arrived);
  void share_memory(Link& link, const Operation& operation);
  Result<const std::byte*> find_in_region(const Link& link, const Operation& operation) const;
  void drop_data(Link& link, Arrived& arrived);
  void let_go_of_data(const Link& link, const Operation& operation) const;
  void answer(Link& link, const Status& status);
  Status stop();
  Status leave();
  Failure told(Failure failure) const;
  static Failure from_client(Failure failure);
  void give_back(Link& link, Arrived& arrived);
  void note_memory(std::uint64_t copied = 0);

  mpi::Comm servers_;
  Bell& bell_;
  Courtesy courtesy_;
  std::uint64_t aside_;
  Lookout& lookout_;
  std::vector<Link> links_;
  std::map<std::uint64_t, OpenFile> files_;
  double storing_seconds_ = 0;
  std::uint64_t stored_bytes_ = 0;
  std::uint64_t held_ = 0;  // bytes of data in mailboxes
  std::uint64_t peak_ = 0;  // the most, with what reductions and copies took
  bool stopped_ = false;
};

}  // namespace weir::offload
