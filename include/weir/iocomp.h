/* clang-format off */
/* Programs written for iocomp (github.com/iocomp-org/iocomp) compile against this header and run on Weir,
 * unchanged. An installed Weir stands in for an installed iocomp, IOCOMP_DIR being PREFIX/lib/weir/iocomp:
 *
 *     mpicc program.c -I$IOCOMP_DIR/include -L$IOCOMP_DIR/lib -liocomp
 *
 * Both of its interfaces are here, told apart by the number of arguments:
 *
 *     1.1      iocompInit(&p, comm, HT, ioLib, NODESIZE)    dataSendTest(&p, &request)    dataWait(&p, &request)
 *              every write goes to one file: mpiio.dat, hdf5.h5, adios2.h5, adios2.bp4 or adios2.bp5
 *     2023-10  iocompInit(..., shared, numWin)    dataSendTest(..., array)    dataWait(..., array, file)
 *              and preDataSend(&p, array, file): every write goes to the file named there
 *
 * A file holds one array of doubles: what the compute ranks sent, one after the other. ioLib 0 is plain bytes
 * (FILE.json beside it tells `weir ls` what they are), 1 HDF5 (the array is "IntArray"), 2, 3 and 4 ADIOS2 as
 * HDF5, BP4 and BP5 ("iodata"). It has one dimension; two in the interface of 1.1, as its authors divide it,
 * if all ranks send as many elements.
 *
 * iocompInit and dataSend are COLLECTIVE over the compute ranks, stopSend too; dataWait and dataSendTest are
 * LOCAL, in any order. The number of ranks is free, and so are sizes: they may differ between ranks and from
 * write to write, and may be 0. Data is on its way from dataSend on. It is in the files when stopSend
 * returns; a program that forgets stopSend gets it from MPI_Finalize.
 *
 * With HT (or shared), some of the ranks become I/O servers and do not return from iocompInit; without it,
 * the plan of WEIR_PLAN decides, and without a plan dataSend writes the file. NODESIZE counts where no plan
 * is given. WEIR_IOCOMP_FSYNC=1 waits for the disk. Failures are printed on stderr as they become known, the
 * program goes on, and it ends with status 1; a program that asks iocompFailures() decides for itself.
 *
 * Threads: one at a time.
 */
/* clang-format on */
#ifndef WEIR_IOCOMP_H
#define WEIR_IOCOMP_H

#include <mpi.h>

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__GNUC__)
#define WEIR_IOCOMP_API __attribute__((visibility("default")))
#else
#define WEIR_IOCOMP_API
#endif

#define ioColour 0
#define compColour 1
#define ioLibCount 5
#define NUM_DIM 1

#define WIN_DEACTIVATE 0
#define WIN_TEST 1
#define WIN_ACTIVATE 2
#define WIN_WAIT 3
#define WIN_FREE -1

#ifdef __cplusplus
extern "C" {
#endif

struct adios2_adios;
struct adios2_io;
struct adios2_variable;

/* Filled in by iocompInit, winInits and dataSend. Fields that only iocomp's own inside used are there and
 * empty. */
struct iocomp_params {
  MPI_Comm globalComm;     /* all ranks */
  MPI_Comm ioServerComm;   /* without servers: all ranks; with servers: MPI_COMM_NULL on compute ranks */
  MPI_Comm compServerComm; /* what iocompInit returned; valid until MPI_Finalize */
  MPI_Comm interComm;
  MPI_Comm cartcomm;

  bool hyperthreadFlag;
  int colour;
  int ioServerRank;
  int compServerRank;
  int ioServerSize;
  int compServerSize;
  int NODESIZE;
  int numWin;

  int ioLibNum;
  char ioLibs[ioLibCount][100];

  int NDIM;            /* of the last dataSend: */
  size_t* localArray;  /* this rank's block */
  size_t* arrayStart;  /* where it begins */
  size_t* globalArray; /* the whole array */
  size_t globalDataSize;
  size_t localDataSize;
  MPI_Datatype dataType;

  char* FILENAMES[ioLibCount]; /* of the interface of 1.1 */
  char* ADIOS2_IOENGINES[3];
  struct adios2_adios* adios;
  struct adios2_io* io;
  struct adios2_variable* var_iodata;

  int previousInit;
  int previousCount;
  int adios2Init;
  int pairPrintCounter;

  MPI_Comm newComm;
  MPI_Comm ioComm;
  MPI_Group group;
  bool sharedFlag;
  char debugFile[100];
  FILE* debug;

  int* wintestflags;
  MPI_Win* winMap;
  double** array; /* numWin arrays, after winInits */
  int* flag;
  char** writeFile;

  int writeCount; /* how many dataSend there were */
  /* Seconds in dataSend, of the first hundred. */
  double writeTime[100];
  double timerStart[100];

  void* weir;
};

WEIR_IOCOMP_API MPI_Comm iocompInit(struct iocomp_params* iocompParams, MPI_Comm comm, bool FLAG,
                                    int ioLibNum, int fullNode, bool sharedFlag, int numWin);
WEIR_IOCOMP_API MPI_Comm iocompInit_1_1(struct iocomp_params* iocompParams, MPI_Comm comm, bool FLAG,
                                        int ioLibNum, int NODESIZE);
WEIR_IOCOMP_API void preDataSend(struct iocomp_params* iocompParams, double* array, const char* fileName);
WEIR_IOCOMP_API void dataSend(double* data, struct iocomp_params* iocompParams, MPI_Request* request,
                              size_t localDataSize);
/* 1: the array may be changed, 0: not yet, -1: there is nothing to ask for (neither HT nor shared). */
WEIR_IOCOMP_API int dataSendTest(struct iocomp_params* iocompParams, MPI_Request* request, double* array);
WEIR_IOCOMP_API int dataSendTest_1_1(struct iocomp_params* iocompParams, MPI_Request* request);
WEIR_IOCOMP_API void dataWait(struct iocomp_params* iocompParams, MPI_Request* request, double* array,
                              const char* fileName);
WEIR_IOCOMP_API void dataWait_1_1(struct iocomp_params* iocompParams, MPI_Request* request);
WEIR_IOCOMP_API void stopSend(struct iocomp_params* iocompParams);

/* numWin arrays for the program, array[0] and so on: with HT or shared in memory that is written without a
 * copy, and freed by winFinalise; else from malloc(), and the program's to free. */
WEIR_IOCOMP_API void winInits(struct iocomp_params* iocompParams, size_t localDataSize);
WEIR_IOCOMP_API void winActivateInfo(struct iocomp_params* iocompParams, double* array);
WEIR_IOCOMP_API void winTestInfo(struct iocomp_params* iocompParams, double* array);
WEIR_IOCOMP_API void winFinalise(struct iocomp_params* iocompParams);

/* Prints where an MPI call failed, and ends the job. */
#define mpi_error_check(ierr) error_report_fn(ierr, __LINE__, __FILE__)
WEIR_IOCOMP_API void error_report_fn(int ierr, int line_no, const char* file_name);
WEIR_IOCOMP_API void malloc_check(double* test);
WEIR_IOCOMP_API void free_check(double* test);

/* Not of iocomp: how many writes failed on this rank so far, and what the first one complained of (NULL:
 * none). After this call the exit status is the program's own. LOCAL; once stopSend returned, the same on all
 * ranks. */
WEIR_IOCOMP_API int iocompFailures(struct iocomp_params* iocompParams, const char** message);

#ifdef __cplusplus
}

inline MPI_Comm iocompInit(struct iocomp_params* p, MPI_Comm comm, bool flag, int io_library, int node_size) {
  return iocompInit_1_1(p, comm, flag, io_library, node_size);
}
inline int dataSendTest(struct iocomp_params* p, MPI_Request* request) {
  return dataSendTest_1_1(p, request);
}
inline void dataWait(struct iocomp_params* p, MPI_Request* request) {
  dataWait_1_1(p, request);
}
#elif !defined(WEIR_IOCOMP_NO_MACROS)
#define WEIR_IOCOMP_PICK(a1, a2, a3, a4, a5, a6, a7, function, ...) function
#define iocompInit(...)                                                                                 \
  WEIR_IOCOMP_PICK(__VA_ARGS__, iocompInit, iocompInit, iocompInit_1_1, iocompInit_1_1, iocompInit_1_1, \
                   iocompInit_1_1, iocompInit_1_1, )                                                    \
  (__VA_ARGS__)
#define dataSendTest(...)                                                                             \
  WEIR_IOCOMP_PICK(__VA_ARGS__, dataSendTest, dataSendTest, dataSendTest, dataSendTest, dataSendTest, \
                   dataSendTest_1_1, dataSendTest_1_1, )                                              \
  (__VA_ARGS__)
#define dataWait(...)                                                                           \
  WEIR_IOCOMP_PICK(__VA_ARGS__, dataWait, dataWait, dataWait, dataWait, dataWait, dataWait_1_1, \
                   dataWait_1_1, )                                                              \
  (__VA_ARGS__)
#endif
#endif
