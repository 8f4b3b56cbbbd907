/* PnetCDF: pnetcdf_calls FOLDER. Rank r writes bytes of the value 200 + r. Prints where they are. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

static void must(int code, const char* what) {
  if (code == NC_NOERR) return;
  fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(code));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int rank, ranks, file, rows, columns, variable, i;
  unsigned char data[6 * 7];
  char path[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(path, sizeof path, "%s/recorded.nc", argc > 1 ? argv[1] : ".");
  for (i = 0; i < 6 * 7; ++i) data[i] = (unsigned char)(200 + rank);
  must(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file), "create");
  must(ncmpi_def_dim(file, "y", 6, &rows), "dimension");
  must(ncmpi_def_dim(file, "x", 7 * ranks, &columns), "dimension");
  const int dimensions[2] = {rows, columns};
  must(ncmpi_def_var(file, "T", NC_UBYTE, 2, dimensions, &variable), "variable");
  must(ncmpi_enddef(file), "enddef");
  const MPI_Offset start[2] = {0, 7 * rank}, count[2] = {6, 7};
  must(ncmpi_put_vara_uchar_all(file, variable, start, count, data), "put");
  MPI_Offset at = 0;
  must(ncmpi_inq_varoffset(file, variable, &at), "offset");
  must(ncmpi_close(file), "close");
  if (rank == 0) printf("range %s %lld %lld 200\n", path, (long long)at, (long long)at + 6LL * 7 * ranks);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
