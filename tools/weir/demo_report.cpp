#include "demo_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/file.hpp"
#include "job_report.hpp"
#include "job_store.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace fs = std::filesystem;

namespace {

// The jobs of one name, the oldest first: those of HDF5, which most programs use, or of whatever comes first.
std::vector<store::Job> runs_of_one_backend(std::vector<store::Job> jobs) {
  std::reverse(jobs.begin(), jobs.end());
  if (jobs.empty()) return jobs;
  std::string wanted = jobs.front().name;
  for (const store::Job& job : jobs) {
    if (job.name.ends_with(", hdf5")) wanted = job.name;
  }
  std::erase_if(jobs, [&](const store::Job& job) { return job.name != wanted; });
  // Configurations one after the other, the one to compare with first.
  std::stable_sort(jobs.begin(), jobs.end(), [](const store::Job& a, const store::Job& b) {
    const auto rank = [](const store::Job& job) {
      const auto label = job.labels.find("configuration");
      return label != job.labels.end() && label->second == "sequential" ? 0 : 1;
    };
    return rank(a) < rank(b);
  });
  return jobs;
}

std::string usual_page() {
  const auto own = store_location("");
  if (!own || own->find("://") != std::string::npos) return {};
  const fs::path folder = fs::path(*own).parent_path();
  std::error_code error;
  fs::create_directories(folder, error);
  return error ? "" : (folder / "demo.html").string();
}

}  // namespace

Status show_demo_report(const std::string& store, std::string page) {
  JobReportArguments wanted{.store = store};
  std::string what;
  {
    WEIR_ASSIGN(store::Store opened, open_job_store(store, store::Access::write));
    WEIR_ASSIGN(std::vector<store::Job> jobs, opened.jobs());
    for (const store::Job& job : runs_of_one_backend(std::move(jobs))) {
      wanted.jobs.push_back(job.id);
      what = job.name;
    }
  }
  if (wanted.jobs.size() < 2) return {};
  WEIR_ASSIGN(JobReport made, make_report(wanted));
  made.document.title = fmt::format("weir demo: {}", made.document.title);
  // In the terminal one run is enough; the page has them side by side.
  WEIR_ASSIGN(const JobReport last, make_report({.jobs = {wanted.jobs.back()}, .store = store}));
  fmt::print(
      "\nWhat the machine did during the last of these runs ({}):\n\n{}", what,
      report::render_summary(last.document, {.width = terminal_width(), .colour = stdout_has_colors()}));
  if (page.empty()) page = usual_page();
  if (page.empty()) return {};
  WEIR_ASSIGN(const std::string html, report::render_html(made.document));
  WEIR_TRY(write_text_atomically(page, html));
  fmt::print("\n{1} of these runs side by side, for a browser: {0}\n", styled(page, Style::bold),
             wanted.jobs.size());
  return {};
}

}  // namespace weir::cli
