// Messages between nodes, cut into fragments that an MPI library sends at once. For larger ones it asks the
// receiver first, and both have to come by twice before data flows: where ranks share cores, or sleep while
// they wait, the link stands idle meanwhile.
//
// Who sends fast must not fill the memory of who takes slowly: now and then a message ends only when it has
// been taken, and as it keeps its place in the sender's memory until then, the sender gets no further than
// that.
//
// Fragments of messages between two ranks are received in the order in which they were sent. LOCAL.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::collective {

// Of a message of so many bytes. Open MPI asks from 64 KiB on over TCP, MPICH from 16 to 128 KiB on; but a
// message is not to take many requests, of which an MPI library may have few.
inline std::uint64_t fragment_of(std::uint64_t size) {
  constexpr std::uint64_t usual = 32U << 10U;
  constexpr std::uint64_t most_fragments = 64;
  return std::max(usual, (size + most_fragments - 1) / most_fragments);
}

// Adds to `requests`; the memory must stay until they end. `until_taken`: which is when the receiver has
// taken it.
inline void send_message(const std::byte* data, std::uint64_t size, std::uint32_t to, int tag, MPI_Comm comm,
                         bool until_taken, std::vector<MPI_Request>& requests) {
  const std::uint64_t fragment = fragment_of(size);
  for (std::uint64_t at = 0; at < size; at += fragment) {
    const auto send = until_taken && size - at <= fragment ? MPI_Issend : MPI_Isend;
    send(data + at, static_cast<int>(std::min(fragment, size - at)), MPI_BYTE, static_cast<int>(to), tag,
         comm, &requests.emplace_back());
  }
}

inline void receive_message(std::byte* data, std::uint64_t size, std::uint32_t from, int tag, MPI_Comm comm,
                            std::vector<MPI_Request>& requests) {
  const std::uint64_t fragment = fragment_of(size);
  for (std::uint64_t at = 0; at < size; at += fragment)
    MPI_Irecv(data + at, static_cast<int>(std::min(fragment, size - at)), MPI_BYTE, static_cast<int>(from),
              tag, comm, &requests.emplace_back());
}

}  // namespace weir::collective
