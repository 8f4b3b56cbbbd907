// ADIOS2 with its HDF5 engine, which writes by MPI-IO (its own formats do not): adios2_calls FOLDER. Rank r
// writes bytes of the value 200 + r. Prints where they are.
#include <adios2.h>
#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string path = std::string(argc > 1 ? argv[1] : ".") + "/recorded.h5";
  const std::size_t rows = 30, columns = 7;
  {
    adios2::ADIOS adios(MPI_COMM_WORLD);
    adios2::IO io = adios.DeclareIO("recorded");
    io.SetEngine("HDF5");
    const auto variable =
        io.DefineVariable<std::uint8_t>("T", {rows, columns * static_cast<std::size_t>(ranks)},
                                        {0, columns * static_cast<std::size_t>(rank)}, {rows, columns});
    const std::vector<std::uint8_t> data(rows * columns, static_cast<std::uint8_t>(200 + rank));
    adios2::Engine engine = io.Open(path, adios2::Mode::Write);
    engine.BeginStep();
    engine.Put(variable, data.data(), adios2::Mode::Sync);
    engine.EndStep();
    engine.Close();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    // The array is one stretch of the file: it begins where a whole row of it stands.
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::string row;
    for (int r = 0; r < ranks; ++r) row.append(columns, static_cast<char>(200 + r));
    const std::size_t begin = text.find(row);
    if (begin == std::string::npos)
      std::printf("the data is not in the file\n");
    else
      std::printf("range %s %zu %zu 200\n", path.c_str(), begin, begin + rows * row.size());
    std::fflush(stdout);
    if (begin == std::string::npos) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
