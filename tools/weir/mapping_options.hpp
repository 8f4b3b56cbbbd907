// The options that 'weir plan' and 'weir run' share, declared once.
#pragma once

#include <CLI/CLI.hpp>

#include "placement/layout.hpp"
#include "plan/plan.hpp"
#include "platform/source.hpp"

namespace weir::cli {

struct MappingArguments {
  LayoutRequest layout;
  PlatformRequest platform;
};

void add_mapping_options(CLI::App& command, MappingArguments& arguments);

// The machine that the options name. A machine known by name has as many nodes as the mapping fills, unless
// something was said about nodes.
Result<Platform> platform_for(const MappingArguments& arguments);

// The plan that the options describe. On this machine, or nodes like it, there may be more ranks than cores:
// they are not bound then.
Result<Plan> plan_for(const MappingArguments& arguments);

// The options again, as they stand on a command line; empty: there were none.
std::string words_of(const MappingArguments& arguments);

// "Mappings:" with a line each, for --help.
std::string mappings_help();

}  // namespace weir::cli
