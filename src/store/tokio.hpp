// TOKIO time series (HDF5, version 1): the archive format of server-side logs.
//
// /GROUP/DATASET is [time x column] of doubles with the attributes columns and units; /GROUP/timestamps are
// seconds since 1970. Row t tells of [t, t + dt); -0.0 says that nothing is known. Taken in and given out are
//
//   /datatargets/readbytes writebytes readops writeops     ost.read_bytes ost.write_bytes ost.read_ops
//   ost.write_ops /datatargets/readrates writerates                      taken in where there are no bytes:
//   rate x dt /weir/COUNTER                                          any cumulative counter; the format has
//   no place of its own for
//                                                          queues and links
//
// The format keeps what happened in each interval, a store keeps counters that count up. Taken in, a series
// starts at 0 and grows with each row; given out, each row is the growth in it. A column names a target; its
// node is the one that serves the target by the store's node table, or stands in the attribute `nodes` that
// Weir adds, or is "tokio".
//
// Threads: one at a time; HDF5 is not reentrant.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace weir::store {

struct TokioTally {
  std::uint64_t series = 0, samples = 0;
  std::uint64_t rejected = 0;  // values that are no numbers of 0 or more
};

// `problem` is told of datasets that cannot be read; the others are taken in.
Result<TokioTally> import_tokio(Store& store, const std::string& path,
                                const std::function<void(const std::string&)>& problem);

struct TokioExport {
  std::vector<std::string> counters;  // empty: all cumulative ones
  TimeRange window;                   // empty ends: the store's first and last sample
  double seconds = 0;                 // of a row; 0: as the samples come
};
// The file appears when it is whole.
Result<TokioTally> export_tokio(Store& store, const std::string& path, const TokioExport& options);

}  // namespace weir::store
