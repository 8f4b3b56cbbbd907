// One message of the forward protocol: taken apart into samples, and put together from them. Pure.
//
//   nil                                             a heartbeat
//   [tag, time, record, option]                     Message mode
//   [tag, [[time, record], ...], option]            Forward mode
//   [tag, text or binary, option]                   PackedForward: the bytes are [time, record] [time,
//   record] ... the same with option "compressed"               CompressedPackedForward: gzip or zstd of
//   those bytes
//
// time is fluentd's EventTime, or whole or fractional seconds.
//
// Threads: a decoder belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "telemetry/compression.hpp"
#include "telemetry/record_builder.hpp"

namespace weir::telemetry {

struct ForwardMessage {
  bool heartbeat = false;
  std::string chunk;           // to be acknowledged; empty: no acknowledgement is wanted
  Tally tally;                 // of this message
  std::string first_rejected;  // what was wrong with the first record that was not taken in
};

class ForwardDecoder {
 public:
  explicit ForwardDecoder(std::uint64_t largest_unpacked) : largest_unpacked_(largest_unpacked) {}

  // A failure means that this is no message at all. Records that are wrong are counted and passed over. A
  // packed chunk that breaks off or cannot be unpacked is counted as one rejected record: sent again, it
  // would be no better, so it is acknowledged like any other.
  Result<ForwardMessage> decode(std::string_view message, Batch& batch);

 private:
  std::uint64_t largest_unpacked_;
  RecordBuilder builder_;
};

// Entries [time, record] of all points of the batch, as PackedForward carries them.
std::string pack_entries(const Batch& batch);

// The message around them. `chunk` is what the server is to acknowledge; empty: nothing.
std::string forward_message(std::string_view tag, std::string_view entries, Compression compression,
                            std::string_view chunk);

std::string acknowledgement(std::string_view chunk);
Result<std::string> parse_acknowledgement(std::string_view message);

}  // namespace weir::telemetry
