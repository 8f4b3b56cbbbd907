// Layouts, domains, steps and choices: the figures of EARTH, and random inputs against the plain way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "aggregation/decide.hpp"
#include "aggregation_support.hpp"

namespace weir::aggregation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Figure51, SixteenAggregatorsFourTargets) {
  const Nodes nodes = Nodes::regular(16, 1);
  const Layout plain = blocked(nodes, 16);
  const Layout aware = striping_aware(plain, nodes, 4);
  // In rank order the first stripes all come from the first path; renumbered, each path serves one target.
  EXPECT_THAT(aware, ElementsAre(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  const Domains domains = Domains::cyclic(0, 16 << 10, 16, {.unit = 1024, .factor = 4});
  for (std::uint64_t stripe = 0; stripe < 16; ++stripe) {
    const std::uint32_t rank = aware[domains.part_at(stripe * 1024).aggregator];
    EXPECT_EQ(rank / 4, stripe % 4) << "stripe " << stripe << " goes to target " << stripe % 4 << " on path "
                                    << rank / 4;
  }
  EXPECT_EQ(striping_aware(plain, nodes, 1), plain);
}

TEST(Figure51, PathsMayBeGiven) {
  const Nodes nodes = Nodes::regular(4, 2);
  const std::vector<std::uint32_t> path = {0, 1, 0, 1};
  EXPECT_THAT(striping_aware(blocked(nodes, 8), nodes, 2, path), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
}

TEST(Figure52, EightGroupsOf192AggregatorsAnd12Targets) {
  const Steps steps = Steps::of(192, 12, 2);
  EXPECT_TRUE(check(steps));
  EXPECT_EQ(steps.groups(), 8U);
  EXPECT_EQ(steps.width, 24U);
  EXPECT_EQ(steps.group_of(0), 0U);
  EXPECT_EQ(steps.group_of(191), 7U);
  EXPECT_EQ(steps.successor(5), 29U);
  EXPECT_EQ(steps.successor(168 + 5), 5U);  // opens the next cycle
  EXPECT_EQ(steps.awaits(29), (Steps::Token{.aggregator = 5, .earlier = false}));
  EXPECT_EQ(steps.awaits(5), (Steps::Token{.aggregator = 173, .earlier = true}));

  // In every step each target has exactly req requests.
  const Domains domains = Domains::cyclic(0, 192 * 4096ULL, 192, {.unit = 4096, .factor = 12});
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> requests;
  for (std::uint64_t stripe = 0; stripe < 192; ++stripe)
    ++requests[{steps.group_of(domains.part_at(stripe * 4096).aggregator), stripe % 12}];
  EXPECT_EQ(requests.size(), 8U * 12);
  for (const auto& [step_and_target, count] : requests) EXPECT_EQ(count, 2);
}

TEST(Figure52, PairsOfGroupsByStep) {
  EXPECT_THAT(pairs_of_step(0), ElementsAre(std::pair(0U, 0U)));
  EXPECT_THAT(pairs_of_step(1), ElementsAre(std::pair(0U, 1U), std::pair(1U, 1U)));
  EXPECT_EQ(pairs_of_step(7).size(), 8U);
  std::size_t all = 0;
  for (std::uint32_t s = 0; s < 8; ++s)
    for (const auto& [i, j] : pairs_of_step(s)) {
      EXPECT_EQ(step_of(i, j), s);
      EXPECT_EQ(step_of(j, i), s);
      ++all;
    }
  EXPECT_EQ(all, 8U * 9 / 2);  // every pair once
}

TEST(Figure53, EightOfSixteenOnFourNodes) {
  const Nodes nodes = Nodes::regular(4, 4);
  EXPECT_THAT(blocked(nodes, 8), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(round_robin(nodes, 8), ElementsAre(0, 4, 8, 12, 1, 5, 9, 13));
}

TEST(Steps, TokensKeepToTheirNumber) {
  test::Random random(3);
  for (int round = 0; round < 200; ++round) {
    const Steps steps = Steps::of(1 + random() % 40, 1 + random() % 6, random() % 4);
    ASSERT_TRUE(check(steps));
    // Play four cycles: whoever has its token touches the file; at no time more than `width` may have one.
    if (!steps.throttled()) {
      ASSERT_FALSE(steps.awaits(0));
      continue;
    }
    std::vector<int> finished(steps.aggregators);
    std::size_t done = 0;
    while (done < steps.aggregators * std::size_t{4}) {
      std::vector<std::uint32_t> may;
      for (std::uint32_t k = 0; k < steps.aggregators; ++k) {
        if (finished[k] == 4) continue;
        const auto token = *steps.awaits(k);
        if (token.earlier ? finished[token.aggregator] >= finished[k]
                          : finished[token.aggregator] > finished[k])
          may.push_back(k);
      }
      ASSERT_FALSE(may.empty()) << "nobody can go on";
      ASSERT_LE(may.size(), steps.width);
      ++finished[may[random() % may.size()]];
      ++done;
    }
  }
}

TEST(Domains, RandomOnesArePartitionsAndKeepTheirTargets) {
  test::Random random(5);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t begin = random() % 500;
    const std::uint64_t end = begin + random() % 2000;
    const std::uint32_t aggregators = 1 + random() % 9;
    const Striping striping{.unit = 1 + random() % 100, .factor = 1 + random() % 7};
    for (const Domains& domains :
         {Domains::even(begin, end, aggregators), Domains::aligned(begin, end, aggregators, striping),
          Domains::cyclic(begin, end, aggregators, striping)}) {
      const Status good = check(domains);
      ASSERT_TRUE(good) << good.error().message();
      std::map<std::uint32_t, std::set<std::uint64_t>> targets_of;
      std::map<std::uint64_t, std::set<std::uint32_t>> aggregators_of_stripe;
      std::vector<std::uint64_t> bytes_per(aggregators);
      for (std::uint64_t b = begin; b < end; ++b) {
        const auto part = domains.part_at(b);
        targets_of[part.aggregator].insert(b / striping.unit % striping.factor);
        aggregators_of_stripe[b / striping.unit].insert(part.aggregator);
        ++bytes_per[part.aggregator];
      }
      if (domains.kind() == DomainKind::even && end > begin) {
        const auto [least, most] = std::minmax_element(bytes_per.begin(), bytes_per.end());
        ASSERT_LE(*most - *least, 1U);
      } else if (domains.kind() != DomainKind::even) {
        for (const auto& [stripe, who] : aggregators_of_stripe) {
          ASSERT_EQ(who.size(), 1U) << "stripe " << stripe;
        }
      }
      if (domains.kind() == DomainKind::cyclic)
        for (const auto& [aggregator, targets] : targets_of) {
          ASSERT_LE(targets.size(), (striping.factor + aggregators - 1) / aggregators);
        }

      // Shifted domains, where they say they shift.
      const auto shift = static_cast<std::int64_t>(random() % 600);
      if (domains.move_with(shift))
        for (std::uint64_t b = begin; b < end; ++b) {
          ASSERT_EQ(domains.moved(shift).part_at(b + static_cast<std::uint64_t>(shift)).aggregator,
                    domains.part_at(b).aggregator);
        }
    }
  }
}

TEST(Domains, PiecesAreCutAtTheirBorders) {
  test::Random random(6);
  for (int round = 0; round < 300; ++round) {
    const Rows rows = test::rows_of(test::random_pieces(random, 600));
    if (rows.empty()) continue;
    const std::uint32_t aggregators = 1 + random() % 6;
    const Striping striping{.unit = 1 + random() % 60, .factor = 1 + random() % 5};
    const auto begin = rows.front().offset;
    const auto end = rows.back().end();
    for (const Domains& domains :
         {Domains::even(begin, end, aggregators), Domains::cyclic(begin, end, aggregators, striping)}) {
      std::vector<std::vector<std::uint64_t>> expected(aggregators);
      for (const std::uint64_t b : test::bytes_of(rows)) expected[domains.part_at(b).aggregator].push_back(b);
      const auto parts = by_aggregator(rows, domains);
      for (std::uint32_t a = 0; a < aggregators; ++a) {
        ASSERT_EQ(test::bytes_of(parts[a]), expected[a]);
        std::vector<std::uint64_t> visited;
        domains.for_each_part(a, begin, end, [&](std::uint64_t from, std::uint64_t to) {
          for (const std::uint64_t b : test::bytes_of(clip(rows, from, to))) visited.push_back(b);
        });
        ASSERT_EQ(visited, expected[a]);
      }
    }
  }
}

TEST(Domains, FilesNearTheEndOfNumbers) {
  const std::uint64_t end = INT64_MAX;
  for (const Domains& domains :
       {Domains::even(0, end, 7), Domains::aligned(0, end, 7, {.unit = 1U << 20U, .factor = 3})}) {
    EXPECT_EQ(domains.part_at(0).aggregator, 0U);
    EXPECT_EQ(domains.part_at(end - 1).aggregator, 6U);
    EXPECT_TRUE(check(domains));
  }
}

TEST(Segments, NodesKeepTogether) {
  test::Random random(9);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> names(1 + random() % 20);
    for (auto& name : names) name = random() % 4;
    const Nodes nodes = Nodes::of(names);
    ASSERT_TRUE(check(nodes));
    const auto groups = static_cast<std::uint32_t>(1 + random() % 24);
    const auto group_of = segment_groups(nodes, groups);
    std::map<std::uint32_t, std::set<std::uint32_t>> nodes_of_group;
    for (std::uint32_t r = 0; r < nodes.ranks(); ++r) nodes_of_group[group_of[r]].insert(nodes.of_rank[r]);
    ASSERT_EQ(nodes_of_group.size(), std::min<std::size_t>(groups, names.size()));
    ASSERT_EQ(nodes_of_group.rbegin()->first + 1, nodes_of_group.size());
    if (groups >= nodes.count)
      for (const auto& [group, on] : nodes_of_group) {
        ASSERT_EQ(on.size(), 1U);
      }
  }
}

TEST(Decide, EveryConfigurationHolds) {
  test::Random random(21);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::uint64_t> names(1 + random() % 20);
    for (auto& name : names) name = random() % 5;
    const Nodes nodes = Nodes::of(names);
    Settings settings;
    settings.algorithm = static_cast<Algorithm>(random() % 4);
    settings.domains = static_cast<DomainKind>(random() % 4);
    settings.striping_aware = random() % 2 == 0;
    settings.round_robin = random() % 2 == 0;
    settings.requests = random() % 4;
    settings.aggregators = random() % 3 == 0 ? 0 : random() % 25;
    if (random() % 2 == 0) settings.striping = {.unit = 1 + random() % 100, .factor = 1 + random() % 6};
    CallFacts facts;
    facts.begin = random() % 1000;
    facts.end = facts.begin + random() % 100000;
    facts.bytes = facts.end - facts.begin;
    facts.pieces = 1 + random() % 100;
    facts.node_pieces = random() % 50;
    facts.shared_locks = random() % 2 == 0;
    facts.reading = random() % 2 == 0;
    const Decision decision = decide(facts, nodes, settings);
    const Status good = check(decision, nodes);
    ASSERT_TRUE(good) << good.error().message();
    if (settings.algorithm != Algorithm::automatic) {
      ASSERT_EQ(decision.algorithm, settings.algorithm);
    }
    if (decision.algorithm == Algorithm::direct) {
      ASSERT_EQ(decision.aggregators.size(), names.size());
    }
  }
}

// Tokens go round within a place of the groups, so the most requests that a target can have at a time are the
// places that serve it.
TEST(Decide, NoTargetHasMoreThanReqRequests) {
  test::Random random(22);
  for (int round = 0; round < 300; ++round) {
    const Nodes nodes = Nodes::regular(1 + random() % 6, 1 + random() % 5);
    Settings settings;
    settings.algorithm = Algorithm::two_phase;
    settings.striping_aware = random() % 2 == 0;
    settings.round_robin = random() % 2 == 0;
    settings.requests = 1 + random() % 3;
    settings.aggregators = random() % 3 == 0 ? 0 : nodes.ranks();
    settings.striping = {.unit = 10, .factor = 1 + random() % 7};
    const std::uint64_t begin = random() % 100;
    const CallFacts facts{.begin = begin, .end = begin + 2000, .bytes = 2000, .pieces = 500};
    const Decision decision = decide(facts, nodes, settings);
    std::map<std::uint64_t, std::set<std::uint32_t>> places_of_target;
    for (std::uint64_t b = begin; b < begin + 2000; ++b) {
      const std::uint32_t aggregator = decision.domains->part_at(b).aggregator;
      places_of_target[b / 10 % settings.striping.factor].insert(
          decision.steps.throttled() ? aggregator % decision.steps.width : aggregator);
    }
    for (const auto& [target, places] : places_of_target) {
      ASSERT_LE(places.size(), settings.requests) << "target " << target << " of " << settings.striping.factor
                                                  << ", " << decision.aggregators.size() << " aggregators";
    }
  }
  Settings insisted;
  insisted.requests = 1;
  insisted.domains = DomainKind::aligned;
  insisted.striping = {.unit = 10, .factor = 4};
  insisted.algorithm = Algorithm::two_phase;
  const CallFacts facts{.begin = 0, .end = 2000, .bytes = 2000, .pieces = 500};
  EXPECT_EQ(decide(facts, Nodes::regular(4, 1), insisted).domains->kind(), DomainKind::aligned);
}

TEST(Decide, SaysWhichSettingsChangeNothing) {
  const CallFacts facts{.begin = 0, .end = 1 << 20, .bytes = 1 << 20, .pieces = 1 << 14};
  const Nodes nodes = Nodes::regular(4, 2);
  const auto notes = [&](const char* configuration) {
    const Settings settings = parse_configuration(configuration).value();
    return settings_without_effect(decide(facts, nodes, settings), settings);
  };
  EXPECT_THAT(notes("T:"), IsEmpty());
  EXPECT_THAT(notes("T:req=3"), IsEmpty());
  EXPECT_THAT(notes("T:agg=1,req=2,cb_nodes=8,unit=4KiB,factor=2"), IsEmpty());
  EXPECT_THAT(notes("N:req=2"), IsEmpty());
  EXPECT_THAT(
      notes("T:agg=1,rr=1,req=4"),
      ElementsAre(HasSubstr("agg=1 changes nothing: no more than one storage target is known"),
                  "req=4 changes nothing: 4 aggregators cannot make more requests to 1 storage target "
                  "at a time"));
  EXPECT_THAT(notes("S:agg=1,unit=4KiB,factor=2"), ElementsAre(HasSubstr("every node gathers its own")));
  EXPECT_THAT(notes("N:agg=1,unit=4KiB,factor=2"), ElementsAre(HasSubstr("in no order")));
  EXPECT_THAT(notes("N:req=8"), ElementsAre(HasSubstr("8 ranks cannot make more requests")));
}

TEST(Decide, LeftToItself) {
  const Nodes nodes = Nodes::regular(4, 4);
  CallFacts facts{.begin = 0, .end = 1 << 20, .bytes = 1 << 20, .pieces = 16};
  EXPECT_EQ(decide(facts, nodes, {}).algorithm, Algorithm::direct);
  EXPECT_FALSE(needs_node_pieces(facts, nodes, {}));
  facts.pieces = 1 << 14;  // 64 bytes each
  EXPECT_TRUE(needs_node_pieces(facts, nodes, {}));
  facts.node_pieces = 64;
  EXPECT_EQ(decide(facts, nodes, {}).algorithm, Algorithm::segmented);
  EXPECT_THAT(decide(facts, nodes, {}).aggregators, ElementsAre(0, 4, 8, 12));
  facts.node_pieces = 1 << 13;
  EXPECT_EQ(decide(facts, nodes, {}).algorithm, Algorithm::two_phase);
  EXPECT_THAT(decide(facts, nodes, {}).aggregators, ElementsAre(0, 4, 8, 12));
  EXPECT_EQ(decide(facts, Nodes::regular(1, 16), {}).algorithm, Algorithm::two_phase);
  // Where nodes share locks, only requests of whole stripes go straight to the file.
  facts.pieces = 16;
  facts.shared_locks = true;
  EXPECT_NE(decide(facts, nodes, {}).algorithm, Algorithm::direct);
  facts.pieces = 1;
  EXPECT_EQ(decide(facts, nodes, {}).algorithm, Algorithm::direct);
}

TEST(Decide, MediumPiecesAreGatheredWhereThatLeavesFarFewer) {
  // HPIO: 700 regions a rank of 5,992 bytes, which become one of four when a node fills the holes.
  CallFacts facts{.begin = 0, .end = 11200 * 6248ULL, .bytes = 11200 * 5992ULL, .pieces = 11200};
  facts.may_fill = true;
  const Nodes nodes = Nodes::regular(4, 4);
  EXPECT_TRUE(needs_node_pieces(facts, nodes, {}));
  EXPECT_TRUE(needs_node_pieces(facts, Nodes::regular(1, 4), {}));
  facts.node_pieces = 2800;
  EXPECT_EQ(decide(facts, nodes, {}).algorithm, Algorithm::segmented);
  facts.node_pieces = 1;
  EXPECT_EQ(decide(facts, Nodes::regular(1, 4), {}).algorithm, Algorithm::two_phase);
  facts.node_pieces = 11200;
  EXPECT_EQ(decide(facts, nodes, {}).algorithm, Algorithm::direct);
  EXPECT_EQ(decide(facts, Nodes::regular(1, 4), {}).algorithm, Algorithm::direct);
  facts.node_pieces = 2800;
  facts.reading = true;  // reads need no pages made, and go straight to the file
  EXPECT_EQ(decide(facts, nodes, {}).algorithm, Algorithm::direct);
}

TEST(Decide, BlocksAreAskedForWhereLittleIsLeftOut) {
  constexpr std::uint64_t MiB = 1U << 20U;
  const CallFacts dense{.begin = MiB, .end = 9 * MiB, .bytes = 8 * MiB, .pieces = 8};
  EXPECT_EQ(blocks_to_ask_for(dense, 0), (Piece{.offset = MiB, .length = 8 * MiB}));
  EXPECT_EQ(blocks_to_ask_for(dense, 5 * MiB), (Piece{.offset = 5 * MiB, .length = 4 * MiB}));
  EXPECT_EQ(blocks_to_ask_for(dense, 9 * MiB).length, 0U) << "it has them";
  EXPECT_EQ(blocks_to_ask_for(dense, 100 * MiB).length, 0U);
  CallFacts sparse = dense;
  sparse.bytes = 4 * MiB;
  EXPECT_EQ(blocks_to_ask_for(sparse, 0).length, 0U);
  EXPECT_EQ(blocks_to_ask_for({.begin = 0, .end = 1000, .bytes = 1000}, 0).length, 0U);
  EXPECT_EQ(blocks_to_ask_for({}, 0).length, 0U);
}

TEST(Decide, NumberOfAggregatorsSuitsTheTargets) {
  EXPECT_EQ(suitable_count(Nodes::regular(4, 4), 1), 4U);
  EXPECT_EQ(suitable_count(Nodes::regular(5, 4), 12), 4U);
  EXPECT_EQ(suitable_count(Nodes::regular(100, 4), 12), 96U);
  EXPECT_EQ(suitable_count(Nodes::regular(4, 4), 5), 3U) << "two, two and one";
  EXPECT_EQ(suitable_count(Nodes::regular(4, 4), 7), 4U);
  EXPECT_EQ(suitable_count(Nodes::regular(4, 4), 13), 4U);
  EXPECT_EQ(suitable_count(Nodes::regular(1, 4), 7), 2U);
  EXPECT_EQ(suitable_count(Nodes::regular(1, 3), 1), 2U);
  EXPECT_EQ(suitable_count(Nodes::regular(1, 1), 1), 1U);
}

TEST(Settings, ConfigurationsInTheWordsOfEarth) {
  const auto settings = parse_configuration("T:agg=1,rr=1,req=4").value();
  EXPECT_EQ(settings.algorithm, Algorithm::two_phase);
  EXPECT_TRUE(settings.striping_aware && settings.round_robin);
  EXPECT_EQ(settings.requests, 4U);
  EXPECT_EQ(configuration_of(settings), "T:agg=1,rr=1,req=4");
  EXPECT_EQ(parse_configuration("N:agg=0,rr=0,req=4")->algorithm, Algorithm::direct);
  EXPECT_EQ(parse_configuration("N:original")->algorithm, Algorithm::direct);
  EXPECT_EQ(parse_configuration("original", settings)->requests, 0U);
  EXPECT_EQ(parse_configuration("S:cb_nodes=2")->aggregators, 2U);
  EXPECT_EQ(parse_configuration("auto")->algorithm, Algorithm::automatic);
  for (const char* wrong :
       {"X:agg=1", "agg=1", "T:agg=2", "T:reg=4", "T:req=-1", "T:req", "T:buffer=1", "T:domains=odd"}) {
    const auto result = parse_configuration(wrong);
    ASSERT_FALSE(result) << wrong;
    EXPECT_THAT(result.error().message(), HasSubstr(wrong));
  }
}

TEST(Settings, ConfigurationsAsVariablesSayTheSame) {
  for (const char* text : {"T:agg=1,req=4,buffer=64KiB,domains=cyclic,unit=1MiB,factor=4", "N:req=2",
                           "S:cb_nodes=3", "T:original", "original", "auto"}) {
    const auto variables = variables_of(text).value();
    const auto read =
        read_settings({},
                      [&](std::string_view name) -> std::optional<std::string> {
                        const auto found = variables.find(std::string(name));
                        return found == variables.end() ? std::nullopt : std::optional(found->second);
                      },
                      {.striping_aware = true, .round_robin = true, .requests = 7});
    const auto parsed = parse_configuration(text).value();
    EXPECT_EQ(configuration_of(read.value()), configuration_of(parsed)) << text;
    EXPECT_EQ(read->buffer, parsed.buffer);
    EXPECT_EQ(read->domains, parsed.domains);
    EXPECT_EQ(read->striping.unit, parsed.striping.unit);
    EXPECT_EQ(read->striping.factor, parsed.striping.factor);
  }
  EXPECT_FALSE(variables_of("T:agg=2"));
}

TEST(Settings, HintsComeBeforeTheEnvironment) {
  const auto environment = [](std::string_view name) -> std::optional<std::string> {
    if (name == "WEIR_REQ") return "2";
    if (name == "WEIR_CB_BUFFER") return "1MiB";
    if (name == "WEIR_AGG") return "";
    return std::nullopt;
  };
  const auto hints = [](std::string_view name) -> std::optional<std::string> {
    if (name == "weir_req") return "3";
    if (name == "striping_unit") return "65536";
    if (name == "striping_factor") return "4";
    if (name == "weir_aggregators") return "0,4,8";
    return std::nullopt;
  };
  const auto settings = read_settings(hints, environment).value();
  EXPECT_EQ(settings.requests, 3U);
  EXPECT_EQ(settings.buffer, 1U << 20U);
  EXPECT_EQ(settings.striping, (Striping{.unit = 65536, .factor = 4}));
  EXPECT_THAT(settings.ranks, ElementsAre(0, 4, 8));
  const auto wrong = read_settings({}, [](std::string_view name) -> std::optional<std::string> {
    if (name == "WEIR_RR") return "perhaps";
    return std::nullopt;
  });
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message(), HasSubstr("WEIR_RR"));
  EXPECT_GE(setting_names().size(), 11U);
}

TEST(Settings, StripingInOneWord) {
  using Said = std::map<std::string, std::string, std::less<>>;
  const auto read = [](const Said& hints, const Said& variables) {
    const auto in = [](const Said& said) {
      return [&said](std::string_view name) -> std::optional<std::string> {
        const auto found = said.find(name);
        return found == said.end() ? std::nullopt : std::optional(found->second);
      };
    };
    return read_settings(in(hints), in(variables));
  };
  const Striping four{.unit = 1U << 20U, .factor = 4};
  EXPECT_EQ(read({{"weir_striping", "1MiB x 4"}}, {})->striping, four);
  EXPECT_EQ(read({}, {{"WEIR_STRIPING", "1MiBx4"}})->striping, four);
  EXPECT_EQ(parse_configuration("T:agg=1,striping=1MiB x 4")->striping, four);
  EXPECT_EQ(read({{"striping_factor", "2"}}, {{"WEIR_STRIPING", "64KiB x 4"}})->striping,
            (Striping{.unit = 65536, .factor = 2}));
  EXPECT_EQ(read({{"weir_striping", "1MiB x 4"}}, {{"WEIR_STRIPING_UNIT", "64KiB"}})->striping, four)
      << "a hint comes before any variable";
  const auto wrong = read({}, {{"WEIR_STRIPING", "4 targets"}});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message(), HasSubstr("WEIR_STRIPING"));
  EXPECT_THAT(wrong.error().message(), HasSubstr("1MiB x 4"));
}

TEST(Settings, AsHintsTheyAreReadBackAsTheyWere) {
  Settings some = parse_configuration("T:agg=1,req=2,cb_nodes=3,buffer=64KiB,domains=cyclic").value();
  some.striping = {.unit = 65536, .factor = 4};
  some.ranks = {3, 1};
  some.fill = some.allocate = false;
  some.team = 2;
  for (const Settings& settings : {Settings{}, some}) {
    const auto hints = hints_of(settings);
    const auto read = read_settings(
        [&](std::string_view name) -> std::optional<std::string> {
          const auto found = hints.find(std::string(name));
          return found == hints.end() ? std::nullopt : std::optional(found->second);
        },
        {});
    EXPECT_EQ(read.value(), settings);
  }
  EXPECT_FALSE(hints_of({}).contains("cb_nodes")) << "as many as suit is no number";
}

TEST(Settings, AHintCanBeCheckedByItself) {
  EXPECT_TRUE(check_hint("cb_nodes", "4"));
  const auto wrong = check_hint("cb_nodes", "-1");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message(), HasSubstr("cb_nodes"));
  EXPECT_FALSE(check_hint("striping_factor", "0"));
  EXPECT_FALSE(check_hint("cb_buffer_size", "1024"));
  EXPECT_FALSE(check_hint("cb_buffer_size", "2147483648"));
}

// What one rank may conclude before it has met the others is what all would decide if they were like it.
TEST(Decide, OneRankForeseesThatAllAreDirect) {
  const auto facts = [](std::uint64_t bytes, std::uint64_t pieces, bool shared_locks) {
    return CallFacts{.begin = 0,
                     .end = bytes,
                     .bytes = bytes,
                     .pieces = pieces,
                     .shared_locks = shared_locks,
                     .reading = true};
  };
  const Nodes nodes = Nodes::regular(2, 2);
  const Settings left_to_itself;
  for (const std::uint64_t bytes : {512U, 4096U, 60'000U, 1U << 20U}) {
    for (const bool shared_locks : {false, true}) {
      const CallFacts call = facts(bytes, 1, shared_locks);
      EXPECT_EQ(all_direct(call, left_to_itself),
                decide(call, nodes, left_to_itself).algorithm == Algorithm::direct)
          << bytes << " bytes, shared locks: " << shared_locks;
    }
  }
  EXPECT_TRUE(all_direct(facts(0, 0, false), left_to_itself));
  EXPECT_FALSE(all_direct(facts(1U << 20U, 1, false), {.algorithm = Algorithm::two_phase}));
  EXPECT_TRUE(all_direct(facts(512, 1, false), {.algorithm = Algorithm::direct}));
  Settings throttled;
  throttled.requests = 1;
  EXPECT_FALSE(all_direct(facts(1U << 20U, 1, false), throttled));
  Settings chosen;
  chosen.ranks = {0};
  EXPECT_FALSE(all_direct(facts(1U << 20U, 1, false), chosen));
}

}  // namespace
}  // namespace weir::aggregation
