// Jobs as rows. Threads: plain functions over a Database; those that write expect a transaction.
#pragma once

#include <vector>

#include "store/database.hpp"
#include "store/store.hpp"

namespace weir::store {

Status write_job(Database& database, const Job& job);
Result<std::vector<Job>> read_jobs(Database& database, const JobQuery& query);
// "; near ones are 4711, 4712", or "; there are no jobs in the store".
Result<std::string> jobs_near(Database& database, const std::string& id);

}  // namespace weir::store
