#include "core/options.hpp"
#include "store/import_lines.hpp"

namespace weir::store {

namespace {

std::vector<std::string> split_bars(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t bar = line.find('|');
    fields.emplace_back(line.substr(0, bar));
    if (bar == std::string_view::npos) return fields;
    line.remove_prefix(bar + 1);
  }
}

}  // namespace

Result<ImportTally> import_sacct(std::istream& text, const ImportSource& source, const TakeJobs& take) {
  WEIR_ASSIGN(const std::vector<std::string> names, titles_of(text, source));
  const Titles titles(names);
  const auto id = titles.find({"JobIDRaw", "JobID"}), name = titles.find("JobName");
  if (!id)
    return in(Result<ImportTally>(
                  fail(ErrorCode::invalid_argument, "the first line names no column JobIDRaw or JobID",
                       "use sacct -X -a -P -o JobIDRaw,User,JobName,State,Submit,Start,End,NNodes,NodeList")),
              "read", source.file);
  JobLot jobs(take);
  const auto row = [&](const std::string& line) -> Result<bool> {
    std::vector<std::string> fields = split_bars(line);
    // sacct -P does not mask its separator; a name of a job is where one may stand.
    if (name && fields.size() > titles.size()) {
      const std::size_t extra = fields.size() - titles.size();
      for (std::size_t i = 1; i <= extra; ++i) fields[*name] += '|' + fields[*name + i];
      fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(*name + 1),
                   fields.begin() + static_cast<std::ptrdiff_t>(*name + 1 + extra));
    }
    if (fields.size() != titles.size())
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} fields instead of {}", fields.size(), titles.size()));
    const auto field = [&](std::string_view title) -> std::string_view {
      const auto column = titles.find(title);
      return column ? std::string_view(fields[*column]) : std::string_view();
    };
    Job job;
    job.id = fields[*id];
    if (job.id.find('.') != std::string::npos) return false;
    job.user = field("User");
    job.name = field("JobName");
    job.state = job_state_of_scheduler(field("State"));
    WEIR_ASSIGN(job.submit_ns, time_of(field("Submit"), source.zone, "Submit"));
    WEIR_ASSIGN(job.start_ns, time_of(field("Start"), source.zone, "Start"));
    WEIR_ASSIGN(job.end_ns, time_of(field("End"), source.zone, "End"));
    WEIR_TRY(set_nodes(job, field("NodeList")));
    if (const std::string_view count = field("NNodes"); job.nodes.empty() && !count.empty()) {
      WEIR_ASSIGN(const std::int64_t nodes, parse_integer(count));
      if (nodes < 0)
        return fail(ErrorCode::invalid_argument, fmt::format("NNodes '{}' is no number of nodes", count));
      job.node_count = static_cast<std::uint64_t>(nodes);
    }
    WEIR_TRY(jobs.add(std::move(job)));
    return true;
  };
  return in(each_row(text, source, row, [&](bool all) { return jobs.flush(all); }), "import jobs",
            source.file);
}

}  // namespace weir::store
