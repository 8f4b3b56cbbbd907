// Preloaded into tests under MPICH, whose ranks spin while they wait, also where there are more of them than cores: a rank that has
// nothing to do lets another one run, as Open MPI's do when mpi_yield_when_idle is set. Sits between MPICH and UCX.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef unsigned Progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
  static _Atomic(Progress*) of_ucx;
  Progress* progress = atomic_load_explicit(&of_ucx, memory_order_relaxed);
  if (progress == NULL) {
    *(void**)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (progress == NULL) abort();
    atomic_store_explicit(&of_ucx, progress, memory_order_relaxed);
  }
  const unsigned events = progress(worker);
  if (events == 0) sched_yield();
  return events;
}
