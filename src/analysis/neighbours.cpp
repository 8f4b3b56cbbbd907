#include "analysis/neighbours.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace weir::analysis {

namespace {

double figure(const store::Job& job, std::string_view name) {
  const auto found = job.figures.find(std::string(name));
  return found == job.figures.end() ? unknown : found->second;
}

// Servers put whatever the site configured into a job's name there: "4711", "4711:cn01", "procname.uid". An
// id at its front, followed by no other letter or digit, is the job's.
bool names_job(std::string_view name, std::string_view id) {
  if (!name.starts_with(id)) return false;
  return name.size() == id.size() || name[id.size()] == ':' || name[id.size()] == '.' ||
         name[id.size()] == '@';
}

double traffic_of_job(const Observations& seen, std::string_view id) {
  double bytes = unknown;
  for (const auto& [name, traffic] : seen.traffic()) {
    if (names_job(name, id)) bytes = (is_known(bytes) ? bytes : 0) + traffic.bytes;
  }
  return bytes;
}

double all_bytes(const JobHeader& header) {
  if (!is_known(header.read_bytes)) return header.write_bytes;
  return is_known(header.write_bytes) ? header.read_bytes + header.write_bytes : header.read_bytes;
}

}  // namespace

void add_own_traffic(JobHeader& header, const store::Job& job, const Observations& seen) {
  const double written = figure(job, store::figure::bytes_written);
  const double read = figure(job, store::figure::bytes_read);
  if (const double counted = traffic_of_job(seen, job.id); is_known(counted)) {
    header.own_bytes = counted;
    header.own_bytes_known_by = "job counters";
  } else if (is_known(written) || is_known(read)) {
    header.own_bytes = (is_known(written) ? written : 0) + (is_known(read) ? read : 0);
    header.own_bytes_known_by = "job record";
  }
  const double all = all_bytes(header);
  if (is_known(header.own_bytes) && all > 0) header.own_share = std::min(1.0, header.own_bytes / all);
  if (is_known(header.own_bytes) && header.file_system_bytes > 0) {
    header.coverage_factor = std::min(1.0, header.own_bytes / header.file_system_bytes);
  }
}

std::vector<Neighbour> find_neighbours(const JobHeader& header, const store::Job& job,
                                       const std::vector<store::Job>& candidates, const ServerFinder& finder,
                                       const Observations& seen) {
  const std::vector<std::uint32_t> own = finder.servers(job);
  const std::unordered_set<std::string> own_nodes(job.nodes.begin(), job.nodes.end());
  std::vector<Neighbour> found;
  double presence = 0;  // of all neighbours without counters of their own: seconds x servers
  for (const store::Job& other : candidates) {
    if (other.id == job.id || other.start_ns == 0) continue;
    const std::int64_t begin = std::max(other.start_ns, header.start_ns);
    const std::int64_t end = std::min(other.end_ns == 0 ? header.end_ns : other.end_ns, header.end_ns);
    if (end <= begin) continue;
    std::uint64_t shared = 0;
    if (finder.io_nodes().empty()) {
      for (const std::string& node : other.nodes) shared += own_nodes.contains(node) ? 1 : 0;
    } else {
      const std::vector<std::uint32_t> theirs = finder.servers(other);
      std::vector<std::uint32_t> both;
      std::set_intersection(own.begin(), own.end(), theirs.begin(), theirs.end(), std::back_inserter(both));
      shared = both.size();
    }
    if (shared == 0) continue;
    Neighbour neighbour{.job_id = other.id,
                        .user = other.user,
                        .name = other.name,
                        .start_ns = other.start_ns,
                        .end_ns = other.end_ns,
                        .shared_servers = shared,
                        .overlap_seconds = static_cast<double>(end - begin) * 1e-9};
    neighbour.bytes = traffic_of_job(seen, other.id);
    neighbour.known_by = is_known(neighbour.bytes) ? "job counters" : "times and servers";
    if (!is_known(neighbour.bytes)) presence += neighbour.overlap_seconds * static_cast<double>(shared);
    found.push_back(std::move(neighbour));
  }
  const double all = all_bytes(header);
  double rest = all - header.own_bytes;
  for (const Neighbour& neighbour : found) {
    if (is_known(neighbour.bytes)) rest -= neighbour.bytes;
  }
  for (Neighbour& neighbour : found) {
    if (!is_known(neighbour.bytes) && is_known(rest) && presence > 0) {
      neighbour.bytes = std::max(0.0, rest) * neighbour.overlap_seconds *
                        static_cast<double>(neighbour.shared_servers) / presence;
    }
    if (is_known(neighbour.bytes) && all > 0) neighbour.share = std::min(1.0, neighbour.bytes / all);
  }
  std::sort(found.begin(), found.end(), [](const Neighbour& a, const Neighbour& b) {
    const double left = is_known(a.share) ? a.share : 0;
    const double right = is_known(b.share) ? b.share : 0;
    if (left != right) return left > right;
    if (a.shared_servers != b.shared_servers) return a.shared_servers > b.shared_servers;
    return a.job_id < b.job_id;
  });
  if (found.size() > most_neighbours) found.resize(most_neighbours);
  return found;
}

}  // namespace weir::analysis
