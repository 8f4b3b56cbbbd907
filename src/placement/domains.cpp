#include "placement/domains.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace weir {

namespace {

struct Feed {
  std::uint32_t domain, place;  // place: into Deal::nodes
  double bytes;
};

// What can be dealt to whom.
struct Deal {
  Numbers nodes;                   // those that are used
  Numbers room;                    // by place: how many domains it takes
  std::vector<Feed> feeds;         // by domain, then place; bytes from the place's ranks to the domain
  std::vector<std::size_t> begin;  // by domain, into feeds
  std::uint32_t domains = 0;

  double bytes(std::uint32_t domain, std::uint32_t place) const {
    const auto first = feeds.begin() + static_cast<std::ptrdiff_t>(begin[domain]);
    const auto last = feeds.begin() + static_cast<std::ptrdiff_t>(begin[domain + 1]);
    const auto found = std::lower_bound(
        first, last, place, [](const Feed& feed, std::uint32_t wanted) { return feed.place < wanted; });
    return found != last && found->place == place ? found->bytes : 0;
  }
};

Deal prepare(const PlacementProblem& problem, const Numbers& node_of) {
  const pattern::SparseMatrix& shuffle = *problem.shuffle;
  Deal deal{.domains = static_cast<std::uint32_t>(shuffle.columns)};
  Numbers ranks_on(problem.machine->nodes(), 0), place(problem.machine->nodes(), 0);
  for (const std::uint32_t node : node_of) ++ranks_on[node];
  for (std::uint32_t node = 0; node < ranks_on.size(); ++node) {
    if (ranks_on[node] == 0) continue;
    place[node] = static_cast<std::uint32_t>(deal.nodes.size());
    deal.nodes.push_back(node);
  }
  const auto used = static_cast<std::uint32_t>(deal.nodes.size());
  for (std::uint32_t even = (deal.domains + used - 1) / used;; ++even) {
    std::uint64_t total = 0;
    deal.room.clear();
    for (const std::uint32_t node : deal.nodes) {
      deal.room.push_back(std::min(even, ranks_on[node]));
      total += deal.room.back();
    }
    if (total >= deal.domains) break;
    if (even > problem.ranks) {  // more domains than ranks: somebody has to write several
      for (std::uint32_t& room : deal.room) room = (deal.domains + used - 1) / used;
      break;
    }
  }
  // Node by node the bytes to each domain, then sorted by domain by counting, which keeps the places in
  // order.
  std::vector<std::size_t> first_rank(used + std::size_t{1}, 0);
  for (const std::uint32_t node : node_of) ++first_rank[place[node] + 1];
  std::partial_sum(first_rank.begin(), first_rank.end(), first_rank.begin());
  Numbers by_place(problem.ranks);
  std::vector<std::size_t> at(first_rank.begin(), first_rank.end() - 1);
  for (std::uint32_t rank = 0; rank < problem.ranks; ++rank) by_place[at[place[node_of[rank]]]++] = rank;
  std::vector<double> sum(deal.domains, 0);
  Numbers touched;
  std::vector<Feed> feeds;
  for (std::uint32_t one = 0; one < used; ++one) {
    touched.clear();
    for (std::size_t i = first_rank[one]; i < first_rank[one + 1]; ++i) {
      const auto domains = shuffle.columns_of(by_place[i]);
      const auto bytes = shuffle.values_of(by_place[i]);
      for (std::size_t k = 0; k < domains.size(); ++k) {
        if (bytes[k] <= 0) continue;
        if (sum[domains[k]] == 0) touched.push_back(domains[k]);
        sum[domains[k]] += bytes[k];
      }
    }
    for (const std::uint32_t domain : touched) {
      feeds.push_back({domain, one, sum[domain]});
      sum[domain] = 0;
    }
  }
  deal.begin.assign(deal.domains + std::size_t{1}, 0);
  for (const Feed& feed : feeds) ++deal.begin[feed.domain + 1];
  std::partial_sum(deal.begin.begin(), deal.begin.end(), deal.begin.begin());
  deal.feeds.resize(feeds.size());
  at.assign(deal.begin.begin(), deal.begin.end() - 1);
  for (const Feed& feed : feeds) deal.feeds[at[feed.domain]++] = feed;
  return deal;
}

// The Hungarian method with potentials: rows are domains, columns are places as often as they take a domain.
Numbers deal_exactly(const Deal& deal) {
  Numbers column_place{UINT32_MAX};
  for (std::uint32_t place = 0; place < deal.nodes.size(); ++place)
    column_place.insert(column_place.end(), deal.room[place], place);
  const std::size_t rows = deal.domains, columns = column_place.size() - 1, places = deal.nodes.size();
  std::vector<double> bytes(rows * places, 0);  // by domain and place: each is asked for many times
  for (const Feed& feed : deal.feeds) bytes[feed.domain * places + feed.place] = feed.bytes;
  std::vector<double> row_price(rows + 1, 0), column_price(columns + 1, 0);
  std::vector<std::size_t> row_at(columns + 1, 0), way(columns + 1, 0);
  for (std::size_t row = 1; row <= rows; ++row) {
    std::vector<double> slack(columns + 1, std::numeric_limits<double>::infinity());
    std::vector<char> done(columns + 1, 0);
    std::size_t column = 0;
    row_at[0] = row;
    do {
      done[column] = 1;
      const std::size_t current = row_at[column];
      const double* const gain = &bytes[(current - 1) * places];
      double least = std::numeric_limits<double>::infinity();
      std::size_t next = 0;
      for (std::size_t j = 1; j <= columns; ++j) {
        if (done[j] != 0) continue;
        if (const double reduced = -gain[column_place[j]] - row_price[current] - column_price[j];
            reduced < slack[j])
          slack[j] = reduced, way[j] = column;
        if (slack[j] < least) least = slack[j], next = j;
      }
      for (std::size_t j = 0; j <= columns; ++j) {
        if (done[j] != 0) {
          row_price[row_at[j]] += least;
          column_price[j] -= least;
        } else {
          slack[j] -= least;
        }
      }
      column = next;
    } while (row_at[column] != 0);
    for (; column != 0; column = way[column]) row_at[column] = row_at[way[column]];
  }
  Numbers node_of_domain(rows);
  for (std::size_t j = 1; j <= columns; ++j)
    if (row_at[j] != 0) node_of_domain[row_at[j] - 1] = deal.nodes[column_place[j]];
  return node_of_domain;
}

Numbers deal_greedily(Deal& deal) {
  constexpr std::uint32_t none = UINT32_MAX;
  std::vector<Feed> feeds = deal.feeds;
  std::stable_sort(feeds.begin(), feeds.end(),
                   [](const Feed& a, const Feed& b) { return a.bytes > b.bytes; });
  Numbers place_of(deal.domains, none);
  for (const Feed& feed : feeds) {
    if (place_of[feed.domain] != none || deal.room[feed.place] == 0) continue;
    place_of[feed.domain] = feed.place;
    --deal.room[feed.place];
  }
  std::uint32_t filling = 0;
  for (std::uint32_t& place : place_of) {
    if (place != none) continue;
    while (deal.room[filling] == 0) ++filling;
    place = filling;
    --deal.room[filling];
  }
  // Two domains change places where both together gain.
  std::vector<Numbers> held(deal.nodes.size());
  for (std::uint32_t domain = 0; domain < deal.domains; ++domain) held[place_of[domain]].push_back(domain);
  for (int pass = 0; pass < 3; ++pass) {
    bool changed = false;
    for (std::uint32_t domain = 0; domain < deal.domains; ++domain) {
      for (std::size_t i = deal.begin[domain]; i < deal.begin[domain + 1]; ++i) {
        const std::uint32_t here = place_of[domain], there = deal.feeds[i].place;
        const double gained = deal.feeds[i].bytes - deal.bytes(domain, here);
        if (there == here || gained <= 0) continue;
        if (deal.room[there] > 0) {
          --deal.room[there], ++deal.room[here];
          std::erase(held[here], domain);
          held[there].push_back(domain);
          place_of[domain] = there;
          changed = true;
          continue;
        }
        for (std::uint32_t& other : held[there]) {
          if (gained + deal.bytes(other, here) - deal.bytes(other, there) <= 0) continue;
          std::replace(held[here].begin(), held[here].end(), domain, other);
          place_of[other] = here;
          other = domain;
          place_of[domain] = there;
          changed = true;
          break;
        }
      }
    }
    if (!changed) break;
  }
  for (std::uint32_t& place : place_of) place = deal.nodes[place];
  return place_of;
}

}  // namespace

Numbers assign_domains(const PlacementProblem& problem, const Numbers& node_of) {
  constexpr std::uint32_t exact_up_to = 128;
  Deal deal = prepare(problem, node_of);
  return deal.domains <= exact_up_to && deal.nodes.size() <= exact_up_to ? deal_exactly(deal)
                                                                         : deal_greedily(deal);
}

}  // namespace weir
