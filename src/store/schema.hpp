// The tables of a store, by version. A change of them is a new entry in the list of migrations, never an edit
// of an old one: a store of any earlier version is brought up to date by running what it lacks.
//
// Threads: plain functions.
#pragma once

#include <string>

#include "store/database.hpp"

namespace weir::store {

int schema_version();  // of this build

// The version of the tables that are there; 0: none. Fails where the tables are of a newer Weir, or foreign.
Result<int> stored_version(Database& database);

// Makes or completes the tables. Safe with others who do the same at the same time.
Status migrate(Database& database);

}  // namespace weir::store
