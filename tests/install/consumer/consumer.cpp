// Somebody else's project: writes an array with Weir as installed, and reads it back.
#include <cstdio>
#include <weir/weir.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int result = 1;
  try {
    weir::Session io(MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(io.compute(), &rank);
    const auto first = static_cast<std::uint64_t>(rank) * 3;
    const std::vector<float> mine = {1.0F * rank, 2, 3};
    weir::File out = io.create(argv[1], {.checksums = true});
    out.write("v", mine, {.shape = {6}, .offset = {first}, .count = {3}}).wait();
    out.close();
    std::vector<float> back(3);
    weir::Reader in = io.open(argv[1]);
    in.read("v", back, {.offset = {first}, .count = {3}});
    in.close();
    result = back == mine ? 0 : 2;
  } catch (const weir::Error& error) {
    std::fprintf(stderr, "consumer: %s\n", error.what());
  }
  MPI_Finalize();
  return result;
}
