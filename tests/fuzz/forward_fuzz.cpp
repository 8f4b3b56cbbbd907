// Bytes from a network: no crash, no memory beyond the bounds; what is decoded survives being sent again.
#include <cstdlib>

#include "telemetry/forward_handshake.hpp"
#include "telemetry/forward_message.hpp"
#include "telemetry/forward_peer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::telemetry;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr std::uint64_t most = std::uint64_t{1} << 20U;

  ForwardDecoder decoder(most);
  Batch batch;
  if (decoder.decode(bytes, batch)) {
    Batch again;
    const auto decoded =
        decoder.decode(forward_message("t", pack_entries(batch), Compression::zstd, "c"), again);
    if (!decoded || again.points.size() != batch.points.size()) std::abort();
    for (std::size_t i = 0; i < batch.points.size(); ++i) {
      if (again.sample(i) != batch.sample(i)) std::abort();
    }
  }

  // A client that sends it in two pieces comes to the same end as one that sends it whole.
  static const ForwardServerOptions open{.largest_message = most, .largest_unpacked = most};
  static const ForwardServerOptions locked{
      .shared_key = "key", .largest_message = most, .largest_unpacked = most};
  const auto quiet = [](const std::string&) {};
  for (const ForwardServerOptions* options : {&open, &locked}) {
    ForwardPeer whole(*options);
    ForwardPeer pieces(*options);
    Batch first;
    Batch second;
    ForwardServerTally tally;
    const bool good = whole.receive(bytes, decoder, first, tally, quiet).has_value();
    bool also = pieces.receive(bytes.substr(0, size / 2), decoder, second, tally, quiet).has_value();
    also = also && pieces.receive(bytes.substr(size / 2), decoder, second, tally, quiet).has_value();
    if (good != also || (good && first.points.size() != second.points.size())) std::abort();
  }

  (void)parse_helo(bytes);
  (void)check_pong(bytes, "salt", "nonce", "key");
  (void)parse_acknowledgement(bytes);
  for (const Compression compression : {Compression::gzip, Compression::zstd}) {
    const auto unpacked = decompress(bytes, compression, most);
    if (unpacked && unpacked->size() > most) std::abort();
  }
  return 0;
}
