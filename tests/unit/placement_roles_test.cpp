#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/check.hpp"
#include "placement/roles.hpp"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Every set of roles of these tests comes from here, and keeps the invariants.
Roles roles_of(const RolesRequest& request) {
  const auto roles = assign_roles(request);
  EXPECT_TRUE(roles) << roles.error().message();
  if (!roles) return {};
  const Status fine = check(request, *roles);
  EXPECT_TRUE(fine) << fine.error().message() << " (" << request.ranks << " ranks, "
                    << request.compute_per_server << " a server, node size " << request.node_size << ")";
  return *roles;
}

std::string failure_of(const RolesRequest& request) {
  const auto roles = assign_roles(request);
  EXPECT_FALSE(roles);
  return roles ? "" : roles.error().message();
}

// Table I of the iocomp paper, NODESIZE 128.
TEST(Roles, TableI) {
  const struct {
    std::uint32_t size;
    const char *compute, *servers;
  } rows[] = {{128, "0-63", "64-127"},
              {256, "0-127", "128-255"},
              {384, "0-127,256-319", "128-255,320-383"},
              {512, "0-127,256-383", "128-255,384-511"}};
  for (const auto& row : rows) {
    const Roles roles = roles_of({.mapping = "hyperthread", .ranks = row.size, .node_size = 128});
    EXPECT_EQ(format_numbers(compute_ranks(roles, row.size)), row.compute);
    EXPECT_EQ(format_numbers(roles.servers), row.servers);
    EXPECT_EQ(roles.server_of, roles.servers) << "pairs, one to one and in order";
  }
}

TEST(Roles, OneNodeIsSplitInHalves) {
  const Roles roles = roles_of({.mapping = "consecutive", .ranks = 8});
  EXPECT_THAT(roles.servers, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(roles.server_of, ElementsAre(4, 5, 6, 7));
}

TEST(Roles, CountsThatDoNotDivide) {
  const auto servers = [](std::uint32_t ranks, std::uint32_t per_server) {
    return roles_of({.mapping = "consecutive", .ranks = ranks, .compute_per_server = per_server}).servers;
  };
  EXPECT_THAT(servers(2, 7), ElementsAre(1));
  EXPECT_THAT(servers(3, 1), ElementsAre(2)) << "a server without a compute rank would be of no use";
  EXPECT_THAT(servers(7, 1), ElementsAre(4, 5, 6));
  EXPECT_THAT(servers(7, 2), ElementsAre(4, 5, 6));
  EXPECT_THAT(servers(7, 3), ElementsAre(5, 6));
  EXPECT_THAT(servers(11, 4), ElementsAre(8, 9, 10));
  const Roles roles = roles_of({.mapping = "consecutive", .ranks = 11, .compute_per_server = 4});
  EXPECT_THAT(roles.server_of, ElementsAre(8, 8, 8, 9, 9, 9, 10, 10)) << "neighbours share a server";
}

TEST(Roles, EachNodeServesItself) {
  const Roles roles = roles_of({.mapping = "consecutive",
                                .ranks = 9,
                                .node_of = {0, 0, 0, 0, 1, 1, 1, 1, 1},
                                .compute_per_server = 3});
  EXPECT_THAT(roles.servers, ElementsAre(3, 7, 8));
  EXPECT_THAT(roles.server_of, ElementsAre(3, 3, 3, 7, 7, 8));
}

TEST(Roles, RanksDealtRoundTheNodes) {
  const Roles roles = roles_of({.mapping = "hyperthread", .ranks = 8, .node_of = {7, 3, 7, 3, 7, 3, 7, 3}});
  EXPECT_THAT(roles.servers, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(roles.server_of, ElementsAre(4, 5, 6, 7));
}

TEST(Roles, RankAloneOnItsNodeJoinsItsNeighbour) {
  const auto server_of = [](Numbers node_of) {
    const auto ranks = static_cast<std::uint32_t>(node_of.size());
    return roles_of({.mapping = "consecutive", .ranks = ranks, .node_of = std::move(node_of)}).server_of;
  };
  EXPECT_THAT(server_of({0, 0, 1, 2, 2}), ElementsAre(1, 1, 4));
  EXPECT_THAT(server_of({0, 1, 1, 2, 2}), ElementsAre(2, 2, 4)) << "the first one has no neighbour before it";
  EXPECT_THAT(roles_of({.mapping = "consecutive", .ranks = 5, .node_size = 2}).server_of,
              ElementsAre(2, 3, 3))
      << "a last block of one rank";
}

TEST(Roles, OneRankOnEveryNode) {
  Numbers node_of(8);
  for (std::uint32_t i = 0; i < 8; ++i) node_of[i] = i;
  const Roles roles =
      roles_of({.mapping = "consecutive", .ranks = 8, .node_of = node_of, .compute_per_server = 3});
  EXPECT_THAT(roles.servers, ElementsAre(3, 7));
  EXPECT_THAT(roles.server_of, ElementsAre(3, 3, 3, 7, 7, 7));
}

TEST(Roles, ServersOnNodesOfTheirOwn) {
  const Roles pairs = roles_of({.mapping = "consecutive", .ranks = 8, .node_size = 2, .own_nodes = true});
  EXPECT_THAT(pairs.servers, ElementsAre(2, 3, 6, 7)) << "the seed's rule, where nodes are full";
  const Roles roles = roles_of({.mapping = "consecutive",
                                .ranks = 10,
                                .node_of = {0, 0, 0, 1, 1, 1, 2, 2, 2, 2},
                                .compute_per_server = 2,
                                .own_nodes = true});
  EXPECT_THAT(roles.servers, ElementsAre(6, 7, 8, 9));
  EXPECT_THAT(roles.server_of, ElementsAre(6, 6, 7, 8, 8, 9));
  const Roles small =
      roles_of({.mapping = "consecutive", .ranks = 5, .node_of = {0, 0, 1, 1, 1}, .own_nodes = true});
  EXPECT_THAT(small.servers, ElementsAre(0, 1)) << "more servers than compute ranks are of no use";
  EXPECT_THAT(failure_of({.mapping = "consecutive", .ranks = 4, .own_nodes = true}),
              HasSubstr("2 nodes or more"));
  EXPECT_THAT(failure_of({.mapping = "hyperthread", .ranks = 4, .node_size = 2, .own_nodes = true}),
              HasSubstr("share no core"));
}

TEST(Roles, MappingsWithoutServers) {
  for (const char* mapping : {"sequential", "thread"}) {
    const Roles roles = roles_of({.mapping = mapping, .ranks = 5});
    EXPECT_THAT(roles.servers, IsEmpty());
    EXPECT_EQ(roles.mapping, mapping);
    EXPECT_TRUE(assign_roles({.mapping = mapping, .ranks = 1}));
  }
}

TEST(Roles, FailuresSayWhatToDo) {
  EXPECT_THAT(failure_of({.mapping = "consecutive", .ranks = 1}), HasSubstr("start 2 ranks or more"));
  EXPECT_THAT(failure_of({.mapping = "consecutiv", .ranks = 2}), HasSubstr("did you mean 'consecutive'"));
  EXPECT_THAT(failure_of({.mapping = "consecutive", .ranks = 0}), HasSubstr("0 ranks"));
  EXPECT_THAT(failure_of({.mapping = "consecutive", .ranks = most_ranks + 1}), HasSubstr("there can be"));
  EXPECT_THAT(failure_of({.mapping = "consecutive", .ranks = 4, .compute_per_server = 0}),
              HasSubstr("give 1 or more"));
  EXPECT_THAT(failure_of({.mapping = "consecutive", .ranks = 4, .node_of = {0, 1}}), HasSubstr("4 ranks"));
}

TEST(Roles, InvariantsHoldForAllSmallCounts) {
  for (std::uint32_t ranks = 2; ranks <= 40; ++ranks) {
    for (const std::uint32_t per_server : {1U, 2U, 3U, 5U, 7U, 31U, UINT32_MAX}) {
      roles_of({.mapping = "oversubscribe", .ranks = ranks, .compute_per_server = per_server});
      for (const std::uint32_t size : {1U, 2U, 3U, 7U, 13U, 64U, UINT32_MAX}) {
        RolesRequest request{
            .mapping = "consecutive", .ranks = ranks, .node_size = size, .compute_per_server = per_server};
        roles_of(request);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) request.node_of.push_back(rank / size);
        request.node_size = 0;
        roles_of(request);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) request.node_of[rank] = rank % size * 11;
        roles_of(request);
        request.own_nodes = true;
        if (size > 1) roles_of(request);
      }
    }
  }
}

TEST(Roles, AMillionRanks) {
  constexpr std::uint32_t million = 1'000'003;  // prime
  RolesRequest request{.mapping = "consecutive", .ranks = million, .compute_per_server = 7};
  for (std::uint32_t rank = 0; rank < million; ++rank) request.node_of.push_back(rank % 8191);
  const Roles dealt = roles_of(request);
  EXPECT_EQ(dealt.servers.size() + dealt.server_of.size(), million);
  request.own_nodes = true;
  roles_of(request);
  const Roles blocks = roles_of({.mapping = "hyperthread", .ranks = 1U << 20U, .node_size = 128});
  EXPECT_EQ(blocks.servers.size(), 1U << 19U);
}

TEST(RolesCheck, FindsWhatIsWrong) {
  const RolesRequest request{.mapping = "consecutive", .ranks = 4};
  const auto cause = [&](const Roles& roles) {
    const Status status = check(request, roles);
    return status ? std::string() : status.error().cause;
  };
  EXPECT_EQ(cause({.mapping = "consecutive", .servers = {2, 3}, .server_of = {2, 3}}), "");
  EXPECT_THAT(cause({.mapping = "consecutive", .servers = {2, 3}, .server_of = {2, 2}}),
              HasSubstr("server 3 has no compute rank"));
  EXPECT_THAT(cause({.mapping = "consecutive", .servers = {3, 2}, .server_of = {2, 3}}),
              HasSubstr("out of order"));
  EXPECT_THAT(cause({.mapping = "consecutive", .servers = {2, 3}, .server_of = {2, 1}}),
              HasSubstr("rank 1 is said to serve"));
  EXPECT_THAT(cause({.mapping = "consecutive", .servers = {3}, .server_of = {3}}), HasSubstr("not 4 ranks"));
  EXPECT_THAT(cause({.mapping = "consecutive"}), HasSubstr("no rank serves"));
}

}  // namespace
}  // namespace weir
