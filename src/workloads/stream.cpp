#include "workloads/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "mpi/comm.hpp"
#include "workloads/share.hpp"

namespace weir::workloads {

namespace {

constexpr std::size_t pieces_between_tests = 32;

// One of the three arrays, as the program allocated it or as Weir did.
class Array {
 public:
  explicit Array(std::vector<double>& own) : data_(own.data()), size_(own.size()) {}
  explicit Array(Buffer<double>& weir) : data_(weir.data()), size_(weir.size()), weir_(&weir) {}
  double* data() { return data_; }
  std::size_t size() const { return size_; }
  std::span<double> span() { return {data_, size_}; }
  // To be called before the whole array is overwritten.
  void renew() {
    if (weir_ != nullptr) data_ = weir_->fresh();
  }

 private:
  double* data_;
  std::size_t size_;
  Buffer<double>* weir_ = nullptr;
};

class Run {
 public:
  Run(Session& session, StreamArrays& arrays, const StreamSettings& settings)
      : session_(session),
        settings_(settings),
        first_(arrays.first),
        a_(settings.weir_arrays ? Array(arrays.weir_array(session, 0)) : Array(arrays.a)),
        b_(settings.weir_arrays ? Array(arrays.weir_array(session, 1)) : Array(arrays.b)),
        c_(settings.weir_arrays ? Array(arrays.weir_array(session, 2)) : Array(arrays.c)) {}

  StreamTimes whole() {
    for (Array* array : {&a_, &b_, &c_}) array->renew();
    stream_initialise(a_.span(), b_.span(), c_.span(), first_);
    MPI_Barrier(session_.compute());
    timed(times_.wall, [&] {
      std::optional<File> out;
      timed(times_.open_close,
            [&] { out = session_.create(settings_.path, {.backend = settings_.backend}); });
      for (int loop = 0; loop < settings_.loops; ++loop) one_loop(*out, loop);
      settle_all();
      timed(times_.open_close, [&] { out->close(); });
    });
    return times_;
  }

  // As STREAM checks its arrays at the end.
  Status check_arrays() {
    WEIR_TRY(failed_);
    StreamExpectation expected;
    for (int loop = 0; loop < settings_.loops; ++loop) {
      for (const Kernel kernel : all_kernels) expected.advance(kernel);
    }
    for (const Kernel kernel : {Kernel::triad, Kernel::scale, Kernel::add}) {
      WEIR_TRY(in(expected.compare(kernel, target(kernel).span(), first_), "check the arrays of STREAM"));
    }
    return {};
  }

 private:
  void one_loop(File& out, int loop) {
    for (const Kernel kernel : all_kernels) {
      const std::size_t k = index(kernel);
      const std::size_t before = (k + 3) % 4;  // the kernel whose array is tested and then waited for
      if (settings_.weir_arrays) timed(times_.wait, [&] { target(kernel).renew(); });
      if (settings_.spread) settle_writes_of(target(kernel));
      timed(times_.kernels[k], [&] { compute(kernel, pending_[before]); });
      if (!settings_.spread) settle(before);
      if (settings_.writes_in(kernel, loop)) send(out, kernel, loop);
    }
  }

  void compute(Kernel kernel, std::optional<Ticket>& ticket) {
    const std::size_t n = a_.size();
    if (!settings_.tests || !ticket) {
      piece(kernel, 0, n);
      return;
    }
    for (std::size_t part = 0; part < pieces_between_tests; ++part) {
      const auto [first, count] = share_of(n, part, pieces_between_tests);
      piece(kernel, first, count);
      if (ticket && ticket->test() && settings_.weir_arrays) ticket.reset();
    }
  }

  void piece(Kernel kernel, std::size_t first, std::size_t count) {
    double* a = a_.data() + first;
    double* b = b_.data() + first;
    double* c = c_.data() + first;
    switch (kernel) {
      case Kernel::copy:
        stream_copy(c, a, count);
        break;
      case Kernel::scale:
        stream_scale(b, c, count);
        break;
      case Kernel::add:
        stream_add(c, a, b, count);
        break;
      case Kernel::triad:
        stream_triad(a, b, c, count);
        break;
    }
  }

  void send(File& out, Kernel kernel, int loop) {
    Array& array = target(kernel);
    timed(times_.send, [&] {
      pending_[index(kernel)] = out.write(
          kernel_names[index(kernel)], array.span(),
          {.shape = {settings_.elements}, .offset = {first_}, .count = {array.size()}, .step = loop});
    });
  }

  void settle(std::size_t kernel) {
    if (!pending_[kernel]) return;
    // Arrays of Weir's are not waited for: fresh() does what is needed, and close() tells of errors.
    if (!settings_.weir_arrays) timed(times_.wait, [&] { wait_for(*pending_[kernel]); });
    pending_[kernel].reset();
  }

  // A failure may be known on one rank first. All ranks go on together until close() throws it on all of
  // them.
  void wait_for(Ticket& ticket) {
    try {
      ticket.wait();
    } catch (const Error& error) {
      if (failed_) failed_ = fail(error.code(), error.what());
    }
  }

  void settle_writes_of(const Array& array) {
    for (const Kernel kernel : all_kernels) {
      if (&target(kernel) == &array) settle(index(kernel));
    }
  }

  void settle_all() {
    for (std::size_t k = 0; k < pending_.size(); ++k) settle(k);
  }

  Array& target(Kernel kernel) {
    if (kernel == Kernel::triad) return a_;
    return kernel == Kernel::scale ? b_ : c_;
  }
  static std::size_t index(Kernel kernel) { return static_cast<std::size_t>(kernel); }

  Session& session_;
  const StreamSettings& settings_;
  std::uint64_t first_;
  Array a_, b_, c_;
  std::array<std::optional<Ticket>, 4> pending_;  // by kernel
  StreamTimes times_;
  Status failed_;
};

StreamTimes slowest(const StreamTimes& mine, MPI_Comm comm) {
  std::vector<double> values(mine.kernels.begin(), mine.kernels.end());
  values.insert(values.end(), {mine.send, mine.wait, mine.open_close, mine.wall});
  most_of_all(values, comm);
  StreamTimes times;
  std::copy_n(values.begin(), 4, times.kernels.begin());
  times.send = values[4];
  times.wait = values[5];
  times.open_close = values[6];
  times.wall = values[7];
  return times;
}

Status compare_file(Session& session, const StreamSettings& settings) {
  // Not the block that this rank wrote, so that files that only their writer can read are noticed.
  const int ranks = ranks_in(session.compute());
  const auto [first, count] =
      share_of(settings.elements, static_cast<std::uint64_t>(ranks - 1 - rank_in(session.compute())),
               static_cast<std::uint64_t>(ranks));
  std::vector<double> elements(count);
  Reader in = session.open(settings.path, {.backend = settings.backend});
  StreamExpectation expected;
  Status found;  // the first difference; the calls that are collective go on
  for (int loop = 0; loop < settings.loops; ++loop) {
    for (const Kernel kernel : all_kernels) {
      expected.advance(kernel);
      if (!settings.writes_in(kernel, loop)) continue;
      std::fill(elements.begin(), elements.end(), -1.0);
      in.read(kernel_names[static_cast<std::size_t>(kernel)], elements,
              {.offset = {first}, .count = {count}, .step = loop});
      if (found)
        found = weir::in(expected.compare(kernel, elements, first), fmt::format("read step {}", loop),
                         settings.path);
    }
  }
  for (const Kernel kernel : all_kernels) {
    if (settings.writes(kernel) == 0) continue;
    const char* const name = kernel_names[static_cast<std::size_t>(kernel)];
    const VariableInfo& info = in.variable(name);
    if (found && (info.shape != Extent{settings.elements} ||
                  info.steps.size() != static_cast<std::size_t>(settings.writes(kernel)))) {
      found =
          weir::in(Status(fail(ErrorCode::corrupt, fmt::format("'{}' has {} steps, not {}", name,
                                                               info.steps.size(), settings.writes(kernel)))),
                   "read", settings.path);
    }
  }
  in.close();
  return found;
}

}  // namespace

std::array<int, 4> spread_writes(int write_every) {
  // Counted in kernels, the first array is written at 0 and the others should be at 1, 2 and 3 times
  // `write_every`; each only at a place of its own kernel. Which of them comes when is free.
  std::array<int, 4> best = {};
  std::int64_t least = 0;
  std::array<int, 3> order = {1, 2, 3};
  do {
    std::array<int, 4> loops = {};
    std::array<int, 5> places = {0, 0, 0, 0, 4 * write_every};
    for (int turn = 1; turn <= 3; ++turn) {
      const int kernel = order[static_cast<std::size_t>(turn - 1)];
      const int loop = std::clamp((turn * write_every - kernel + 2) / 4, 0, write_every - 1);
      loops[static_cast<std::size_t>(kernel)] = loop;
      places[static_cast<std::size_t>(turn)] = 4 * loop + kernel;
    }
    std::int64_t uneven = 0;  // squares of the distances
    for (std::size_t i = 0; i < 4; ++i) {
      const std::int64_t apart = places[i + 1] - places[i];
      uneven += apart * apart;
    }
    const bool rising = std::is_sorted(places.begin(), places.end());
    if (rising && (least == 0 || uneven < least)) {
      least = uneven;
      best = loops;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

StreamTimes& StreamTimes::operator+=(const StreamTimes& other) {
  for (std::size_t k = 0; k < kernels.size(); ++k) kernels[k] += other.kernels[k];
  send += other.send;
  wait += other.wait;
  open_close += other.open_close;
  wall += other.wall;
  return *this;
}

StreamArrays::StreamArrays(Session& session, std::uint64_t elements) {
  const auto [begin, count] = share_of(elements, static_cast<std::uint64_t>(rank_in(session.compute())),
                                       static_cast<std::uint64_t>(ranks_in(session.compute())));
  first = begin;
  a.resize(count);
  b.resize(count);
  c.resize(count);
}

Buffer<double>& StreamArrays::weir_array(Session& session, std::size_t which) {
  Buffer<double>& buffer = weir_[which];
  if (buffer.size() != a.size() || a.empty()) buffer = session.allocate<double>(a.size());
  return buffer;
}

StreamTimes run_stream(Session& session, StreamArrays& arrays, const StreamSettings& settings) {
  Run run(session, arrays, settings);
  const StreamTimes mine = run.whole();
  if (Status right = mpi::agree(mpi::Comm::duplicate(session.compute()), run.check_arrays()); !right)
    throw right.error().to_exception();
  return slowest(mine, session.compute());
}

StreamTimes run_plain_stream(Session& session, StreamArrays& arrays, const StreamSettings& settings,
                             const std::function<void()>& write) {
  stream_initialise(arrays.a, arrays.b, arrays.c, arrays.first);
  double* a = arrays.a.data();
  double* b = arrays.b.data();
  double* c = arrays.c.data();
  const std::size_t n = arrays.a.size();
  StreamTimes times;
  MPI_Barrier(session.compute());
  timed(times.wall, [&] {
    for (int loop = 0; loop < settings.loops; ++loop) {
      const auto may_write = [&](Kernel kernel) {
        if (write && settings.writes_in(kernel, loop)) write();
      };
      timed(times.kernels[0], [&] { stream_copy(c, a, n); });
      may_write(Kernel::copy);
      timed(times.kernels[1], [&] { stream_scale(b, c, n); });
      may_write(Kernel::scale);
      timed(times.kernels[2], [&] { stream_add(c, a, b, n); });
      may_write(Kernel::add);
      timed(times.kernels[3], [&] { stream_triad(a, b, c, n); });
      may_write(Kernel::triad);
    }
  });
  return slowest(times, session.compute());
}

Status verify_stream(Session& session, const StreamSettings& settings) {
  Status found;
  try {
    found = compare_file(session, settings);
  } catch (const Error& error) {  // the same on every rank
    return fail(error.code(), error.what());
  }
  return mpi::agree(mpi::Comm::duplicate(session.compute()), found);
}

}  // namespace weir::workloads
