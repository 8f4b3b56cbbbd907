#include "store/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "platform/host_list.hpp"

namespace weir::store {

namespace {

struct Word {
  std::string_view name;
  JobState state;
};
constexpr std::array words = {
    Word{"unknown", JobState::unknown}, Word{"pending", JobState::pending},
    Word{"running", JobState::running}, Word{"completed", JobState::completed},
    Word{"failed", JobState::failed},   Word{"cancelled", JobState::cancelled},
    Word{"timeout", JobState::timeout}, Word{"lost", JobState::lost},
};
// Slurm's, where they differ from ours.
constexpr std::array scheduler_words = {
    Word{"BOOT_FAIL", JobState::failed},
    Word{"CONFIGURING", JobState::pending},
    Word{"COMPLETING", JobState::running},
    Word{"DEADLINE", JobState::timeout},
    Word{"NODE_FAIL", JobState::failed},
    Word{"OUT_OF_MEMORY", JobState::failed},
    Word{"PREEMPTED", JobState::cancelled},
    Word{"REQUEUED", JobState::pending},
    Word{"RESIZING", JobState::running},
    Word{"REVOKED", JobState::cancelled},
    Word{"STOPPED", JobState::running},
    Word{"SUSPENDED", JobState::running},
    Word{"CD", JobState::completed},
    Word{"CA", JobState::cancelled},
    Word{"F", JobState::failed},
    Word{"PD", JobState::pending},
    Word{"R", JobState::running},
    Word{"TO", JobState::timeout},
    Word{"SUCCESS", JobState::completed},
    Word{"DONE", JobState::completed},
};

constexpr std::size_t longest_text = 64 * 1024;
constexpr std::size_t most_extras = 1024;

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

}  // namespace

std::string_view to_string(JobState state) {
  for (const Word& word : words) {
    if (word.state == state) return word.name;
  }
  return "unknown";
}

std::optional<JobState> job_state(std::string_view name) {
  for (const Word& word : words) {
    if (word.name == name) return word.state;
  }
  return std::nullopt;
}

JobState job_state_of_scheduler(std::string_view word) {
  word = word.substr(0, word.find_first_of(" +"));  // "CANCELLED by 1000", "CANCELLED+"
  for (const Word& known : words) {
    if (same_word(known.name, word)) return known.state;
  }
  for (const Word& known : scheduler_words) {
    if (same_word(known.name, word)) return known.state;
  }
  return JobState::unknown;
}

Status check(const Job& job) {
  const auto wrong = [&](std::string cause) {
    return fail(ErrorCode::invalid_argument, fmt::format("job '{}': {}", job.id.substr(0, 128), cause));
  };
  const auto printable = [](char c) { return c > ' ' && c != 127; };
  if (job.id.empty() || job.id.size() > 128 || !std::all_of(job.id.begin(), job.id.end(), printable))
    return wrong("an id has 1 to 128 printable ASCII characters and no blank");
  if (job.end_ns != 0 && job.start_ns != 0 && job.end_ns < job.start_ns)
    return wrong("it ends before it starts");
  if (job.user.size() > longest_text || job.name.size() > longest_text)
    return wrong("its user or name is too long");
  if (job.figures.size() + job.labels.size() > most_extras)
    return wrong("it has too many figures and labels");
  for (const auto& [name, value] : job.figures) {
    if (name.size() > longest_text || !std::isfinite(value))
      return wrong(fmt::format("figure '{}' is no number", name.substr(0, 64)));
  }
  for (const auto& [name, value] : job.labels) {
    if (name.size() > longest_text || value.size() > longest_text)
      return wrong(fmt::format("label '{}' is too long", name.substr(0, 64)));
  }
  if (!job.nodes.empty() && job.node_count != job.nodes.size())
    return wrong(fmt::format("it says {} nodes and names {}", job.node_count, job.nodes.size()));
  std::set<std::string_view> seen;
  for (const std::string& node : job.nodes) {
    if (!is_host_name(node)) return wrong(fmt::format("'{}' is no host name", node.substr(0, 64)));
    if (!seen.insert(node).second) return wrong(fmt::format("node '{}' is named twice", node));
  }
  return {};
}

}  // namespace weir::store
