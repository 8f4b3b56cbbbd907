// The other side of the comparison: the same data, written and read by calling each storage library directly,
// the way its documentation shows. One array of doubles in row blocks, `steps` of it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace weir::bench {

struct Work {
  MPI_Comm comm = MPI_COMM_NULL;
  std::string path;
  std::uint64_t rows = 0;     // of the whole array
  std::uint64_t columns = 0;  // of the whole array
  std::uint64_t first = 0;    // this rank's rows
  std::uint64_t count = 0;
  int steps = 1;
  std::span<double> data;  // this rank's block: written, or read into
  bool agrees = false;     // after each step the ranks tell each other whether it went well

  void settle_step() const {
    if (!agrees) return;
    int failed = 0;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
    if (failed != 0) throw std::runtime_error("another rank has failed");
  }
};

// One library's way to do the work; throws std::runtime_error.
struct Direct {
  std::string backend;
  void (*write)(const Work&);
  void (*read)(const Work&);
};

void write_posix(const Work& work);
void read_posix(const Work& work);
void write_mpiio(const Work& work);
void read_mpiio(const Work& work);
void write_hdf5(const Work& work);
void read_hdf5(const Work& work);
void write_bp4(const Work& work);
void write_bp5(const Work& work);
void write_adios2_hdf5(const Work& work);
void read_bp4(const Work& work);
void read_bp5(const Work& work);
void read_adios2_hdf5(const Work& work);

}  // namespace weir::bench
