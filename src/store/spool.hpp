// Samples kept on disk while their store is away, and brought there when it is back.
//
// The spool is a store file of its own, so what is in it survives as what is in a store does. `write`
// succeeds when the samples are in the store or in the spool. When the spool has reached its limit `write`
// fails, and whoever sent the samples has to keep them. Bringing back the same samples twice, after a crash,
// does no harm.
//
// Threads: belongs to one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "store/store.hpp"

namespace weir::store {

struct SpoolOptions {
  std::string path;  // of the spool; empty: none, and failures are returned
  std::uint64_t most_bytes = std::uint64_t{4} << 30U;
  std::chrono::milliseconds retry = std::chrono::seconds(10);  // between attempts to reach the store
  std::function<void(const std::string&)> tell;                // store gone, store back
};

class SpooledStore {
 public:
  // Fails without a spool if the store cannot be opened, and with one if neither can.
  static Result<SpooledStore> open(const std::string& location, SpoolOptions options);

  Status write(const telemetry::Batch& batch);
  // Tries, whatever the time, to bring what is spooled to the store. A failure says why it is still there.
  Status deliver();
  bool away() const { return !store_; }
  std::uint64_t spooled() const { return spooled_; }      // samples written to the spool so far
  std::uint64_t delivered() const { return delivered_; }  // samples brought from the spool to the store

 private:
  SpooledStore(std::string location, SpoolOptions options);
  Status reach();
  Status write_to_spool(const telemetry::Batch& batch);

  std::string location_;
  SpoolOptions options_;
  std::optional<Store> store_, spool_;
  std::chrono::steady_clock::time_point next_try_{};
  std::uint64_t spooled_ = 0, delivered_ = 0;
};

}  // namespace weir::store
