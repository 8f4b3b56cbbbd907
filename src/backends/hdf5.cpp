#include "backends/hdf5.hpp"

#include "backends/adios2.hpp"
#include "backends/early_blocks.hpp"
#include "backends/hdf5_file.hpp"

namespace weir::backends {

namespace {

std::vector<Option> options() {
  using Kind = Option::Kind;
  return {
      {.name = "deflate",
       .kind = Kind::integer,
       .fallback = "0",
       .help = "compression level, 0 for none",
       .least = 0,
       .most = 9},
      {.name = "shuffle",
       .kind = Kind::boolean,
       .fallback = "yes",
       .help = "order bytes by significance before compressing"},
      {.name = "chunk",
       .kind = Kind::bytes,
       .fallback = "1MiB",
       .help = "size of the parts that are compressed one by one",
       .least = 4096,
       .most = 1 << 30},
      {.name = "alignment",
       .kind = Kind::bytes,
       .fallback = "0",
       .help = "arrays start at multiples of this; the stripe size of the file system",
       .least = 0,
       .most = std::int64_t{1} << 40},
      early_blocks_option(),
      {.name = "libver",
       .kind = Kind::word,
       .fallback = "v18",
       .help = "oldest HDF5 that can read the file",
       .words = {"earliest", "v18", "latest"}},
      {.name = "transfer",
       .kind = Kind::word,
       .fallback = "auto",
       .help = "how ranks write together; auto is collective for short rows",
       .words = {"auto", "collective", "independent"}},
  };
}

bool recognises(const std::filesystem::path& path) {
  static const bool has_adios2 = adios2_hdf5_entry().missing.empty();
  return is_hdf5_file(path) && !(has_adios2 && is_adios2_layout(path));
}

}  // namespace

Entry hdf5_entry() {
  return {.name = "hdf5",
          .summary = "HDF5 files, for h5py, h5dump and every other HDF5 program",
          .options = options(),
          .extensions = {".h5", ".hdf5"},
          .create = hdf5::create_output,
          .open = hdf5::open_input,
          .recognises = recognises};
}

}  // namespace weir::backends
