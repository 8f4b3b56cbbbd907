#include "interpose/pending.hpp"

namespace weir::interpose {

void set_bytes(MPI_Status* status, std::uint64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  PMPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(bytes));
  PMPI_Status_set_cancelled(status, 0);
}

int Pending::query(void* state, MPI_Status* status) {
  const auto* const pending = static_cast<const Pending*>(state);
  set_bytes(status, pending->bytes_);
  if (status != MPI_STATUS_IGNORE) {
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    status->MPI_ERROR = pending->code_;
  }
  return pending->code_;
}

int Pending::release(void* state) {
  delete static_cast<Pending*>(state);
  return MPI_SUCCESS;
}

int Pending::cancel(void*, int) {
  return MPI_SUCCESS;  // too late: other ranks count on us
}

Pending* Pending::start(MPI_Request* request) {
  auto* const pending = new Pending;
  if (PMPI_Grequest_start(query, release, cancel, pending, &pending->request_) != MPI_SUCCESS) {
    delete pending;
    return nullptr;
  }
  *request = pending->request_;
  return pending;
}

void Pending::complete(int code, std::uint64_t bytes) {
  code_ = code;
  bytes_ = bytes;
  PMPI_Grequest_complete(request_);
}

}  // namespace weir::interpose
