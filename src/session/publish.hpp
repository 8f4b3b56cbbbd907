// From a temporary name to the final one: a file stands under its name only when it is whole.
#pragma once

#include "backends/backend.hpp"

namespace weir::session {

// A path, and the temporary one under which the file is made. Values are the same on every rank.
class Publication {
 public:
  // COLLECTIVE. Rank 0 checks that the path can become a file of this backend and makes up the temporary
  // name.
  static Result<Publication> begin(const mpi::Comm& comm, const std::filesystem::path& path,
                                   const backends::Entry& entry);

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& temporary() const { return temporary_; }

  // COLLECTIVE. Waits for the disk if asked, then renames.
  Status finish(const mpi::Comm& comm, bool fsync) const;
  // LOCAL, called on one rank: removes what was made so far.
  void discard() const;
  // A failure that speaks of the temporary name, in terms of the final one.
  Failure in_terms_of_path(Failure failure) const;

 private:
  std::vector<std::string> parts()
      const;  // suffixes of the files that belong together, the main one ("") last
  Status rename_all() const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  const backends::Entry* entry_ = nullptr;
};

}  // namespace weir::session
