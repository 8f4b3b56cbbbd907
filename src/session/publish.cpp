#include "session/publish.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <random>

#include "core/file.hpp"

namespace weir::session {

namespace fs = std::filesystem;

namespace {

std::string random_letters() {
  std::random_device device;
  std::string letters;
  for (int i = 0; i < 8; ++i) letters += static_cast<char>('a' + device() % 26);
  return letters;
}

// Only a folder that this kind of backend made may be replaced: never somebody's own folder that happens to
// have the name.
bool is_replaceable_folder(const fs::path& path, const backends::Entry& entry) {
  return entry.makes_folder && entry.recognises != nullptr && entry.recognises(path);
}

Status check_target(const fs::path& path, const backends::Entry& entry) {
  if (path.empty() || path.filename().empty() || path.filename() == "." || path.filename() == "..") {
    return fail(ErrorCode::invalid_argument, fmt::format("'{}' is not the name of a file", path.string()));
  }
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) return fail_errno(ENOENT, "create in folder " + folder.string(), path.string());
  if (!fs::is_directory(status)) return fail_errno(ENOTDIR, "create", path.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fail_errno(errno, "create in folder " + folder.string(), path.string());
  const fs::file_status target = fs::status(path, error);
  if (fs::is_directory(target) && !is_replaceable_folder(path, entry))
    return fail_errno(EISDIR, "create", path.string());
  if (entry.makes_folder && fs::exists(target) && !fs::is_directory(target)) {
    return in(
        Status(fail(ErrorCode::io,
                    fmt::format("a file of that name is there, and backend '{}' makes a folder", entry.name),
                    "remove the file or choose another name")),
        "create", path.string());
  }
  if (fs::exists(target) && !fs::is_directory(target) && !fs::is_regular_file(target)) {
    return in(
        Status(fail(ErrorCode::invalid_argument, "neither a file nor absent: a device, socket or pipe")),
        "create", path.string());
  }
  return {};
}

}  // namespace

Result<Publication> Publication::begin(const mpi::Comm& comm, const fs::path& path,
                                       const backends::Entry& entry) {
  Publication publication;
  publication.entry_ = &entry;
  publication.path_ = path;
  publication.temporary_ = path;
  if (!entry.stores_files) return publication;
  std::string temporary;
  Status checked;
  if (comm.rank() == 0) {
    checked = check_target(path, entry);
    temporary = path.string() + ".partial." + random_letters();
  }
  WEIR_TRY(mpi::agree(comm, checked));
  publication.temporary_ = comm.broadcast(temporary, 0);
  return publication;
}

std::vector<std::string> Publication::parts() const {
  std::vector<std::string> suffixes(entry_->companions.begin(), entry_->companions.end());
  suffixes.emplace_back();
  return suffixes;
}

Status Publication::rename_all() const {
  // An old companion beside new data would describe it wrongly, so it goes first; data without one is merely
  // unlabelled.
  std::error_code error;
  for (const std::string_view companion : entry_->companions)
    fs::remove(path_.string() + std::string(companion), error);
  WEIR_TRY(rename_path(temporary_, path_));
  for (const std::string_view companion : entry_->companions) {
    const std::string from = temporary_.string() + std::string(companion);
    if (fs::exists(from, error)) WEIR_TRY(rename_path(from, path_.string() + std::string(companion)));
  }
  return {};
}

Status Publication::finish(const mpi::Comm& comm, bool fsync) const {
  if (!entry_->stores_files) return {};
  if (fsync) {
    // Every rank: on a parallel file system each node holds unwritten data of its own.
    Status synced;
    std::error_code error;
    for (const std::string& part : parts()) {
      const std::string file = temporary_.string() + part;
      if (synced && fs::exists(file, error)) synced = sync_tree(file);
    }
    WEIR_TRY(mpi::agree(comm, synced));
  }
  Status renamed;
  if (comm.rank() == 0) {
    renamed = rename_all();
    if (renamed && fsync) renamed = sync_path(path_.has_parent_path() ? path_.parent_path() : fs::path("."));
  }
  return mpi::agree(comm, renamed);
}

void Publication::discard() const {
  if (!entry_->stores_files) return;
  std::error_code error;
  for (const std::string& part : parts()) fs::remove_all(temporary_.string() + part, error);
}

Failure Publication::in_terms_of_path(Failure failure) const {
  const std::string hidden = temporary_.string();
  for (std::string* text : {&failure.object, &failure.operation, &failure.cause}) {
    for (auto at = text->find(hidden); entry_->stores_files && at != std::string::npos;
         at = text->find(hidden, at + 1)) {
      text->replace(at, hidden.size(), path_.string());
    }
  }
  if (failure.object.empty()) failure.object = path_.string();
  return failure;
}

}  // namespace weir::session
