// A small simulation that writes its field through Weir: the two-dimensional heat equation in row blocks.
//
//     mpirun -n 4 ./heat heat.h5        then: weir ls heat.h5, weir cat heat.h5 temperature --step 40
//     mpirun -n 4 ./heat heat.bp        the same program, another format
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "weir/weir.hpp"

namespace {

constexpr std::uint64_t rows = 200;
constexpr std::uint64_t columns = 150;

// This rank's rows, with one more above and below for the neighbours' values.
struct Slab {
  std::uint64_t first;
  std::uint64_t count;
  std::vector<double> now;
  std::vector<double> next;

  Slab(int rank, int ranks) {
    first = rows * static_cast<std::uint64_t>(rank) / static_cast<std::uint64_t>(ranks);
    count = rows * static_cast<std::uint64_t>(rank + 1) / static_cast<std::uint64_t>(ranks) - first;
    now.assign((count + 2) * columns, 0.0);
    if (first == 0)
      std::fill_n(now.begin() + columns, count > 0 ? columns : 0, 100.0);  // the top edge is hot
    next = now;
  }

  void exchange_edges(MPI_Comm comm, int rank, int ranks) {
    const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    const int width = static_cast<int>(columns);
    MPI_Sendrecv(&now[columns], width, MPI_DOUBLE, above, 0, &now[(count + 1) * columns], width, MPI_DOUBLE,
                 below, 0, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&now[count * columns], width, MPI_DOUBLE, below, 1, &now[0], width, MPI_DOUBLE, above, 1,
                 comm, MPI_STATUS_IGNORE);
  }

  void advance() {
    for (std::uint64_t i = 1; i <= count; ++i) {
      const std::uint64_t row = first + i - 1;
      for (std::uint64_t j = 1; j + 1 < columns; ++j) {
        const std::uint64_t at = i * columns + j;
        const bool edge = row == 0 || row + 1 == rows;
        next[at] =
            edge ? now[at] : 0.25 * (now[at - columns] + now[at + columns] + now[at - 1] + now[at + 1]);
      }
    }
    std::swap(now, next);
  }
};

int simulate(const std::string& path) {
  weir::Session io(MPI_COMM_WORLD);
  const MPI_Comm comm = io.compute();
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);

  Slab slab(rank, ranks);
  weir::File out = io.create(path, {.checksums = true});
  for (int step = 0; step <= 100; ++step) {
    if (step % 20 == 0) {
      const std::span<const double> mine(&slab.now[columns], slab.count * columns);
      auto ticket = out.write("temperature", mine,
                              {.shape = {rows, columns},
                               .offset = {slab.first, 0},
                               .count = {slab.count, columns},
                               .step = step});
      ticket.wait();
    }
    slab.exchange_edges(comm, rank, ranks);
    slab.advance();
  }
  out.set_attribute("title", "heat equation");
  out.set_variable_attribute("temperature", "unit", "K");
  out.close();
  if (rank == 0) std::printf("wrote %s\n", path.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE,
                  &provided);  // for mode 'thread' and servers on other nodes
  int result = 1;
  try {
    result = simulate(argc > 1 ? argv[1] : "heat.h5");
  } catch (const weir::Error& error) {
    std::fprintf(stderr, "heat: %s\n", error.what());
  }
  MPI_Finalize();
  return result;
}
