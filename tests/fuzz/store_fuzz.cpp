// What a store reads from outside: blocks of samples (the first byte is 0), tables of jobs and nodes as text,
// topologies. No crash; what is accepted passes its check, and a block that is accepted can be unpacked.
#include <xxhash.h>

#include <cstdlib>
#include <sstream>

#include "core/json.hpp"
#include "store/block.hpp"
#include "store/imports.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  using namespace weir::store;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto good_jobs = [](std::span<const Job> jobs) -> Status {
    for (const Job& job : jobs) {
      if (!check(job)) std::abort();
    }
    return {};
  };
  const ImportSource source{.file = "fuzz", .zone = "+09:00", .problem = {}};
  std::istringstream stream(text);
  switch (data[0] % 5) {
    case 0: {
      // A checksum would keep the fuzzer out: it gets the right one.
      std::string bytes = "WB1" + text;
      const std::uint64_t sum = XXH3_64bits(bytes.data(), bytes.size());
      for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(sum >> (8 * i)));
      const auto block = Block::decode(bytes);
      if (!block) break;
      std::vector<std::uint64_t> values;
      for (const Block::Column& column : block->columns()) {
        block->values(column, values);
        if (values.size() != block->times(column).size()) std::abort();
      }
      break;
    }
    case 1:
      (void)import_sacct(stream, source, good_jobs);
      break;
    case 2:
      (void)import_jobs_csv(stream, source, good_jobs);
      break;
    case 3:
      (void)import_nodes_csv(stream, source, [](std::span<const Node> nodes) -> Status {
        for (const Node& node : nodes) {
          if (!check(node)) std::abort();
        }
        return {};
      });
      break;
    default:
      if (const auto json = parse_json(text)) {
        if (const auto topology = topology_from_json(*json);
            topology && topology_from_json(to_json(*topology)) != *topology)
          std::abort();
      }
  }
  return 0;
}
