// Messages between nodes, cut into fragments that an MPI library sends at once. For larger ones it asks the
// receiver first, and both have to come by twice before data flows: where ranks share cores, or sleep while
// they wait, the link stands idle meanwhile.
//
// Fragments of messages between two ranks are received in the order in which they were sent. LOCAL.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::collective {

inline constexpr std::uint64_t fragment_bytes =
    32U << 10U;  // Open MPI asks from 64 KiB on over TCP, MPICH from 16 to 128 KiB on

// Adds to `requests`, which end with the message. The memory must stay until they do.
inline void send_message(const std::byte* data, std::uint64_t size, std::uint32_t to, int tag, MPI_Comm comm,
                         std::vector<MPI_Request>& requests) {
  for (std::uint64_t at = 0; at < size; at += fragment_bytes)
    MPI_Isend(data + at, static_cast<int>(std::min(fragment_bytes, size - at)), MPI_BYTE,
              static_cast<int>(to), tag, comm, &requests.emplace_back());
}

inline void receive_message(std::byte* data, std::uint64_t size, std::uint32_t from, int tag, MPI_Comm comm,
                            std::vector<MPI_Request>& requests) {
  for (std::uint64_t at = 0; at < size; at += fragment_bytes)
    MPI_Irecv(data + at, static_cast<int>(std::min(fragment_bytes, size - at)), MPI_BYTE,
              static_cast<int>(from), tag, comm, &requests.emplace_back());
}

}  // namespace weir::collective
