// The I/O workloads as subcommands of `weir bench`.
#pragma once

#include "commands.hpp"

namespace weir::cli {

void add_io_benches(CLI::App& bench, Context& context);

}  // namespace weir::cli
