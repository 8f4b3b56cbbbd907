// Threads of one rank write parts of one file at the same time: thread_calls FOLDER. Rank r writes bytes of
// the value r + 1 and no byte is written twice.
#include <mpi.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) {
    std::puts("skipped: this MPI has no MPI_THREAD_MULTIPLE");
    return MPI_Finalize();
  }
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string folder = argc > 1 ? argv[argc - 1] : ".";
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(MPI_COMM_WORLD, (folder + "/threads").c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                    MPI_INFO_NULL, &file) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 1);
  constexpr int threads = 4, calls = 20'000, length = 10;
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.emplace_back([=] {
      // Two sorts of calls in turns, at places without order.
      const std::vector<unsigned char> data(length, static_cast<unsigned char>(rank + 1));
      for (int i = 0; i < calls; ++i) {
        const MPI_Offset place = (static_cast<MPI_Offset>(i * 7 % calls) * threads + thread) * ranks + rank;
        const int count = i / 50 % 2 == 0 ? length : length - 3;
        if (MPI_File_write_at(file, place * length, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
          MPI_Abort(MPI_COMM_WORLD, 1);
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  MPI_File_close(&file);
  MPI_Finalize();
}
