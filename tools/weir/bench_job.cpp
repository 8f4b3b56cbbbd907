// Jobs and samples as JSON, between `weir bench` and the ranks that it launches.
#include <fmt/format.h>

#include "bench.hpp"

namespace weir::cli {

std::string BenchCase::name() const {
  return fmt::format("{}-{}{}{}", mapping, backend, arrays == "weir" ? "-weir" : "", tests ? "-tests" : "");
}

Json job_to_json(const BenchJob& job) {
  Json json = {{"backend", job.backend},   {"results", job.results},   {"verify", job.verify},
               {"keep", job.keep},         {"plain", job.plain},       {"to_disk", job.to_disk},
               {"validate", job.validate}, {"parameters", job.common}, {"cases", Json::array()}};
  for (const BenchJob::Case& one : job.cases) {
    json["cases"].push_back(
        {{"path", one.path}, {"arrays", one.arrays}, {"tests", one.tests}, {"parameters", one.parameters}});
  }
  return json;
}

Result<BenchJob> job_from_json(const Json& json) {
  WEIR_ASSIGN(const JsonObject object, JsonObject::of(json, "the job"));
  BenchJob job;
  WEIR_ASSIGN(job.backend, object.text("backend"));
  WEIR_ASSIGN(job.results, object.text("results"));
  WEIR_ASSIGN(job.verify, object.boolean("verify"));
  WEIR_ASSIGN(job.keep, object.boolean("keep"));
  WEIR_ASSIGN(job.plain, object.boolean("plain"));
  WEIR_ASSIGN(job.to_disk, object.boolean("to_disk"));
  WEIR_ASSIGN(job.validate, object.boolean("validate"));
  WEIR_ASSIGN(const Json* common, object.any("parameters"));
  job.common = *common;
  WEIR_ASSIGN(const Json* cases, object.array("cases"));
  for (const Json& element : *cases) {
    WEIR_ASSIGN(const JsonObject one, JsonObject::of(element, "a case"));
    BenchJob::Case parsed;
    WEIR_ASSIGN(parsed.path, one.text("path"));
    WEIR_ASSIGN(parsed.arrays, one.text("arrays"));
    WEIR_ASSIGN(parsed.tests, one.boolean("tests"));
    WEIR_ASSIGN(const Json* parameters, one.any("parameters"));
    parsed.parameters = *parameters;
    job.cases.push_back(std::move(parsed));
  }
  return job;
}

Json samples_to_json(const std::vector<BenchSample>& samples) {
  Json json = Json::array();
  for (const BenchSample& sample : samples) {
    json.push_back({{"values", sample.values}, {"verified", sample.verified}, {"failure", sample.failure}});
  }
  return json;
}

Result<std::vector<BenchSample>> samples_from_json(const Json& json) {
  WEIR_ASSIGN(const JsonObject object, JsonObject::of(json, "the results"));
  if (object.has("failure")) {
    WEIR_ASSIGN(const std::string failure, object.text("failure"));
    return fail(ErrorCode::io, failure);
  }
  WEIR_ASSIGN(const Json* array, object.array("samples"));
  std::vector<BenchSample> samples;
  for (const Json& element : *array) {
    WEIR_ASSIGN(const JsonObject one, JsonObject::of(element, "a sample"));
    BenchSample sample;
    WEIR_ASSIGN(sample.verified, one.boolean("verified"));
    WEIR_ASSIGN(sample.failure, one.text("failure"));
    WEIR_ASSIGN(const Json* values, one.any("values"));
    WEIR_ASSIGN(const JsonObject numbers, JsonObject::of(*values, "values"));
    for (const auto& [name, ignored] : values->items()) {
      WEIR_ASSIGN(sample.values[name], numbers.number(name));
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace weir::cli
