// Jobs and nodes from text that sites have: Slurm's accounting, CSV.
//
// A line that is wrong is told as "FILE:12: ..." and counted; the others are kept. Memory does not grow with
// the text.
//
//   sacct -X -a -P -o JobIDRaw,User,JobName,State,Submit,Start,End,ElapsedRaw,NNodes,NodeList
//       JobID or JobIDRaw is needed, the others are taken where they are. Steps ("4711.batch") are passed
//       over. Times without a zone are taken in `zone`.
//
//   jobs as CSV    id [user] [name] [state] [submit] [start] [end] [nodes] [shape] ...
//       Times as 2019-08-01T12:00:00 (with or without a zone) or as seconds since 1970; nodes as a host list,
//       shape as 8x12x32. Any other column is a figure where it is a number, else a label.
//
//   nodes as CSV   name [role] [rack] [targets] [servers] [coordinates] ...
//       role: compute, boot-io, global-io or local-io; lists are separated by blanks or semicolons.
//       Coordinates as one column "3 4 0 1 2 0", or in a column for each dimension: all columns of other
//       titles, in their order.
//
// Threads: plain functions.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <span>
#include <string>

#include "core/error.hpp"
#include "store/job.hpp"
#include "store/node.hpp"

namespace weir::store {

struct ImportTally {
  std::uint64_t taken = 0;
  std::uint64_t rejected = 0;  // lines that are wrong
  std::uint64_t ignored = 0;   // lines of no interest: steps of jobs

  bool operator==(const ImportTally&) const = default;
};

struct ImportSource {
  std::string file;        // named in problems
  std::string zone = "Z";  // of times that say none: "Z", "+09:00"
  std::function<void(const std::string&)> problem;
};

// Each hands over many at a time; its failure ends the import. A line of titles that lacks what is needed is
// a failure.
using TakeJobs = std::function<Status(std::span<const Job>)>;
using TakeNodes = std::function<Status(std::span<const Node>)>;
Result<ImportTally> import_sacct(std::istream& text, const ImportSource& source, const TakeJobs& take);
Result<ImportTally> import_jobs_csv(std::istream& text, const ImportSource& source, const TakeJobs& take);
Result<ImportTally> import_nodes_csv(std::istream& text, const ImportSource& source, const TakeNodes& take);

}  // namespace weir::store
