// An ordinary C++ program for iocomp's interface of version 1.1: one array, sent again and again, into the
// one file that the library names. Its array has two dimensions.
//
//     solver IOLIB 0|1
#include <vector>

#include "iocomp.h"
// iocomp.h comes first, as in a program that knows nothing of Weir.
#include "expect.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) return 2;
  const int library = std::atoi(argv[1]);
  struct iocomp_params iocompParams;
  iocompInit(&iocompParams, MPI_COMM_WORLD, std::atoi(argv[2]) != 0, library, 128);
  MPI_Comm comm = iocompParams.compServerComm;
  int size = 0;
  MPI_Comm_size(comm, &size);

  empty_folder(comm);
  constexpr int sets = 3;
  std::vector<double> matrix(210);
  MPI_Request request;
  for (int set = 0; set < sets; ++set) {
    fill(matrix.data(), set, comm, matrix.size());
    dataSend(matrix.data(), &iocompParams, &request, matrix.size());
    dataSendTest(&iocompParams, &request);
    dataWait(&iocompParams, &request);
    std::fill(matrix.begin(), matrix.end(), -1.0);  // the array is ours again
  }
  stopSend(&iocompParams);

  // 210 = 14 x 15, the factors next to its square root; the ranks' parts lie below each other.
  EXPECT(iocompParams.NDIM == 2 && iocompParams.localArray[0] == 14 && iocompParams.localArray[1] == 15);
  EXPECT(iocompParams.globalArray[0] == 14 * static_cast<size_t>(size) && iocompParams.globalArray[1] == 15);
  expect_array(comm, iocompParams.FILENAMES[library], library <= 1 ? "IntArray" : "iodata", 2, sets - 1,
               210 * static_cast<unsigned long long>(size));
  MPI_Finalize();
}
