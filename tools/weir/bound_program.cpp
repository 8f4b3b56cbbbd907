#include "bound_program.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>

#include "core/options.hpp"
#include "core/this_thread.hpp"
#include "launch.hpp"
#include "plan/plan_json.hpp"

namespace weir::cli {

namespace {

std::optional<std::size_t> rank_by_launcher() {
  for (const char* const name : rank_variables) {
    const char* const text = std::getenv(name);
    const auto rank = text == nullptr ? Result<std::int64_t>(0) : parse_integer(text);
    if (text != nullptr && rank && *rank >= 0) return static_cast<std::size_t>(*rank);
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<std::string>> binding_words() {
  WEIR_ASSIGN(std::string self, this_program());
  return std::vector<std::string>{self, "run", "--as-rank", "--"};
}

Status become_bound(const std::vector<std::string>& program) {
  const char* const path = std::getenv("WEIR_PLAN");
  const auto rank = rank_by_launcher();
  if (path == nullptr || !rank)
    return fail(ErrorCode::state, "--as-rank is for ranks that weir run launches itself");
  WEIR_ASSIGN(const Plan plan, in(load_plan(path), "WEIR_PLAN"));
  if (*rank < plan.placement.pus_of.size()) {
    const auto threads = plan.placement.pus_of[*rank];
    run_this_thread_on({threads.begin(), threads.end()});
  }
  std::vector<char*> words;
  for (const std::string& word : program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  return fail_errno(errno, "start", program[0]);
}

}  // namespace weir::cli
