// Misses processes that an I/O server depends on and nobody else of its node looks after: its clients on
// other nodes, and the next server. A launcher usually ends a job that lost a process; one that is stopped,
// or a node that is lost, nobody else notices, and MPI waits for it for ever.
//
// Threads: its own looks and, if somebody has not answered for mpi::patience(), says which files are lost and
// ends the job, a little later, so that compute ranks that notice it, too, come to their own words. Owned by
// the server. LOCAL.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weir::offload {

class Lookout {
 public:
  // What is wrong with a process, in words; asked about once a second, and by one thread.
  using Look = std::function<std::optional<std::string>()>;
  Lookout(int server, std::vector<Look> watched);  // `server`: this rank of the job
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;
  ~Lookout();

  void note_open(std::vector<std::string> paths);  // the files that would be lost

 private:
  void look();
  std::string describe_loss(const std::string& cause) const;

  const int server_;
  std::vector<Look> watched_;
  std::mutex mutex_;  // guards the next two
  std::vector<std::string> open_;
  bool over_ = false;
  std::condition_variable changed_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace weir::offload
