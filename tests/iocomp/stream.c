/* An ordinary program for iocomp's interface of 2023: three arrays in turn, each computed while the others
 * are on their way.
 *
 *     stream IOLIB ht|shared|none
 */
#include <iocomp.h>

#include "expect.h"

#define ARRAYS 3
#define ROUNDS 4
#define SIZE 1009 /* prime */

int main(int argc, char** argv) {
  static const char* const extension[5] = {".dat", ".h5", ".h5", ".bp4", ".bp5"};
  static const char letter[ARRAYS] = {'B', 'C', 'A'};
  struct iocomp_params iocompParams;
  MPI_Request requests[ARRAYS];
  char names[ARRAYS][20];
  int rank, size;

  int ierr = MPI_Init(&argc, &argv);
  mpi_error_check(ierr);
  if (argc != 3) return 2;
  const int library = atoi(argv[1]);
  const bool split = strcmp(argv[2], "ht") == 0;
  const bool shared = strcmp(argv[2], "shared") == 0;
  MPI_Comm comm = iocompInit(&iocompParams, MPI_COMM_WORLD, split, library, 128, shared, ARRAYS);
  EXPECT(comm != MPI_COMM_NULL && comm == iocompParams.compServerComm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);

  empty_folder(comm);
  winInits(&iocompParams, SIZE);
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < ARRAYS; ++i) {
      double* array = iocompParams.array[i];
      EXPECT(array != NULL);
      if (round > 0) dataWait(&iocompParams, &requests[i], array, names[i]);
      winActivateInfo(&iocompParams, array);
      winTestInfo(&iocompParams, iocompParams.array[(i + 1) % ARRAYS]);
      snprintf(names[i], sizeof names[i], "%c_%d%s", letter[i], round, extension[library]);
      preDataSend(&iocompParams, array, names[i]);
      fill(array, round * ARRAYS + i, comm, SIZE);
      dataSend(array, &iocompParams, &requests[i], SIZE);
      const int done = dataSendTest(&iocompParams, &requests[i], array);
      EXPECT(split || shared ? done == 0 || done == 1 : done == -1);
    }
  }
  for (int i = 0; i < ARRAYS; ++i) dataWait(&iocompParams, &requests[i], iocompParams.array[i], names[i]);
  stopSend(&iocompParams);

  /* What a program may look up. */
  EXPECT(iocompParams.writeCount == ROUNDS * ARRAYS);
  EXPECT(iocompParams.ioLibNum == library);
  EXPECT(iocompParams.localDataSize == SIZE && iocompParams.NDIM == 1);
  EXPECT(iocompParams.globalDataSize == (size_t)SIZE * (size_t)size);
  EXPECT(iocompParams.arrayStart[0] == (size_t)SIZE * (size_t)rank);
  EXPECT(iocompParams.localArray[0] == SIZE && iocompParams.globalArray[0] == (size_t)SIZE * (size_t)size);

  /* The communicator and the arrays are still there. Everything is in the files. */
  MPI_Barrier(comm);
  EXPECT(iocompParams.array[0][0] ==
         element((ROUNDS - 1) * ARRAYS, (unsigned long long)SIZE * (unsigned long long)rank));
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < ARRAYS; ++i) {
      char name[20];
      const int write = round * ARRAYS + i;
      const unsigned long long total = (unsigned long long)SIZE * (unsigned long long)size;
      snprintf(name, sizeof name, "%c_%d%s", letter[i], round, extension[library]);
      if (library == 0) expect_bytes(name, write, total);
      expect_array(comm, name, library <= 1 ? "IntArray" : "iodata", 1, write, total);
    }
  }
  const bool frees = split || shared;
  winFinalise(&iocompParams);
  for (int i = 0; i < ARRAYS && !frees; ++i) free(iocompParams.array[i]);
  if (rank == 0) printf("all right\n");
  MPI_Finalize();
  return 0;
}
