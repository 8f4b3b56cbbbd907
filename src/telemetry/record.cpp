#include "telemetry/record.hpp"

#include <stdexcept>

#include "telemetry/record_builder.hpp"

namespace weir::telemetry {

Tally& Tally::operator+=(const Tally& other) {
  records += other.records;
  samples += other.samples;
  rejected += other.rejected;
  ignored += other.ignored;
  return *this;
}

Status add_record(Batch& batch, Nanoseconds event_time, const Json& record, Tally& tally) {
  if (!record.is_object()) {
    ++tally.rejected;
    return fail(ErrorCode::corrupt, "the record is not a JSON object");
  }
  thread_local RecordBuilder builder;
  builder.begin(event_time);
  for (const auto& [key, value] : record.items()) {
    if (value.is_string()) {
      builder.text(key, value.get_ref<const std::string&>());
    } else if (const auto size = as_size(value)) {
      builder.number(key, *size);
    } else if (value.is_number_integer()) {
      builder.negative(key, value.get<std::int64_t>());
    } else if (value.is_number()) {
      builder.real(key, value.get<double>());
    } else {
      builder.other(key);
    }
  }
  return builder.finish(batch, tally);
}

Json record_to_json(const Batch& batch, std::size_t first, std::size_t count) {
  if (count == 0 || first + count > batch.points.size()) throw std::logic_error("a record of no samples");
  const std::uint32_t series = batch.points[first].series;
  Json record = {{"node", batch.table.node_of(series)}};
  if (const auto component = batch.table.component_of(series); !component.empty())
    record["component"] = component;
  if (const auto job = batch.table.job_of(series); !job.empty()) record["job"] = job;
  record["time_ns"] = batch.points[first].time;
  for (std::size_t i = first; i < first + count; ++i) {
    const Point& point = batch.points[i];
    record[std::string(counter(batch.table.counter_of(point.series)).name)] = point.value;
  }
  return record;
}

std::size_t same_record(const Batch& batch, std::size_t first) {
  const Point& start = batch.points.at(first);
  std::size_t end = first + 1;
  while (end < batch.points.size() && batch.points[end].time == start.time &&
         batch.table.same_origin(batch.points[end].series, start.series))
    ++end;
  return end - first;
}

}  // namespace weir::telemetry
