#include "plan_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/file.hpp"
#include "core/json.hpp"
#include "core/options.hpp"
#include "core/timed.hpp"
#include "pattern/application_matrix.hpp"
#include "pattern/pattern_file.hpp"
#include "pattern/shuffle.hpp"
#include "pattern/stated.hpp"
#include "placement/emit.hpp"
#include "placement/forecast.hpp"
#include "placement/picture.hpp"
#include "placement/rank_file.hpp"
#include "plan/placement_plan.hpp"
#include "plan/plan_json.hpp"
#include "platform/lookup.hpp"
#include "recording/recording_file.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

tl::unexpected<Failure> refuse(std::string cause, std::string advice = {}) {
  return fail(ErrorCode::invalid_argument, std::move(cause), std::move(advice));
}

// "16x16" as numbers.
Result<std::vector<std::uint64_t>> parse_shape(const std::string& text, std::string_view option) {
  std::vector<std::uint64_t> shape;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const auto number = parse_integer(text.substr(begin, end - begin));
    if (!number || *number < 1)
      return refuse(
          fmt::format("{}: '{}' is not numbers with an x between them, such as 16x16", option, text));
    shape.push_back(static_cast<std::uint64_t>(*number));
    begin = end + 1;
  }
  return shape;
}

// What the algorithms work on; owns the matrices.
struct Input {
  std::string what;
  std::uint32_t ranks = 0;
  pattern::SparseMatrix recorded;
  std::optional<pattern::SparseMatrix> cartesian, shuffle;
  // Of a recording, where nobody said how many calls there are:
  std::uint64_t recorded_calls = 0;  // collective ones; 0: none, or they were not counted
  std::uint64_t parts = 0;           // that the file consists of; 0: no like ones
  std::uint64_t calls = 0;           // that are assumed
  std::optional<double> left_out;  // the shuffle has too many values: of it, what can stay on a node at most
};

Result<std::uint32_t> rank_count(std::uint64_t ranks) {
  if (ranks == 0 || ranks > most_ranks)
    return refuse(fmt::format("{} ranks: there can be 1 to {}", ranks, most_ranks));
  return static_cast<std::uint32_t>(ranks);
}

Status add_cartesian(const std::vector<std::uint64_t>& processes, Input& input) {
  std::uint64_t product = 1;
  for (const std::uint64_t one : processes)
    if (__builtin_mul_overflow(product, one, &product)) return refuse("--grid: too many ranks");
  if (product != input.ranks)
    return refuse(fmt::format("--grid has {} places, the pattern {} ranks", product, input.ranks));
  WEIR_ASSIGN(input.cartesian, pattern::cartesian_matrix({.processes = processes}));
  return {};
}

// The collective calls without those that went over the same bytes again; 0 if that cannot be told.
std::uint64_t calls_at_different_places(const pattern::AccessTable& table) {
  if (table.uses.empty()) return 0;
  const std::uint64_t times = table.uses.front().repeat;
  for (const pattern::Use& use : table.uses)
    if (use.repeat != times) return 0;
  return table.collective_calls % times == 0 ? table.collective_calls / times : 0;
}

Status add_pattern(const pattern::Pattern& pattern, const PlacementArguments& arguments,
                   const Machine& machine, Input& input) {
  WEIR_ASSIGN(input.ranks, rank_count(pattern.ranks));
  if (pattern.files.empty()) return refuse("the pattern has no file in it: nothing was read or written");
  pattern::MatrixRequest request{.weight =
                                     arguments.weigh_bytes ? pattern::Weight::bytes : pattern::Weight::count};
  std::size_t file = 0;
  if (!arguments.file.empty()) {
    WEIR_ASSIGN(file, in(pattern::find_file(pattern, arguments.file), "--file"));
    request.file = file;
  } else {
    const auto bytes_of = [&](const pattern::FilePattern& one) {
      return pattern.totals(one.reads).bytes + pattern.totals(one.writes).bytes;
    };
    for (std::size_t i = 1; i < pattern.files.size(); ++i)
      if (bytes_of(pattern.files[i]) > bytes_of(pattern.files[file])) file = i;
  }
  // BT's comes from its parameters.
  if (input.recorded.rows == 0) input.recorded = pattern::application_matrix(pattern, request);
  const pattern::FilePattern& chosen = pattern.files[file];
  const bool reads = pattern.totals(chosen.reads).bytes > pattern.totals(chosen.writes).bytes;
  const pattern::AccessTable& table = reads ? chosen.reads : chosen.writes;
  const std::uint64_t wanted = arguments.aggregators != 0 ? arguments.aggregators : machine.nodes();
  const std::uint64_t count = std::min<std::uint64_t>(std::max<std::uint64_t>(wanted, 1), input.ranks);
  const pattern::Totals totals = pattern.totals(table);
  const auto bytes = static_cast<std::uint64_t>(totals.end - totals.begin);
  constexpr std::uint64_t most_edges = std::uint64_t{1} << 26U;
  const auto too_many = [&](std::uint64_t calls) {
    return calls > 1 && (calls > bytes / count || calls > most_edges / count);
  };
  if (too_many(arguments.calls))
    return refuse(fmt::format("--calls {}: too many for {} file domains in each, in a file of {} bytes",
                              arguments.calls, count, bytes));
  std::uint64_t calls = std::max<std::uint64_t>(arguments.calls, 1);
  if (arguments.calls == 0 && !arguments.pattern.empty()) {
    const auto period = pattern::period_of(pattern, table);
    input.recorded_calls = table.collective_calls;
    if (period) input.parts = period->parts;
    const std::uint64_t different = calls_at_different_places(table);
    if (period && different > 1 && period->parts % different == 0 && !too_many(different)) calls = different;
    input.calls = calls;
  }
  const pattern::Domains domains = pattern::even_domains_of_calls(pattern, table, count, calls);
  input.shuffle = pattern::shuffle_up_to(most_shuffle_values, pattern, table, domains);
  if (!input.shuffle) {
    const PlacementProblem problem{.machine = &machine, .ranks = input.ranks};
    input.left_out = 1 - shuffle_bound_of_shapes(problem, pattern, table, domains);
  }
  return {};
}

Result<Input> read_input(const PlacementArguments& arguments, const Machine& machine) {
  const int sources =
      (arguments.bt != 0 ? 1 : 0) + (arguments.pattern.empty() ? 0 : 1) + (arguments.matrix.empty() ? 0 : 1);
  if (sources > 1) return refuse("only one of --bt, --pattern and --matrix can be given");
  if (arguments.bt != 0 && !arguments.grid.empty())
    return refuse(
        "--grid and --bt: only one of them can be given (--grid goes with --pattern or --matrix, too)");
  std::vector<std::uint64_t> processes;
  if (!arguments.grid.empty()) {
    WEIR_ASSIGN(processes, parse_shape(arguments.grid, "--grid"));
  }
  if (sources == 1 && arguments.permute != 0 && arguments.bt == 0)
    return refuse("--permute reorders the ranks of --grid or --bt, not those of a recording");
  Input input;
  if (!arguments.pattern.empty()) {
    WEIR_ASSIGN(const recording::Loaded recorded, recording::load(arguments.pattern));
    WEIR_TRY(add_pattern(recorded.pattern, arguments, machine, input));
    input.what = fmt::format("{}, {} ranks", arguments.pattern, input.ranks);
  } else if (!arguments.matrix.empty()) {
    WEIR_ASSIGN(input.recorded, pattern::load_matrix(arguments.matrix));
    WEIR_ASSIGN(input.ranks, in(rank_count(input.recorded.rows), "read", arguments.matrix));
    if (input.recorded.columns != input.recorded.rows || !pattern::is_symmetric(input.recorded))
      return refuse(fmt::format("{}: an application matrix is square and symmetric", arguments.matrix));
    input.what = fmt::format("{}, {} ranks", arguments.matrix, input.ranks);
  } else if (arguments.bt != 0) {
    WEIR_TRY(in(rank_count(arguments.bt), "--bt"));
    const auto side = static_cast<std::uint64_t>(std::llround(std::sqrt(static_cast<double>(arguments.bt))));
    constexpr std::uint64_t class_d = 408;
    pattern::BlockTridiagonal bt{.ranks = arguments.bt, .seed = arguments.permute};
    bt.points = arguments.points != 0 ? arguments.points : std::max(class_d, 2 * side);
    WEIR_ASSIGN(const pattern::Pattern stated, in(pattern::state(bt), "--bt"));
    input.recorded = pattern::application_matrix(
        bt, arguments.weigh_bytes ? pattern::Weight::bytes : pattern::Weight::count);
    WEIR_TRY(add_pattern(stated, arguments, machine, input));
    input.what = fmt::format("BT of {} ranks, {} points a side", arguments.bt, bt.points);
    processes = {side, side};
  } else {
    pattern::Cartesian grid{.processes = processes, .seed = arguments.permute};
    // The tile of the SetMatch paper in two dimensions.
    grid.block = processes.size() == 2 ? std::vector<std::uint64_t>{800, 768}
                                       : std::vector<std::uint64_t>(processes.size(), 64);
    if (!arguments.block.empty()) {
      WEIR_ASSIGN(grid.block, parse_shape(arguments.block, "--block"));
    }
    if (grid.block.size() != processes.size())
      return refuse(
          fmt::format("--block has {} dimensions, --grid has {}", grid.block.size(), processes.size()));
    WEIR_ASSIGN(const std::int64_t element, in(parse_bytes(arguments.element), "--element"));
    grid.element = static_cast<std::uint64_t>(std::max<std::int64_t>(element, 0));
    WEIR_ASSIGN(const pattern::Pattern stated, in(pattern::state(grid), "--grid"));
    WEIR_TRY(add_pattern(stated, arguments, machine, input));
    input.what = fmt::format("grid {} of {} ranks, blocks of {} elements", arguments.grid, input.ranks,
                             fmt::join(grid.block, "x"));
  }
  if (arguments.permute != 0) input.what += fmt::format(", reordered with seed {}", arguments.permute);
  if (!processes.empty()) WEIR_TRY(add_cartesian(processes, input));
  return input;
}

struct Row {
  AlgorithmChoice choice;
  std::optional<Placed> placed;
  std::string refusal;  // why there is no placement
  double seconds = 0;
  Forecast forecast;
  double best_aggregators = 0;  // the share of the shuffle that crosses nodes with them
};

// What bytes cost at this machine's speeds, in the matrix and in the shuffle; of equals, the least objective.
// Where placement cannot help the shuffle, it is the same for all but for noise: the objective decides.
bool better(const Row& a, const Row& b, bool shuffle) {
  const auto less = [](double x, double y) { return x < y - 1e-9 * std::abs(y); };
  if (shuffle) {
    if (less(a.forecast.cost_relative, b.forecast.cost_relative)) return true;
    if (less(b.forecast.cost_relative, a.forecast.cost_relative)) return false;
  }
  return less(a.forecast.objective, b.forecast.objective);
}

Result<std::vector<Row>> run_algorithms(const PlacementProblem& problem,
                                        const PlacementArguments& arguments) {
  WEIR_ASSIGN(const auto choices, in(parse_algorithms(arguments.algorithms, problem), "--algorithms"));
  std::vector<Row> rows;
  for (const AlgorithmChoice& choice : choices) {
    Row row{.choice = choice};
    Result<Placed> placed = [&] {
      const Timed timed(row.seconds);
      return place(problem, choice);
    }();
    if (placed) {
      row.placed = std::move(*placed);
      row.forecast = forecast(problem, *row.placed);
      if (problem.shuffle != nullptr)
        row.best_aggregators = share_with_best_aggregators(problem, *row.placed);
    } else if (placed.error().code == ErrorCode::unsupported && choices.size() > 1) {
      row.refusal = placed.error().message();
    } else {
      return tl::make_unexpected(placed.error());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::size_t> choose(const std::vector<Row>& rows, const PlacementArguments& arguments, bool shuffle) {
  std::size_t best = rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].placed) continue;
    if (!arguments.choose.empty()) {
      if (rows[i].choice.text == arguments.choose) return i;
    } else if (best == rows.size() || better(rows[i], rows[best], shuffle)) {
      best = i;
    } else if (!better(rows[best], rows[i], shuffle) && rows[best].placed->node_of_domain.empty() &&
               !rows[i].placed->node_of_domain.empty()) {
      best = i;  // of equals the one that also says who aggregates
    }
  }
  if (best == rows.size()) {
    return refuse(fmt::format("--choose {}: it is not among the algorithms that were run ({})",
                              arguments.choose, arguments.algorithms));
  }
  return best;
}

// Where no single placement is best in both: which one is in each, so that --choose can be used.
std::string best_of_each(const std::vector<Row>& rows, bool shuffle) {
  // Of equals one that also says who aggregates.
  const auto least = [&](auto figure) {
    const Row* best = nullptr;
    for (const Row& row : rows) {
      if (!row.placed) continue;
      const bool says_more =
          best != nullptr && best->placed->node_of_domain.empty() && !row.placed->node_of_domain.empty();
      if (best == nullptr || figure(row) < figure(*best) * (1 - 1e-9) ||
          (says_more && figure(row) <= figure(*best) * (1 + 1e-9)))
        best = &row;
    }
    return best;
  };
  const auto objective = [](const Row& row) { return row.forecast.objective; };
  const auto share = [](const Row& row) { return row.forecast.shuffle_cross_node_share; };
  const Row *by_matrix = least(objective), *by_shuffle = least(share);
  if (!shuffle || by_matrix == nullptr || share(*by_matrix) <= share(*by_shuffle) * (1 + 1e-9) ||
      objective(*by_shuffle) <= objective(*by_matrix) * (1 + 1e-9))
    return {};
  return fmt::format(
      "no placement is best in both: {} has the least objective, {} the least shuffle (--choose takes one)",
      by_matrix->choice.text, by_shuffle->choice.text);
}

std::vector<std::string> remarks(const PlacementProblem& problem, const Input& input,
                                 const std::vector<Row>& rows, const LowerBounds& bounds,
                                 std::size_t chosen) {
  std::vector<std::string> result;
  const Row& best = rows[chosen];
  const bool no_help = placement_cannot_help_shuffle(problem);
  result.push_back(fmt::format("chosen: {}, by the {}", best.choice.text,
                               problem.shuffle == nullptr || no_help
                                   ? "application matrix"
                                   : "shuffle and the application matrix, at the machine's speeds"));
  if (const std::string said = best_of_each(rows, problem.shuffle != nullptr && !no_help); !said.empty())
    result.push_back(said);
  if (input.left_out) {
    result.push_back(
        fmt::format("the shuffle has more than {} values and is not modelled: at most {:.2g}% of it can stay "
                    "on its node, "
                    "whatever the placement{}",
                    most_shuffle_values, 100 * *input.left_out,
                    *input.left_out < 0.05 ? "" : "; fewer --aggregators make it smaller"));
  }
  if (no_help) {
    double least = 1;
    double most = 0;
    for (const Row& row : rows) {
      if (!row.placed) continue;
      least = std::min(least, row.forecast.shuffle_cross_node_share);
      most = std::max(most, row.forecast.shuffle_cross_node_share);
    }
    const std::string alike = "every rank feeds every file domain alike, and ";
    result.push_back(
        most - least < 0.005
            ? fmt::format("placement can gain nothing in the shuffle: {}about {:.1f}% of it crosses nodes "
                          "whatever the placement",
                          alike, 100 * most)
            : fmt::format(
                  "placement can gain nothing in the shuffle, but fewer nodes can: {}{:.1f}% to {:.1f}% of "
                  "it crosses nodes, by how many take part",
                  alike, 100 * least, 100 * most));
  } else if (problem.shuffle != nullptr) {
    for (const Row& row : rows) {
      if (row.choice.text != "byslot" || !row.placed) continue;
      const double gain = row.forecast.shuffle_cross_node_share - best.forecast.shuffle_cross_node_share;
      if (row.forecast.shuffle_cross_node_share - bounds.shuffle_cross_node_share < 0.005) {
        result.emplace_back("placement can gain nothing in the shuffle: byslot is at the lower bound");
      } else if (gain > 0) {
        result.push_back(fmt::format(
            "gain over byslot: {:.1f}% instead of {:.1f}% of the shuffle crosses nodes",
            100 * best.forecast.shuffle_cross_node_share, 100 * row.forecast.shuffle_cross_node_share));
      }
    }
  }
  if (input.calls > 1) {
    result.push_back(fmt::format(
        "the file consists of like parts that {} collective calls share evenly: they are taken for calls one "
        "behind the other (--calls says otherwise)",
        input.calls));
  } else if (input.recorded_calls > 1) {
    result.push_back(fmt::format(
        "{} collective calls were recorded, and the shuffle is that of one for all of them, since the file "
        "has no like parts that they share evenly; if they touch it one part after the other, say --calls {}",
        input.recorded_calls, input.recorded_calls));
  } else if (input.parts != 0 && input.recorded_calls == 0) {
    result.push_back(fmt::format(
        "the file consists of {} like parts, and the shuffle is that of one collective call for all of "
        "them; if each is a call of its own, say --calls {}",
        input.parts, input.parts));
  }
  for (const Row& row : rows) {
    if (!row.refusal.empty()) result.push_back(row.choice.text + ": " + row.refusal);
    if (row.placed && !row.placed->note.empty()) result.push_back(row.choice.text + ": " + row.placed->note);
  }
  return result;
}

Json comparison(const PlacementProblem& problem, const Input& input, const std::vector<Row>& rows,
                const LowerBounds& bounds, std::size_t chosen) {
  const bool helps = problem.shuffle != nullptr && !placement_cannot_help_shuffle(problem);
  Json json{{"pattern", input.what},
            {"ranks", problem.ranks},
            {"nodes", problem.machine->nodes()},
            {"capacity", problem.machine->total_capacity()},
            {"file_domains", problem.shuffle == nullptr ? 0 : problem.shuffle->columns},
            {"chosen", rows[chosen].choice.text},
            {"preferred", helps ? "cost_relative" : "objective"},
            {"placement_can_help_shuffle", helps},
            {"algorithms", Json::array()}};
  for (const Row& row : rows) {
    Json entry{{"algorithm", row.choice.text}};
    if (!row.placed) {
      entry["error"] = row.refusal;
      json["algorithms"].push_back(std::move(entry));
      continue;
    }
    entry["seconds"] = row.seconds;
    entry["objective"] = row.forecast.objective;
    entry["objective_relative"] = row.forecast.objective_relative;
    entry["cross_node_share"] = row.forecast.cross_node_share;
    if (problem.shuffle != nullptr) {
      entry["shuffle_cross_node_share"] = row.forecast.shuffle_cross_node_share;
      entry["shuffle_cross_node_bytes"] = row.forecast.shuffle_cross_node_bytes;
      entry["shuffle_share_best_aggregators"] = row.best_aggregators;
    } else {
      entry["shuffle_cross_node_share"] = nullptr;
      entry["shuffle_share_best_aggregators"] = nullptr;
    }
    entry["cost_relative"] = row.forecast.cost_relative;
    entry["lower_bound"] = bounds.objective;
    entry["cross_node_lower_bound"] = bounds.cross_node_share;
    entry["shuffle_lower_bound"] = input.left_out ? 1 - *input.left_out : bounds.shuffle_cross_node_share;
    entry["nodes_used"] = row.forecast.nodes_used;
    entry["most_ranks_on_node"] = row.forecast.most_ranks_on_node;
    if (!row.placed->note.empty()) entry["note"] = row.placed->note;
    json["algorithms"].push_back(std::move(entry));
  }
  return json;
}

std::string table_of(const PlacementProblem& problem, const std::vector<Row>& rows,
                     const LowerBounds& bounds) {
  using enum Table::Align;
  Table table(
      {"ALGORITHM", "SECONDS", "OBJECTIVE", "CROSS-NODE", "SHUFFLE", "BEST-AGG", "NODES", "MOST/NODE"},
      {left, right, right, right, right, right, right, right});
  const auto percent = [](double share) { return fmt::format("{:.3f}%", 100 * share); };
  for (const Row& row : rows) {
    if (!row.placed) continue;
    table.add({row.choice.text, fmt::format("{:.4f}", row.seconds),
               fmt::format("{:.5g}", row.forecast.objective), percent(row.forecast.cross_node_share),
               problem.shuffle == nullptr ? "-" : percent(row.forecast.shuffle_cross_node_share),
               problem.shuffle == nullptr ? "-" : percent(row.best_aggregators),
               std::to_string(row.forecast.nodes_used), std::to_string(row.forecast.most_ranks_on_node)});
  }
  table.add({"lower bound", "", fmt::format("{:.5g}", bounds.objective), percent(bounds.cross_node_share),
             problem.shuffle == nullptr ? "-" : percent(bounds.shuffle_cross_node_share), "", "", ""});
  return table.text();
}

Numbers cores_of(const Placement& placement, const Platform& platform, const Assignment& assignment) {
  return placement.pus_of.empty() || platform.nodes.empty() ? Numbers() : assignment.core_of;
}

bool names_are_real(const PlatformRequest& machine) {
  return !machine.hosts.empty() || !machine.hostfile.empty() || machine.platform.empty() ||
         machine.platform == "this" || machine.platform.ends_with(".json");
}

Result<std::string> emitted(const PlacementArguments& arguments, const PlatformRequest& machine,
                            const Platform& platform, const Plan& plan, const Assignment& assignment) {
  if (arguments.emit == "json") return pretty(plan_to_json(plan)) + "\n";
  WEIR_ASSIGN(const Emitter emitter, in(find_emitter(arguments.emit), "--emit"));
  EmitRequest request{.roles = plan.roles,
                      .placement = plan.placement,
                      .name_hosts = names_are_real(machine),
                      .core_of = cores_of(plan.placement, platform, assignment),
                      .aggregators = plan.aggregators.ranks};
  WEIR_ASSIGN(const std::string text, in(emitter.emit(request), "--emit " + arguments.emit));
  if (arguments.emit.starts_with("openmpi") && arguments.emit != "openmpi-seq") {
    // The launcher would not notice a mistake: what is written must read back as what was meant.
    WEIR_ASSIGN(const auto lines, parse_rank_file(text));
    WEIR_TRY(check(lines, platform, arguments.emit != "openmpi5"));
  }
  return text;
}

}  // namespace

Status plan_by_placement(const PlacementArguments& arguments, const PlatformRequest& machine_request) {
  if (!arguments.emit.empty() && arguments.emit != "json")
    WEIR_TRY(in(find_emitter(arguments.emit), "--emit"));
  WEIR_ASSIGN(const Platform platform, in(open_platform(machine_request), "find the machine"));
  PlacementLimits limits;
  limits.ranks_per_node = static_cast<std::uint32_t>(arguments.limit_per_node);
  if (!arguments.memory_per_rank.empty()) {
    WEIR_ASSIGN(const std::int64_t bytes, in(parse_bytes(arguments.memory_per_rank), "--memory-per-rank"));
    if (bytes <= 0) return refuse("--memory-per-rank: give more than 0");
    limits.memory_per_rank = static_cast<std::uint64_t>(bytes);
  }
  WEIR_ASSIGN(const Machine machine, Machine::of(platform, limits));
  WEIR_ASSIGN(const Input input, read_input(arguments, machine));
  const PlacementProblem problem{.machine = &machine,
                                 .ranks = input.ranks,
                                 .recorded = &input.recorded,
                                 .cartesian = input.cartesian ? &*input.cartesian : nullptr,
                                 .shuffle = input.shuffle ? &*input.shuffle : nullptr};
  PlacementArguments effective = arguments;
  if (problem.shuffle == nullptr && arguments.algorithms == PlacementArguments().algorithms)
    effective.algorithms = "byslot,bynode,setmatchg,joint";
  WEIR_ASSIGN(const std::vector<Row> rows, run_algorithms(problem, effective));
  const bool by_shuffle = problem.shuffle != nullptr && !placement_cannot_help_shuffle(problem);
  WEIR_ASSIGN(const std::size_t chosen, choose(rows, effective, by_shuffle));
  const LowerBounds bounds = lower_bounds(problem);
  const Placed& placed = *rows[chosen].placed;
  WEIR_ASSIGN(const Plan plan, plan_placement(problem, placed, platform));

  // Everything is made before anything is written.
  std::string launcher_text;
  if (!arguments.emit.empty()) {
    WEIR_ASSIGN(launcher_text, emitted(arguments, machine_request, platform, plan, placed.assignment));
  }
  WEIR_ASSIGN(const AlgorithmChoice byslot, parse_algorithm("byslot"));
  WEIR_ASSIGN(const Placed before, place(problem, byslot));
  const std::vector<Scenario> scenarios = {{.title = "before: byslot", .placed = &before},
                                           {.title = "after: " + rows[chosen].choice.text,
                                            .placed = &placed,
                                            .aggregators = plan.aggregators.ranks}};
  if (!arguments.svg.empty())
    WEIR_TRY(write_text_atomically(arguments.svg, draw_svg(problem, platform, scenarios)));
  if (arguments.json) {
    const std::string text = pretty(comparison(problem, input, rows, bounds, chosen)) + "\n";
    const bool named = !arguments.json->empty() || !arguments.emit.empty();
    WEIR_TRY(put(named ? *arguments.json : arguments.output, text));
  }
  if (!arguments.emit.empty()) return put(arguments.output, launcher_text);
  if (arguments.json && arguments.json->empty()) return {};
  std::string text =
      fmt::format("{} on {} nodes\n\n{}\n", input.what, machine.nodes(), table_of(problem, rows, bounds));
  if (problem.shuffle != nullptr)
    text += "shuffle: with the aggregators of the algorithm, else ROMIO's; best-agg: the best found for it\n";
  for (const std::string& remark : remarks(problem, input, rows, bounds, chosen)) text += remark + "\n";
  for (const Scenario& scenario : scenarios) text += "\n" + draw_text(problem, platform, scenario);
  return put(arguments.output, text);
}

Status check_rank_file(const std::string& path, const PlatformRequest& machine) {
  WEIR_ASSIGN(const std::string text, read_text(path));
  WEIR_ASSIGN(const auto lines, in(parse_rank_file(text), "check", path));
  WEIR_ASSIGN(const Platform platform, in(open_platform(machine), "find the machine"));
  const bool physical = text.find("rmaps_rank_file_physical") != std::string::npos;
  WEIR_TRY(in(check(lines, platform, physical), "check", path));
  fmt::print("{}: {} ranks, every one with cores of its own\n", path, lines.size());
  return {};
}

}  // namespace weir::cli
