// A tool of the usual kind: its functions stand in for MPI's, and call MPI by the PMPI_ names.
#include <mpi.h>

int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void* buffer, int count, MPI_Datatype type,
                      MPI_Status* status) {
  return PMPI_File_write_at(file, offset, buffer, count, type, status);
}

int MPI_File_read_at(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type,
                     MPI_Status* status) {
  return PMPI_File_read_at(file, offset, buffer, count, type, status);
}

int MPI_File_write(MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return PMPI_File_write(file, buffer, count, type, status);
}
