#include <fmt/format.h>

#include <algorithm>

#include "placement/emit.hpp"

namespace weir {

namespace {

// MPI_MAX_INFO_VAL of Open MPI, with the terminating zero.
constexpr std::size_t longest_hint = 255;

Status check_aggregators(const EmitRequest& request, std::string_view form) {
  WEIR_TRY(check_emittable(request));
  if (request.aggregators.empty())
    return fail(ErrorCode::invalid_argument, fmt::format("{}: the plan has no aggregators", form),
                "make one with 'weir plan --pattern' or '--grid'");
  for (const std::uint32_t rank : request.aggregators)
    if (rank >= request.placement.node_of.size())
      return fail(ErrorCode::invalid_argument, fmt::format("{}: aggregator {} is no rank", form, rank));
  return {};
}

}  // namespace

Result<std::string> emit_romio(const EmitRequest& request) {
  WEIR_TRY(check_aggregators(request, "romio"));
  const Placement& placement = request.placement;
  if (!request.name_hosts)
    return fail(ErrorCode::invalid_argument, "romio: the names of the hosts have to be known",
                "give them with --hosts or --hostfile, or a platform file");
  // ROMIO goes through the list once, taking so many processes of each host: domains of one host must follow
  // each other, or the list would say something else.
  std::string list;
  std::vector<char> named(placement.hosts.size(), 0);
  for (std::size_t i = 0; i < request.aggregators.size();) {
    const std::uint32_t node = placement.node_of[request.aggregators[i]];
    std::size_t count = 0;
    for (; i < request.aggregators.size() && placement.node_of[request.aggregators[i]] == node; ++i) ++count;
    if (named[node]++ != 0) {
      return fail(ErrorCode::unsupported,
                  fmt::format("romio: host '{}' writes file domains that do not follow each other, which "
                              "cb_config_list cannot say",
                              placement.hosts[node]),
                  "use as many aggregators as there are nodes, or Weir's own collective I/O");
    }
    list += fmt::format("{}{}:{}", list.empty() ? "" : ",", placement.hosts[node], count);
  }
  if (list.size() > longest_hint) {
    return fail(ErrorCode::unsupported,
                fmt::format("romio: cb_config_list would have {} characters, Open MPI takes {}", list.size(),
                            longest_hint),
                "use fewer aggregators (--aggregators), or Weir's own collective I/O");
  }
  return fmt::format("romio_cb_write enable\nromio_cb_read enable\ncb_nodes {}\ncb_config_list {}\n",
                     request.aggregators.size(), list);
}

Result<std::string> emit_ompio(const EmitRequest& request) {
  WEIR_TRY(check_aggregators(request, "ompio"));
  return fmt::format(
      "# mpirun --am THIS-FILE. OMPIO takes the number of aggregators, and spreads them over the ranks "
      "itself.\n"
      "io = ompio\nio_ompio_num_aggregators = {}\n",
      request.aggregators.size());
}

}  // namespace weir
