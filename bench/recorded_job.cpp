// A job whose reads have no order, for recorded_job.py: mpirun -n R build/bench/recorded_job FOLDER CALLS
// BYTES. Each rank makes CALLS reads of BYTES at random places of its own file in the page cache. Rank 0
// prints two numbers: the seconds in the reads, and the seconds in MPI_Finalize, those of the slowest rank.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: recorded_job FOLDER CALLS BYTES\n"), 2;
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string name = std::string(argv[1]) + "/recorded_job." + std::to_string(rank);
  const long calls = std::atol(argv[2]);
  const int bytes = std::atoi(argv[3]);
  constexpr std::int64_t file_size = std::int64_t{16} << 20U;
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                    MPI_INFO_NULL, &file) != MPI_SUCCESS)
    return std::fprintf(stderr, "cannot create %s\n", name.c_str()), 1;
  std::vector<char> buffer(std::size_t{1} << 20U, 'x');
  for (std::int64_t at = 0; at < file_size; at += static_cast<std::int64_t>(buffer.size()))
    MPI_File_write_at(file, at, buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, MPI_STATUS_IGNORE);
  std::minstd_rand random(static_cast<unsigned>(rank + 1));
  const std::int64_t places = file_size / bytes;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now();
  for (long call = 0; call < calls; ++call)
    MPI_File_read_at(file, static_cast<std::int64_t>(random()) % places * bytes, buffer.data(), bytes,
                     MPI_BYTE, MPI_STATUS_IGNORE);
  double mine = now() - begin, slowest = 0;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  const double end = now();
  MPI_Finalize();
  if (rank == 0) std::printf("%.6f %.6f\n", slowest, now() - end);
  return 0;
}
