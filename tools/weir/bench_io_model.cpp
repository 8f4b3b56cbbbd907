// What Weir's collective I/O should send between nodes for a workload: the same decisions as at run time,
// counted.
#include <algorithm>

#include "aggregation/cycles.hpp"
#include "aggregation/decide.hpp"
#include "bench_io.hpp"

namespace weir::cli {

namespace {

using aggregation::Rows;

Rows rows_of(const std::vector<pattern::Access>& accesses) {
  aggregation::RowBuilder builder;
  for (const pattern::Access& access : accesses) {
    for (pattern::PieceCursor cursor(access); !cursor.done(); cursor.advance())
      builder.add(static_cast<std::uint64_t>(cursor.piece().offset), cursor.piece().length);
  }
  return builder.take();
}

// Pieces that are left when each node puts together what its ranks have.
std::uint64_t pieces_by_node(const std::vector<Rows>& rows, const aggregation::Nodes& nodes, bool may_fill) {
  std::vector<aggregation::RowIndex> by_node;
  for (const auto& ranks : nodes.ranks_by_node()) {
    std::vector<aggregation::RowIndex> sources;
    for (const std::uint32_t rank : ranks) sources.emplace_back(rows[rank]);
    by_node.emplace_back(aggregation::merged(sources, 0, UINT64_MAX));
  }
  const aggregation::RowIndex taken(aggregation::merged(by_node, 0, UINT64_MAX));
  std::uint64_t total = 0;
  for (const aggregation::RowIndex& node : by_node)
    total += may_fill ? aggregation::total_pieces(aggregation::fill_nobodys_gaps(node.rows(), taken).runs)
                      : node.pieces();
  return total;
}

aggregation::CallFacts facts_of(const std::vector<Rows>& rows, const aggregation::Nodes& nodes, bool reading,
                                bool may_fill) {
  aggregation::CallFacts facts{.begin = UINT64_MAX, .reading = reading, .may_fill = may_fill && !reading};
  for (const Rows& mine : rows) {
    if (mine.empty()) continue;
    facts.begin = std::min(facts.begin, mine.front().offset);
    for (const aggregation::Row& row : mine) facts.end = std::max(facts.end, row.end());
    facts.bytes += aggregation::total_bytes(mine);
    facts.pieces += aggregation::total_pieces(mine);
    facts.most_pieces = std::max(facts.most_pieces, aggregation::total_pieces(mine));
  }
  facts.node_pieces = pieces_by_node(rows, nodes, facts.may_fill);
  return facts;
}

std::uint64_t crossing(const std::vector<Rows>& rows, const aggregation::Nodes& nodes,
                       const aggregation::Decision& decision) {
  std::uint64_t bytes = 0;
  for (std::uint32_t rank = 0; rank < rows.size(); ++rank) {
    const auto count = [&](std::uint32_t aggregator, std::uint64_t size) {
      if (nodes.of_rank[decision.aggregators[aggregator]] != nodes.of_rank[rank]) bytes += size;
    };
    if (decision.algorithm == aggregation::Algorithm::segmented) {
      count(decision.group_of_rank[rank], aggregation::total_bytes(rows[rank]));
    } else if (decision.domains) {
      const auto parts = aggregation::by_aggregator(rows[rank], *decision.domains);
      for (std::uint32_t at = 0; at < parts.size(); ++at) count(at, aggregation::total_bytes(parts[at]));
    }
  }
  return bytes;
}

}  // namespace

Result<IoModel> own_model(const workloads::IoWorkload& workload, const Numbers& node_of,
                          const IoConfig& config, bool reading) {
  const auto variable = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = config.environment.find(std::string(name));
    if (found == config.environment.end()) return std::nullopt;
    return found->second;
  };
  WEIR_ASSIGN(aggregation::Settings settings,
              in(aggregation::read_settings([](std::string_view) { return std::nullopt; }, variable),
                 "use the configuration " + config.name));
  settings.striping = completed(settings.striping);
  const std::vector<std::uint64_t> names(node_of.begin(), node_of.end());
  const aggregation::Nodes nodes = aggregation::Nodes::of(names);
  std::vector<workloads::IoProgram> programs;
  for (std::uint64_t rank = 0; rank < node_of.size(); ++rank)
    programs.push_back(workloads::program_of(workload, rank));
  std::uint64_t bytes = 0;
  IoModel model;
  for (std::uint64_t call = 0; call < programs.front().calls; ++call) {
    std::vector<Rows> rows;
    for (const workloads::IoProgram& program : programs) rows.push_back(rows_of(program.accesses(call)));
    const auto facts = facts_of(rows, nodes, reading, settings.fill);
    const aggregation::Decision decision = aggregation::decide(facts, nodes, settings);
    bytes += crossing(rows, nodes, decision);
    model.without_effect = settings_without_effect(decision, settings);
  }
  model.bytes_between_nodes = static_cast<double>(bytes);
  return model;
}

}  // namespace weir::cli
