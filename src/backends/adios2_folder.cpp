#include "backends/adios2_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "core/file.hpp"
#include "core/json.hpp"

namespace weir::backends::bp {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view seal_name = "weir.json";
constexpr std::size_t header_size = 64;
constexpr std::size_t version_byte = 37;
constexpr std::size_t record_size = 64;  // of BP4's index

tl::unexpected<Failure> corrupt(std::string cause) {
  return fail(ErrorCode::corrupt, std::move(cause),
              "the file is truncated or was changed after it was written");
}

Result<std::uint64_t> size_of_file(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return corrupt(fmt::format("{} is missing", path.filename().string()));
  return static_cast<std::uint64_t>(size);
}

// FNV-1a: the metadata is small, and what is looked for are accidents.
std::string checksum(std::string_view bytes) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return fmt::format("{:016x}", hash);
}

bool is_metadata(const std::string& name) {
  return name.starts_with("md") || name.starts_with("mmd");
}
bool belongs_to_bp(const std::string& name) {
  return is_metadata(name) || name.starts_with("data.");
}

// Reads unsigned numbers one after another; past the end is remembered, not read.
class Reader {
 public:
  explicit Reader(std::string_view bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}
  template <class T>
  T take() {
    T value{};
    if (bytes_.size() - at_ < sizeof(T)) {
      overrun_ = true;
      at_ = bytes_.size();
    } else {
      std::memcpy(&value, bytes_.data() + at_, sizeof(T));
      at_ += sizeof(T);
    }
    return value;
  }
  void skip(std::uint64_t length) {
    overrun_ = overrun_ || length > bytes_.size() - at_;
    at_ = overrun_ ? bytes_.size() : at_ + length;
  }
  bool overrun() const { return overrun_; }
  bool at_end() const { return at_ == bytes_.size(); }
  std::size_t position() const { return at_; }

 private:
  std::string_view bytes_;
  std::size_t at_;
  bool overrun_ = false;
};

bool fits(std::uint64_t position, std::uint64_t length, std::uint64_t size) {
  return position <= size && length <= size - position;
}

Status check_header(std::string_view index, int version) {
  if (index.size() < header_size || !index.starts_with("ADIOS-BP v"))
    return corrupt("md.idx is not an index of ADIOS2");
  if (index[36] != 0) return fail(ErrorCode::unsupported, "the file was written on a big-endian machine");
  if (index[version_byte] != version) return corrupt(fmt::format("md.idx is not of BP version {}", version));
  const char active = index[version == 4 ? 38 : 39];
  if (active != 0) {
    return fail(
        ErrorCode::corrupt, "its writer has not closed this file",
        "if the writer is gone, 'adios2_deactivate_bp FILE' lets the steps be read that it completed");
  }
  return {};
}

Status check_bp4(std::string_view index, std::uint64_t metadata_size) {
  if (index.size() == header_size || index.size() % record_size != 0)
    return corrupt("md.idx ends in the middle of a record");
  for (std::size_t at = header_size; at < index.size(); at += record_size) {
    Reader record(index.substr(at, record_size));
    if (record.take<std::uint64_t>() != at / record_size) {
      return fail(ErrorCode::unsupported,
                  "a step has no data, and ADIOS2 cannot read BP4 files that have such steps");
    }
    if (record.take<std::uint64_t>() != 0) return corrupt("md.idx names a metadata file that does not exist");
    std::uint64_t before = 0;
    for (int part = 0; part < 4;
         ++part) {  // groups, variables, attributes, end: each lies behind the one before
      const auto position = record.take<std::uint64_t>();
      if (position < before || position > metadata_size) return corrupt("md.idx points outside md.0");
      before = position;
    }
  }
  return {};
}

// One step of BP5: what the index says against the sizes of the metadata and data files.
struct Bp5Step {
  std::uint64_t metadata_position = 0;
  std::uint64_t metadata_size = 0;
};

Status check_step_metadata(std::string_view metadata, const Bp5Step& step, std::uint64_t writers) {
  if (!fits(step.metadata_position, step.metadata_size, metadata.size()))
    return corrupt("md.idx points outside md.0");
  Reader reader(metadata.substr(step.metadata_position, step.metadata_size));
  reader.skip(8);
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < 2 * writers; ++i) {
    const auto length = reader.take<std::uint64_t>();
    if (reader.overrun() || length > step.metadata_size)
      return corrupt("a step in md.0 is longer than the index says");
    total += length;
  }
  reader.skip(total);
  return reader.overrun() ? Status(corrupt("a step in md.0 is longer than the index says")) : Status();
}

Status check_bp5(const fs::path& path, std::string_view index, std::string_view metadata,
                 std::string_view formats) {
  if (index[38] != 2)
    return fail(ErrorCode::unsupported, fmt::format("BP 5.{} is not known to this ADIOS2", +index[38]));
  std::vector<std::uint64_t> subfile_of;  // by writer
  std::vector<std::optional<std::uint64_t>> size_of_subfile;
  bool any_step = false;
  Reader records(index, header_size);
  while (!records.at_end()) {
    const auto kind = records.take<char>();
    const auto length = records.take<std::uint64_t>();
    const std::size_t start = records.position();
    if (kind == 'w') {
      const auto writers = records.take<std::uint64_t>();
      records.skip(8);
      const auto subfiles = records.take<std::uint64_t>();
      if (writers > index.size() || subfiles > writers)
        return corrupt("md.idx has a record that makes no sense");
      subfile_of.assign(writers, 0);
      size_of_subfile.assign(subfiles, std::nullopt);
      for (auto& subfile : subfile_of) {
        subfile = records.take<std::uint64_t>();
        if (subfile >= subfiles) return corrupt("md.idx names a data file that does not exist");
      }
    } else if (kind == 's') {
      Bp5Step step;
      step.metadata_position = records.take<std::uint64_t>();
      step.metadata_size = records.take<std::uint64_t>();
      const auto flushes = records.take<std::uint64_t>();
      if (flushes > index.size() || subfile_of.empty())
        return corrupt("md.idx has a record that makes no sense");
      WEIR_TRY(check_step_metadata(metadata, step, subfile_of.size()));
      for (const std::uint64_t subfile : subfile_of) {
        auto& size = size_of_subfile[subfile];
        if (!size) {
          WEIR_ASSIGN(size, size_of_file(path / fmt::format("data.{}", subfile)));
        }
        for (std::uint64_t flush = 0; flush < flushes; ++flush) {
          const auto at = records.take<std::uint64_t>();
          const auto count = records.take<std::uint64_t>();
          // A part without bytes may stand at a position that alignment has moved beyond the end.
          if (count > 0 && !fits(at, count, *size))
            return corrupt(fmt::format("data.{} is too short", subfile));
        }
        records.skip(8);
      }
      any_step = true;
    } else {
      return corrupt("md.idx has a record of an unknown kind");
    }
    if (records.overrun()) return corrupt("md.idx ends in the middle of a record");
    if (records.position() - start != length) return corrupt("md.idx has a record of the wrong length");
  }
  if (!any_step) return corrupt("md.idx has no steps");
  for (Reader reader(formats); !reader.at_end();) {
    const auto id = reader.take<std::uint64_t>();
    const auto info = reader.take<std::uint64_t>();
    reader.skip(id);
    reader.skip(info);
    if (reader.overrun()) return corrupt("mmd.0 ends in the middle of a record");
  }
  return {};
}

// By the seal: nullopt when there is none, or when the files have grown since (ADIOS2 can append).
Result<std::optional<Origin>> check_seal(const fs::path& path) {
  if (!fs::exists(path / seal_name)) return std::nullopt;
  WEIR_ASSIGN(const Json json, load_json(path / seal_name));
  WEIR_ASSIGN(const JsonObject all, JsonObject::of(json, "seal"));
  WEIR_ASSIGN(const Json* files, all.array("files"));
  for (const Json& value : *files) {
    WEIR_ASSIGN(const JsonObject file, JsonObject::of(value, "file"));
    WEIR_ASSIGN(const std::string name, file.text("name"));
    WEIR_ASSIGN(const std::uint64_t expected, file.size("size"));
    if (!belongs_to_bp(name) || name.find('/') != std::string::npos)
      return corrupt("weir.json names a foreign file");
    WEIR_ASSIGN(const std::uint64_t size, size_of_file(path / name));
    if (size < expected) return corrupt(fmt::format("{} has {} bytes of {}", name, size, expected));
    if (size > expected) return std::nullopt;
    if (file.has("fnv1a")) {
      WEIR_ASSIGN(const std::string sum, file.text("fnv1a"));
      WEIR_ASSIGN(const std::string bytes, read_text(path / name));
      if (checksum(bytes) != sum) return corrupt(fmt::format("the checksum of {} is wrong", name));
    }
  }
  return Origin::weir;
}

}  // namespace

int folder_version(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path / "md.idx", error)) return 0;
  std::array<char, header_size> header{};
  const auto file = open_file(path / "md.idx", O_RDONLY);
  if (!file || !read_at(file->get(), header.data(), header.size(), 0, path / "md.idx")) return 0;
  if (std::string_view(header.data(), header.size()).starts_with("ADIOS-BP v")) return header[version_byte];
  return 0;
}

Status seal_folder(const fs::path& path) {
  Json files = Json::array();
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!belongs_to_bp(name)) continue;
    WEIR_ASSIGN(const std::uint64_t size, size_of_file(entry->path()));
    Json file = {{"name", name}, {"size", size}};
    if (is_metadata(name)) {
      WEIR_ASSIGN(const std::string bytes, read_text(entry->path()));
      file["fnv1a"] = checksum(bytes);
    }
    files.push_back(std::move(file));
  }
  if (error) return fail_errno(error.value(), "seal", path.string());
  // Neither flushed nor renamed by itself: the folder does not have its final name yet.
  const std::string text = Json{{"version", 1}, {"files", files}}.dump(1) + "\n";
  WEIR_ASSIGN(Descriptor seal, open_file(path / seal_name, O_CREAT | O_TRUNC | O_WRONLY));
  WEIR_TRY(write_at(seal.get(), text.data(), text.size(), 0, path / seal_name));
  return seal.close(path / seal_name);
}

Result<Origin> check_folder(const fs::path& path, int version) {
  std::error_code error;
  if (!fs::exists(path, error)) return fail_errno(error ? error.value() : ENOENT, "open", path.string());
  if (!fs::is_directory(path, error)) return corrupt("an ADIOS2 BP file is a folder, this is not");
  Result<std::optional<Origin>> sealed = check_seal(path);
  if (!sealed) {
    if (sealed.error().code == ErrorCode::corrupt) return tl::make_unexpected(sealed.error());
    return corrupt("weir.json: " + sealed.error().cause);
  }
  if (*sealed && folder_version(path) == version) return **sealed;

  const auto index = read_text(path / "md.idx");
  if (!index) return corrupt("md.idx cannot be read");
  WEIR_TRY(check_header(*index, version));
  if (version == 4) {
    WEIR_ASSIGN(const std::uint64_t metadata_size, size_of_file(path / "md.0"));
    WEIR_TRY(check_bp4(*index, metadata_size));
  } else {
    const auto metadata = read_text(path / "md.0");
    const auto formats = read_text(path / "mmd.0");
    if (!metadata || !formats) return corrupt(fmt::format("{} cannot be read", metadata ? "mmd.0" : "md.0"));
    WEIR_TRY(check_bp5(path, *index, *metadata, *formats));
  }
  return Origin::foreign;
}

}  // namespace weir::backends::bp
