/* What breaks iocomp, one case at a time, each an ordinary program:
 *
 *     cases CASE ht|none
 */
#include <glob.h>
#include <iocomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "expect.h"

#define SIZE 5000

static struct iocomp_params iocompParams;
static MPI_Comm comm;
static int rank, ranks;
static bool split;

static double* new_array(size_t size) {
  double* array = malloc((size + 1) * sizeof *array);
  malloc_check(array);
  return array;
}

static void send_named(double* array, MPI_Request* request, const char* name, int write, size_t size) {
  fill(array, write, comm, size);
  preDataSend(&iocompParams, array, name);
  dataSend(array, &iocompParams, request, size);
}

static unsigned long long all(unsigned long long each) {
  return each * (unsigned long long)ranks;
}

/* Two sends, waited for in the other order, and on every second rank in the order of sending. */
static void order(void) {
  double *a = new_array(SIZE), *b = new_array(SIZE);
  MPI_Request first, second;
  send_named(a, &first, "first.dat", 1, SIZE);
  send_named(b, &second, "second.dat", 2, SIZE);
  if (rank % 2 == 0) dataWait(&iocompParams, &second, b, "second.dat");
  dataWait(&iocompParams, &first, a, "first.dat");
  if (rank % 2 == 1) dataWait(&iocompParams, &second, b, "second.dat");
  dataWait(&iocompParams, &first, a, "first.dat"); /* once more: nothing to wait for */
  stopSend(&iocompParams);
  expect_bytes("first.dat", 1, all(SIZE));
  expect_bytes("second.dat", 2, all(SIZE));
  free(a);
  free(b);
}

/* Nothing from some ranks, nothing from all, and then data again. */
static void empty(void) {
  double* a = new_array(SIZE);
  MPI_Request request;
  const size_t mine = rank == 0 ? 0 : SIZE;
  send_named(a, &request, "some.dat", 1, mine);
  dataWait(&iocompParams, &request, a, "some.dat");
  send_named(a, &request, "none.dat", 2, 0);
  dataWait(&iocompParams, &request, a, "none.dat");
  send_named(a, &request, "after.dat", 3, SIZE);
  dataWait(&iocompParams, &request, a, "after.dat");
  stopSend(&iocompParams);
  expect_bytes("some.dat", 1, all(SIZE) - SIZE);
  expect_bytes("none.dat", 2, 0);
  expect_bytes("after.dat", 3, all(SIZE));
  free(a);
}

/* The size changes from write to write and differs between ranks; one name is written again, shorter, and was
 * there before, longer: no stale tails. */
static void sizes(void) {
  double* a = new_array(4 * SIZE + (size_t)rank);
  MPI_Request request;
  if (rank == 0) {
    FILE* old = fopen("again.dat", "wb");
    EXPECT(old != NULL);
    for (int i = 0; i < 100 * SIZE; ++i) EXPECT(fwrite("stale", 5, 1, old) == 1);
    fclose(old);
  }
  MPI_Barrier(comm);
  for (int i = 0; i < 3; ++i) {
    static const size_t size[3] = {4 * SIZE, 17, 2 * SIZE};
    char name[20];
    snprintf(name, sizeof name, "size%d.dat", i);
    send_named(a, &request, name, i, size[i] + (size_t)rank);
    dataWait(&iocompParams, &request, a, name);
    send_named(a, &request, "again.dat", 9, size[2 - i]);
    dataWait(&iocompParams, &request, a, "again.dat");
  }
  stopSend(&iocompParams);
  const unsigned long long extra = (unsigned long long)ranks * (unsigned long long)(ranks - 1) / 2;
  expect_bytes("size0.dat", 0, all(4 * SIZE) + extra);
  expect_bytes("size1.dat", 1, all(17) + extra);
  expect_bytes("size2.dat", 2, all(2 * SIZE) + extra);
  expect_bytes("again.dat", 9, all(4 * SIZE));
  free(a);
}

/* More writes than the hundred that iocomp counts. */
static void many(void) {
  double* a = new_array(64);
  MPI_Request request;
  char name[20];
  for (int i = 0; i < 250; ++i) {
    snprintf(name, sizeof name, "many%d.dat", i);
    send_named(a, &request, name, i, 64);
    dataWait(&iocompParams, &request, a, name);
  }
  stopSend(&iocompParams);
  EXPECT(iocompParams.writeCount == 250);
  for (int i = 0; i < 250; ++i) {
    snprintf(name, sizeof name, "many%d.dat", i);
    expect_bytes(name, i, all(64));
  }
  free(a);
}

/* The name comes only with dataWait, in another folder; the data need not wait for it. */
static void late(void) {
  double *a = new_array(SIZE), *b = new_array(SIZE);
  MPI_Request first, second;
  if (rank == 0) EXPECT(system("mkdir -p folder") == 0);
  MPI_Barrier(comm);
  fill(a, 1, comm, SIZE);
  fill(b, 2, comm, SIZE);
  dataSend(a, &iocompParams, &first, SIZE);
  dataSend(b, &iocompParams, &second, SIZE);
  if (split) {
    while (!dataSendTest(&iocompParams, &first, a)) continue; /* gets there without dataWait */
    while (!dataSendTest(&iocompParams, &second, b)) continue;
  }
  dataWait(&iocompParams, &second, b, "folder/b.dat");
  dataWait(&iocompParams, &first, a, "a.dat");
  memset(a, 0, SIZE * sizeof *a);
  memset(b, 0, SIZE * sizeof *b);
  stopSend(&iocompParams);
  expect_bytes("a.dat", 1, all(SIZE));
  expect_bytes("folder/b.dat", 2, all(SIZE));
  free(a);
  free(b);
}

/* Many in flight, none waited for; stopSend returns when all of it is written, under the names given before.
 */
static void dropped(void) {
  enum { writes = 40 };
  double* arrays[writes];
  MPI_Request requests[writes];
  char name[20];
  for (int i = 0; i < writes; ++i) {
    arrays[i] = new_array(SIZE);
    snprintf(name, sizeof name, "dropped%d.dat", i);
    send_named(arrays[i], &requests[i], name, i, SIZE);
  }
  stopSend(&iocompParams);
  stopSend(&iocompParams);
  for (int i = 0; i < writes; ++i) {
    snprintf(name, sizeof name, "dropped%d.dat", i);
    expect_bytes(name, i, all(SIZE));
    free(arrays[i]);
  }
}

/* A file becomes whole while the program does something else: nobody has to call for it to be closed. */
static void beside(void) {
  double* a = new_array(SIZE);
  MPI_Request request;
  if (rank == 0) EXPECT(system("rm -f beside.dat*") == 0); /* of an earlier run */
  MPI_Barrier(comm);
  send_named(a, &request, "beside.dat", 1, SIZE);
  bool whole = false;
  for (int tries = 0; tries < 2000 && !whole; ++tries) {
    glob_t found; /* with HT, dataWait may still rename it */
    whole = glob(split ? "beside.dat.iocomp-*-0" : "beside.dat", 0, NULL, &found) == 0;
    if (whole) globfree(&found);
    usleep(10000);
  }
  EXPECT(whole);
  MPI_Barrier(comm);
  dataWait(&iocompParams, &request, a, "beside.dat");
  stopSend(&iocompParams);
  expect_bytes("beside.dat", 1, all(SIZE));
  free(a);
}

/* One file cannot be written: the others can, the program learns of it, and ends as it likes. */
static void asks(void) {
  double* a = new_array(SIZE);
  MPI_Request request;
  const char* message = NULL;
  send_named(a, &request, "before.dat", 1, SIZE);
  dataWait(&iocompParams, &request, a, "before.dat");
  send_named(a, &request, "no/such/folder/lost.dat", 2, SIZE);
  dataWait(&iocompParams, &request, a, "no/such/folder/lost.dat");
  send_named(a, &request, "after.dat", 3, SIZE);
  dataWait(&iocompParams, &request, a, "after.dat");
  stopSend(&iocompParams);
  expect_bytes("before.dat", 1, all(SIZE));
  expect_bytes("after.dat", 3, all(SIZE));
  EXPECT(iocompFailures(&iocompParams, &message) == 1);
  EXPECT(message != NULL && strstr(message, "no/such/folder/lost.dat") != NULL);
  free(a);
}

/* What Weir did not write is not replaced, whenever the name is given; a link is followed. */
static void guards(void) {
  double* a = new_array(SIZE);
  MPI_Request request;
  static const char* const names[3] = {"theirs", "with.dat", "link.dat"};
  const char* message = NULL;
  if (rank == 0) {
    EXPECT(system("mkdir theirs && echo thesis >theirs/thesis.txt && echo '{}' >with.dat.json && "
                  "ln -s real.dat link.dat") == 0);
  }
  MPI_Barrier(comm);
  for (int i = 0; i < 3; ++i) {
    send_named(a, &request, names[i], i, SIZE);
    dataWait(&iocompParams, &request, a, names[i]);
  }
  stopSend(&iocompParams);
  EXPECT(iocompFailures(&iocompParams, &message) == 2);
  EXPECT(rank != 0 || (message != NULL && strstr(message, "theirs") != NULL));
  EXPECT(rank != 0 ||
         system("test \"$(cat theirs/thesis.txt with.dat.json)\" = \"$(printf 'thesis\\n{}')\" && "
                "test -L link.dat && test ! -e with.dat") == 0);
  expect_bytes("real.dat", 2, all(SIZE));
  free(a);
}

/* A failure in a program that does not ask: it must not end as if all were well. Also HDF5's errors. */
static void fails(void) {
  double* a = new_array(SIZE);
  MPI_Request request;
  send_named(a, &request, "no/such/folder/lost.h5", 2, SIZE);
  dataWait(&iocompParams, &request, a, "no/such/folder/lost.h5");
  send_named(a, &request, "after.dat", 3, SIZE);
  dataWait(&iocompParams, &request, a, "after.dat");
  stopSend(&iocompParams);
  EXPECT(exists("after.dat"));
  if (rank == 0) printf("came to its end\n");
  free(a);
}

/* An array that is not there: no other memory is written in its place. */
static void absent(void) {
  MPI_Request request;
  preDataSend(&iocompParams, NULL, "absent.dat");
  dataSend(NULL, &iocompParams, &request, SIZE);
  dataWait(&iocompParams, &request, NULL, "absent.dat");
  stopSend(&iocompParams);
  EXPECT(!exists("absent.dat"));
}

/* Leaves a note where the library asks for the disk, in any process: with servers it is not this one. */
__attribute__((visibility("default"))) int fsync(int descriptor) {
  FILE* note = fopen("asked_for_disk", "w");
  if (note != NULL) fclose(note);
  return (int)syscall(SYS_fsync, descriptor);
}

/* On disk, if asked. */
static void synced(void) {
  double* a = new_array(SIZE);
  MPI_Request request;
  if (rank == 0) remove("asked_for_disk");
  send_named(a, &request, "synced.dat", 1, SIZE);
  dataWait(&iocompParams, &request, a, "synced.dat");
  stopSend(&iocompParams);
  expect_bytes("synced.dat", 1, all(SIZE));
  EXPECT(exists("asked_for_disk"));
  free(a);
}

/* Forgets stopSend: MPI_Finalize must not hang, nor lose anything. Checked by the next run, "forgot". */
static void forgets(void) {
  double* a = new_array(SIZE);
  MPI_Request request;
  send_named(a, &request, "forgotten.dat", 1, SIZE);
  dataWait(&iocompParams, &request, a, "forgotten.dat");
}
static void forgot(void) {
  expect_bytes("forgotten.dat", 1, all(SIZE));
  stopSend(&iocompParams);
}

static const struct {
  const char* name;
  void (*run)(void);
  int library;
} cases[] = {{"order", order, 0},   {"empty", empty, 0},     {"sizes", sizes, 0},     {"many", many, 0},
             {"late", late, 0},     {"dropped", dropped, 0}, {"asks", asks, 0},       {"fails", fails, 1},
             {"synced", synced, 0}, {"beside", beside, 0},   {"forgets", forgets, 0}, {"forgot", forgot, 0},
             {"guards", guards, 0}, {"absent", absent, 0}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) return 2;
  split = strcmp(argv[2], "ht") == 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (strcmp(cases[i].name, argv[1]) != 0) continue;
    comm = iocompInit(&iocompParams, MPI_COMM_WORLD, split, cases[i].library, 128, false, 1);
    EXPECT(comm != MPI_COMM_NULL);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (cases[i].run != forgot) empty_folder(comm);
    cases[i].run();
    if (rank == 0) printf("all right\n");
    MPI_Finalize();
    return 0;
  }
  return 2;
}
