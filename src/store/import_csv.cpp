#include <charconv>
#include <cmath>

#include "store/import_lines.hpp"

namespace weir::store {

namespace {

Status add_titles_needed(const Titles& titles, std::string_view needed, const ImportSource& source) {
  if (titles.find(needed)) return {};
  return in(
      Status(fail(ErrorCode::invalid_argument, fmt::format("the first line names no column '{}'", needed))),
      "read", source.file);
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" ;", at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

Result<std::vector<std::uint64_t>> shape_of(std::string_view text) {
  std::vector<std::uint64_t> shape;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("xX"), text.size());
    std::uint64_t extent = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + end, extent);
    if (error != std::errc() || stop != text.data() + end || extent == 0 || shape.size() >= 16)
      return fail(ErrorCode::invalid_argument, "the shape is not written as 8x12x32");
    shape.push_back(extent);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shape;
}

Result<std::vector<std::string>> fields_of(const std::string& line, const Titles& titles) {
  WEIR_ASSIGN(std::vector<std::string> fields, split_csv(line));
  if (fields.size() != titles.size())
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} fields instead of {}", fields.size(), titles.size()));
  return fields;
}

Result<std::int32_t> coordinate_of(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(ErrorCode::invalid_argument,
                fmt::format("coordinate '{}' is no whole number", text.substr(0, 32)));
  return value;
}

}  // namespace

Result<ImportTally> import_jobs_csv(std::istream& text, const ImportSource& source, const TakeJobs& take) {
  WEIR_ASSIGN(const std::vector<std::string> names, titles_of(text, source));
  const Titles titles(names);
  WEIR_TRY(add_titles_needed(titles, "id", source));
  const std::vector<std::string_view> known = {"id",    "user", "name",  "state", "submit",
                                               "start", "end",  "nodes", "shape"};
  std::vector<bool> extra(titles.size(), true);
  for (const std::string_view title : known) {
    if (const auto column = titles.find(title)) extra[*column] = false;
  }
  JobLot jobs(take);
  const auto row = [&](const std::string& line) -> Result<bool> {
    WEIR_ASSIGN(const std::vector<std::string> fields, fields_of(line, titles));
    const auto field = [&](std::string_view title) -> std::string_view {
      const auto column = titles.find(title);
      return column ? std::string_view(fields[*column]) : std::string_view();
    };
    Job job;
    job.id = field("id");
    job.user = field("user");
    job.name = field("name");
    job.state = job_state_of_scheduler(field("state"));
    WEIR_ASSIGN(job.submit_ns, time_of(field("submit"), source.zone, "submit"));
    WEIR_ASSIGN(job.start_ns, time_of(field("start"), source.zone, "start"));
    WEIR_ASSIGN(job.end_ns, time_of(field("end"), source.zone, "end"));
    WEIR_TRY(set_nodes(job, field("nodes")));
    WEIR_ASSIGN(job.shape, shape_of(field("shape")));
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!extra[i] || fields[i].empty() || titles.at(i).empty()) continue;
      if (const auto number = number_of(fields[i])) {
        job.figures[titles.at(i)] = *number;
      } else {
        job.labels[titles.at(i)] = fields[i];
      }
    }
    WEIR_TRY(jobs.add(std::move(job)));
    return true;
  };
  return in(each_row(text, source, row, [&](bool all) { return jobs.flush(all); }), "import jobs",
            source.file);
}

Result<ImportTally> import_nodes_csv(std::istream& text, const ImportSource& source, const TakeNodes& take) {
  WEIR_ASSIGN(const std::vector<std::string> names, titles_of(text, source));
  const Titles titles(names);
  WEIR_TRY(add_titles_needed(titles, "name", source));
  const auto name = titles.find("name"), role = titles.find("role"), rack = titles.find("rack"),
             targets = titles.find({"targets", "osts"}), servers = titles.find("servers"),
             coordinates = titles.find("coordinates");
  std::vector<Node> nodes;
  const auto flush = [&](bool all) -> Status {
    if (nodes.empty() || (!all && nodes.size() < lot)) return {};
    WEIR_TRY(take(nodes));
    nodes.clear();
    return {};
  };
  const auto row = [&](const std::string& line) -> Result<bool> {
    WEIR_ASSIGN(const std::vector<std::string> fields, fields_of(line, titles));
    Node node;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string& field = fields[i];
      if (i == name) {
        node.name = field;
      } else if (i == role) {
        const auto known = node_role(field);
        if (!known)
          return fail(ErrorCode::invalid_argument,
                      fmt::format("'{}' is no role{}", field.substr(0, 64),
                                  suggest(field, {"compute", "boot-io", "global-io", "local-io"})));
        node.role = *known;
      } else if (i == rack) {
        node.rack = field;
      } else if (i == targets) {
        node.targets = words_of(field);
      } else if (i == servers) {
        node.servers = words_of(field);
      } else if (i == coordinates) {
        for (const std::string& word : words_of(field)) {
          WEIR_ASSIGN(const std::int32_t value, coordinate_of(word));
          node.coordinates.push_back(value);
        }
      } else if (!coordinates && !field.empty()) {
        WEIR_ASSIGN(const std::int32_t value, coordinate_of(field));
        node.coordinates.push_back(value);
      }
    }
    WEIR_TRY(check(node));
    nodes.push_back(std::move(node));
    return true;
  };
  return in(each_row(text, source, row, flush), "import nodes", source.file);
}

}  // namespace weir::store
