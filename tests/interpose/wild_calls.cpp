// wild_calls FOLDER: each rank writes and then reads its blocks of one file in an order that nobody could
// guess. A byte v > 0 of the file was written by rank v - 1. So many calls are recorded as they are, and
// worked out later.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 2) return 2;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  constexpr int block = 16, blocks = 40'000;
  const std::string name = std::string(argv[1]) + "/wild.dat";
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) !=
      MPI_SUCCESS)
    return 1;
  // A header that rank 0 writes in order, and views that begin behind it.
  if (rank == 0) {
    const std::vector<char> header(64, 1);
    for (int i = 0; i < 64; i += 16) MPI_File_write_at(file, i, &header[0], 16, MPI_CHAR, MPI_STATUS_IGNORE);
    for (int i = 0; i < 64; i += 16) {
      char back[16];
      MPI_File_read_at(file, i, back, 16, MPI_CHAR, MPI_STATUS_IGNORE);
    }
  }
  MPI_File_set_view(file, 64, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
  std::vector<int> order(blocks);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(static_cast<unsigned>(rank));
  std::vector<char> data(block, static_cast<char>(rank + 1)), back(block);
  const auto place = [&](int i) { return (MPI_Offset{i} * ranks + rank) * block; };
  // The last rank in order: not everybody is wild.
  const bool wild = rank + 1 < ranks || ranks == 1;
  if (wild) std::shuffle(order.begin(), order.end(), random);
  for (const int i : order)
    MPI_File_write_at(file, place(i), data.data(), block, MPI_CHAR, MPI_STATUS_IGNORE);
  if (wild) std::shuffle(order.begin(), order.end(), random);
  int wrong = 0;
  for (const int i : order) {
    MPI_File_read_at(file, place(i), back.data(), block, MPI_CHAR, MPI_STATUS_IGNORE);
    wrong += back == data ? 0 : 1;
  }
  if (wrong != 0) std::fprintf(stderr, "rank %d: %d blocks read back wrong\n", rank, wrong);
  MPI_File_close(&file);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
