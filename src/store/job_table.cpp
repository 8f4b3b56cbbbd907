#include "store/job_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/json.hpp"
#include "platform/host_list.hpp"
#include "platform/numbers.hpp"

namespace weir::store {

namespace {

#define WEIR_JOB_COLUMNS \
  "id, user_name, name, state, submit_ns, start_ns, end_ns, node_count, shape, figures, labels"

tl::unexpected<Failure> damaged(const std::string& id) {
  return fail(ErrorCode::corrupt, fmt::format("the row of job '{}' cannot be read", id),
              "restore the store from a copy");
}

// Texts from outside may hold any bytes; what is no UTF-8 is replaced rather than refused.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string clean(std::string_view text) {
  // A NUL ends a text in PostgreSQL.
  std::string printable(text);
  std::replace(printable.begin(), printable.end(), '\0', ' ');
  const std::string quoted = dump(Json(printable));
  return Json::parse(quoted).get<std::string>();
}

Result<Job> job_of(const Row& row, bool with_nodes) {
  Job job;
  job.id = row.text(0);
  job.user = row.text(1);
  job.name = row.text(2);
  job.state = job_state(row.bytes(3)).value_or(JobState::unknown);
  job.submit_ns = row.integer(4);
  job.start_ns = row.integer(5);
  job.end_ns = row.integer(6);
  job.node_count = static_cast<std::uint64_t>(row.integer(7));
  const auto shape = parse_json(row.bytes(8)), figures = parse_json(row.bytes(9)),
             labels = parse_json(row.bytes(10));
  if (!shape || !figures || !labels || !shape->is_array() || !figures->is_object() || !labels->is_object())
    return damaged(job.id);
  for (const Json& extent : *shape) {
    const auto size = as_size(extent);
    if (!size) return damaged(job.id);
    job.shape.push_back(*size);
  }
  for (const auto& [name, value] : figures->items()) {
    if (!value.is_number()) return damaged(job.id);
    job.figures[name] = value.get<double>();
  }
  for (const auto& [name, value] : labels->items()) {
    if (!value.is_string()) return damaged(job.id);
    job.labels[name] = value.get<std::string>();
  }
  if (with_nodes && !row.bytes(11).empty()) {
    const auto hosts = parse_host_list(row.bytes(11));
    if (!hosts) return damaged(job.id);
    for (const Host& host : *hosts) job.nodes.push_back(host.name);
  }
  return job;
}

}  // namespace

Status write_job(Database& database, const Job& job) {
  WEIR_TRY(check(job));
  Json figures = Json::object(), labels = Json::object();
  for (const auto& [name, value] : job.figures) figures[clean(name)] = value;
  for (const auto& [name, value] : job.labels) labels[clean(name)] = clean(value);
  const std::string user = clean(job.user), name = clean(job.name), shape = Json(job.shape).dump(),
                    figures_text = dump(figures), labels_text = dump(labels),
                    nodes = job.nodes.empty() ? "" : format_host_list(job.nodes);
  return database.run(
      "INSERT INTO weir_jobs (" WEIR_JOB_COLUMNS
      ", nodes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO UPDATE SET "
      "user_name = excluded.user_name, name = excluded.name, state = excluded.state, submit_ns = "
      "excluded.submit_ns, "
      "start_ns = excluded.start_ns, end_ns = excluded.end_ns, node_count = excluded.node_count, "
      "nodes = excluded.nodes, shape = excluded.shape, figures = excluded.figures, labels = excluded.labels",
      {std::string_view(job.id), std::string_view(user), std::string_view(name), to_string(job.state),
       job.submit_ns, job.start_ns, job.end_ns, static_cast<std::int64_t>(job.node_count),
       std::string_view(shape), std::string_view(figures_text), std::string_view(labels_text),
       std::string_view(nodes)});
}

Result<std::vector<Job>> read_jobs(Database& database, const JobQuery& query) {
  std::vector<Job> jobs;
  const auto take = [&](const Row& row) -> Status {
    WEIR_ASSIGN(Job job, job_of(row, query.with_nodes));
    jobs.push_back(std::move(job));
    return {};
  };
  // A job that has not ended is taken to run until now and beyond.
  const std::string where =
      " WHERE start_ns < $1 AND (end_ns > $2 OR end_ns = 0) AND ($3 = '' OR user_name = $3)";
  const std::string columns = std::string("SELECT " WEIR_JOB_COLUMNS) + (query.with_nodes ? ", nodes" : "");
  const std::string_view user = query.user;
  if (query.ids.empty()) {
    const auto limit = static_cast<std::int64_t>(std::min<std::size_t>(query.at_most, INT64_MAX));
    const std::vector<Value> values = {query.window.to, query.window.from, user, limit};
    WEIR_TRY(database.run(columns + " FROM weir_jobs" + where + " ORDER BY start_ns DESC, id DESC LIMIT $4",
                          values, take));
    return jobs;
  }
  const std::string one = columns + " FROM weir_jobs" + where + " AND id = $4";
  for (const std::string& id : query.ids) {
    const std::vector<Value> values = {query.window.to, query.window.from, user, std::string_view(id)};
    WEIR_TRY(database.run(one, values, take));
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.start_ns > b.start_ns; });
  jobs.resize(std::min(jobs.size(), query.at_most));
  return jobs;
}

Result<std::string> jobs_near(Database& database, const std::string& id) {
  std::vector<std::string> close, latest;
  WEIR_TRY(database.run("SELECT id FROM weir_jobs ORDER BY start_ns DESC, id DESC LIMIT 10000", {},
                        [&](const Row& row) -> Status {
                          const std::string_view other = row.bytes(0);
                          const bool alike = !id.empty() && (other.find(id) != std::string_view::npos ||
                                                             id.find(other) != std::string::npos);
                          if (alike && close.size() < 5) close.emplace_back(other);
                          if (latest.size() < 5) latest.emplace_back(other);
                          return {};
                        }));
  if (latest.empty()) return std::string("; there are no jobs in the store");
  return close.empty() ? fmt::format("; the latest ones are {}", fmt::join(latest, ", "))
                       : fmt::format("; close to it are {}", fmt::join(close, ", "));
}

}  // namespace weir::store
