// What stands behind iocomp's interface: a session, and the files that are on their way.
//
// iocomp's programs name a file early (preDataSend), or late (dataWait), and never close one. So a file whose
// name may still change is made under a name of its own and moved. A file is closed right after its data was
// sent, by whoever writes it and without anybody waiting; how that ended shows at later calls.
//
// Threads: one at a time.
#pragma once

#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "weir/weir.hpp"

namespace weir::iocomp {

struct Settings {
  bool servers = false;     // HT or shared: ranks are set apart
  bool late_names = false;  // dataWait's name is the one that counts (HT without default_name)
  int io_library = 0;
  std::uint32_t node_size = 0;
  std::string default_name;  // interface 1.1: of every file; else ""
};

// A part of the array that was sent, as the program may look it up.
struct Block {
  Extent local;
  Extent start;
  Extent global;
};

class Writer {
 public:
  // COLLECTIVE over comm. Does not return on I/O servers.
  Writer(MPI_Comm comm, const Settings& settings);

  MPI_Comm comm() const { return comm_; }  // of the compute ranks; the program's own until MPI_Finalize
  const Settings& settings() const { return settings_; }

  void name(const double* array, const std::string& file);  // LOCAL
  Block send(const double* data, std::size_t size, const MPI_Request* request);
  bool may_change(const MPI_Request* request, const double* array);                     // LOCAL
  void wait(const MPI_Request* request, const double* array, const std::string& file);  // LOCAL
  void stop();  // everything is in its file; servers end
  bool stopped() const { return stopped_; }

  double* allocate(std::size_t size);  // LOCAL; until free_arrays()
  void free_arrays() { arrays_.clear(); }

  // Failures: counted, and told on stderr by the first rank.
  void report(const std::string& message);
  int failures() const { return failures_; }
  const std::string& first_failure() const { return first_failure_; }

 private:
  struct Send {
    Ticket ticket;   // of the data
    Ticket closing;  // of the whole file
    std::string made_as;
    std::string name;  // "": not known yet
    const double* array;
    const MPI_Request* request;
    bool waited = false;
    bool failed = false;
    bool closed = false;  // and it was asked how that ended
    bool moved = false;   // stands under its name
  };
  using Sends = std::list<Send>;

  Block place(std::size_t size) const;
  std::string name_for(const double* data) const;
  Sends::iterator find(const MPI_Request* request, const double* array);
  void follow_up();
  void conclude(Send& send);
  void move_to_name(Send& send);
  void forget_finished();
  template <class Body>
  bool attempt(Send& send, Body&& body);

  Settings settings_;
  Session session_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  FileOptions file_options_;
  std::string variable_;
  std::string token_;  // the same on all ranks, different between jobs: part of the names of unnamed files
  std::uint64_t sent_ = 0;
  Sends sends_;  // in the order of sending, which is that of storing
  std::map<const double*, std::string> names_;
  std::string last_name_;
  std::set<const MPI_Request*> known_requests_;
  std::vector<std::shared_ptr<Memory>> arrays_;
  int failures_ = 0;
  std::string first_failure_;
  bool stopped_ = false;
};

}  // namespace weir::iocomp
