/* What the test programs use to look at their files, after stopSend, on the compute ranks. A difference ends
 * the job: MPI_Abort. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "weir/weir.h"

static inline void give_up(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "FAILED: ");
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

#define EXPECT(condition)                                                             \
  do {                                                                                \
    if (!(condition)) give_up("%s:%d: not true: %s", __FILE__, __LINE__, #condition); \
  } while (0)

static inline void expect_ok(weir_status status) {
  if (status != WEIR_OK) give_up("%s", weir_message());
}

/* The global element i of every array in these programs. */
static inline double element(int write, unsigned long long i) {
  return 1000.0 * write + (double)(i % 997);
}

static inline unsigned long long starts_at(MPI_Comm comm, size_t size) {
  unsigned long long mine = size, end = 0;
  MPI_Scan(&mine, &end, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm);
  return end - mine;
}

static inline void fill(double* data, int write, MPI_Comm comm, size_t size) {
  const unsigned long long start = starts_at(comm, size);
  for (size_t i = 0; i < size; ++i) data[i] = element(write, start + i);
}

/* What an earlier run left must not be taken for the work of this one. COLLECTIVE. */
static inline void empty_folder(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) EXPECT(system("rm -rf ./*") == 0);
  MPI_Barrier(comm);
}

static inline int exists(const char* path) {
  struct stat info;
  return stat(path, &info) == 0;
}

/* A plain file of `total` doubles and not a byte more, read without any library. LOCAL. */
static inline void expect_bytes(const char* path, int write, unsigned long long total) {
  struct stat info;
  if (stat(path, &info) != 0) give_up("%s does not exist", path);
  if ((unsigned long long)info.st_size != total * sizeof(double))
    give_up("%s has %lld bytes, not %llu", path, (long long)info.st_size, total * sizeof(double));
  FILE* file = fopen(path, "rb");
  EXPECT(file != NULL);
  for (unsigned long long i = 0; i < total; ++i) {
    double value = 0;
    EXPECT(fread(&value, sizeof value, 1, file) == 1);
    if (value != element(write, i))
      give_up("%s: element %llu is %g, not %g", path, i, value, element(write, i));
  }
  fclose(file);
}

/* A file of any kind: the array has this name, this many dimensions, these elements. COLLECTIVE over comm. */
static inline void expect_array(MPI_Comm comm, const char* path, const char* name, int dimensions, int write,
                                unsigned long long total) {
  weir_session* io = NULL;
  weir_reader* in = NULL;
  weir_type type;
  uint64_t shape[2] = {1, 1}, steps, product = 1;
  int found = 2;
  expect_ok(weir_init(comm, &io));
  expect_ok(weir_open(io, path, NULL, &in));
  expect_ok(weir_inquire(in, name, &type, &found, shape, &steps));
  EXPECT(type == WEIR_FLOAT64);
  if (found != dimensions) give_up("%s: %s has %d dimensions, not %d", path, name, found, dimensions);
  for (int i = 0; i < found; ++i) product *= shape[i];
  if (product != total) give_up("%s: %llu elements, not %llu", path, (unsigned long long)product, total);
  double* data = (double*)malloc((total + 1) * sizeof *data);
  EXPECT(data != NULL);
  expect_ok(weir_read(in, name, WEIR_FLOAT64, data, found, NULL, NULL, WEIR_NO_STEP));
  for (unsigned long long i = 0; i < total; ++i) {
    if (data[i] != element(write, i))
      give_up("%s: element %llu is %g, not %g", path, i, data[i], element(write, i));
  }
  free(data);
  expect_ok(weir_close_reader(&in));
  expect_ok(weir_finalize(&io));
}

#endif
