#include "files/rename.hpp"

#include <filesystem>

#include "files/publish.hpp"

namespace weir::files {

namespace fs = std::filesystem;

namespace {

// True: it is a copy, since it went to another file system.
Result<bool> bring(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (!fs::exists(from, error)) return false;
  fs::rename(from, to, error);
  const bool elsewhere = error == std::errc::cross_device_link;
  if (elsewhere) fs::copy(from, to, fs::copy_options::recursive, error);
  if (error) return fail_errno(error.value(), "move", from.string());
  return elsewhere;
}

// Undoes bring().
void return_to(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  if (fs::exists(from, ignored)) {
    fs::remove_all(to, ignored);
  } else {
    fs::rename(to, from, ignored);
  }
}

}  // namespace

Status rename_file(const std::string& from, const std::string& to) {
  WEIR_ASSIGN(const backends::Entry* entry, backends::choose_for_reading(from));
  const mpi::Comm alone = mpi::Comm::serial();
  WEIR_ASSIGN(const Publication publication, Publication::begin(alone, to, *entry));
  const std::string here = publication.temporary().string();
  std::error_code ignored;
  const Status moved = [&]() -> Status {
    bool copied = false;
    for (const std::string& part : publication.parts()) {
      WEIR_ASSIGN(const bool copy, bring(from + part, here + part));
      copied = copied || copy;
    }
    WEIR_TRY(publication.finish(alone, /*fsync=*/false));
    for (const std::string& part : publication.parts()) {
      if (copied) fs::remove_all(from + part, ignored);
    }
    return {};
  }();
  if (!moved) {
    for (const std::string& part : publication.parts()) return_to(from + part, here + part);
    return in(Status(tl::make_unexpected(publication.in_terms_of_path(moved.error()))), "rename");
  }
  return {};
}

}  // namespace weir::files
