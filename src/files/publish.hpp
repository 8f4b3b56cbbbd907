// From a temporary name to the final one: a file stands under its name only when it is whole.
#pragma once

#include "backends/backend.hpp"

namespace weir::files {

// A path, and the temporary one under which the file is made. The same on every rank.
class Publication {
 public:
  // COLLECTIVE. Rank 0 checks that the path can become a file of this backend, follows it if it is a symbolic
  // link, and makes up the temporary name. From then on nothing depends on the working folder.
  static Result<Publication> begin(const mpi::Comm& comm, const std::string& path,
                                   const backends::Entry& entry);

  const std::string& path() const { return path_; }  // as the program gave it
  const std::filesystem::path& temporary() const { return temporary_; }
  // Suffixes of the files that belong together, the main one ("") last.
  std::vector<std::string> parts() const;

  // LOCAL, called on one rank: lets those read what is being made who may read what it will replace.
  void keep_mode() const;
  // LOCAL. Returns when what this process has written so far is on disk.
  Status sync() const;
  // COLLECTIVE. Waits for the disk if asked, then renames.
  Status finish(const mpi::Comm& comm, bool fsync) const;
  // LOCAL, called on one rank: removes what was made so far.
  void discard() const;
  // A failure that speaks of the temporary name, in terms of the one the program gave.
  Failure in_terms_of_path(Failure failure) const;

 private:
  Status rename_all() const;
  void remove_foreign_companions() const;

  std::string path_;
  std::filesystem::path target_;  // absolute, with links followed
  std::filesystem::path temporary_;
  const backends::Entry* entry_ = nullptr;
};

}  // namespace weir::files
