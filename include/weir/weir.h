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

/* In C any number may stand in an enumeration; in C++ only where it has a type. */
#ifdef __cplusplus
#define WEIR_C_ENUM(name) enum name : int
#else
#define WEIR_C_ENUM(name) enum name
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

typedef WEIR_C_ENUM(weir_type){WEIR_INT8 = 0,         WEIR_INT16 = 1,
                               WEIR_INT32 = 2,        WEIR_INT64 = 3,
                               WEIR_UINT8 = 4,        WEIR_UINT16 = 5,
                               WEIR_UINT32 = 6,       WEIR_UINT64 = 7,
                               WEIR_FLOAT32 = 8,      WEIR_FLOAT64 = 9,
                               WEIR_LONG_DOUBLE = 10, WEIR_COMPLEX64 = 11,
                               WEIR_COMPLEX128 = 12,  WEIR_COMPLEX_LONG_DOUBLE = 13} weir_type;

/* For arrays that are written once, without steps. */
#define WEIR_NO_STEP INT64_MIN

typedef struct weir_session weir_session;
typedef struct weir_file weir_file;
typedef struct weir_reader weir_reader;
typedef struct weir_ticket weir_ticket;
typedef struct weir_memory weir_memory;

/* How the I/O of a whole program is done, the same on every rank. What is left out is as the plan of
 * WEIR_PLAN says; without a plan, synchronous. A mapping, compute_per_server or node_size comes before who
 * serves whom in a plan; with a mapping, ranks are pinned as by 'weir run --mapping', unless the launcher has
 * bound them, or there are more ranks than cores. Start from WEIR_SESSION_OPTIONS_INIT. */
typedef struct weir_session_options {
  const char* mode;            /* "synchronous", "servers", "thread"; NULL: left out */
  const char* mapping;         /* of servers: "consecutive", "hyperthread", "oversubscribe"; NULL: left out */
  uint32_t compute_per_server; /* how many compute ranks share a server; 0: one */
  uint32_t node_size;          /* ranks on a node; 0: found out */
  uint64_t budget; /* bytes of memory for data on its way, per server; 0: WEIR_BUDGET, else 1 GiB */
} weir_session_options;
#define WEIR_SESSION_OPTIONS_INIT \
  { NULL, NULL, 0, 0, 0 }

/* When a write of a file may return. */
typedef WEIR_C_ENUM(weir_policy){
    WEIR_AUTOMATIC = 0,    /* as the session does it */
    WEIR_SYNCHRONOUS = 1,  /* when the data is in the file: the compute ranks write it themselves */
    WEIR_ASYNCHRONOUS = 2, /* at once */
    WEIR_THROTTLED = 3     /* at once, unless in_flight writes of this file are still on their way */
} weir_policy;

/* Start from WEIR_FILE_OPTIONS_INIT, so that options of later versions have their defaults. */
typedef struct weir_file_options {
  const char* backend; /* NULL: by the extension of the name (writing), by content (reading) */
  const char* options; /* of the backend: "deflate=4,shuffle=yes"; NULL: none */
  int checksums;
  int fsync;
  weir_policy policy;
  uint32_t in_flight; /* of WEIR_THROTTLED */
} weir_file_options;
#define WEIR_FILE_OPTIONS_INIT \
  { NULL, NULL, 0, 0, WEIR_AUTOMATIC, 1 }

/* What is stored of the steps and points that a program writes; types.hpp has the rules. The work is done by
 * whoever writes the file. Start from WEIR_REDUCTION_INIT. */
typedef struct weir_reduction {
  const char* operation; /* over steps: "mean", "min", "max", "sum", "instant"; NULL: all are stored */
  uint64_t steps;        /* so many give one result, which has the number of the last of them */
  const uint64_t* every; /* every k-th point, k for each dimension; NULL: all points */
} weir_reduction;
#define WEIR_REDUCTION_INIT \
  { NULL, 1, NULL }

/* What the I/O of a session cost: so far and of this rank (weir_get_summary), or in the end and of all ranks,
 * with the times of the slowest (weir_finalize_with). */
typedef struct weir_summary {
  uint64_t files;           /* that were closed, whole */
  uint64_t writes;          /* into those */
  uint64_t bytes;           /* that the program gave for them */
  double storing_seconds;   /* spent in the backend, by whoever writes */
  double sending_seconds;   /* the program spent in weir_write() */
  double waiting_seconds;   /* in weir_wait(), weir_wait_stored(), weir_fresh() */
  double closing_seconds;   /* in weir_create() and weir_close() */
  uint64_t peak_memory;     /* most bytes a server held at once: data, reductions, copies */
  uint64_t transport_bytes; /* that were copied or sent to who writes them */
  double transport_seconds; /* spent on that, beside the program */
  uint64_t stored_bytes; /* in the files: not `bytes` where writes are reduced; 0: not known (servers, before
                          * the end) */
} weir_summary;

/* LOCAL. Of the last call in this thread that failed. Valid until the next call. */
WEIR_C_API const char* weir_message(void);
WEIR_C_API const char* weir_version(void); /* LOCAL */

/* With I/O servers, the call does not return on them: they serve until the session ends on the compute ranks,
 * finalise MPI and exit. A later session cannot have them: of a communicator with such ranks, MPI_COMM_WORLD
 * for one, it fails at once; over a duplicate of the compute communicator it is synchronous unless it asks
 * for servers. `options` may be NULL. */
WEIR_C_API weir_status weir_init(MPI_Comm comm, weir_session** session);
WEIR_C_API weir_status weir_init_with(MPI_Comm comm, const weir_session_options* options,
                                      weir_session** session);
/* LOCAL: to be used by the program in place of the communicator it passed. */
WEIR_C_API weir_status weir_compute_comm(const weir_session* session, MPI_Comm* comm);
/* The same with communicators as Fortran and other languages hold them. */
WEIR_C_API weir_status weir_init_f(MPI_Fint comm, const weir_session_options* options,
                                   weir_session** session);
WEIR_C_API weir_status weir_compute_comm_f(const weir_session* session, MPI_Fint* comm); /* LOCAL */
/* LOCAL. What the I/O of this rank cost so far, as numbers, and as a few lines for a person (valid until the
 * next call in this thread). */
WEIR_C_API weir_status weir_get_summary(const weir_session* session, weir_summary* summary);
WEIR_C_API weir_status weir_summary_text(const weir_session* session, const char** text);
/* Everything is in the files, I/O servers end. Files must be closed before. Sets *session to NULL; NULL is
 * allowed, here and in every call that ends something. */
WEIR_C_API weir_status weir_finalize(weir_session** session);
/* The same, and tells what the I/O of all ranks cost, as above; either may be NULL. Where the session could
 * not be ended by all ranks together, it is what this rank knows. */
WEIR_C_API weir_status weir_finalize_with(weir_session** session, weir_summary* summary, const char** text);

/* LOCAL. Memory where an I/O server can read: what lies in it is written without a copy. Zeroed. */
WEIR_C_API weir_status weir_allocate(weir_session* session, uint64_t bytes, weir_memory** memory,
                                     void** data);
/* LOCAL. To be called before the memory is overwritten as a whole: no ticket needs to be waited for. If it is
 * still on its way into a file, *data becomes another place (its content unspecified); there are two, and if
 * both are on their way, it waits. */
WEIR_C_API weir_status weir_fresh(weir_memory* memory, void** data);
WEIR_C_API weir_status weir_free(weir_memory** memory); /* LOCAL */

/* `options` may be NULL. */
WEIR_C_API weir_status weir_create(weir_session* session, const char* path, const weir_file_options* options,
                                   weir_file** file);

/* Writes this rank's block of a global array of `dimensions` dimensions; offset and count may be NULL (zeros;
 * the whole array). With a ticket, the outcome is told by weir_wait_stored(), or by weir_close(); with NULL
 * the call returns when the data is in the file or has failed, and the outcome is the return value. */
WEIR_C_API weir_status weir_write(weir_file* file, const char* name, weir_type type, const void* data,
                                  int dimensions, const uint64_t* shape, const uint64_t* offset,
                                  const uint64_t* count, int64_t step, weir_ticket** ticket);
/* The same, storing less than is written: `reduction` (NULL: everything) is the same in every write of the
 * variable. */
WEIR_C_API weir_status weir_write_reduced(weir_file* file, const char* name, weir_type type, const void* data,
                                          int dimensions, const uint64_t* shape, const uint64_t* offset,
                                          const uint64_t* count, int64_t step,
                                          const weir_reduction* reduction, weir_ticket** ticket);
/* LOCAL: only this rank calls; the place was reserved before. Returns when it is in the file, or failed.
 * Blocks of different ranks that overlap fail when ranks meet: in the next collective write to the array, or
 * in weir_close(). */
WEIR_C_API weir_status weir_write_independent(weir_file* file, const char* name, weir_type type,
                                              const void* data, int dimensions, const uint64_t* shape,
                                              const uint64_t* offset, const uint64_t* count, int64_t step);
WEIR_C_API weir_status weir_reserve(weir_file* file, const char* name, weir_type type, int dimensions,
                                    const uint64_t* shape, int64_t step);
/* All LOCAL, in any order. A ticket that is waited for is freed and set to NULL, whatever the outcome; copies
 * of it refer to the same write. One that is dropped leaves its error to weir_close(). */
WEIR_C_API weir_status weir_test(weir_ticket* ticket, int* done);   /* may the data be changed? */
WEIR_C_API weir_status weir_stored(weir_ticket* ticket, int* done); /* is it in the file, or has it failed? */
WEIR_C_API weir_status weir_wait(weir_ticket** ticket);             /* until the data may be changed */
WEIR_C_API weir_status weir_wait_stored(weir_ticket** ticket);      /* until the data is in the file */
WEIR_C_API weir_status weir_copy_ticket(const weir_ticket* ticket, weir_ticket** copy);
WEIR_C_API weir_status weir_drop(weir_ticket** ticket);

/* `variable` NULL: of the file. */
WEIR_C_API weir_status weir_set_text(weir_file* file, const char* variable, const char* name,
                                     const char* text);
WEIR_C_API weir_status weir_set_numbers(weir_file* file, const char* variable, const char* name,
                                        weir_type type, const void* elements, uint64_t count);
/* The file gets its name, or, on failure, is removed. Sets *file to NULL either way. */
WEIR_C_API weir_status weir_close(weir_file** file);
/* The same, but returns at once: weir_wait_stored() on the ticket tells how it ended; with NULL, or if nobody
 * asks, weir_finalize() does. A file of which any write failed does not get its name, told or not. */
WEIR_C_API weir_status weir_close_later(weir_file** file, weir_ticket** ticket);
/* LOCAL: nothing is waited for, and the file gets no name; what other ranks still do to it fails. The data of
 * writes on their way must stay until their tickets say otherwise. Sets *file to NULL. */
WEIR_C_API weir_status weir_give_up(weir_file** file);

WEIR_C_API weir_status weir_open(weir_session* session, const char* path, const weir_file_options* options,
                                 weir_reader** reader);
/* LOCAL. `dimensions`: in, the room in shape; out, how many there are. `steps`: how many steps, 0 when the
 * array has none. */
WEIR_C_API weir_status weir_inquire(const weir_reader* reader, const char* name, weir_type* type,
                                    int* dimensions, uint64_t* shape, uint64_t* steps);
/* LOCAL. The names of what is in the file, by number from 0; WEIR_NOT_FOUND past the last. Valid until the
 * reader is closed. */
WEIR_C_API weir_status weir_variable_name(const weir_reader* reader, uint64_t index, const char** name);
/* LOCAL. The step numbers of an array; `room` is that of `steps`, and what weir_inquire() says is enough. */
WEIR_C_API weir_status weir_steps(const weir_reader* reader, const char* name, int64_t* steps, uint64_t room);
/* LOCAL. The attributes, by number from 0; WEIR_NOT_FOUND past the last. *variable is NULL for one of the
 * file. Valid until the reader is closed. */
WEIR_C_API weir_status weir_attribute_name(const weir_reader* reader, uint64_t index, const char** variable,
                                           const char** name);
/* LOCAL. What an attribute holds: a text (*is_text is 1) of *count bytes, or *count numbers of *type. Any of
 * the places may be NULL. `variable` NULL: of the file, here and below. */
WEIR_C_API weir_status weir_inquire_attribute(const weir_reader* reader, const char* variable,
                                              const char* name, int* is_text, weir_type* type,
                                              uint64_t* count);
/* LOCAL. Valid until the reader is closed. */
WEIR_C_API weir_status weir_get_text(const weir_reader* reader, const char* variable, const char* name,
                                     const char** text);
/* LOCAL. `room` is that of `elements`, and the count that weir_inquire_attribute() tells is enough. */
WEIR_C_API weir_status weir_get_numbers(const weir_reader* reader, const char* variable, const char* name,
                                        weir_type type, void* elements, uint64_t room);
WEIR_C_API weir_status weir_read(weir_reader* reader, const char* name, weir_type type, void* data,
                                 int dimensions, const uint64_t* offset, const uint64_t* count, int64_t step);
WEIR_C_API weir_status weir_close_reader(weir_reader** reader);

#ifdef __cplusplus
}
#endif
#endif
