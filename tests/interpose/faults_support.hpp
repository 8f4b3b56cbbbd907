// What programs that make mistakes on purpose share: each is run on all ranks, and says "as expected" on rank
// 0.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>

inline int rank = 0;
inline int ranks = 1;

inline void give_up(const std::string& what) {
  std::fprintf(stderr, "rank %d: %s\n", rank, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

inline std::string words_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

// The same class everywhere, and one of these; the words name the cause.
inline void expect(int code, std::initializer_list<int> classes, const std::string& words) {
  int error_class = MPI_SUCCESS, least = 0, most = 0;
  MPI_Error_class(code, &error_class);
  MPI_Allreduce(&error_class, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&error_class, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (least != most) give_up("ranks have classes from " + words_of(least) + " to " + words_of(most));
  bool known = false;
  for (const int wanted : classes) known = known || wanted == error_class;
  if (!known) give_up("error class " + std::to_string(error_class) + ": " + words_of(code));
#if defined(OPEN_MPI)  // elsewhere they are on standard error
  if (words_of(code).find(words) == std::string::npos)
    give_up("'" + words_of(code) + "' does not name '" + words + "'");
#else
  (void)words;
#endif
}

inline MPI_File open_shared(const std::string& path, int mode, MPI_Info info = MPI_INFO_NULL,
                            MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_File file = MPI_FILE_NULL;
  const int code = MPI_File_open(comm, path.c_str(), mode, info, &file);
  if (code != MPI_SUCCESS) give_up("open " + path + ": " + words_of(code));
  return file;
}

// What MPI_File_get_info says of a hint; nothing: it is not there.
inline std::string reported(MPI_File file, const char* hint) {
  MPI_Info used = MPI_INFO_NULL;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  MPI_File_get_info(file, &used);
  MPI_Info_get(used, hint, MPI_MAX_INFO_VAL, value, &found);
  MPI_Info_free(&used);
  return found != 0 ? value : "";
}

inline bool is_served(MPI_File file) {
  return !reported(file, "weir_collective").empty();
}

struct Case {
  const char* name;
  void (*run)(const std::string&);
};

// The case of this name, on a file in the folder. One that nobody knows is a failure.
template <class Cases>
void run_case(const Cases& cases, const char* name, const std::string& folder) {
  bool known = false;
  for (const Case& one : cases) {
    if (std::strcmp(one.name, name) != 0) continue;
    known = true;
    one.run(folder + "/" + one.name);
  }
  if (!known) give_up(std::string("no case ") + name);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::printf("as expected\n");
  std::fflush(stdout);
}
