/* The C interface: what wave.c does not show. c_test FILE [MODE] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir/weir.h"

#define SIZE 100

static void give_up(int line, const char* what) {
  fprintf(stderr, "c_test.c:%d: %s (last message: %s)\n", line, what, weir_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define EXPECT(condition)                            \
  do {                                               \
    if (!(condition)) give_up(__LINE__, #condition); \
  } while (0)
#define OK(call) EXPECT((call) == WEIR_OK)

int main(int argc, char** argv) {
  weir_session* io = NULL;
  weir_file* out = NULL;
  weir_reader* in = NULL;
  weir_ticket *ticket = NULL, *copy = NULL;
  weir_memory* memory = NULL;
  weir_summary summary;
  weir_session_options how = WEIR_SESSION_OPTIONS_INIT;
  weir_file_options options = WEIR_FILE_OPTIONS_INIT;
  MPI_Comm comm;
  MPI_Fint handle;
  void* place = NULL;
  const char* text = NULL;
  int rank, ranks, provided, done = 0;

  if (argc < 2) return 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided); /* mode thread needs it */
  if (argc > 2) how.mode = argv[2];
  OK(weir_init_f(MPI_Comm_c2f(MPI_COMM_WORLD), &how, &io));
  OK(weir_compute_comm(io, &comm));
  OK(weir_compute_comm_f(io, &handle));
  EXPECT(MPI_Comm_f2c(handle) == comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const uint64_t shape[1] = {SIZE * (uint64_t)ranks};
  const uint64_t offset[1] = {SIZE * (uint64_t)rank};
  const uint64_t count[1] = {SIZE};

  /* Memory that is written without a copy, and overwritten without waiting. */
  OK(weir_allocate(io, SIZE * sizeof(int32_t), &memory, &place));
  for (int i = 0; i < SIZE; ++i) EXPECT(((int32_t*)place)[i] == 0);
  options.policy = WEIR_THROTTLED;
  options.in_flight = 2;
  OK(weir_create(io, argv[1], &options, &out));
  for (int step = 0; step < 5; ++step) {
    OK(weir_fresh(memory, &place));
    for (int i = 0; i < SIZE; ++i) ((int32_t*)place)[i] = 1000 * step + rank;
    OK(weir_write(out, "v", WEIR_INT32, place, 1, shape, offset, count, 10 * step, &ticket));
    if (step == 4) OK(weir_copy_ticket(ticket, &copy));
    OK(step % 2 == 0 ? weir_drop(&ticket) : weir_wait(&ticket));
    EXPECT(ticket == NULL);
  }
  OK(weir_test(copy, &done));
  OK(weir_wait_stored(&copy));
  EXPECT(copy == NULL);
  OK(weir_wait_stored(&copy)); /* nothing to wait for */
  OK(weir_write(out, "once", WEIR_INT32, place, 1, shape, offset, count, WEIR_NO_STEP, &ticket));
  do OK(weir_stored(ticket, &done));
  while (!done);
  OK(weir_wait(&ticket));
  OK(weir_close(&out));
  OK(weir_free(&memory));
  OK(weir_free(&memory));

  /* A wrong write: told by the ticket. A wrong policy: by the call, on all ranks. */
  OK(weir_create(io, argv[1], NULL, &out));
  OK(weir_write(out, "v", WEIR_INT32, &rank, 1, count, shape, count, WEIR_NO_STEP, &ticket));
  EXPECT(weir_wait(&ticket) == WEIR_INVALID_ARGUMENT);
  EXPECT(strstr(weir_message(), "v") != NULL);
  int32_t nothing[SIZE] = {0};
  OK(weir_write(out, "v", WEIR_INT32, nothing, 1, shape, offset, count, 0, NULL));
  for (int step = 1; step < 5; ++step) {
    for (int i = 0; i < SIZE; ++i) nothing[i] = 1000 * step + rank;
    OK(weir_write(out, "v", WEIR_INT32, nothing, 1, shape, offset, count, 10 * step, NULL));
  }
  const double limits[2] = {1.5, 2.5};
  OK(weir_set_text(out, NULL, "title", "of the file"));
  OK(weir_set_numbers(out, "v", "limits", WEIR_FLOAT64, limits, 2));
  OK(weir_close(&out));

  /* Without a ticket the outcome of a write is the call's, whoever writes. */
  weir_file_options failing = WEIR_FILE_OPTIONS_INIT;
  failing.backend = "faulty";
  failing.options = "fail=write,after=1";
  OK(weir_create(io, "never.dat", &failing, &out));
  OK(weir_write(out, "v", WEIR_INT32, nothing, 1, shape, offset, count, 0, NULL));
  EXPECT(weir_write(out, "v", WEIR_INT32, nothing, 1, shape, offset, count, 1, NULL) == WEIR_IO);
  EXPECT(strstr(weir_message(), "never.dat") != NULL);
  EXPECT(weir_close(&out) != WEIR_OK);
  options.policy = (weir_policy)17;
  EXPECT(weir_create(io, "never.dat", &options, &out) == WEIR_INVALID_ARGUMENT);
  EXPECT(strstr(weir_message(), "policy") != NULL);

  /* What is in the file. */
  OK(weir_open(io, argv[1], NULL, &in));
  OK(weir_variable_name(in, 0, &text));
  EXPECT(strcmp(text, "v") == 0);
  EXPECT(weir_variable_name(in, 1, &text) == WEIR_NOT_FOUND);
  int64_t steps[5];
  EXPECT(weir_steps(in, "v", steps, 4) == WEIR_INVALID_ARGUMENT);
  OK(weir_steps(in, "v", steps, 5));
  EXPECT(steps[0] == 0 && steps[4] == 40);
  int32_t back[SIZE];
  OK(weir_read(in, "v", WEIR_INT32, back, 1, offset, count, 40));
  for (int i = 0; i < SIZE; ++i) EXPECT(back[i] == 4000 + rank);

  /* Attributes come back. */
  const char* owner = text;
  int is_text = 0, seen = 0;
  weir_type type = WEIR_INT8;
  uint64_t length = 0;
  double numbers[2] = {0, 0};
  while (weir_attribute_name(in, (uint64_t)seen, &owner, &text) == WEIR_OK) {
    EXPECT(strcmp(text, owner == NULL ? "title" : "limits") == 0);
    ++seen;
  }
  EXPECT(seen == 2);
  OK(weir_inquire_attribute(in, NULL, "title", &is_text, NULL, &length));
  EXPECT(is_text == 1 && length == strlen("of the file"));
  OK(weir_get_text(in, NULL, "title", &text));
  EXPECT(strcmp(text, "of the file") == 0);
  OK(weir_inquire_attribute(in, "v", "limits", &is_text, &type, &length));
  EXPECT(is_text == 0 && type == WEIR_FLOAT64 && length == 2);
  EXPECT(weir_get_numbers(in, "v", "limits", WEIR_FLOAT64, numbers, 1) == WEIR_INVALID_ARGUMENT);
  EXPECT(weir_get_numbers(in, "v", "limits", WEIR_INT64, numbers, 2) == WEIR_INVALID_ARGUMENT);
  OK(weir_get_numbers(in, "v", "limits", WEIR_FLOAT64, numbers, 2));
  EXPECT(numbers[0] == 1.5 && numbers[1] == 2.5);
  EXPECT(weir_get_text(in, "v", "limits", &text) == WEIR_INVALID_ARGUMENT);
  EXPECT(weir_get_text(in, "v", "title", &text) == WEIR_NOT_FOUND);
  OK(weir_close_reader(&in));

  /* Less is stored than is written, and the program does not wait for the file. */
  const uint64_t every[1] = {10};
  weir_reduction mean = WEIR_REDUCTION_INIT, thin = WEIR_REDUCTION_INIT;
  mean.operation = "mean";
  mean.steps = 2;
  thin.every = every;
  OK(weir_get_summary(io, &summary));
  const weir_summary before = summary;
  OK(weir_create(io, argv[1], NULL, &out));
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < SIZE; ++i) back[i] = 100 * step + i;
    OK(weir_write_reduced(out, "mean", WEIR_INT32, back, 1, shape, offset, count, step, &mean, NULL));
    OK(weir_write_reduced(out, "thin", WEIR_INT32, back, 1, shape, offset, count, step, &thin, NULL));
  }
  OK(weir_write_reduced(out, "all", WEIR_INT32, back, 1, shape, offset, count, WEIR_NO_STEP, NULL, NULL));
  OK(weir_close_later(&out, &ticket));
  EXPECT(out == NULL && ticket != NULL);
  OK(weir_wait_stored(&ticket));
  OK(weir_close_later(&out, &ticket)); /* nothing to close */
  EXPECT(ticket == NULL);
  OK(weir_open(io, argv[1], NULL, &in));
  double means[SIZE];
  int32_t points[SIZE / 10];
  const uint64_t thin_offset[1] = {SIZE / 10 * (uint64_t)rank}, thin_count[1] = {SIZE / 10};
  OK(weir_steps(in, "mean", steps, 5));
  EXPECT(steps[0] == 1 && steps[1] == 2);
  OK(weir_read(in, "mean", WEIR_FLOAT64, means, 1, offset, count, 1));
  for (int i = 0; i < SIZE; ++i) EXPECT(means[i] == 50 + i);
  OK(weir_read(in, "thin", WEIR_INT32, points, 1, thin_offset, thin_count, 2));
  for (int i = 0; i < SIZE / 10; ++i) EXPECT(points[i] == 200 + 10 * i);
  OK(weir_read(in, "all", WEIR_INT32, back, 1, offset, count, WEIR_NO_STEP));
  for (int i = 0; i < SIZE; ++i) EXPECT(back[i] == 200 + i);
  OK(weir_close_reader(&in));

  /* What it cost: of this rank, before the end. */
  OK(weir_get_summary(io, &summary));
  EXPECT(summary.files == before.files + 1 && summary.writes == before.writes + 7);
  EXPECT(summary.bytes == before.bytes + 7 * SIZE * sizeof(int32_t));
  /* Two means of doubles, three of every tenth, and all of it once. */
  const uint64_t less = 2 * SIZE * sizeof(double) + (3 * SIZE / 10 + SIZE) * sizeof(int32_t);
  const int with_servers = strcmp(argv[2], "servers") == 0;
  EXPECT(summary.stored_bytes == (with_servers ? 0 : before.stored_bytes + less));
  EXPECT((summary.transport_bytes > 0) == (strcmp(argv[2], "servers") == 0) &&
         (summary.transport_seconds > 0) == (summary.transport_bytes > 0));
  OK(weir_summary_text(io, &text));
  EXPECT(strstr(text, with_servers ? "writes to" : "stored as") != NULL);

  /* A wrong reduction is told by the ticket; a file that failed and that nobody asked for, by the end. */
  OK(weir_create(io, argv[1], NULL, &out));
  mean.operation = "median";
  OK(weir_write_reduced(out, "mean", WEIR_INT32, back, 1, shape, offset, count, 0, &mean, &ticket));
  EXPECT(weir_wait_stored(&ticket) == WEIR_INVALID_ARGUMENT);
  EXPECT(strstr(weir_message(), "median") != NULL);
  OK(weir_close_later(&out, NULL));
  /* In the end: of all ranks, without the file that failed. */
  uint64_t mine[2] = {summary.writes, summary.bytes}, all[2] = {0, 0};
  const uint64_t files = summary.files;
  MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, comm);
  EXPECT(weir_finalize_with(&io, &summary, &text) == WEIR_INVALID_ARGUMENT);
  EXPECT(strstr(weir_message(), "median") != NULL);
  EXPECT(io == NULL);
  EXPECT(summary.files == files && summary.writes == all[0] && summary.bytes == all[1]);
  EXPECT(summary.bytes - summary.stored_bytes == (uint64_t)ranks * (7 * SIZE * sizeof(int32_t) - less));
  EXPECT(strstr(text, "stored as") != NULL);
  OK(weir_finalize(&io));
  MPI_Finalize();
  return 0;
}
