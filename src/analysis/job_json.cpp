// A job's analysis as JSON.
#include "analysis/analyse.hpp"

namespace weir::analysis {

namespace {

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Json of(const Distribution& spread) {
  return {{"count", spread.count},
          {"mean", number(spread.mean)},
          {"min", number(spread.least)},
          {"p5", number(spread.p5)},
          {"p25", number(spread.p25)},
          {"median", number(spread.median)},
          {"p75", number(spread.p75)},
          {"p95", number(spread.p95)},
          {"p99", number(spread.p99)},
          {"max", number(spread.most)},
          {"variation", number(spread.variation)},
          {"gini", number(spread.gini)},
          {"max_over_mean", number(spread.most_over_mean)},
          {"slowest_over_mean", number(spread.least_over_mean)}};
}

Json of(const JobHeader& job) {
  Json figures = Json::object();
  for (const auto& [name, value] : job.figures) figures[name] = number(value);
  return {{"id", job.id},
          {"user", job.user},
          {"name", job.name},
          {"state", job.state},
          {"command", job.command},
          {"configuration", job.configuration},
          {"submit_ns", job.submit_ns},
          {"start_ns", job.start_ns},
          {"end_ns", job.end_ns},
          {"elapsed_seconds", job.elapsed_seconds},
          {"nodes", job.nodes},
          {"shape", job.shape},
          {"servers", job.servers},
          {"targets", job.targets},
          {"links", job.links},
          {"rule", job.rule},
          {"read_bytes", number(job.read_bytes)},
          {"write_bytes", number(job.write_bytes)},
          {"own_bytes", number(job.own_bytes)},
          {"own_bytes_known_by", job.own_bytes_known_by},
          {"own_share", number(job.own_share)},
          {"file_system_bytes", number(job.file_system_bytes)},
          {"coverage_factor", number(job.coverage_factor)},
          {"figures", std::move(figures)}};
}

Json of(const Completeness& data) {
  return {{"series", data.series},
          {"samples", data.samples},
          {"intervals", data.intervals},
          {"covered", number(data.covered)},
          {"interval_seconds", number(data.interval_seconds)},
          {"longest_gap_seconds", data.longest_gap_seconds},
          {"resets", data.resets},
          {"wraps", data.wraps},
          {"gaps", data.gaps},
          {"clock_steps", data.clock_steps},
          {"silent_servers", data.silent_count},
          {"silent", data.silent}};
}

}  // namespace

Json to_json(const JobAnalysis& analysis) {
  Json json;
  json["weir_job_report"] = 1;
  json["job"] = of(analysis.job);
  json["completeness"] = of(analysis.completeness);
  json["insights"] = Json::array();
  for (const Insight& insight : analysis.insights) {
    Json evidence = Json::object();
    for (const auto& [name, value] : insight.evidence) evidence[name] = number(value);
    json["insights"].push_back({{"code", insight.code},
                                {"severity", to_string(insight.severity)},
                                {"sentence", insight.sentence},
                                {"advice", insight.advice},
                                {"evidence", std::move(evidence)},
                                {"objects", insight.objects}});
  }
  json["metrics"] = Json::array();
  for (const Metric& metric : analysis.metrics) {
    json["metrics"].push_back({{"id", metric.kind.id},
                               {"title", metric.kind.title},
                               {"unit", metric.kind.unit},
                               {"good", to_string(metric.kind.good)},
                               {"value", number(metric.value)},
                               {"how", metric.how},
                               {"part", metric.part},
                               {"over_parts", of(metric.over_parts)},
                               {"over_time", of(metric.over_time)},
                               {"correlation_with_throughput", number(metric.correlation)}});
  }
  json["neighbours"] = Json::array();
  for (const Neighbour& neighbour : analysis.neighbours) {
    json["neighbours"].push_back({{"job", neighbour.job_id},
                                  {"user", neighbour.user},
                                  {"name", neighbour.name},
                                  {"start_ns", neighbour.start_ns},
                                  {"end_ns", neighbour.end_ns},
                                  {"shared_servers", neighbour.shared_servers},
                                  {"overlap_seconds", neighbour.overlap_seconds},
                                  {"bytes", number(neighbour.bytes)},
                                  {"share", number(neighbour.share)},
                                  {"known_by", neighbour.known_by}});
  }
  json["timelines"] = Json::array();
  for (const Timeline& line : analysis.timelines) {
    json["timelines"].push_back({{"id", line.id},
                                 {"title", line.title},
                                 {"unit", line.unit},
                                 {"start_ns", line.start_ns},
                                 {"step_ns", line.step_ns},
                                 {"values", numbers(line.values)}});
  }
  json["matrices"] = Json::array();
  for (const Matrix& matrix : analysis.matrices) {
    json["matrices"].push_back({{"id", matrix.id},
                                {"title", matrix.title},
                                {"unit", matrix.unit},
                                {"row_title", matrix.row_title},
                                {"column_title", matrix.column_title},
                                {"rows", matrix.rows},
                                {"columns", matrix.columns},
                                {"scale_low", matrix.scale_low},
                                {"scale_high", matrix.scale_high},
                                {"cells", matrix.cells},
                                {"values", numbers(matrix.values)}});
  }
  json["notes"] = analysis.notes;
  return json;
}

}  // namespace weir::analysis
