#include "backends/adios2.hpp"

#include "backends/adios2_files.hpp"
#include "backends/adios2_folder.hpp"
#include "backends/adios2_hdf5.hpp"
#include "backends/early_blocks.hpp"
#include "backends/hdf5.hpp"

namespace weir::backends {

namespace {

using bp::Format;

template <Format format>
Result<std::unique_ptr<Output>> create(const FileSpec& spec) {
  return bp::create(format, spec);
}

template <Format format>
Result<std::unique_ptr<Input>> open(const FileSpec& spec) {
  return bp::open(format, spec);
}

Option aggregators(std::string_view help) {
  return {.name = "aggregators",
          .kind = Option::Kind::integer,
          .fallback = "0",
          .help = help,
          .least = 0,
          .most = 1'000'000};
}

std::vector<Option> bp_options(Option data_files, Option buffer) {
  return {std::move(data_files),
          std::move(buffer),
          {.name = "compression",
           .kind = Option::Kind::word,
           .fallback = "none",
           .help = "lossless compression of blocks, where ADIOS2 was built with it",
           // Not bzip2: ADIOS2 2.10 ends the program over a block that bzip2 does not make smaller.
           .words = {"none", "blosc"}},
          {.name = "level",
           .kind = Option::Kind::integer,
           .fallback = "5",
           .help = "effort of the compression, 1 to 9",
           .least = 1,
           .most = 9},
          {.name = "stats",
           .kind = Option::Kind::boolean,
           .fallback = "yes",
           .help = "store the minimum and maximum of every block, which bpls -l shows"}};
}

}  // namespace

Entry adios2_bp4_entry() {
  return {.name = "adios2-bp4",
          .summary = "ADIOS2 BP4 folders; a step is kept in memory until it ends, by I/O servers in portions",
          .missing = "",
          .options = bp_options(aggregators("data files, each shared by as many ranks; 0: four per node, "
                                            "or one for each I/O server; fewer than those make a server "
                                            "keep whole steps"),
                                {.name = "buffer",
                                 .kind = Option::Kind::bytes,
                                 .fallback = "16K",
                                 .help = "memory set aside for a step at the start; it grows as needed",
                                 .least = 16 << 10,
                                 .most = std::int64_t{1} << 40}),
          .extensions = {".bp4"},
          .makes_folder = true,
          .create = create<Format::bp4>,
          .open = open<Format::bp4>,
          .recognises = [](const std::filesystem::path& path) { return bp::folder_version(path) == 4; },
          .stores = bp::stores,
          .limits = {.attribute_text = 65535}};  // its lengths have 16 bits
}

Entry adios2_bp5_entry() {
  std::vector<Option> options =
      bp_options(aggregators("data files, each shared by as many ranks; 0: four per node"),
                 {.name = "buffer",
                  .kind = Option::Kind::bytes,
                  .fallback = "16M",
                  .help = "small blocks that a rank gathers before they are written; an I/O server a 32nd of "
                          "its budget at most",
                  .least = 0,
                  .most = std::int64_t{1} << 40});
  options.push_back({.name = "aggregation",
                     .kind = Option::Kind::word,
                     .fallback = "EveryoneWrites",
                     .help = "who writes to a data file: all its ranks at once, one after another, or one "
                             "for all by shared memory",
                     .words = {"EveryoneWrites", "EveryoneWritesSerial", "TwoLevelShm"}});
  return {.name = "adios2-bp5",
          .summary = "ADIOS2 BP5 folders; blocks go to the file without a copy",
          .missing = "",
          .options = std::move(options),
          .extensions = {".bp", ".bp5"},
          .makes_folder = true,
          .create = create<Format::bp5>,
          .open = open<Format::bp5>,
          .recognises = [](const std::filesystem::path& path) { return bp::folder_version(path) == 5; },
          .stores = bp::stores};
}

Entry adios2_hdf5_entry() {
  constexpr std::string_view name = "adios2-hdf5";
  constexpr std::string_view summary = "HDF5 files in ADIOS2's layout: a group per step";
  if (!bp::hdf5_errors_are_seen()) return {.name = name, .summary = summary, .missing = "built without HDF5"};
  return {
      .name = name,
      .summary = summary,
      .missing = "",
      .options = {{.name = "transfer",
                   .kind = Option::Kind::word,
                   .fallback = "independent",
                   .help = "how MPI-IO is called; collective gathers small pieces, but then all ranks "
                           "have to write together",
                   .words = {"independent", "collective"}},
                  early_blocks_option()},
      .extensions = {},
      .create = create<Format::hdf5>,
      .open = open<Format::hdf5>,
      .recognises = [](const std::filesystem::path& path) { return is_adios2_layout(path); },
      .stores = bp::stores,
      // The buffers of ADIOS2's HDF5 reader, and what HDF5 keeps of an attribute.
      .limits = {.name_part = 49, .attribute_name = 99, .attribute_text = 60000, .attribute_bytes = 60000},
      .own_attributes = {"NumSteps"}};
}

}  // namespace weir::backends
