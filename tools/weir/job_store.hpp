// Where a user's jobs are kept, which of them a word means, and what became of those whose `weir run` is
// gone.
//
// LOCAL. Threads: as the store's: one at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "store/store.hpp"

namespace weir::cli {

// `wanted`, else $WEIR_STORE, else jobs.db in the user's data folder ($XDG_DATA_HOME/weir or
// ~/.local/share/weir).
Result<std::string> store_location(const std::string& wanted);

// Makes the folder too where the store is to be made. A store that is not there and not to be made is a
// failure that says how to get one.
Result<store::Store> open_job_store(const std::string& location, store::Access access);

// "last", "last~2" (the second before it), an id, or the name of a job (the latest of it). A failure lists
// what is near.
Result<std::string> find_job(store::Store& store, const std::string& word);

// The label "recorder" of jobs that were sampled from their start to their end.
inline constexpr const char* recorder_label = "weir run";

// What a job's labels say of the process that watches over it: pid, when it started, and which boot of which
// host that was. A pid alone would be somebody else's one day.
std::map<std::string, std::string> marks_of_this_process();
// Whether that process is known to be gone: false where it runs on another host, or no marks are there.
bool is_gone(const std::map<std::string, std::string>& labels);

// Jobs that are said to run and whose process is gone become "lost", with an end at their last sample. Those
// that could not be written are changed in the result only. Ids of the lost ones.
Result<std::vector<std::string>> settle_lost_jobs(store::Store& store);

}  // namespace weir::cli
