// Arrays that Weir allocated for the program. An I/O server on the same node maps them and writes what lies
// in them without a copy; each has two places, so that a program can fill one while the other is being
// written.
//
// Threads: the program's, one at a time.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "offload/conduit.hpp"
#include "weir/weir.hpp"

namespace weir::offload {

class Arrays : public std::enable_shared_from_this<Arrays> {
 public:
  explicit Arrays(Conduit* conduit) : conduit_(conduit) {}  // nullptr: nobody else reads them

  Result<std::shared_ptr<Memory>> allocate(std::uint64_t bytes);

  // Where the other side finds this data; nullopt: it is not in any array, or cannot be read there.
  struct Place {
    std::uint64_t region = 0;
    std::uint64_t offset = 0;
  };
  std::optional<Place> locate(const void* data, std::uint64_t bytes) const;
  // Data that lies in an array is on its way until `progress` says otherwise.
  void note_use(const void* data, const std::shared_ptr<Progress>& progress);

  // The session is over: arrays live on as plain memory.
  void disconnect() { conduit_ = nullptr; }

  double waited_seconds() const { return waited_seconds_; }

 private:
  class Array;
  struct Half {
    Region region;
    std::uint64_t number = 0;           // for the other side
    std::shared_ptr<Progress> mapping;  // by the other side
    std::vector<std::shared_ptr<Progress>> uses;
  };
  Result<Half*> make_half(std::uint64_t bytes);
  void free_half(const Half* half);
  bool is_in_use(Half& half) const;
  void wait_for(Half& half);
  void let_others_map();
  void close_those_mapped();

  Conduit* conduit_;
  std::uint64_t next_number_ = 1;
  std::map<const std::byte*, std::unique_ptr<Half>> halves_;  // by address
  std::deque<Half*> being_mapped_;
  double waited_seconds_ = 0;
};

}  // namespace weir::offload
