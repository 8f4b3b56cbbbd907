#include "interpose/pending.hpp"

#include <utility>

#include "interpose/mpi_error.hpp"

namespace weir::interpose {

void set_bytes(MPI_Status* status, std::uint64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  PMPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(bytes));
  PMPI_Status_set_cancelled(status, 0);
}

// MPI may ask more than once: MPI_Request_get_status.
int Pending::tell() {
  if (code_ == MPI_SUCCESS) return code_;
  const bool heard = has_own_handler(file_);
  if (!std::exchange(told_, true)) raise(file_, code_);
  return heard && !world_returns_errors() ? MPI_SUCCESS : code_;
}

int Pending::query(void* state, MPI_Status* status) {
  auto* const pending = static_cast<Pending*>(state);
  const int code = pending->tell();
  set_bytes(status, pending->bytes_);
  if (status != MPI_STATUS_IGNORE) {
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    status->MPI_ERROR = code;
  }
  return code;
}

int Pending::release(void* state) {
  delete static_cast<Pending*>(state);
  return MPI_SUCCESS;
}

int Pending::cancel(void*, int) {
  return MPI_SUCCESS;  // too late: other ranks count on us
}

Pending* Pending::start(MPI_Request* request, MPI_File file) {
  auto* const pending = new Pending(file);
  if (PMPI_Grequest_start(query, release, cancel, pending, &pending->request_) != MPI_SUCCESS) {
    delete pending;
    return nullptr;
  }
  *request = pending->request_;
  return pending;
}

void Pending::complete(int code, std::uint64_t bytes) {
  code_ = code;
  bytes_ = code == MPI_SUCCESS ? bytes : 0;
  PMPI_Grequest_complete(request_);
}

}  // namespace weir::interpose
