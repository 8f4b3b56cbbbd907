// Uses every form of MPI-IO's calls and every kind of data type: calls FOLDER. Rank r writes bytes of the
// value r + 1 and no byte is written twice, so that the files themselves tell who wrote what. Then each rank
// reads what it wrote in the same way.
#include <mpi.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;
std::string folder;

void must(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::fprintf(stderr, "rank %d: %s: %s\n", rank, what.c_str(), text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

using Buffer = std::vector<unsigned char>;
struct Form {
  const char* name;
  enum { given, individual, shared, ordered } pointer;
  std::function<int(MPI_File, MPI_Offset, Buffer&)> write;
  std::function<int(MPI_File, MPI_Offset, Buffer&)> read;
};

int ints(const Buffer& buffer) {
  return static_cast<int>(buffer.size() / sizeof(int));
}

template <class Start>
int wait_for(const Start& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return code;
}

#define BLOCKING_AT(name)                                                        \
  [](MPI_File f, MPI_Offset o, Buffer& b) {                                      \
    return MPI_File_##name(f, o, b.data(), ints(b), MPI_INT, MPI_STATUS_IGNORE); \
  }
#define BLOCKING(name)                                                        \
  [](MPI_File f, MPI_Offset, Buffer& b) {                                     \
    return MPI_File_##name(f, b.data(), ints(b), MPI_INT, MPI_STATUS_IGNORE); \
  }
#define STARTED_AT(name)                                                                                   \
  [](MPI_File f, MPI_Offset o, Buffer& b) {                                                                \
    return wait_for([&](MPI_Request* r) { return MPI_File_##name(f, o, b.data(), ints(b), MPI_INT, r); }); \
  }
#define STARTED(name)                                                                                   \
  [](MPI_File f, MPI_Offset, Buffer& b) {                                                               \
    return wait_for([&](MPI_Request* r) { return MPI_File_##name(f, b.data(), ints(b), MPI_INT, r); }); \
  }
#define SPLIT_AT(name)                                                          \
  [](MPI_File f, MPI_Offset o, Buffer& b) {                                     \
    const int code = MPI_File_##name##_begin(f, o, b.data(), ints(b), MPI_INT); \
    if (code != MPI_SUCCESS) return code;                                       \
    return MPI_File_##name##_end(f, b.data(), MPI_STATUS_IGNORE);               \
  }
#define SPLIT(name)                                                          \
  [](MPI_File f, MPI_Offset, Buffer& b) {                                    \
    const int code = MPI_File_##name##_begin(f, b.data(), ints(b), MPI_INT); \
    if (code != MPI_SUCCESS) return code;                                    \
    return MPI_File_##name##_end(f, b.data(), MPI_STATUS_IGNORE);            \
  }

const std::vector<Form> forms = {
    {"at", Form::given, BLOCKING_AT(write_at), BLOCKING_AT(read_at)},
    {"at_all", Form::given, BLOCKING_AT(write_at_all), BLOCKING_AT(read_at_all)},
    {"iat", Form::given, STARTED_AT(iwrite_at), STARTED_AT(iread_at)},
    {"iat_all", Form::given, STARTED_AT(iwrite_at_all), STARTED_AT(iread_at_all)},
    {"at_all_split", Form::given, SPLIT_AT(write_at_all), SPLIT_AT(read_at_all)},
    {"alone", Form::individual, BLOCKING(write), BLOCKING(read)},
    {"all", Form::individual, BLOCKING(write_all), BLOCKING(read_all)},
    {"i", Form::individual, STARTED(iwrite), STARTED(iread)},
    {"i_all", Form::individual, STARTED(iwrite_all), STARTED(iread_all)},
    {"all_split", Form::individual, SPLIT(write_all), SPLIT(read_all)},
    {"shared", Form::shared, BLOCKING(write_shared), BLOCKING(read_shared)},
    {"ishared", Form::shared, STARTED(iwrite_shared), STARTED(iread_shared)},
    {"ordered", Form::ordered, BLOCKING(write_ordered), BLOCKING(read_ordered)},
    {"ordered_split", Form::ordered, SPLIT(write_ordered), SPLIT(read_ordered)},
};

MPI_File open(const std::string& name) {
  MPI_File file = MPI_FILE_NULL;
  must(MPI_File_open(MPI_COMM_WORLD, (folder + "/" + name).c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                     MPI_INFO_NULL, &file),
       "open " + name);
  // Zeros, and no end of the file within reach: beyond it some MPI libraries leave anything in the gaps of
  // collective writes.
  must(MPI_File_set_size(file, 100000), "set_size " + name);
  return file;
}

// Three calls of different length; each through the same interleaved view, or by the pointer that all ranks
// share.
void use_form(const Form& form) {
  MPI_File file = open(std::string("form-") + form.name);
  MPI_Datatype blocks = MPI_DATATYPE_NULL, view = MPI_DATATYPE_NULL;
  MPI_Type_vector(1, 2, 2, MPI_INT, &blocks);
  MPI_Type_create_resized(blocks, 0, static_cast<MPI_Aint>(2 * sizeof(int)) * ranks, &view);
  MPI_Type_commit(&view);
  const bool own = form.pointer == Form::given || form.pointer == Form::individual;
  if (own)
    must(MPI_File_set_view(file, 64 + static_cast<MPI_Offset>(2 * sizeof(int)) * rank, MPI_INT, view,
                           "native", MPI_INFO_NULL),
         "set_view");
  const std::vector<std::size_t> lengths = {6, 2, static_cast<std::size_t>(3 + 2 * (rank % 2))};
  for (const bool writes : {true, false}) {
    MPI_Offset at = 0;
    if (form.pointer == Form::individual) MPI_File_seek(file, 0, MPI_SEEK_SET);
    if (!own) MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    for (const std::size_t length : lengths) {
      Buffer buffer(length * sizeof(int), static_cast<unsigned char>(writes ? rank + 1 : 0));
      const auto once = [&] {
        must(writes ? form.write(file, at, buffer) : form.read(file, at, buffer), form.name);
      };
      if (form.pointer == Form::shared) {  // one after the other, or nobody could say who gets what
        for (int turn = 0; turn < ranks; ++turn) {
          if (turn == rank) once();
          MPI_Barrier(MPI_COMM_WORLD);
        }
      } else {
        once();
      }
      at += static_cast<MPI_Offset>(length) + 4;  // a hole, which the pointers have to be moved over
      if (form.pointer == Form::individual) MPI_File_seek(file, 4, MPI_SEEK_CUR);
      for (const unsigned char byte : buffer)
        if (byte != rank + 1)
          must(MPI_ERR_OTHER, std::string(form.name) + ": read something else than was written");
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_File_close(&file);
  MPI_Type_free(&blocks);
  MPI_Type_free(&view);
}

// Two and a half of the type, in one collective call.
void use_type(const std::string& name, MPI_Datatype type, MPI_Offset displacement) {
  MPI_File file = open("type-" + name);
  MPI_Type_commit(&type);
  int size = 0;
  MPI_Type_size(type, &size);
  must(MPI_File_set_view(file, displacement, MPI_BYTE, type, "native", MPI_INFO_NULL), "set_view " + name);
  Buffer buffer(static_cast<std::size_t>(size * 5 / 2), static_cast<unsigned char>(rank + 1));
  must(MPI_File_write_all(file, buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, MPI_STATUS_IGNORE),
       name);
  MPI_Barrier(MPI_COMM_WORLD);
  must(MPI_File_read_at_all(file, 0, buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE,
                            MPI_STATUS_IGNORE),
       name);
  MPI_File_close(&file);
  MPI_Type_free(&type);
}

void use_types() {
  const MPI_Offset place = static_cast<MPI_Offset>(rank) * 4096 + 128;
  MPI_Datatype type = MPI_DATATYPE_NULL, nested = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(5, MPI_SHORT, &type);
  use_type("contiguous", type, place);
#if defined(OPEN_MPI)  // ROMIO of MPICH places them elsewhere
  MPI_Type_contiguous(5, MPI_SHORT_INT, &type);
  use_type("short_int", type, place);
  MPI_Type_contiguous(5, MPI_DOUBLE_INT, &type);
  use_type("double_int", type, place);
#endif
  MPI_Type_vector(3, 2, 5, MPI_INT, &type);
  use_type("vector", type, place);
  MPI_Type_create_hvector(3, 2, 21, MPI_INT, &type);
  use_type("hvector", type, place);
  const int lengths[] = {3, 0, 1, 2}, displacements[] = {0, 4, 7, 9};
  const MPI_Aint bytes[] = {1, 40, 41, 60};
  MPI_Type_indexed(4, lengths, displacements, MPI_INT, &type);
  use_type("indexed", type, place);
  MPI_Type_create_hindexed(4, lengths, bytes, MPI_INT, &type);
  use_type("hindexed", type, place);
  MPI_Type_create_indexed_block(4, 2, displacements, MPI_SHORT, &type);
  use_type("indexed_block", type, place);
  const MPI_Aint apart[] = {1, 40, 46, 60};
  MPI_Type_create_hindexed_block(4, 2, apart, MPI_SHORT, &type);
  use_type("hindexed_block", type, place);
  const MPI_Datatype parts[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_INT};
  const MPI_Aint places[] = {0, 8, 20, 32};
  MPI_Type_create_struct(4, lengths, places, parts, &type);
  use_type("struct", type, place);
  MPI_Type_create_struct(3, lengths, places, parts, &nested);
  MPI_Type_create_resized(nested, 0, 100, &type);
  use_type("resized", type, place);
  MPI_Type_dup(nested, &type);
  use_type("dup", type, place);
  MPI_Type_vector(3, 1, 2, nested, &type);
  use_type("nested", type, place);
  MPI_Type_free(&nested);

  const int sizes[] = {6, 2 * ranks, 5}, parts_of[] = {3, 2, 4}, starts[] = {2, 2 * rank, 1};
  MPI_Type_create_subarray(3, sizes, parts_of, starts, MPI_ORDER_C, MPI_INT, &type);
  use_type("subarray", type, 0);
  const int sizes_f[] = {5, 2 * ranks, 6}, parts_f[] = {4, 2, 3}, starts_f[] = {1, 2 * rank, 2};
  MPI_Type_create_subarray(3, sizes_f, parts_f, starts_f, MPI_ORDER_FORTRAN, MPI_INT, &type);
  use_type("subarray_fortran", type, 8);
  const int global[] = {7 * ranks, 6}, distribution[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
  const int arguments[] = {2, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {ranks, 1};
  MPI_Type_create_darray(ranks, rank, 2, global, distribution, arguments, grid, MPI_ORDER_C, MPI_SHORT,
                         &type);
  use_type("darray_cyclic", type, 0);
  const int block[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE},
            plain[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  MPI_Type_create_darray(ranks, rank, 2, global, block, plain, grid, MPI_ORDER_FORTRAN, MPI_INT, &type);
  use_type("darray_block", type, 0);
}

// A named type with a hole between its members: what stands there in memory is nobody's business.
[[maybe_unused]] void use_pairs() {
  struct ShortInt {
    short value;
    int place;
  };
  constexpr int count = 300;
  constexpr short nothing = 0x7777;
  std::vector<ShortInt> pairs(count);
  MPI_File file = open("pairs");
  const MPI_Offset at = static_cast<MPI_Offset>(rank) * 6 * count;
  for (const bool writes : {true, false}) {
    auto* const shorts = reinterpret_cast<short*>(pairs.data());
    for (int i = 0; i < 4 * count; ++i)
      shorts[i] = static_cast<short>(i % 4 == 1 || !writes ? nothing : 0x101 * (rank + 1));
    must(writes ? MPI_File_write_at_all(file, at, pairs.data(), count, MPI_SHORT_INT, MPI_STATUS_IGNORE)
                : MPI_File_read_at_all(file, at, pairs.data(), count, MPI_SHORT_INT, MPI_STATUS_IGNORE),
         "pairs");
    for (int i = 0; i < 4 * count; ++i)
      if (shorts[i] != (i % 4 == 1 ? nothing : 0x101 * (rank + 1)))
        must(MPI_ERR_OTHER, "pairs: read something else than was written");
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_File_close(&file);
}

// A loop over three variables, turned often; and a call that fails, of which the program must hear as ever.
void use_loop() {
  MPI_File file = open("loop");
  Buffer buffer(24, static_cast<unsigned char>(rank + 1));
  for (const bool writes : {true, false}) {
    for (int step = 0; step < 200; ++step) {
      MPI_Offset at = static_cast<MPI_Offset>(step) * 100 * ranks + static_cast<MPI_Offset>(rank) * 100;
      for (const int length : {8, 24, 16}) {
        must(writes ? MPI_File_write_at(file, at, buffer.data(), length, MPI_BYTE, MPI_STATUS_IGNORE)
                    : MPI_File_read_at(file, at, buffer.data(), length, MPI_BYTE, MPI_STATUS_IGNORE),
             "loop");
        at += length + 3;
      }
    }
  }
  MPI_File_close(&file);
  must(MPI_File_open(MPI_COMM_WORLD, (folder + "/loop").c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
       "open again");
  const int code = MPI_File_write_at(file, 5, buffer.data(), 1, MPI_BYTE, MPI_STATUS_IGNORE);
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  if (error_class != MPI_ERR_READ_ONLY && error_class != MPI_ERR_ACCESS)
    must(MPI_ERR_OTHER, "a read-only file was written");
  MPI_File_close(&file);
  const int absent =
      MPI_File_open(MPI_COMM_WORLD, (folder + "/absent/file").c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  if (absent == MPI_SUCCESS) must(MPI_ERR_OTHER, "a file that is not there was opened");
}

// Calls that go on and on as before, and what may change meanwhile: a type that is freed and whose handle
// comes again for a longer one, the file, the length, the pointer.
void use_streaks() {
  MPI_File files[] = {open("streak-0"), open("streak-1")};
  const MPI_Offset mine = static_cast<MPI_Offset>(rank) * 9000;
  for (const bool writes : {true, false}) {
    Buffer buffer(64, static_cast<unsigned char>(writes ? rank + 1 : 0));
    const auto at = [&](MPI_File file, MPI_Offset offset, int count, MPI_Datatype type) {
      must(writes ? MPI_File_write_at(file, mine + offset, buffer.data(), count, type, MPI_STATUS_IGNORE)
                  : MPI_File_read_at(file, mine + offset, buffer.data(), count, type, MPI_STATUS_IGNORE),
           "streak");
    };
    const auto on = [&](MPI_File file, int count, MPI_Datatype type) {
      must(writes ? MPI_File_write(file, buffer.data(), count, type, MPI_STATUS_IGNORE)
                  : MPI_File_read(file, buffer.data(), count, type, MPI_STATUS_IGNORE),
           "streak");
    };
    for (int length = 2; length < 5; ++length) {
      MPI_Datatype type = MPI_DATATYPE_NULL;
      MPI_Type_contiguous(length, MPI_INT, &type);
      MPI_Type_commit(&type);
      for (int i = 0; i < 20; ++i) at(files[0], ((length - 2) * 20 + i) * 16, 1, type);
      MPI_Type_free(&type);
    }
    for (int i = 0; i < 30; ++i) at(files[0], 1000 + i * 10, i < 15 ? 4 : 5, MPI_BYTE);
    for (int i = 0; i < 30; ++i) at(files[i / 3 % 2], 2000 + i * 10, 4, MPI_BYTE);
    for (int i = 30; i-- > 0;) at(files[1], 3000 + i * 10, 4, MPI_BYTE);
    for (int turn = 0; turn < 3; ++turn) {
      MPI_File_seek(files[1], mine + 4000 + turn * 1000, MPI_SEEK_SET);
      for (int i = 0; i < 10; ++i) on(files[1], 6, MPI_BYTE);
      MPI_File_seek(files[1], 7, MPI_SEEK_CUR);
      for (int i = 0; i < 10; ++i) on(files[1], 6, MPI_BYTE);
      at(files[1], 7000 + turn * 100, 50, MPI_BYTE);
      for (int i = 0; i < 10; ++i) on(files[1], 3, MPI_SHORT);
    }
    for (MPI_File& file : files) MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (MPI_File& file : files) MPI_File_close(&file);
}

// Calls that go on as before, until one of them fails: it is as if it had not been, and the pointer is where
// MPI says.
void use_limit() {
  MPI_File file = open("limit");
  const MPI_Offset mine = static_cast<MPI_Offset>(rank) * 1000;
  Buffer buffer(10, static_cast<unsigned char>(rank + 1));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  getrlimit(RLIMIT_FSIZE, &usual);
  const rlimit low{.rlim_cur = static_cast<rlim_t>(mine + 500), .rlim_max = usual.rlim_max};
  setrlimit(RLIMIT_FSIZE, &low);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  const auto write = [&] {
    return MPI_File_write(file, buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, MPI_STATUS_IGNORE);
  };
  for (int i = 0; i < 50; ++i) must(write(), "below the limit");
  if (write() == MPI_SUCCESS) must(MPI_ERR_OTHER, "a write beyond the limit succeeded");
  setrlimit(RLIMIT_FSIZE, &usual);
  MPI_Offset left = 0;
  MPI_File_get_position(file, &left);
  for (int i = 0; i < 10; ++i) must(write(), "with no limit");
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  must(MPI_File_read_at(file, mine, Buffer(500).data(), 500, MPI_BYTE, MPI_STATUS_IGNORE), "limit");
  must(MPI_File_read_at(file, left, Buffer(100).data(), 100, MPI_BYTE, MPI_STATUS_IGNORE), "limit");
  MPI_File_close(&file);
}

// More calls than are noted at a time, wildly about the file, of one length and then of many.
void use_jumps() {
  MPI_File file = open("jumps");
  constexpr int places = 3000, room = 12;
  const MPI_Offset mine = static_cast<MPI_Offset>(rank) * places * room;
  Buffer buffer(room, static_cast<unsigned char>(rank + 1));
  for (const bool writes : {true, false}) {
    for (int i = 0; i < places; ++i) {
      const MPI_Offset at = mine + static_cast<MPI_Offset>(i * 1777 % places) * room;
      const int length = i < 1700 ? 5 : 1 + i % 11;
      must(writes ? MPI_File_write_at(file, at, buffer.data(), length, MPI_BYTE, MPI_STATUS_IGNORE)
                  : MPI_File_read_at(file, at, buffer.data(), length, MPI_BYTE, MPI_STATUS_IGNORE),
           "jumps");
    }
  }
  MPI_File_close(&file);
}

// Three time steps, each a collective call.
void use_steps() {
  MPI_File file = open("steps");
  Buffer buffer(64, static_cast<unsigned char>(rank + 1));
  MPI_Datatype view = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 16, 16 * ranks, MPI_BYTE, &view);
  MPI_Type_commit(&view);
  for (int step = 0; step < 3; ++step) {
    must(MPI_File_set_view(file, static_cast<MPI_Offset>(step * 64 * ranks + rank * 16), MPI_BYTE, view,
                           "native", MPI_INFO_NULL),
         "set_view of steps");
    must(MPI_File_write_all(file, buffer.data(), 64, MPI_BYTE, MPI_STATUS_IGNORE), "steps");
  }
  MPI_Type_free(&view);
  MPI_File_close(&file);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  folder = argc > 1 ? argv[argc - 1] : ".";
  if (argc > 2 && std::string(argv[1]) == "limit") {
    use_limit();
    return MPI_Finalize();
  }
  for (const Form& form : forms) use_form(form);
  use_types();
#if defined(OPEN_MPI)  // ROMIO of MPICH ends the job
  use_pairs();
#endif
  use_loop();
  use_streaks();
  use_jumps();
  use_steps();
  MPI_Finalize();
}
