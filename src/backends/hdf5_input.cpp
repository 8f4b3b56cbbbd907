#include <algorithm>
#include <set>

#include "backends/hdf5.hpp"
#include "backends/hdf5_file.hpp"

namespace weir::backends::hdf5 {

namespace {

constexpr std::size_t deepest = 256;  // groups within groups; deeper ones are left out

struct Stored {
  DataSet set;  // opened by the first read
  bool scalar = false;
  DataSpace space;
  DataType memory;
};

struct Listing {
  std::vector<Variable> variables;
  std::vector<Attribute> attributes;
  std::vector<Unreadable> unreadable;
};

using ObjectKey = std::pair<unsigned long, std::string>;  // file and place in it

ObjectKey key_of(hid_t object) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info{};
  H5Oget_info3(object, &info, H5O_INFO_BASIC);
  return {info.fileno, std::string(reinterpret_cast<const char*>(&info.token), sizeof(info.token))};
#else
  H5O_info_t info{};
  H5Oget_info2(object, &info, H5O_INFO_BASIC);
  return {info.fileno, std::to_string(info.addr)};
#endif
}

herr_t collect_hard_link(hid_t, const char* name, const H5L_info_t* info, void* names) noexcept {
  try {
    if (info->type == H5L_TYPE_HARD) static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
  } catch (...) {
    return -1;
  }
}

// Whether the elements lie in this file. Data in other files is not followed, as links to other files are
// not.
bool is_self_contained(hid_t set) {
  const Properties layout(H5Dget_create_plist(set));
  return layout && H5Pget_layout(layout.get()) != H5D_VIRTUAL && H5Pget_external_count(layout.get()) == 0;
}

std::optional<Extent> shape_of(hid_t set) {
  const DataSpace space(H5Dget_space(set));
  switch (H5Sget_simple_extent_type(space.get())) {
    case H5S_SCALAR:
      return Extent{1};
    case H5S_SIMPLE:
      break;
    default:
      return std::nullopt;
  }
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank <= 0) return std::nullopt;
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  if (H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr) < 0) return std::nullopt;
  return Extent(sizes.begin(), sizes.end());
}

// A data set that Weir cannot hold is a failure.
Result<Variable> describe(hid_t set, const std::string& name) {
  const DataType stored(H5Dget_type(set));
  const auto readable = stored ? readable_type(stored.get()) : std::nullopt;
  auto shape = shape_of(set);
  if (!readable) return fail(ErrorCode::unsupported, unsupported_type(stored.get()));
  if (!shape) return fail(ErrorCode::unsupported, "it has no elements");
  if (!is_self_contained(set)) return fail(ErrorCode::unsupported, "its data is in other files");
  Variable variable{.name = name, .type = readable->type, .shape = *shape};
  variable.stepped = shape->size() > 1 && H5Aexists(set, stepped_mark) > 0;
  if (variable.stepped) {
    variable.slots = variable.shape.front();
    variable.shape.erase(variable.shape.begin());
  }
  WEIR_TRY(check_shape(variable.shape, size_of(variable.type)));
  return variable;
}

// Walks the groups of a file, each object once however many links lead to it, and collects what Weir can
// read, and the names of the rest.
class Scan {
 public:
  explicit Scan(hid_t file) : file_(file) {}

  Result<Listing> run() {
    const Object root(H5Oopen(file_, "/", H5P_DEFAULT));
    if (!root) return library_failure(ErrorCode::corrupt);
    WEIR_TRY(take_attributes(root.get(), ""));
    seen_.insert(key_of(root.get()));
    pending_.push_back({"", 0});
    while (!pending_.empty()) {
      const Group group = std::move(pending_.back());
      pending_.pop_back();
      WEIR_TRY(enter(group));
    }
    std::sort(listing_.variables.begin(), listing_.variables.end(),
              [](const Variable& a, const Variable& b) { return a.name < b.name; });
    return std::move(listing_);
  }

 private:
  struct Group {
    std::string path;
    std::size_t depth;
  };

  Status enter(const Group& group) {
    std::vector<std::string> names;
    const Object object(H5Oopen(file_, group.path.empty() ? "/" : group.path.c_str(), H5P_DEFAULT));
    if (!object) return library_failure(ErrorCode::corrupt);
    if (H5Literate(object.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_hard_link, &names) < 0) {
      return library_failure(ErrorCode::corrupt);
    }
    for (const std::string& name : names) {
      const Object member(H5Oopen(object.get(), name.c_str(), H5P_DEFAULT));
      if (!member) return library_failure(ErrorCode::corrupt);
      WEIR_TRY(take(member, group.path.empty() ? name : group.path + "/" + name, group.depth));
    }
    return {};
  }

  Status take(const Object& object, std::string path, std::size_t depth) {
    const H5I_type_t kind = H5Iget_type(object.get());
    if (kind != H5I_GROUP && kind != H5I_DATASET) return {};
    if (!seen_.insert(key_of(object.get())).second) return {};
    WEIR_TRY(take_attributes(object.get(), path));
    if (kind == H5I_GROUP) {
      if (depth < deepest) pending_.push_back({std::move(path), depth + 1});
      return {};
    }
    auto variable = describe(object.get(), path);
    if (variable) {
      listing_.variables.push_back(std::move(*variable));
    } else {
      listing_.unreadable.push_back({.variable = std::move(path), .why = variable.error().cause});
    }
    return {};
  }

  Status take_attributes(hid_t object, const std::string& owner) {
    return read_attributes(object, owner, listing_.attributes, listing_.unreadable);
  }

  hid_t file_;
  Listing listing_;
  std::vector<Group> pending_;
  std::set<ObjectKey> seen_;
};

class Hdf5Input final : public Input {
 public:
  Hdf5Input(File file, Listing listing)
      : file_(std::move(file)), listing_(std::move(listing)), stored_(listing_.variables.size()) {}

  ~Hdf5Input() override {
    const Quiet quiet;
    release();
  }

  const std::vector<Variable>& variables() const override { return listing_.variables; }
  const std::vector<Attribute>& attributes() const override { return listing_.attributes; }
  std::vector<Unreadable> unreadable() const override { return listing_.unreadable; }
  Status read(const Place& place, std::span<const TargetBlock> blocks) override;

  Status close() override {
    const Quiet quiet;
    if (!release()) return library_failure(ErrorCode::io);
    return {};
  }

 private:
  bool release() {
    stored_.clear();
    return file_.close();
  }
  Status open(const Variable& variable, Stored& stored);

  File file_;
  Listing listing_;
  std::vector<Stored> stored_;
};

Status Hdf5Input::open(const Variable& variable, Stored& stored) {
  const Properties access(H5Pcreate(H5P_DATASET_ACCESS));
  DataSet probe(H5Dopen2(file_.get(), variable.name.c_str(), access.get()));
  if (!probe) return library_failure(ErrorCode::corrupt);
  const Properties layout(H5Dget_create_plist(probe.get()));
  if (H5Pget_layout(layout.get()) == H5D_CHUNKED) {
    // Blocks that end inside a compressed chunk make the library come back to it; plain chunks are read
    // without a copy.
    const std::size_t cache = H5Pget_nfilters(layout.get()) > 0 ? 32U << 20U : 0;
    H5Pset_chunk_cache(access.get(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, cache, H5D_CHUNK_CACHE_W0_DEFAULT);
    probe = DataSet();
    probe = DataSet(H5Dopen2(file_.get(), variable.name.c_str(), access.get()));
    if (!probe) return library_failure(ErrorCode::corrupt);
  }
  const DataType type(H5Dget_type(probe.get()));
  auto readable = type ? readable_type(type.get()) : std::nullopt;
  stored.space = DataSpace(H5Dget_space(probe.get()));
  if (!readable || !stored.space) return library_failure(ErrorCode::corrupt);
  stored.memory = std::move(readable->memory);
  stored.scalar = H5Sget_simple_extent_type(stored.space.get()) == H5S_SCALAR;
  stored.set = std::move(probe);
  return {};
}

Status Hdf5Input::read(const Place& place, std::span<const TargetBlock> blocks) {
  const Quiet quiet;
  const Variable& variable = listing_.variables.at(place.variable);
  Stored& stored = stored_.at(place.variable);
  if (!stored.set) WEIR_TRY(open(variable, stored));
  const std::size_t rank = variable.shape.size() + (variable.stepped ? 1 : 0);
  for (const TargetBlock& block : blocks) {
    if (block.box.empty()) continue;
    std::vector<hsize_t> start(rank, 0);
    std::vector<hsize_t> count(rank, 1);
    if (variable.stepped) start[0] = place.slot;
    std::copy(block.box.offset.rbegin(), block.box.offset.rend(), start.rbegin());
    std::copy(block.box.count.rbegin(), block.box.count.rend(), count.rbegin());
    const DataSpace memory(H5Screate_simple(static_cast<int>(rank), count.data(), nullptr));
    if (!stored.scalar) {
      H5Sselect_hyperslab(stored.space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
    }
    if (H5Dread(stored.set.get(), stored.memory.get(), memory.get(), stored.space.get(), H5P_DEFAULT,
                block.data) < 0) {
      return library_failure(ErrorCode::corrupt);
    }
  }
  return {};
}

Result<File> open_for_reading(const std::filesystem::path& path) {
  const Properties access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  H5Pset_file_locking(access.get(), false,
                      true);  // read-only file systems, and some parallel ones, have no locks
#endif
  File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
  // Asked here: closing `access` would clear what the library has to say.
  if (!file) return library_failure(ErrorCode::corrupt);
  return file;
}

}  // namespace

// Every rank opens the file through the POSIX driver: no rank then waits for another, whatever the file holds
// and whoever stops.
Result<std::unique_ptr<Input>> open_input(const FileSpec& spec) {
  std::error_code error;
  if (std::filesystem::is_directory(spec.path, error)) return fail_errno(EISDIR, {}, {});
  if (error) return fail_errno(error.value(), {}, {});
  const Quiet quiet;
  auto opened = open_for_reading(spec.path);
  if (!opened) {
    const bool foreign = opened.error().code == ErrorCode::corrupt && !is_hdf5_file(spec.path);
    if (foreign) return fail(ErrorCode::corrupt, "this is not an HDF5 file");
    return tl::make_unexpected(opened.error());
  }
  File file = std::move(*opened);
  auto listing = Scan(file.get()).run();
  if (!listing) return tl::make_unexpected(listing.error());
  return std::make_unique<Hdf5Input>(std::move(file), std::move(*listing));
}

}  // namespace weir::backends::hdf5

namespace weir::backends {

bool is_adios2_layout(const std::filesystem::path& path) {
  if (!is_hdf5_file(path)) return false;
  const hdf5::Quiet quiet;
  const auto opened = hdf5::open_for_reading(path);
  return opened && H5Aexists(opened->get(), "NumSteps") > 0 &&
         H5Lexists(opened->get(), "Step0", H5P_DEFAULT) > 0;
}

}  // namespace weir::backends
