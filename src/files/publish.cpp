#include "files/publish.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <random>

#include "core/file.hpp"

namespace weir::files {

namespace fs = std::filesystem;

namespace {

std::string random_letters() {
  // Not std::random_device to begin with: making one asks the processor what it can do, which takes longer
  // than creating a file where it is a virtual one.
  std::array<unsigned char, 8> numbers{};
  if (::getrandom(numbers.data(), numbers.size(), GRND_NONBLOCK) != static_cast<ssize_t>(numbers.size())) {
    std::random_device device;
    for (unsigned char& number : numbers) number = static_cast<unsigned char>(device());
  }
  std::string letters;
  for (const unsigned char number : numbers) letters += static_cast<char>('a' + number % 26);
  return letters;
}

// Beside the target, so that a rename suffices; shortened where the name of a companion would become too
// long.
fs::path temporary_for(const fs::path& target) {
  constexpr std::size_t longest_stem = 200;
  const std::string name = target.filename().string();
  return target.parent_path() / (name.substr(0, longest_stem) + ".partial." + random_letters());
}

// Only a folder that a backend made may be replaced: never somebody's own folder that happens to have the
// name.
bool is_replaceable_folder(const fs::path& path) {
  const auto made_it = [&](const backends::Entry& entry) {
    return entry.makes_folder && entry.recognises != nullptr && entry.recognises(path);
  };
  return std::any_of(backends::table().begin(), backends::table().end(), made_it);
}

// Found out at the end, it would be too late: what was there before would be replaced by half of a file.
Status check_name_length(const fs::path& path, const backends::Entry& entry) {
  const long longest = ::pathconf(path.parent_path().c_str(), _PC_NAME_MAX);
  std::size_t length = path.filename().string().size();
  for (const std::string_view suffix : entry.companions)
    length = std::max(length, path.filename().string().size() + suffix.size());
  if (longest < 0 || length <= static_cast<std::size_t>(longest)) return {};
  return fail_errno(ENAMETOOLONG, "create", "");
}

// rename(2) would replace a file that nobody may write to.
Status check_may_replace(const fs::path& path, bool is_folder) {
  if (::faccessat(AT_FDCWD, path.c_str(), is_folder ? R_OK | W_OK | X_OK : W_OK, AT_EACCESS) == 0) return {};
  Failure failure = fail_errno(errno, "replace", "").value();
  failure.advice = "make it writable (chmod u+w), or choose another name";
  return tl::make_unexpected(std::move(failure));
}

// A companion that Weir wrote says so near its beginning.
bool is_own_companion(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  std::string beginning(256, '\0');
  std::ifstream file(path);
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  return beginning.find("\"weir_file\"") != std::string::npos;
}

Status check_companions(const fs::path& target, const backends::Entry& entry) {
  std::error_code error;
  for (const std::string_view suffix : entry.companions) {
    const std::string companion = target.string() + std::string(suffix);
    if (fs::exists(fs::symlink_status(companion, error)) && !is_own_companion(companion)) {
      return fail(ErrorCode::io, fmt::format("{} is in the way, and was not written by Weir", companion),
                  "move it away or choose another name");
    }
  }
  return {};
}

// What describes another file would be lost, and that file with it.
Status check_is_no_companion(const fs::path& path) {
  std::error_code error;
  for (const backends::Entry& entry : backends::table()) {
    for (const std::string_view suffix : entry.companions) {
      const std::string name = path.string();
      if (!name.ends_with(suffix) || !is_own_companion(path)) continue;
      const std::string described = name.substr(0, name.size() - suffix.size());
      if (!fs::is_regular_file(described, error)) continue;
      return fail(ErrorCode::io, fmt::format("it describes {}, which cannot be read without it", described),
                  "choose another name");
    }
  }
  return {};
}

Status check_target(const fs::path& path, const backends::Entry& entry) {
  if (path.filename().empty() || path.filename() == "." || path.filename() == "..") {
    return fail(ErrorCode::invalid_argument, "this is not the name of a file");
  }
  std::error_code error;
  const fs::path folder = path.parent_path();
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) return fail_errno(ENOENT, "create in folder " + folder.string(), "");
  if (!fs::is_directory(status)) return fail_errno(ENOTDIR, "create", "");
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    return fail_errno(errno, "create in folder " + folder.string(), "");
  const fs::file_status target = fs::status(path, error);
  WEIR_TRY(check_name_length(path, entry));
  if (fs::is_directory(target) && !(entry.makes_folder && is_replaceable_folder(path))) {
    if (!entry.makes_folder) return fail_errno(EISDIR, "create", "");
    return fail(ErrorCode::io, "a folder of that name is there, and is not an ADIOS2 file",
                "move it away or choose another name");
  }
  if (entry.makes_folder && fs::exists(target) && !fs::is_directory(target)) {
    return fail(ErrorCode::io,
                fmt::format("a file of that name is there, and backend '{}' makes a folder", entry.name),
                "remove the file or choose another name");
  }
  if (fs::exists(target) && !fs::is_directory(target) && !fs::is_regular_file(target)) {
    return fail(ErrorCode::invalid_argument, "neither a file nor absent: a device, socket or pipe");
  }
  if (fs::exists(target)) {
    WEIR_TRY(check_may_replace(path, fs::is_directory(target)));
    WEIR_TRY(check_is_no_companion(path));
  }
  return check_companions(path, entry);
}

std::optional<mode_t> mode_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_mode & 07777U;
}

// Files that are removed but still open somewhere go on taking their space.
void empty_files_in(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
      empty_files_in(entry->path());
  } else if (fs::is_regular_file(fs::symlink_status(path, error))) {
    fs::resize_file(path, 0, error);
  }
}

}  // namespace

Result<Publication> Publication::begin(const mpi::Comm& comm, const std::string& path,
                                       const backends::Entry& entry) {
  Publication publication;
  publication.entry_ = &entry;
  publication.path_ = path;
  publication.target_ = path;
  publication.temporary_ = path;
  if (!entry.stores_files) return publication;
  Status checked;
  if (comm.rank() == 0) {
    checked = [&]() -> Status {
      if (path.empty()) return fail(ErrorCode::invalid_argument, "'' is not the name of a file");
      std::error_code error;
      publication.target_ = follow_links(fs::absolute(path, error));
      if (error) return fail_errno(error.value(), "find the working folder", "");
      publication.temporary_ = temporary_for(publication.target_);
      return check_target(publication.target_, entry);
    }();
  }
  WEIR_TRY(in(mpi::agree(comm, checked), "create", path));
  if (comm.size() > 1) {
    const std::string both = publication.target_.string() + '\0' + publication.temporary_.string();
    const std::string agreed = comm.broadcast(both, 0);
    const std::size_t end = agreed.find('\0');
    publication.target_ = agreed.substr(0, end);
    publication.temporary_ = agreed.substr(end + 1);
  }
  return publication;
}

std::vector<std::string> Publication::parts() const {
  std::vector<std::string> suffixes(entry_->companions.begin(), entry_->companions.end());
  suffixes.emplace_back();
  return suffixes;
}

// A plain file's .json would go on describing what has become a file of another format.
void Publication::remove_foreign_companions() const {
  std::error_code ignored;
  for (const backends::Entry& other : backends::table()) {
    for (const std::string_view suffix : other.companions) {
      const bool mine =
          std::find(entry_->companions.begin(), entry_->companions.end(), suffix) != entry_->companions.end();
      const std::string companion = target_.string() + std::string(suffix);
      if (!mine && is_own_companion(companion)) fs::remove(companion, ignored);
    }
  }
}

// What was private stays so, while it is written too.
void Publication::keep_mode() const {
  if (!entry_->stores_files) return;
  if (const auto old = mode_of(target_)) {
    const mode_t needed = entry_->makes_folder ? S_IRWXU : S_IRUSR | S_IWUSR;
    ::chmod(temporary_.c_str(), *old | needed);
  }
}

Status Publication::rename_all() const {
  for (const std::string& part : parts()) {
    if (const auto old = mode_of(target_.string() + part))
      ::chmod((temporary_.string() + part).c_str(), *old);
  }
  // Whoever comes between finds no companion, never one that speaks of other data.
  std::error_code error;
  for (const std::string_view companion : entry_->companions)
    fs::remove(target_.string() + std::string(companion), error);
  WEIR_TRY(rename_path(temporary_, target_));
  for (const std::string_view companion : entry_->companions) {
    const std::string from = temporary_.string() + std::string(companion);
    if (fs::exists(from, error)) WEIR_TRY(rename_path(from, target_.string() + std::string(companion)));
  }
  remove_foreign_companions();
  return {};
}

Status Publication::sync() const {
  if (!entry_->stores_files) return {};
  std::error_code error;
  for (const std::string& part : parts()) {
    const std::string file = temporary_.string() + part;
    if (fs::exists(file, error)) WEIR_TRY(sync_tree(file));
  }
  return {};
}

Status Publication::finish(const mpi::Comm& comm, bool fsync) const {
  if (!entry_->stores_files) return {};
  // Every rank: on a parallel file system each node holds unwritten data of its own.
  if (fsync) WEIR_TRY(mpi::agree(comm, sync()));
  Status renamed;
  if (comm.rank() == 0) {
    renamed = rename_all();
    if (renamed && fsync) renamed = sync_path(target_.parent_path());
  }
  return mpi::agree(comm, renamed);
}

void Publication::discard() const {
  if (!entry_->stores_files) return;
  std::error_code error;
  for (const std::string& part : parts()) {
    empty_files_in(temporary_.string() + part);
    fs::remove_all(temporary_.string() + part, error);
  }
}

Failure Publication::in_terms_of_path(Failure failure) const {
  const std::string hidden = temporary_.string();
  for (std::string* text : {&failure.object, &failure.operation, &failure.cause}) {
    for (auto at = text->find(hidden); entry_->stores_files && at != std::string::npos;
         at = text->find(hidden, at + 1)) {
      text->replace(at, hidden.size(), path_);
    }
  }
  if (failure.object.empty()) failure.object = path_;
  return failure;
}

}  // namespace weir::files
