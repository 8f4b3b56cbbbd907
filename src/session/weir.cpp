// The C++ interface over OutputFile and InputFile: failures become exceptions.
#include "weir/weir.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "files/input_file.hpp"
#include "files/output_file.hpp"
#include "plan/plan_json.hpp"

namespace weir {

namespace {

void throw_if_failed(const Status& status) {
  if (!status) throw status.error().to_exception();
}

// The file behind a handle; a handle that was moved from has none.
template <class Impl>
auto& opened(const std::unique_ptr<Impl>& impl) {
  if (!impl) throw Error(ErrorCode::state, -1, "use a file: it was moved to another variable");
  return *impl->file;
}

template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw result.error().to_exception();
  return std::move(result).value();
}

// The plan that `weir run` or the user put into the environment; without one, the plan that changes nothing.
Result<Plan> plan_of_environment() {
  const char* path = std::getenv("WEIR_PLAN");
  if (path == nullptr || *path == '\0') return Plan();
  WEIR_ASSIGN(Plan plan, load_plan(path));
  if (plan.mode != Mode::synchronous) {
    return in(Result<Plan>(fail(ErrorCode::unsupported,
                                fmt::format("mode '{}' is not part of this version", to_string(plan.mode)),
                                "use a plan with mode 'synchronous'")),
              "use plan", path);
  }
  return plan;
}

bool mpi_is_running() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

}  // namespace

struct Ticket::State {
  Status status;
  bool seen = false;
};

Ticket::Ticket() : state_(std::make_shared<State>()) {}

bool Ticket::test() {
  return true;
}

bool Ticket::stored() {
  return true;
}

void Ticket::wait_stored() {
  wait();
}

void Ticket::wait() {
  state_->seen = true;
  throw_if_failed(state_->status);
}

struct File::Impl {
  std::unique_ptr<files::OutputFile> file;
  std::vector<std::shared_ptr<Ticket::State>> failed;  // tickets whose failure the program may not have seen

  std::optional<Failure> unseen() const {
    for (const auto& state : failed) {
      if (!state->seen) return state->status.error();
    }
    return std::nullopt;
  }

  // The end of scope without close(): the ordinary end of a block on all ranks, or an exception on this one.
  void leave_scope() noexcept {
    if (!file || !file->is_open()) return;
    try {
      if (std::uncaught_exceptions() > 0 || (!file->comm().is_serial() && !mpi_is_running())) {
        fmt::print(stderr,
                   "weir: {}: given up, since it was not closed before an exception or MPI_Finalize\n",
                   file->path());
        return;
      }
      if (const Status closed = file->close(unseen()); !closed)
        fmt::print(stderr, "weir: {}\n", closed.error().message());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "weir: while closing a file: %s\n", error.what());
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

Ticket File::write_elements(const std::string& name, Type type, const void* data, std::uint64_t elements,
                            const WriteOptions& options) {
  auto state = std::make_shared<Ticket::State>();
  state->status = opened(impl_).write({.name = name,
                                       .type = type,
                                       .shape = options.shape,
                                       .offset = options.offset,
                                       .count = options.count,
                                       .step = options.step,
                                       .data = static_cast<const std::byte*>(data),
                                       .elements = elements,
                                       .independent = options.independent,
                                       .reduce = options.reduce});
  if (!state->status) impl_->failed.push_back(state);
  return Ticket(std::move(state));
}

void File::reserve(const std::string& name, Type type, const Extent& shape,
                   std::optional<std::int64_t> step) {
  throw_if_failed(opened(impl_).reserve(name, type, shape, step));
}

void File::set_attribute(const std::string& name, const std::string& text) {
  set_variable_attribute("", name, text);
}

void File::set_attribute(const std::string& name, Type type, const void* elements, std::uint64_t count) {
  set_variable_attribute("", name, type, elements, count);
}

void File::set_variable_attribute(const std::string& variable, const std::string& name,
                                  const std::string& text) {
  throw_if_failed(opened(impl_).set_attribute({.variable = variable, .name = name, .value = text}));
}

void File::set_variable_attribute(const std::string& variable, const std::string& name, Type type,
                                  const void* elements, std::uint64_t count) {
  Values values{.type = type, .bytes = std::vector<std::byte>(count * size_of(type))};
  if (count > 0) std::memcpy(values.bytes.data(), elements, values.bytes.size());
  throw_if_failed(
      opened(impl_).set_attribute({.variable = variable, .name = name, .value = std::move(values)}));
}

void File::close() {
  throw_if_failed(opened(impl_).close(impl_->unseen()));
}

struct Reader::Impl {
  std::unique_ptr<files::InputFile> file;
  std::vector<VariableInfo> variables;
  std::vector<Attribute> attributes;

  explicit Impl(std::unique_ptr<files::InputFile> opened) : file(std::move(opened)) {
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
Reader::~Reader() = default;

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
  throw_if_failed(opened(impl_).read({.name = name,
                                      .type = type,
                                      .offset = options.offset,
                                      .count = options.count,
                                      .step = options.step,
                                      .data = static_cast<std::byte*>(data),
                                      .elements = elements,
                                      .independent = options.independent}));
}

void Reader::close() {
  throw_if_failed(opened(impl_).close());
}

struct Session::Impl {
  mpi::Comm comm = mpi::Comm::serial();
  Plan plan;
};

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Session::Session(MPI_Comm comm, const SessionOptions&) : impl_(std::make_unique<Impl>()) {
  if (!mpi_is_running()) {
    throw Error(
        ErrorCode::state, -1,
        "start a session: MPI is not initialised; call MPI_Init first, or use weir::Session::serial()");
  }
  impl_->comm = mpi::Comm::duplicate(comm);
  value_or_throw(mpi::agree(impl_->comm, mpi::patience_of_environment()));
  auto plan = plan_of_environment();
  if (plan && plan->ranks != 0) {
    if (Status fits = check(*plan, static_cast<std::uint32_t>(impl_->comm.size())); !fits)
      plan = tl::make_unexpected(fits.error());
  }
  impl_->plan = value_or_throw(in(mpi::agree(impl_->comm, std::move(plan)), "use the plan of WEIR_PLAN"));
}

Session Session::serial() {
  auto impl = std::make_unique<Impl>();
  impl->plan = value_or_throw(plan_of_environment());
  return Session(std::move(impl));
}

Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

MPI_Comm Session::compute() const {
  if (impl_->comm.is_serial())
    throw Error(ErrorCode::state, -1, "ask for the communicator: this session is serial");
  return impl_->comm.get();
}

File Session::create(const std::string& path, const FileOptions& options) {
  files::CreateOptions wanted{options.backend, options.options, options.checksums, options.fsync};
  if (wanted.backend.empty() && !impl_->plan.backend.name.empty()) {
    wanted.backend = impl_->plan.backend.name;
    // What the program says about its backend's options holds; the plan fills in the rest.
    wanted.options.insert(impl_->plan.backend.options.begin(), impl_->plan.backend.options.end());
  }
  auto file = std::make_unique<File::Impl>();
  file->file = value_or_throw(files::OutputFile::create(impl_->comm, path, wanted));
  return File(std::move(file));
}

Reader Session::open(const std::string& path, const FileOptions& options) {
  auto file = value_or_throw(files::InputFile::open(impl_->comm, path, options.backend, options.options));
  return Reader(std::make_unique<Reader::Impl>(std::move(file)));
}

namespace {

class PageAligned final : public Memory {
 public:
  explicit PageAligned(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    if (bytes > SIZE_MAX - 2 * page) throw std::bad_alloc();
    const std::size_t rounded = (bytes / page + 1) * page;
    memory_ = std::aligned_alloc(page, rounded);
    if (memory_ == nullptr) throw std::bad_alloc();
    std::memset(memory_, 0, rounded);
  }
  ~PageAligned() override { std::free(memory_); }
  void* data() const override { return memory_; }
  void* fresh() override { return memory_; }

 private:
  void* memory_;
};

}  // namespace

std::shared_ptr<Memory> Session::allocate_bytes(std::size_t bytes) {
  return std::make_shared<PageAligned>(bytes);
}

void Session::end() {}

Summary Session::summary() const {
  return {};
}

}  // namespace weir
