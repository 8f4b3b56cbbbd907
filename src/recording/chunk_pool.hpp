// Memory for what is put off, in chunks, for all files of a process.
//
// A call that is the first to touch a page pays more for it than a thousand calls cost the recorder, so
// chunks come from the system many at a time, in pages that are there already. Chunks that are given back
// serve again; the system gets all of them back at the end. Threads: none of its own; the owner locks. LOCAL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weir::recording {

class ChunkPool {
 public:
  static constexpr std::size_t chunk_words = 4096;  // of eight bytes

  // Where a chunk goes when nobody holds it any more. REQUIRES: the pool outlives its chunks.
  struct GiveBack {
    ChunkPool* pool;
    void operator()(std::int64_t* chunk) const { pool->free_.push_back(chunk); }
  };
  using Chunk = std::unique_ptr<std::int64_t[], GiveBack>;

  ChunkPool() = default;
  ~ChunkPool();
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;

  // What is in it is left from its last use. Throws std::bad_alloc.
  Chunk take();

 private:
  static constexpr std::size_t chunks_at_once = 8;
  static constexpr std::size_t region_bytes = chunks_at_once * chunk_words * sizeof(std::int64_t);

  std::vector<void*> regions_;
  std::vector<std::int64_t*> free_;
};

}  // namespace weir::recording
