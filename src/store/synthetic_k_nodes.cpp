#include "store/synthetic_k.hpp"
#include "store/synthetic_k_machine.hpp"

namespace weir::store {

std::vector<Node> k_computer_nodes() {
  std::vector<Node> nodes;
  nodes.reserve(static_cast<std::size_t>(k::cabinets * (k::compute_of_a_cabinet + k::io_of_a_cabinet)));
  const auto rack = [](int cabinet, int half) { return fmt::format("rack{:03}", cabinet * 2 + half); };
  for (int cabinet = 0; cabinet < k::cabinets; ++cabinet) {
    const int x = cabinet / k::ys, y = cabinet % k::ys;
    for (int z = 1; z <= k::compute_zs; ++z) {
      for (int a = 0; a < k::as; ++a) {
        for (int b = 0; b < k::bs; ++b) {
          for (int c = 0; c < k::cs; ++c)
            nodes.push_back({k::compute_name(cabinet, z, a, b, c),
                             NodeRole::compute,
                             {x, y, z, a, b, c},
                             rack(cabinet, z <= k::compute_zs / 2 ? 0 : 1),
                             {},
                             {}});
        }
      }
    }
  }
  for (int number = 0; number < k::cabinets * k::io_of_a_cabinet; ++number) {
    const k::IoPlace place = k::io_place(number);
    Node node{k::io_name(number),
              NodeRole::local_io,
              {place.x(), place.y(), 0, place.a, place.b, place.c},
              rack(place.cabinet, place.a),
              {},
              {}};
    if (!place.local()) {
      node.role = place.b == 0 ? NodeRole::boot_io : NodeRole::global_io;
    } else {
      for (int t = 0; t < k::targets_of_a_server; ++t)
        node.targets.push_back(k::target_name(place.first_target() + t));
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Topology k_computer_topology() {
  Topology topology{.name = "k-computer",
                    .dimensions = {{"X", k::xs, true},
                                   {"Y", k::ys, false},
                                   {"Z", k::compute_zs + 1, true},
                                   {"A", k::as, false},
                                   {"B", k::bs, true},
                                   {"C", k::cs, false}},
                    .links = {},
                    .link_bytes_per_second = k::link_bytes_per_second,
                    .clock_hz = k::clock_hz,
                    .serving_rule = "z-link"};
  for (const std::string_view link : k::links) topology.links.emplace_back(link);
  return topology;
}

}  // namespace weir::store
