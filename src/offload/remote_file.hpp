// A file that somebody else writes: checks what the program says, as far as one rank can, and hands it on.
//
// Threads: the program's, one at a time.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "files/catalogue.hpp"
#include "offload/arrays.hpp"
#include "offload/conduit.hpp"

namespace weir::offload {

class RemoteFile {
 public:
  // `number` is the same on all ranks, and new. `most_in_flight` writes may be on their way; 0: any number.
  RemoteFile(Conduit& conduit, Arrays& arrays, std::uint64_t number, const std::string& path,
             const files::CreateOptions& options, const backends::Entry& entry, std::uint32_t most_in_flight);

  // Instead of a RemoteFile, where this rank knows that it cannot have one: the others are told, and nothing
  // more is said of the file. Waits for what they all get to hear.
  static Failure refuse(Conduit& conduit, std::uint64_t number, const std::string& path,
                        const Failure& failure);

  // All return at once, but for write() when there are too many on their way. A request that cannot be right
  // is handed on too, as a failure: all ranks learn of it.
  std::shared_ptr<Progress> write(const files::WriteRequest& request, int rank);
  std::shared_ptr<Progress> reserve(const files::Heading& heading, int rank);
  std::shared_ptr<Progress> set_attribute(const backends::Attribute& attribute, int rank,
                                          const Status& mine = {});  // what is wrong with its value here
  // `unseen`: a failure on this rank that the program has not been told; `later`: nor can it be asked any
  // more.
  std::shared_ptr<Progress> close(const std::optional<Failure>& unseen, bool later);

  // All ranks do this together, or the job is lost; but nobody waits.
  void give_up(int rank);

  const std::string& path() const { return path_; }
  bool is_open() const { return open_; }

 private:
  // What was noted of a write before anybody else agreed to it.
  struct Assumed {
    std::shared_ptr<Progress> progress;
    std::string name;
    Box box;
    std::optional<std::int64_t> new_step;
    bool reduced;
  };

  std::shared_ptr<Progress> submit(Operation operation);
  void forget_what_was_refused();
  Status check_open() const;

  Conduit& conduit_;
  Arrays& arrays_;
  std::uint64_t number_;
  std::string path_;
  files::Catalogue catalogue_;
  std::uint32_t most_in_flight_;
  std::deque<std::shared_ptr<Progress>> in_flight_;
  std::deque<Assumed> assumed_;
  std::map<std::string, std::uint64_t> reduced_;  // how many reduced writes of a variable were not refused
  bool open_ = true;
};

}  // namespace weir::offload
