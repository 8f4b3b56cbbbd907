// A disk without room: full_disk_calls FOLDER, in a file system of about 1 MiB. Every rank must get
// MPI_ERR_NO_SPACE, and the file can be written to when there is room again.
#include <mpi.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "rank %d: %s\n", rank, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

std::string words_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2) return 2;
  const std::string name = std::string(argv[1]) + "/file";
  MPI_File file = MPI_FILE_NULL;
  int code =
      MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  expect(code == MPI_SUCCESS, words_of(code));
  constexpr int piece = 1000;
  MPI_Datatype every = MPI_DATATYPE_NULL, mine = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(piece, MPI_BYTE, &every);
  MPI_Type_create_resized(every, 0, static_cast<MPI_Aint>(piece) * ranks, &mine);
  MPI_Type_commit(&mine);
  MPI_File_set_view(file, static_cast<MPI_Offset>(piece) * rank, MPI_BYTE, mine, "native", MPI_INFO_NULL);
  const std::vector<char> data(4 << 20, 'x');
  code =
      MPI_File_write_at_all(file, 0, data.data(), static_cast<int>(data.size()), MPI_BYTE, MPI_STATUS_IGNORE);
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  expect(error_class == MPI_ERR_NO_SPACE,
         "error class " + std::to_string(error_class) + " instead of MPI_ERR_NO_SPACE: " + words_of(code));
#if defined(OPEN_MPI)  // elsewhere they are on standard error
  for (const std::string& word : {name, std::string("No space left on device"), std::string("rank")})
    expect(words_of(code).find(word) != std::string::npos, "no '" + word + "' in '" + words_of(code) + "'");
#endif
  expect(MPI_File_set_size(file, 0) == MPI_SUCCESS, "cannot make room");
  code = MPI_File_write_at_all(file, 0, data.data(), piece, MPI_BYTE, MPI_STATUS_IGNORE);
  expect(code == MPI_SUCCESS, "once there is room: " + words_of(code));
  MPI_File_close(&file);
  MPI_Type_free(&every);
  MPI_Type_free(&mine);
  if (rank == 0) std::puts("as expected");
  MPI_Finalize();
}
