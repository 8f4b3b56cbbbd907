// The parts of the HDF5 backend, joined by hdf5.cpp.
#pragma once

#include "backends/backend.hpp"
#include "backends/hdf5_library.hpp"

namespace weir::backends::hdf5 {

Result<std::unique_ptr<Output>> create_output(const FileSpec& spec);  // COLLECTIVE
Result<std::unique_ptr<Input>> open_input(
    const FileSpec& spec);  // LOCAL in fact: every rank opens the file for itself

// COLLECTIVE when the file was opened by several ranks. Replaces an attribute of the same name.
Status write_attribute(hid_t object, const std::string& name, const AttributeValue& value,
                       const std::filesystem::path& path);
// LOCAL. Appends the attributes of a data set or group, those of kinds that Weir cannot hold to `unreadable`.
Status read_attributes(hid_t object, const std::string& variable, std::vector<Attribute>& attributes,
                       std::vector<Unreadable>& unreadable);

// LOCAL. Counts the files of several ranks that are open for writing. While there are any, HDF5 does not
// close its files when MPI or the program ends: that would wait for the other ranks, or call MPI after its
// end.
void note_open_file();
void forget_open_file();  // it was closed

}  // namespace weir::backends::hdf5
