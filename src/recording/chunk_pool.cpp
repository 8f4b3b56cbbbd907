#include "recording/chunk_pool.hpp"

#include <sys/mman.h>

#include <new>

namespace weir::recording {

ChunkPool::~ChunkPool() {
  for (void* const region : regions_) ::munmap(region, region_bytes);
}

ChunkPool::Chunk ChunkPool::take() {
  if (free_.empty()) {
    // Room first: nothing may fail once there is a region, nor when a chunk comes back.
    regions_.reserve(regions_.size() + 1);
    free_.reserve((regions_.size() + 1) * chunks_at_once);
    void* const region = ::mmap(nullptr, region_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (region == MAP_FAILED) throw std::bad_alloc();
    regions_.push_back(region);
    for (std::size_t i = chunks_at_once; i-- > 0;)
      free_.push_back(static_cast<std::int64_t*>(region) + i * chunk_words);
  }
  Chunk chunk(free_.back(), GiveBack{this});
  free_.pop_back();
  return chunk;
}

}  // namespace weir::recording
