#include "offload/meeting.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace weir::offload {

void Patience::wait() {
  constexpr int quick_tries = 20;
  constexpr std::int64_t longest = 1000;  // microseconds
  ++tries_;
  if (tries_ <= quick_tries) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(
        std::min<std::int64_t>(longest, std::int64_t{10} * (tries_ - quick_tries))));
  }
}

void meet_quietly(const mpi::Comm& comm) {
  if (comm.size() == 1) return;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm.get(), &request);
  int done = 0;
  for (Patience patience; done == 0; patience.wait()) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

}  // namespace weir::offload
