/* Parallel HDF5, contiguous layout: hdf5_calls FOLDER. Rank r writes bytes of the value 200 + r. Prints where
 * they are. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void must(long long code, const char* what) {
  if (code >= 0) return;
  fprintf(stderr, "%s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int rank, ranks, step;
  char path[4096];
  unsigned char data[6 * 7];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(path, sizeof path, "%s/recorded.h5", argc > 1 ? argv[1] : ".");
  for (step = 0; step < 6 * 7; ++step) data[step] = (unsigned char)(200 + rank);

  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  must(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "fapl");
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  must(file, "create");
  hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  must(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "dxpl");
  const hsize_t shape[2] = {6, (hsize_t)(7 * ranks)};
  const hsize_t start[2] = {0, (hsize_t)(7 * rank)}, count[2] = {6, 7};
  for (step = 0; step < 3; ++step) {
    char name[16];
    snprintf(name, sizeof name, "T%d", step);
    hid_t space = H5Screate_simple(2, shape, NULL);
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER);
    H5Pset_obj_track_times(layout, 0); /* two runs leave the same file */
    hid_t set = H5Dcreate2(file, name, H5T_NATIVE_UCHAR, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    must(set, "dataset");
    hid_t memory = H5Screate_simple(2, count, NULL);
    must(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL), "hyperslab");
    must(H5Dwrite(set, H5T_NATIVE_UCHAR, memory, space, transfer, data), "write");
    if (rank == 0) {
      const unsigned long long at = (unsigned long long)H5Dget_offset(set);
      printf("range %s %llu %llu 200\n", path, at, at + 6ULL * 7ULL * (unsigned long long)ranks);
    }
    H5Dclose(set);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(layout);
  }
  H5Pclose(transfer);
  must(H5Fclose(file), "close");
  H5Pclose(access);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
