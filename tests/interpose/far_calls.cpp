// Places and sizes beyond 2 GiB: far_calls FOLDER. Leaves a log of what a rank finds where it wrote, and no
// large file. The bytes are few: files have holes, and one stretch of memory is written many times.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;

void must(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::fprintf(stderr, "rank %d: %s: %s\n", rank, what, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

MPI_File open(const std::string& path) {
  MPI_File file = MPI_FILE_NULL;
  must(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &file),
       "open");
  return file;
}

// Blocks 3 GiB apart, through a view and by the individual pointer; looked at by independent reads.
void far_apart(const std::string& folder, std::ostream& log) {
  MPI_File file = open(folder + "/far");
  constexpr MPI_Aint apart = MPI_Aint{3} << 30;
  MPI_Datatype view = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(2, 100, apart, MPI_BYTE, &view);
  MPI_Type_commit(&view);
  const MPI_Offset place = (MPI_Offset{5} << 30) + 100 * rank;
  must(MPI_File_set_view(file, place, MPI_BYTE, view, "native", MPI_INFO_NULL), "set_view");
  const std::vector<char> mine(150, static_cast<char>('a' + rank));
  must(MPI_File_write_all(file, mine.data(), 150, MPI_BYTE, MPI_STATUS_IGNORE), "write_all");
  MPI_Offset position = 0, size = 0;
  MPI_File_get_position(file, &position);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_get_size(file, &size);
  std::vector<char> back(150, '-');
  must(MPI_File_read_at_all(file, 0, back.data(), 150, MPI_BYTE, MPI_STATUS_IGNORE), "read_at_all");
  must(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "set_view");
  char first = '-', last = '-';
  must(MPI_File_read_at(file, place, &first, 1, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
  must(MPI_File_read_at(file, place + apart + 49, &last, 1, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
  log << "far " << position << ' ' << size << ' ' << first << last << ' ' << (back == mine) << '\n';
  MPI_Type_free(&view);
  MPI_File_close(&file);
}

// One rank writes more than 2 GiB in one call, from 1 MiB of memory.
void large(const std::string& folder, std::ostream& log) {
  MPI_File file = open(folder + "/large");
  constexpr int megabyte = 1 << 20, count = 2100;
  std::vector<char> memory(megabyte, static_cast<char>('a' + rank));
  MPI_Datatype again = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(count, megabyte, 0, MPI_BYTE, &again);
  MPI_Type_commit(&again);
  const MPI_Offset end = MPI_Offset{megabyte} * count;
  MPI_Status status;
  must(rank == 0 ? MPI_File_write_at_all(file, 0, memory.data(), 1, again, &status)
                 : MPI_File_write_at_all(file, end + rank, memory.data(), 1, MPI_BYTE, &status),
       "write_at_all");
  MPI_Count bytes = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset size = 0;
  MPI_File_get_size(file, &size);
  char last = '-', behind = '-';
  must(MPI_File_read_at(file, end - 1, &last, 1, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
  must(MPI_File_read_at(file, end + ranks - 1, &behind, 1, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
  log << "large " << bytes << ' ' << size << ' ' << last << behind << '\n';
  MPI_Type_free(&again);
  MPI_File_close(&file);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) return 2;
  std::ofstream log(std::string(argv[2]) + "/log" + std::to_string(rank));
  (std::string(argv[1]) == "large" ? large : far_apart)(argv[2], log);
  log.close();
  MPI_Finalize();
}
