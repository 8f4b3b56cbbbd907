// The C++ interface over OutputFile and InputFile: failures become exceptions.
#include "weir/weir.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <thread>

#include "core/box.hpp"
#include "core/timed.hpp"
#include "core/types.hpp"
#include "files/input_file.hpp"
#include "files/rename.hpp"
#include "session/session_state.hpp"

namespace weir {

namespace {

void throw_if_failed(const Status& status) {
  if (!status) throw status.error().to_exception();
}

// The file behind a handle; a handle that was moved from has none.
template <class Impl>
auto& opened(const std::unique_ptr<Impl>& impl) {
  if (!impl) throw Error(ErrorCode::state, -1, "use a file: it was given up, or moved to another variable");
  if constexpr (requires { impl->sink; }) {
    if (impl->session->ended())  // whoever would write it is gone
      throw Error(ErrorCode::state, -1, impl->sink->path() + ": use a file: the session has ended");
    return *impl->sink;
  } else {
    return *impl->file;
  }
}

template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw result.error().to_exception();
  return std::move(result).value();
}

}  // namespace

struct Ticket::State {
  std::shared_ptr<offload::Progress> progress;
  std::shared_ptr<session::State> session;      // nullptr: of a ticket that stands for nothing
  bool of_data = false;                         // and not of a whole file
  int exceptions = std::uncaught_exceptions();  // that were on their way before
};

Ticket::Ticket() : state_(std::make_shared<State>(State{offload::Progress::finished({}), nullptr})) {}

Ticket::~Ticket() {
  if (state_ && state_->of_data && std::uncaught_exceptions() > state_->exceptions)
    state_->session->let_go_of(*state_->progress);
}

bool Ticket::test() {
  return state_->progress->taken();
}

bool Ticket::stored() {
  return state_->progress->done();
}

namespace {

// The program hears of a failure, if there is one so far.
void tell(offload::Progress& progress) {
  if (!progress.done()) return;
  progress.mark_seen();
  throw_if_failed(progress.status());
}

}  // namespace

void Ticket::wait() {
  // What this rank refused holds no data that could be taken: the answer is the whole of it.
  if (state_->progress->refused()) return wait_stored();
  if (!test()) {
    const Timed timed(state_->session->meter().waiting_seconds);
    state_->session->wait_taken(*state_->progress);
  }
  tell(*state_->progress);
}

void Ticket::wait_stored() {
  if (!stored()) {
    const Timed timed(state_->session->meter().waiting_seconds);
    state_->progress->wait_done();
  }
  tell(*state_->progress);
}

struct File::Impl {
  std::shared_ptr<session::State> session;
  std::unique_ptr<session::Sink> sink;
  session::WritesOfFile counted;
  std::vector<std::shared_ptr<offload::Progress>>
      writes;                                   // that may have failed without the program being told
  int exceptions = std::uncaught_exceptions();  // an emergency file is made while one is on its way

  // REQUIRES: all writes are done.
  std::optional<Failure> unseen() const {
    for (const auto& write : writes) {
      if (write->failed() && !write->seen()) return write->status().error();
    }
    return std::nullopt;
  }

  void note(const std::shared_ptr<offload::Progress>& write) {
    std::erase_if(writes, [](const auto& earlier) { return earlier->done() && earlier->status(); });
    if (!write->done() || !write->status()) writes.push_back(write);
  }

  Status close() {
    const Timed timed(session->meter().closing_seconds);
    for (const auto& write : writes) write->wait_done();
    const auto closing = sink->close(unseen(), false);
    closing->wait_done();
    if (closing->status()) counted.count(session->meter());
    return closing->status();
  }

  // The end of scope without close(): the ordinary end of a block on all ranks, or an exception on this one.
  void leave_scope() noexcept {
    if (!sink || !sink->is_open()) return;
    try {
      if (std::uncaught_exceptions() > exceptions || session->ended() ||
          (!session->comm().is_serial() && !session::mpi_is_running())) {
        fmt::print(
            stderr,
            "weir: {}: given up, since it was not closed before an exception, the end of the session or "
            "MPI_Finalize\n",
            sink->path());
        for (const auto& write : writes) session->let_go_of(*write);
        if (!session->ended()) sink->give_up();
        return;
      }
      if (const Status closed = close(); !closed) {
        fmt::print(stderr, "weir: {}\n", closed.error().message());
        session::fail_at_exit();
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "weir: while closing a file: %s\n", error.what());
      session::fail_at_exit();
    }
  }
};

File::File(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
File::File(File&&) noexcept = default;

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    if (impl_) impl_->leave_scope();
    impl_ = std::move(other.impl_);
  }
  return *this;
}

File::~File() {
  if (impl_) impl_->leave_scope();
}

namespace {

// What the program hands over; the other languages leave the number of elements to the extents.
std::uint64_t bytes_of_block(Type type, std::uint64_t elements, const WriteOptions& options) {
  if (!options.count.empty()) {
    elements = volume(options.count);
  } else if (!options.shape.empty()) {
    elements = volume(options.shape);
  }
  return elements == as_needed ? 0 : elements * size_of(type);
}

}  // namespace

Ticket File::write_elements(const std::string& name, Type type, const void* data, std::uint64_t elements,
                            const WriteOptions& options) {
  session::Sink& sink = opened(impl_);
  const Timed timed(impl_->session->meter().sending_seconds);
  const auto progress = sink.write({.name = name,
                                    .type = type,
                                    .shape = options.shape,
                                    .offset = options.offset,
                                    .count = options.count,
                                    .step = options.step,
                                    .data = static_cast<const std::byte*>(data),
                                    .elements = elements,
                                    .independent = options.independent,
                                    .reduce = options.reduce});
  // What was refused may have a type that has no size.
  if (!progress->refused() && !progress->failed())
    impl_->counted.add(progress, bytes_of_block(type, elements, options));
  impl_->note(progress);
  return Ticket(std::make_shared<Ticket::State>(Ticket::State{progress, impl_->session, true}));
}

namespace {

// Of a call without a ticket: what this rank finds wrong is thrown, what shows later is thrown by close().
void settle(const std::shared_ptr<offload::Progress>& progress) {
  if (progress->refused()) progress->wait_done();
  tell(*progress);
}

Result<Values> copy_numbers(Type type, const void* elements, std::uint64_t count) {
  WEIR_TRY(type_from_code(static_cast<int>(type)));
  if (elements == nullptr && count > 0)
    return fail(ErrorCode::invalid_argument, "the numbers are a null pointer");
  if (count > PTRDIFF_MAX / size_of(type))
    return fail(ErrorCode::invalid_argument, fmt::format("{} numbers are more than memory can hold", count));
  Values values{.type = type, .bytes = std::vector<std::byte>(count * size_of(type))};
  if (count > 0) std::memcpy(values.bytes.data(), elements, values.bytes.size());
  values.clear_padding();
  return values;
}

}  // namespace

void File::reserve(const std::string& name, Type type, const Extent& shape,
                   std::optional<std::int64_t> step) {
  const auto progress = opened(impl_).reserve({name, type, shape, step});
  impl_->note(progress);
  settle(progress);
}

void File::set_attribute(const std::string& name, const std::string& text) {
  set_variable_attribute("", name, text);
}

void File::set_attribute(const std::string& name, Type type, const void* elements, std::uint64_t count) {
  set_variable_attribute("", name, type, elements, count);
}

void File::set_variable_attribute(const std::string& variable, const std::string& name,
                                  const std::string& text) {
  const auto progress = opened(impl_).set_attribute({.variable = variable, .name = name, .value = text}, {});
  impl_->note(progress);
  settle(progress);
}

void File::set_variable_attribute(const std::string& variable, const std::string& name, Type type,
                                  const void* elements, std::uint64_t count) {
  // Numbers that are wrong are refused by the call: then they are a failure of all ranks alike.
  const auto values = guarded([&] { return copy_numbers(type, elements, count); });
  const auto progress =
      opened(impl_).set_attribute({.variable = variable, .name = name, .value = values.value_or(Values())},
                                  values ? Status() : Status(tl::make_unexpected(values.error())));
  impl_->note(progress);
  settle(progress);
}

void File::close() {
  opened(impl_);
  throw_if_failed(impl_->close());
}

Ticket File::close_later() {
  session::Sink& sink = opened(impl_);
  const Timed timed(impl_->session->meter().closing_seconds);
  std::optional<Failure> known;
  for (const auto& write : impl_->writes) {
    if (write->failed() && !known) known = write->status().error();
  }
  const auto closing = sink.close(known, true);
  impl_->session->note_closing(closing, std::move(impl_->counted));
  return Ticket(std::make_shared<Ticket::State>(Ticket::State{closing, impl_->session}));
}

void File::give_up() {
  if (!impl_) return;
  if (impl_->sink->is_open() && !impl_->session->ended()) impl_->sink->give_up();
  impl_.reset();
}

struct Reader::Impl {
  std::shared_ptr<session::State> session;
  std::unique_ptr<files::InputFile> file;
  std::vector<VariableInfo> variables;
  std::vector<Attribute> attributes;

  Impl(std::shared_ptr<session::State> state, std::unique_ptr<files::InputFile> opened)
      : session(std::move(state)), file(std::move(opened)) {
    for (const files::Contents& entry : file->contents()) {
      variables.push_back(
          {entry.info.name, entry.info.type, entry.info.shape, entry.info.stepped, entry.steps});
    }
    for (const backends::Attribute& stored : file->attributes()) {
      Attribute attribute{.variable = stored.variable, .name = stored.name};
      if (const auto* text = std::get_if<std::string>(&stored.value)) {
        attribute.is_text = true;
        attribute.text = *text;
      } else {
        attribute.type = std::get<Values>(stored.value).type;
        attribute.elements = std::get<Values>(stored.value).bytes;
      }
      attributes.push_back(std::move(attribute));
    }
  }
};

Reader::Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() {
  if (impl_) impl_->session->run_where_files_are([&] { impl_->file.reset(); });
}

const std::vector<VariableInfo>& Reader::variables() const {
  opened(impl_);
  return impl_->variables;
}
const std::vector<Attribute>& Reader::attributes() const {
  opened(impl_);
  return impl_->attributes;
}
const std::string& Reader::backend() const {
  return opened(impl_).backend();
}

const VariableInfo& Reader::variable(const std::string& name) const {
  const files::Contents* found =
      value_or_throw(in(opened(impl_).find(name), "look up", opened(impl_).path()));
  return impl_->variables[static_cast<std::size_t>(found - opened(impl_).contents().data())];
}

void Reader::read_elements(const std::string& name, Type type, void* data, std::uint64_t elements,
                           const ReadOptions& options) {
  files::InputFile& file = opened(impl_);
  Status status;
  const auto read = [&] {
    status = file.read({.name = name,
                        .type = type,
                        .offset = options.offset,
                        .count = options.count,
                        .step = options.step,
                        .data = static_cast<std::byte*>(data),
                        .elements = elements,
                        .independent = options.independent});
  };
  if (options.independent) {
    impl_->session->run_where_files_are(read);
  } else {
    impl_->session->run_together(read);
  }
  throw_if_failed(status);
}

void Reader::close() {
  files::InputFile& file = opened(impl_);
  Status status;
  impl_->session->run_together([&] { status = file.close(); });
  throw_if_failed(status);
}

struct Session::Impl {
  std::shared_ptr<session::State> state;
  int exceptions = std::uncaught_exceptions();  // a session may begin while one is on its way
};

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Session::Session(MPI_Comm comm, const SessionOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->state = value_or_throw(session::State::start(comm, options));
}

Session Session::serial() {
  auto impl = std::make_unique<Impl>();
  impl->state = value_or_throw(session::State::start_serial());
  return Session(std::move(impl));
}

Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Session::~Session() {
  if (!impl_ || impl_->state->ended()) return;
  const session::State& state = *impl_->state;
  try {
    // After an exception the other ranks may never come to the end.
    if (std::uncaught_exceptions() > impl_->exceptions ||
        (!state.comm().is_serial() && !session::mpi_is_running()))
      return;
    if (const Status ended = impl_->state->end(); !ended) {
      fmt::print(stderr, "weir: {}\n", ended.error().message());
      session::fail_at_exit();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weir: while ending a session: %s\n", error.what());
    session::fail_at_exit();
  }
}

MPI_Comm Session::compute() const {
  if (impl_->state->comm().is_serial())
    throw Error(ErrorCode::state, -1, "ask for the communicator: this session is serial");
  return impl_->state->share_compute();
}

File Session::create(const std::string& path, const FileOptions& options) {
  const Timed timed(impl_->state->meter().closing_seconds);
  auto file = std::make_unique<File::Impl>();
  file->session = impl_->state;
  file->sink = value_or_throw(impl_->state->create(path, options));
  return File(std::move(file));
}

Reader Session::open(const std::string& path, const FileOptions& options) {
  Result<std::unique_ptr<files::InputFile>> file = tl::make_unexpected(Failure{});
  impl_->state->run_together([&] {
    file = files::InputFile::open(impl_->state->file_comm(), path, options.backend, options.options);
  });
  return Reader(std::make_unique<Reader::Impl>(impl_->state, value_or_throw(std::move(file))));
}

std::shared_ptr<Memory> Session::allocate_bytes(std::size_t bytes) {
  auto memory = impl_->state->arrays()->allocate(bytes);
  if (!memory && memory.error().code == ErrorCode::no_memory) throw std::bad_alloc();
  return value_or_throw(in(std::move(memory), "allocate an array"));
}

void Session::end() {
  throw_if_failed(impl_->state->end());
}

Summary Session::summary() const {
  return impl_->state->summary();
}

void rename_file(const std::string& from, const std::string& to) {
  throw_if_failed(files::rename_file(from, to));
}

}  // namespace weir
