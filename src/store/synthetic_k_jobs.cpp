#include <algorithm>

#include "store/synthetic_k.hpp"
#include "store/synthetic_k_machine.hpp"

namespace weir::store {

namespace {

using telemetry::Nanoseconds;

constexpr int cabinets_a_side = 4;
constexpr int parts_x = k::xs / cabinets_a_side,
              parts_y = k::ys / cabinets_a_side;  // 6 x 4 parts of the machine
constexpr double mebibyte = 1024.0 * 1024.0;
constexpr double healthy_rate = 80 * mebibyte;  // bytes/s to each OST

constexpr Fault faults[] = {Fault::slow_target,   Fault::half_of_targets,    Fault::other_job,
                            Fault::hot_link,      Fault::deep_queues,        Fault::sampling_gap,
                            Fault::counter_reset, Fault::unbalanced_servers, Fault::none,
                            Fault::none};

// How much of what a healthy job writes gets written in spite of the fault.
double share_written(Fault fault) {
  switch (fault) {
    case Fault::deep_queues:
      return 0.15;
    case Fault::other_job:
      return 0.45;
    default:
      return 1;
  }
}

void place_nodes(PlannedJob& planned) {
  for (int x = planned.x; x < planned.x + cabinets_a_side; ++x) {
    for (int y = planned.y; y < planned.y + cabinets_a_side; ++y) {
      for (int z = planned.first_z; z <= planned.last_z; ++z) {
        for (int a = 0; a < k::as; ++a) {
          for (int b = 0; b < k::bs; ++b) {
            for (int c = 0; c < k::cs; ++c)
              planned.job.nodes.push_back(k::compute_name(k::cabinet_of(x, y), z, a, b, c));
          }
        }
      }
    }
  }
  planned.job.node_count = planned.job.nodes.size();
  const auto zs = static_cast<std::uint64_t>(planned.last_z - planned.first_z + 1);
  planned.job.shape = {cabinets_a_side * k::as, cabinets_a_side * k::bs, zs * k::cs};
}

struct Plan {
  const SyntheticOptions& options;
  std::vector<PlannedJob> jobs;

  void add(int part, Nanoseconds start, Nanoseconds end, Fault fault, double rate, int first_z = 1,
           int last_z = k::compute_zs) {
    PlannedJob planned;
    planned.fault = fault;
    planned.x = part / parts_y * cabinets_a_side;
    planned.y = part % parts_y * cabinets_a_side;
    planned.first_z = first_z;
    planned.last_z = last_z;
    planned.target_rate = rate;
    Job& job = planned.job;
    job.start_ns = start;
    job.end_ns = end;
    job.submit_ns = start - 600'000'000'000;
    job.state = JobState::completed;
    place_nodes(planned);
    const double seconds = static_cast<double>(end - start) * 1e-9;
    const double targets = cabinets_a_side * cabinets_a_side * k::as * k::bs * k::targets_of_a_server;
    // A slow target is one of 192; half of the targets take twice as much each.
    job.figures["bytes_written"] = rate * targets * seconds;
    job.figures["bytes_read"] = 0.2 * rate * targets * seconds;
    job.figures["write_throughput"] = rate * targets;
    job.figures["read_throughput"] = 0.2 * rate * targets;
    jobs.push_back(std::move(planned));
  }
};

}  // namespace

std::string_view to_string(Fault fault) {
  constexpr std::array<std::string_view, 9> names = {"none",         "slow-target",   "half-of-targets",
                                                     "other-job",    "hot-link",      "deep-queues",
                                                     "sampling-gap", "counter-reset", "unbalanced-servers"};
  return names.at(static_cast<std::size_t>(fault));
}

std::vector<PlannedJob> k_computer_jobs(const SyntheticOptions& options) {
  Plan plan{options, {}};
  const Nanoseconds span = options.interval * static_cast<Nanoseconds>(options.intervals);
  // Parts of the machine in an order that the seed decides: nothing can be told from where a job runs.
  std::vector<int> parts(parts_x * parts_y);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = static_cast<int>(i);
  std::sort(parts.begin(), parts.end(), [&](int a, int b) {
    return k::scramble(options.seed, static_cast<std::uint64_t>(a)) <
           k::scramble(options.seed, static_cast<std::uint64_t>(b));
  });
  std::size_t next = 0;
  for (const Fault fault : faults) {
    const int part = parts[next++];
    const auto chance = k::scramble(options.seed + 1000, static_cast<std::uint64_t>(part));
    // Between 5 and 15% into the time, until 75 to 85%, not on the minute.
    const auto start = options.start + span / 20 +
                       static_cast<Nanoseconds>(k::unit(chance) * 0.1 * static_cast<double>(span)) + 1;
    const auto end = start + span * 7 / 10 + 7;
    const double rate = healthy_rate * (0.9 + 0.2 * k::unit(k::scramble(chance))) * share_written(fault);
    if (fault == Fault::other_job) {
      // Two jobs in the halves of the same cabinets: their Z links end at the same I/O nodes.
      plan.add(part, start, end, fault, rate, 1, k::compute_zs / 2);
      plan.add(part, start - span / 50, end + span / 50, Fault::none, healthy_rate, k::compute_zs / 2 + 1,
               k::compute_zs);
    } else {
      plan.add(part, start, end, fault, rate);
    }
  }
  if (options.busy) {
    for (; next < parts.size(); ++next) {
      const auto part = static_cast<std::uint64_t>(parts[next]);
      Nanoseconds at = options.start;
      for (std::uint64_t n = 0; at < options.start + span; ++n) {
        const auto chance = k::scramble(options.seed + 2000 + n, part);
        const auto length = static_cast<Nanoseconds>((600 + 6000 * k::unit(chance)) * 1e9);
        const auto pause = static_cast<Nanoseconds>(1800 * k::unit(k::scramble(chance)) * 1e9);
        plan.add(parts[next], at, std::min(at + length, options.start + span), Fault::none,
                 healthy_rate * k::unit(k::scramble(chance + 1)));
        at += length + pause;
      }
    }
  }
  std::stable_sort(plan.jobs.begin(), plan.jobs.end(),
                   [](const PlannedJob& a, const PlannedJob& b) { return a.job.start_ns < b.job.start_ns; });
  constexpr std::string_view users[] = {"akira", "hana", "kenji", "mei", "ryo"};
  constexpr std::string_view names[] = {"ior", "hpio", "nicam", "ffb", "genesis", "qcd"};
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    Job& job = plan.jobs[i].job;
    job.id = std::to_string(7'000'000 + options.seed % 1000 * 1000 + i);
    job.user = users[k::scramble(options.seed, i) % std::size(users)];
    job.name = names[k::scramble(options.seed, i + 99) % std::size(names)];
  }
  return std::move(plan.jobs);
}

std::vector<Planted> planted(const SyntheticOptions& options) {
  std::vector<Planted> all;
  for (const PlannedJob& planned : k_computer_jobs(options)) {
    if (planned.fault != Fault::none) all.push_back({planned.job.id, planned.fault});
  }
  return all;
}

}  // namespace weir::store
