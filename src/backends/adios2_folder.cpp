#include "backends/adios2_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cstring>

#include "backends/bp_index.hpp"
#include "core/file.hpp"
#include "core/json.hpp"

namespace weir::backends::bp {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view seal_name = "weir.json";

Result<std::uint64_t> size_of_file(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return damaged(fmt::format("{} is missing", path.filename().string()));
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

// Follows the groups of blocks through a file of BP4, of which each begins with its length: the last has to
// end where the file does.
Status check_chain(const fs::path& path, std::uint64_t size) {
  constexpr std::string_view tag = "[PGI";
  std::array<char, tag.size() + sizeof(std::uint64_t)> head{};
  WEIR_ASSIGN(const Descriptor file, open_file(path, O_RDONLY));
  std::uint64_t at = header_size;
  while (at < size && size - at >= head.size()) {
    WEIR_TRY(read_at(file.get(), head.data(), head.size(), at, path));
    std::uint64_t length = 0;
    std::memcpy(&length, head.data() + tag.size(), sizeof(length));
    if (std::string_view(head.data(), tag.size()) != tag || length > size - at) break;
    at += tag.size() + length;
  }
  return at == size ? Status() : Status(damaged(fmt::format("{} is too short", path.filename().string())));
}

Status check_data(const fs::path& path, const DataNeeded& needed) {
  for (const auto& [number, end] : needed.ends) {
    const fs::path file = path / fmt::format("data.{}", number);
    WEIR_ASSIGN(const std::uint64_t size, size_of_file(file));
    if (size < end) return damaged(fmt::format("{} has {} bytes of {}", file.filename().string(), size, end));
  }
  if (needed.all_known) return {};
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().starts_with("data.")) continue;
    WEIR_ASSIGN(const std::uint64_t size, size_of_file(entry->path()));
    WEIR_TRY(check_chain(entry->path(), size));
  }
  return {};
}

// By the seal: nullopt when there is none, or when the files have grown since (ADIOS2 can append).
Result<std::optional<Origin>> check_seal(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path / seal_name, error)) {
    if (error) return fail_errno(error.value(), "open", (path / seal_name).string());
    return std::nullopt;
  }
  WEIR_ASSIGN(const Json json, load_json(path / seal_name));
  WEIR_ASSIGN(const JsonObject all, JsonObject::of(json, "seal"));
  WEIR_ASSIGN(const Json* files, all.array("files"));
  for (const Json& value : *files) {
    WEIR_ASSIGN(const JsonObject file, JsonObject::of(value, "file"));
    WEIR_ASSIGN(const std::string name, file.text("name"));
    WEIR_ASSIGN(const std::uint64_t expected, file.size("size"));
    if (!belongs_to_bp(name) || name.find('/') != std::string::npos)
      return damaged("weir.json names a foreign file");
    WEIR_ASSIGN(const std::uint64_t size, size_of_file(path / name));
    if (size < expected) return damaged(fmt::format("{} has {} bytes of {}", name, size, expected));
    if (size > expected) return std::nullopt;
    if (file.has("fnv1a")) {
      WEIR_ASSIGN(const std::string sum, file.text("fnv1a"));
      WEIR_ASSIGN(const std::string bytes, read_text(path / name));
      if (checksum(bytes) != sum) return damaged(fmt::format("the checksum of {} is wrong", name));
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
  return version_in({header.data(), header.size()});
}

Result<HeldFolder> HeldFolder::open(const fs::path& path) {
  HeldFolder folder;
  WEIR_ASSIGN(folder.descriptor_, open_file(path, O_PATH | O_CLOEXEC));
  struct stat status {};
  if (::fstat(folder.descriptor_.get(), &status) != 0) return fail_errno(errno, "open", path.string());
  if (!S_ISDIR(status.st_mode)) return damaged("an ADIOS2 BP file is a folder, this is not");
  folder.number_ = static_cast<std::int64_t>(status.st_ino);
  return folder;
}

fs::path HeldFolder::path() const {
  return fmt::format("/proc/self/fd/{}", descriptor_.get());
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
  Result<std::optional<Origin>> sealed = check_seal(path);
  if (!sealed) {
    if (sealed.error().code == ErrorCode::corrupt) return tl::make_unexpected(sealed.error());
    return damaged("weir.json: " + sealed.error().cause);
  }
  if (*sealed && folder_version(path) == version) return **sealed;

  const auto index = read_text(path / "md.idx");
  if (!index) return damaged("md.idx cannot be read");
  WEIR_TRY(check_header(*index, version));
  const auto metadata = read_text(path / "md.0");
  if (!metadata) return damaged("md.0 cannot be read");
  if (version == 4) {
    WEIR_ASSIGN(const DataNeeded needed, follow_bp4(*index, *metadata));
    WEIR_TRY(check_data(path, needed));
  } else {
    const auto formats = read_text(path / "mmd.0");
    if (!formats) return damaged("mmd.0 cannot be read");
    WEIR_ASSIGN(const DataNeeded needed, follow_bp5(*index, *metadata, *formats));
    WEIR_TRY(check_data(path, needed));
  }
  return Origin::foreign;
}

}  // namespace weir::backends::bp
