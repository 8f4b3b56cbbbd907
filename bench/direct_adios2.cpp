#include <adios2.h>

#include "direct.hpp"

namespace weir::bench {

namespace {

void write_with(const Work& work, const char* engine_name) {
  adios2::ADIOS adios(work.comm);
  adios2::IO io = adios.DeclareIO("bench");
  io.SetEngine(engine_name);
  auto variable = io.DefineVariable<double>("T", {work.rows, work.columns}, {work.first, 0},
                                            {work.count, work.columns}, adios2::ConstantDims);
  adios2::Engine engine = io.Open(work.path, adios2::Mode::Write);
  for (int step = 0; step < work.steps; ++step) {
    engine.BeginStep();
    engine.Put(variable, work.data.data());
    engine.EndStep();
    work.settle_step();
  }
  engine.Close();
}

void read_with(const Work& work, const char* engine_name) {
  adios2::ADIOS adios(work.comm);
  adios2::IO io = adios.DeclareIO("bench");
  io.SetEngine(engine_name);
  adios2::Engine engine = io.Open(work.path, adios2::Mode::ReadRandomAccess);
  auto variable = io.InquireVariable<double>("T");
  for (int step = 0; step < work.steps; ++step) {
    variable.SetStepSelection({static_cast<std::size_t>(step), 1});
    variable.SetSelection({{work.first, 0}, {work.count, work.columns}});
    engine.Get(variable, work.data.data(), adios2::Mode::Sync);
    work.settle_step();
  }
  engine.Close();
}

}  // namespace

void write_bp4(const Work& work) {
  write_with(work, "BP4");
}
void write_bp5(const Work& work) {
  write_with(work, "BP5");
}
void write_adios2_hdf5(const Work& work) {
  write_with(work, "HDF5");
}
void read_bp4(const Work& work) {
  read_with(work, "BP4");
}
void read_bp5(const Work& work) {
  read_with(work, "BP5");
}
void read_adios2_hdf5(const Work& work) {
  read_with(work, "HDF5");
}

}  // namespace weir::bench
