// The I/O workloads: Tile I/O, modified Tile I/O, BT-I/O, IOR-like and HPIO-like. What each rank touches, in
// which calls, and what it writes there; who carries the calls out is not said here.
//
// The data is a function of the place in the file, so that any part can be checked by itself, whoever wrote
// it.
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/json.hpp"
#include "pattern/stated.hpp"

namespace weir::workloads {

using IoShape = std::variant<pattern::Cartesian, pattern::BlockTridiagonal, pattern::Ior, pattern::Hpio>;

struct IoWorkload {
  std::string name;  // "tile", "tile-modified", "btio", "ior", "hpio"
  IoShape shape;
};
const std::vector<std::string>& io_workload_names();

std::uint64_t ranks_of(const IoWorkload& workload);
Result<pattern::Pattern> pattern_of(const IoWorkload& workload);  // fails for parameters that cannot be
std::string describe(const IoWorkload& workload);  // "4 x 4 tiles of 64 x 64 elements of 1.0 KiB"

Json io_workload_to_json(const IoWorkload& workload);
Result<IoWorkload> io_workload_from_json(const Json& json);

// What one rank does. Either calls through a view, each of which touches `tile`, the next one `extent` bytes
// further on; or calls with explicit offsets. A call's data follows that of the one before it in memory, in
// file order.
struct IoProgram {
  std::vector<pattern::Access> tile;  // empty: explicit offsets
  std::int64_t extent = 0;
  std::uint64_t calls = 0;
  std::uint64_t call_bytes = 0;
  std::vector<std::int64_t> offsets;  // by call

  std::uint64_t bytes() const { return calls * call_bytes; }
  std::vector<pattern::Access> accesses(std::uint64_t call) const;
  std::vector<pattern::Access> all_accesses() const;  // of all calls, in their order
};
// REQUIRES: pattern_of() accepts the workload; rank < ranks_of().
IoProgram program_of(const IoWorkload& workload, std::uint64_t rank);

// Dynamic segmentation: ranks that follow each other in the workload's own communicator form `groups` groups,
// as even as can be. By rank, its group.
std::vector<std::uint32_t> segments_of(const IoWorkload& workload, std::uint32_t groups);

// The data of the accesses, in their order. `memory` has room for all of it.
void fill(std::span<const pattern::Access> accesses, std::byte* memory);

// The first byte of the file that is not as fill() makes it, if there is one.
std::optional<std::int64_t> find_wrong(std::span<const pattern::Access> accesses, const std::byte* memory);

}  // namespace weir::workloads
