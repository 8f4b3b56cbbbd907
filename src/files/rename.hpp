// Another name for a file that is whole.
#pragma once

#include "core/error.hpp"

namespace weir::files {

// LOCAL, called on one rank: gives a closed file of any backend another name, with its companions. The same
// holds as for a file that is made there: a link is followed, what Weir would not replace stays, and a file
// stands under its name only when it is whole. It may go to another file system. On failure it keeps its
// name.
Status rename_file(const std::string& from, const std::string& to);

}  // namespace weir::files
