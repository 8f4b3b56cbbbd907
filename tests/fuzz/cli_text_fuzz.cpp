// What the command reads besides files of its own formats: commands as text, figures of sessions, announced
// nodes and Slurm's, addresses, answers of HTTP servers. No crash, and what is accepted keeps its promises.
#include <cmath>
#include <cstdlib>

#include "command_words.hpp"
#include "http_text.hpp"
#include "sampled_nodes.hpp"
#include "session_figures.hpp"
#include "telemetry/endpoint.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::cli;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 7) {
    case 0:
      if (const auto words = command_words(text); words && words->empty()) std::abort();
      break;
    case 1:
      if (const auto figures = session_figures(text)) {
        for (const auto& [name, value] : *figures)
          if (!std::isfinite(value) || value < 0) std::abort();
      }
      break;
    case 2:
      if (const auto nodes = parse_announcement(text);
          nodes && (nodes->nodes.empty() || nodes->nodes.size() > 1024 || !command_words(nodes->reach)))
        std::abort();
      break;
    case 3: {
      const std::size_t half = text.find('\n');
      const auto variable = [&](const char* name) -> std::string {
        if (std::string_view(name) == "SLURM_JOB_NODELIST") return text.substr(0, half);
        if (std::string_view(name) == "SLURM_STEP_ID" && half != std::string::npos)
          return text.substr(half + 1);
        return {};
      };
      const auto nodes = slurm_nodes(variable, "here", 64);
      if (nodes && *nodes && ((*nodes)->nodes.empty() || (*nodes)->nodes.size() > 64)) std::abort();
      break;
    }
    case 4:
      if (const auto url = split_url(text);
          url && (url->host.empty() || url->port.empty() || url->path.empty()))
        std::abort();
      break;
    case 5:
      if (const auto body = body_of(text); body && body->size() >= text.size()) std::abort();
      break;
    default:
      (void)weir::telemetry::parse_endpoint(text, 24224);
  }
  return 0;
}
