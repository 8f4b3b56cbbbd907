/* Somebody else's iocomp program, built as its makefile would. */
#include "iocomp.h"

int main(int argc, char** argv) {
  struct iocomp_params params;
  MPI_Request request;
  double x[3] = {1, 2, 3};
  MPI_Init(&argc, &argv);
  iocompInit(&params, MPI_COMM_WORLD, false, 0, 128);
  dataSend(x, &params, &request, 3);
  dataWait(&params, &request);
  stopSend(&params);
  MPI_Finalize();
  return 0;
}
