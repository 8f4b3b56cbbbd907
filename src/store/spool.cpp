#include "store/spool.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace weir::store {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t samples_of_a_delivery = 500'000;

// A store that is away may come back: its server, its disk, the mount that its folder is in. One that refuses
// what we ask will refuse it again.
bool may_come_back(const Failure& failure) {
  return failure.code == ErrorCode::io || failure.code == ErrorCode::not_found ||
         failure.code == ErrorCode::no_memory;
}

}  // namespace

SpooledStore::SpooledStore(std::string location, SpoolOptions options)
    : location_(std::move(location)), options_(std::move(options)) {}

Result<SpooledStore> SpooledStore::open(const std::string& location, SpoolOptions options) {
  SpooledStore spooled(location, std::move(options));
  Status reached = spooled.reach();
  if (!reached && (spooled.options_.path.empty() || !may_come_back(reached.error())))
    return tl::make_unexpected(std::move(reached).error());
  const std::string& path = spooled.options_.path;
  std::error_code error;
  if (!path.empty() && (!reached || fs::exists(path, error))) {
    WEIR_ASSIGN(Store spool, in(Store::open(path), "open spool", path));
    spooled.spool_.emplace(std::move(spool));
  }
  if (!reached && spooled.options_.tell)
    spooled.options_.tell("store is away, samples go to the spool: " + reached.error().message());
  if (reached)
    (void)spooled.deliver();  // what an earlier process left behind; else the next write tries again
  return spooled;
}

Status SpooledStore::reach() {
  auto opened = Store::open(location_);
  next_try_ = std::chrono::steady_clock::now() + options_.retry;
  if (!opened) return tl::make_unexpected(std::move(opened).error());
  store_.emplace(std::move(*opened));
  return {};
}

Status SpooledStore::write_to_spool(const telemetry::Batch& batch) {
  if (!spool_) {
    WEIR_ASSIGN(Store spool, in(Store::open(options_.path), "open spool", options_.path));
    spool_.emplace(std::move(spool));
  }
  WEIR_ASSIGN(const Summary summary, spool_->summary());
  if (summary.bytes >= options_.most_bytes)
    return fail(ErrorCode::io, fmt::format("the store is away and the spool {} is full", options_.path),
                "bring the store back or allow a larger spool");
  WEIR_TRY(spool_->write(batch));
  spooled_ += batch.points.size();
  return {};
}

Status SpooledStore::write(const telemetry::Batch& batch) {
  const bool due = std::chrono::steady_clock::now() >= next_try_;
  if (due && (!store_ || spool_)) (void)deliver();
  if (store_) {
    Status written = store_->write(batch);
    if (written || options_.path.empty() || !may_come_back(written.error())) return written;
    if (options_.tell) options_.tell("store is away, samples go to the spool: " + written.error().message());
    store_.reset();
    next_try_ = std::chrono::steady_clock::now() + options_.retry;
  }
  return write_to_spool(batch);
}

Status SpooledStore::deliver() {
  if (!store_) {
    WEIR_TRY(reach());
    if (options_.tell) options_.tell("store is back");
  }
  next_try_ = std::chrono::steady_clock::now() + options_.retry;
  if (!spool_) return {};
  std::vector<telemetry::Series> lot;
  std::size_t samples = 0;
  const auto flush = [&]() -> Status {
    if (lot.empty()) return {};
    WEIR_TRY(store_->write(lot));
    delivered_ += samples;
    lot.clear();
    samples = 0;
    return {};
  };
  const auto take = [&](const telemetry::Series& series) -> Status {
    lot.push_back(series);
    samples += series.times.size();
    return samples < samples_of_a_delivery ? Status() : flush();
  };
  Status done = spool_->read({}, take);
  if (done) done = flush();
  if (!done) {
    if (may_come_back(done.error())) store_.reset();
    return done;
  }
  spool_.reset();
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::error_code error;
    fs::remove(options_.path + suffix, error);
  }
  return {};
}

}  // namespace weir::store
