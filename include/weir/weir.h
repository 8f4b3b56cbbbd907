/* Weir's programming interface in C. The same contracts as weir.hpp: calls are COLLECTIVE over the session's
 * communicator unless they say LOCAL, failures are the same on every rank, and a file stands under its name
 * only once weir_close() returned WEIR_OK.
 *
 * Every call returns a weir_status; after one that is not WEIR_OK, weir_message() says in words what
 * happened, where, and what to do.
 *
 *     weir_session* io;
 *     weir_file* out;
 *     weir_ticket* ticket;
 *     weir_init(MPI_COMM_WORLD, &io);
 *     weir_create(io, "run.h5", NULL, &out);
 *     uint64_t shape[2] = {NX, NY}, offset[2] = {x0, y0}, count[2] = {nx, ny};
 *     weir_write(out, "T", WEIR_FLOAT64, field, 2, shape, offset, count, step, &ticket);
 *     if (weir_wait(&ticket) != WEIR_OK) fprintf(stderr, "%s\n", weir_message());
 *     weir_close(&out);
 *     weir_finalize(&io);
 */
#ifndef WEIR_H
#define WEIR_H

#include <mpi.h>
#include <stdint.h>

#if defined(__GNUC__)
#define WEIR_C_API __attribute__((visibility("default")))
#else
#define WEIR_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_status {
  WEIR_OK = 0,
  WEIR_INVALID_ARGUMENT = 1,
  WEIR_NOT_FOUND = 2,
  WEIR_UNSUPPORTED = 3,
  WEIR_IO = 4,
  WEIR_CORRUPT = 5,
  WEIR_DISAGREEMENT = 6,
  WEIR_STATE = 7,
  WEIR_NO_MEMORY = 8
} weir_status;

typedef enum weir_type {
  WEIR_INT8 = 0,
  WEIR_INT16 = 1,
  WEIR_INT32 = 2,
  WEIR_INT64 = 3,
  WEIR_UINT8 = 4,
  WEIR_UINT16 = 5,
  WEIR_UINT32 = 6,
  WEIR_UINT64 = 7,
  WEIR_FLOAT32 = 8,
  WEIR_FLOAT64 = 9,
  WEIR_LONG_DOUBLE = 10,
  WEIR_COMPLEX64 = 11,
  WEIR_COMPLEX128 = 12,
  WEIR_COMPLEX_LONG_DOUBLE = 13
} weir_type;

/* For arrays that are written once, without steps. */
#define WEIR_NO_STEP INT64_MIN

typedef struct weir_session weir_session;
typedef struct weir_file weir_file;
typedef struct weir_reader weir_reader;
typedef struct weir_ticket weir_ticket;

/* Start from WEIR_FILE_OPTIONS_INIT, so that options of later versions have their defaults. */
typedef struct weir_file_options {
  const char* backend; /* NULL: by the extension of the name (writing), by content (reading) */
  const char* options; /* of the backend: "deflate=4,shuffle=yes"; NULL: none */
  int checksums;
  int fsync;
} weir_file_options;
#define WEIR_FILE_OPTIONS_INIT \
  { NULL, NULL, 0, 0 }

/* LOCAL. Of the last call in this thread that failed. Valid until the next call. */
WEIR_C_API const char* weir_message(void);
WEIR_C_API const char* weir_version(void); /* LOCAL */

WEIR_C_API weir_status weir_init(MPI_Comm comm, weir_session** session);
WEIR_C_API weir_status weir_compute_comm(const weir_session* session, MPI_Comm* comm); /* LOCAL */
/* Files must be closed before. Sets *session to NULL; NULL is allowed, here and in every call that ends
 * something. */
WEIR_C_API weir_status weir_finalize(weir_session** session);

/* `options` may be NULL. */
WEIR_C_API weir_status weir_create(weir_session* session, const char* path, const weir_file_options* options,
                                   weir_file** file);

/* Writes this rank's block of a global array of `dimensions` dimensions; offset and count may be NULL (zeros;
 * the whole array). With a ticket, the outcome is told by weir_wait(); with NULL it is the return value. */
WEIR_C_API weir_status weir_write(weir_file* file, const char* name, weir_type type, const void* data,
                                  int dimensions, const uint64_t* shape, const uint64_t* offset,
                                  const uint64_t* count, int64_t step, weir_ticket** ticket);
/* LOCAL: only this rank calls; the place was reserved before. */
WEIR_C_API weir_status weir_write_independent(weir_file* file, const char* name, weir_type type,
                                              const void* data, int dimensions, const uint64_t* shape,
                                              const uint64_t* offset, const uint64_t* count, int64_t step);
WEIR_C_API weir_status weir_reserve(weir_file* file, const char* name, weir_type type, int dimensions,
                                    const uint64_t* shape, int64_t step);
WEIR_C_API weir_status weir_test(weir_ticket* ticket, int* done); /* LOCAL */
WEIR_C_API weir_status weir_wait(weir_ticket** ticket); /* LOCAL; frees the ticket, sets it to NULL */

/* `variable` NULL: of the file. */
WEIR_C_API weir_status weir_set_text(weir_file* file, const char* variable, const char* name,
                                     const char* text);
WEIR_C_API weir_status weir_set_numbers(weir_file* file, const char* variable, const char* name,
                                        weir_type type, const void* elements, uint64_t count);
/* The file gets its name, or, on failure, is removed. Sets *file to NULL either way. */
WEIR_C_API weir_status weir_close(weir_file** file);

WEIR_C_API weir_status weir_open(weir_session* session, const char* path, const weir_file_options* options,
                                 weir_reader** reader);
/* LOCAL. `dimensions`: in, the room in shape; out, how many there are. `steps`: how many steps, 0 when the
 * array has none. */
WEIR_C_API weir_status weir_inquire(const weir_reader* reader, const char* name, weir_type* type,
                                    int* dimensions, uint64_t* shape, uint64_t* steps);
WEIR_C_API weir_status weir_read(weir_reader* reader, const char* name, weir_type type, void* data,
                                 int dimensions, const uint64_t* offset, const uint64_t* count, int64_t step);
WEIR_C_API weir_status weir_close_reader(weir_reader** reader);

#ifdef __cplusplus
}
#endif
#endif
