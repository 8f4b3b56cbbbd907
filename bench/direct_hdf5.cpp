#include <hdf5.h>

#include <stdexcept>

#include "direct.hpp"

namespace weir::bench {

namespace {

void need(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string("HDF5: ") + what);
}

struct Selection {
  hid_t file;
  hid_t memory;
  Selection(const Work& work, hid_t space, int step) : file(space) {
    const hsize_t start[3] = {static_cast<hsize_t>(step), work.first, 0};
    const hsize_t count[3] = {1, work.count, work.columns};
    need(H5Sselect_hyperslab(file, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0, "select");
    memory = H5Screate_simple(3, count, nullptr);
  }
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;
  ~Selection() { H5Sclose(memory); }
};

}  // namespace

void write_hdf5(const Work& work) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, work.comm, MPI_INFO_NULL);
  const hid_t file = H5Fcreate(work.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  need(file >= 0, "create");
  const hsize_t shape[3] = {static_cast<hsize_t>(work.steps), work.rows, work.columns};
  const hid_t space = H5Screate_simple(3, shape, nullptr);
  const hid_t set = H5Dcreate2(file, "T", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  need(set >= 0, "create data set");
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  for (int step = 0; step < work.steps; ++step) {
    const Selection selection(work, space, step);
    need(H5Dwrite(set, H5T_NATIVE_DOUBLE, selection.memory, selection.file, transfer, work.data.data()) >= 0,
         "write");
    work.settle_step();
  }
  H5Pclose(transfer);
  H5Dclose(set);
  H5Sclose(space);
  need(H5Fclose(file) >= 0, "close");
  H5Pclose(access);
}

void read_hdf5(const Work& work) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, work.comm, MPI_INFO_NULL);
  const hid_t file = H5Fopen(work.path.c_str(), H5F_ACC_RDONLY, access);
  need(file >= 0, "open");
  const hid_t set = H5Dopen2(file, "T", H5P_DEFAULT);
  const hid_t space = H5Dget_space(set);
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  for (int step = 0; step < work.steps; ++step) {
    const Selection selection(work, space, step);
    need(H5Dread(set, H5T_NATIVE_DOUBLE, selection.memory, selection.file, transfer, work.data.data()) >= 0,
         "read");
    work.settle_step();
  }
  H5Pclose(transfer);
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
  H5Pclose(access);
}

}  // namespace weir::bench
