/* The C interface: every rank writes its part of a small wave, step by step, and reads the last one back.
 *
 *     mpirun -n 4 ./wave wave.h5
 *     mpirun -n 4 ./wave wave.h5 servers      the same, written by two of the four
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "weir/weir.h"

#define POINTS 1000
#define STEPS 3

static weir_session* io = NULL;
static int rank = 0;

/* Failures are the same on every rank, so every rank can stop. */
static void check(weir_status status) {
  if (status == WEIR_OK) return;
  if (rank == 0) fprintf(stderr, "wave: %s\n", weir_message());
  weir_finalize(&io);
  MPI_Finalize();
  exit(1);
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "wave.h5";
  int ranks, step;
  uint64_t i;
  MPI_Comm comm;
  weir_file* out = NULL;
  weir_reader* in = NULL;
  int provided = 0;
  weir_ticket* ticket = NULL;
  weir_session_options how = WEIR_SESSION_OPTIONS_INIT;
  weir_file_options options = WEIR_FILE_OPTIONS_INIT;

  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE,
                  &provided); /* for mode 'thread' and servers on other nodes */
  if (argc > 2) how.mode = argv[2];
  check(weir_init_with(MPI_COMM_WORLD, &how, &io)); /* I/O servers stay inside; compute ranks go on */
  check(weir_compute_comm(io, &comm));
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const uint64_t shape[1] = {POINTS};
  const uint64_t offset[1] = {(uint64_t)POINTS * (uint64_t)rank / (uint64_t)ranks};
  const uint64_t count[1] = {(uint64_t)POINTS * (uint64_t)(rank + 1) / (uint64_t)ranks - offset[0]};
  double* wave = malloc((count[0] + 1) * sizeof *wave);
  double* back = malloc((count[0] + 1) * sizeof *back);
  if (wave == NULL || back == NULL) MPI_Abort(MPI_COMM_WORLD, 1);

  options.checksums = 1;
  check(weir_create(io, path, &options, &out));
  for (step = 0; step < STEPS; ++step) {
    check(weir_wait(&ticket)); /* until the last write no longer needs the array; errors arrive here */
    for (i = 0; i < count[0]; ++i) wave[i] = sin(0.01 * (double)(offset[0] + i) + step);
    check(weir_write(out, "wave", WEIR_FLOAT64, wave, 1, shape, offset, count, step, &ticket));
  }
  check(weir_wait_stored(&ticket));
  check(weir_set_text(out, "wave", "unit", "m"));
  check(weir_close(&out));

  check(weir_open(io, path, NULL, &in));
  check(weir_read(in, "wave", WEIR_FLOAT64, back, 1, offset, count, STEPS - 1));
  check(weir_close_reader(&in));
  for (i = 0; i < count[0]; ++i) {
    if (back[i] != wave[i]) {
      fprintf(stderr, "wave: rank %d: element %llu came back as %g\n", rank, (unsigned long long)i, back[i]);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  if (rank == 0) printf("wrote and read %s\n", path);
  free(wave);
  free(back);
  check(weir_finalize(&io));
  MPI_Finalize();
  return 0;
}
