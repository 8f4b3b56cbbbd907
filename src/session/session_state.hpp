// What stands behind a weir::Session.
//
// Threads: the program's, one at a time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "mpi/comm.hpp"
#include "offload/arrays.hpp"
#include "offload/conduit.hpp"
#include "plan/plan.hpp"
#include "session/meter.hpp"
#include "session/sink.hpp"
#include "weir/weir.hpp"

namespace weir::session {

struct Decision;

bool mpi_is_running();

// Something is lost, and nobody is left to be told but whoever looks at the job: whatever the program
// returns, the status of its process will be 1.
void fail_at_exit();

class State {
 public:
  // COLLECTIVE over comm. Does not return on I/O servers.
  static Result<std::shared_ptr<State>> start(MPI_Comm comm, const SessionOptions& options);
  static Result<std::shared_ptr<State>> start_serial();
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();  // LOCAL: gives up what is still on its way

  // COLLECTIVE over the compute ranks.
  Result<std::unique_ptr<Sink>> create(const std::string& path, const FileOptions& options);
  // Returns when the data of a write may be changed.
  void wait_taken(const offload::Progress& progress);
  // LOCAL. The data of a write is about to go out of scope, with an exception. It is usually moved at once;
  // but where that needs other ranks, they may never come: there is a limit, for all data that goes together.
  void let_go_of(const offload::Progress& progress) noexcept;
  // Runs what calls storage libraries where they may be called. LOCAL, as far as `body` is.
  void run_where_files_are(const std::function<void()>& body);
  // The same for a call that the ranks make together, files that this rank gave up before it.
  void run_together(const std::function<void()>& body);
  // LOCAL. A file that this rank wrote by itself; other ranks may still be about to use it, and hear of it
  // when this one makes its next call.
  void give_up(std::unique_ptr<files::OutputFile> file);
  // COLLECTIVE. Everything is done; the summary is final afterwards.
  Status end();
  bool ended() const { return ended_; }
  // A file is being closed, and nobody waits for it.
  void note_closing(const std::shared_ptr<offload::Progress>& closing, WritesOfFile writes) {
    count_closings();
    closings_.push_back({closing, std::move(writes)});
  }

  // What this rank writes by itself; end() gives up those that are still open.
  std::set<DirectSink*>& direct_files() { return direct_files_; }

  Summary summary();
  const mpi::Comm& comm() const { return comm_; }
  // For the program, which may use it until MPI is finalised.
  MPI_Comm share_compute();
  // For reading in a thread of its own, a communicator of that thread's.
  const mpi::Comm& file_comm() const { return file_comm_; }
  const std::shared_ptr<offload::Arrays>& arrays() const { return arrays_; }
  Meter& meter() { return meter_; }

 private:
  State() = default;
  Status connect(Decision decision, const SessionOptions& options);
  Status start_servers(const SessionOptions& options, const std::vector<std::uint32_t>& nodes, bool places);
  Status start_thread();
  void apply_plan(const std::string& path, bool by_servers, files::CreateOptions& wanted) const;
  Status give_up_direct_files();
  void close_given_up();
  void count_closings();
  void end_with_mpi();
  void stop_ending_with_mpi();

  mpi::Comm job_ = mpi::Comm::serial();   // all ranks, servers included
  mpi::Comm comm_ = mpi::Comm::serial();  // the compute ranks
  mpi::Comm file_comm_ = mpi::Comm::serial();
  Plan plan_;
  std::shared_ptr<offload::Arrays> arrays_;    // outlives the conduit, which reads them
  std::unique_ptr<offload::Conduit> conduit_;  // none: synchronous
  bool in_thread_ = false;
  std::uint64_t next_file_ = 1;
  Meter meter_;
  struct Closing {
    std::shared_ptr<offload::Progress> progress;
    WritesOfFile writes;
  };
  std::vector<Closing> closings_;  // under way; end() tells what nobody asked
  std::set<DirectSink*> direct_files_;
  std::vector<std::unique_ptr<files::OutputFile>> given_up_;  // and not closed by the other ranks, perhaps
  bool is_shared_ = false;                                    // the program has the compute communicator
  std::optional<mpi::Comm> farewell_;  // where ranks meet that left, if there are several; not with a thread
  bool ended_ = false;
  std::chrono::steady_clock::time_point began_to_let_go_;
  std::chrono::steady_clock::time_point last_let_go_;
  // Kept by MPI until it is finalised; a session that ends before takes itself out of it.
  struct FinalizeHook {
    State* session;
    std::optional<mpi::Comm> left = {};    // by this rank, and nobody answers for it
    std::optional<mpi::Comm> shared = {};  // the program may still use it
    bool server_lost = false;              // MPI would wait for it for ever
  };
  FinalizeHook* hook_ = nullptr;
  std::optional<Summary> final_summary_;
};

}  // namespace weir::session
