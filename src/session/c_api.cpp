// The C interface over the C++ one: exceptions become codes, and a message kept per thread.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "core/box.hpp"
#include "core/options.hpp"
#include "core/types.hpp"
#include "version_info.hpp"
#include "weir/weir.h"
#include "weir/weir.hpp"

struct weir_session {
  weir::Session session;
};
struct weir_file {
  weir::File file;
};
struct weir_reader {
  weir::Reader reader;
};
struct weir_ticket {
  weir::Ticket ticket;
};
struct weir_memory {
  std::shared_ptr<weir::Memory> memory;
};

namespace {

using weir::Error;
using weir::ErrorCode;

thread_local std::string last_message;
thread_local std::string last_summary;

static_assert(static_cast<int>(weir::Policy::throttled) == WEIR_THROTTLED);

weir_status failed(weir_status status, const std::string& message) {
  last_message = message;
  return status;
}

// Runs the body; no exception leaves the C interface.
template <class Body>
weir_status as_status(Body&& body) noexcept {
  try {
    body();
    return WEIR_OK;
  } catch (const Error& error) {
    return failed(static_cast<weir_status>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return failed(WEIR_NO_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return failed(WEIR_STATE, error.what());
  }
}

void require(bool condition, const char* complaint) {
  if (!condition) throw Error(ErrorCode::invalid_argument, -1, complaint);
}

// Arguments that are wrong are passed on where a call is collective: refused there, they are a failure of all
// ranks alike.
weir::Type unchecked_type(weir_type type) {
  const int code = static_cast<int>(type);
  return static_cast<weir::Type>(code >= 0 && code <= 255 ? code : 255);
}

std::string text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

weir::Extent extent(const std::uint64_t* values, int dimensions) {
  if (dimensions < 0 || dimensions > static_cast<int>(weir::max_rank))
    return weir::Extent(weir::max_rank + 1, 1);
  return values == nullptr ? weir::Extent() : weir::Extent(values, values + dimensions);
}

std::optional<std::int64_t> optional_step(std::int64_t step) {
  return step == WEIR_NO_STEP ? std::nullopt : std::optional(step);
}

weir::FileOptions file_options(const weir_file_options* options) {
  weir::FileOptions result;
  if (options == nullptr) return result;
  if (options->backend != nullptr) result.backend = options->backend;
  if (options->options != nullptr) {
    // What cannot be split becomes the name of an option, and is refused as such.
    result.options = weir::split_options(options->options).value_or(weir::OptionMap{{options->options, ""}});
  }
  result.checksums = options->checksums != 0;
  result.fsync = options->fsync != 0;
  const int policy = static_cast<int>(options->policy);
  if (policy >= WEIR_AUTOMATIC && policy <= WEIR_THROTTLED) {
    result.policy = static_cast<weir::Policy>(policy);
  } else {
    result.options.insert({"policy", std::to_string(policy)});  // no backend has it: refused on all ranks
  }
  result.in_flight = options->in_flight;
  return result;
}

weir::Reduction reduction_of(const weir_reduction* reduction, int dimensions) {
  if (reduction == nullptr) return {};
  return {.operation = text_or_empty(reduction->operation),
          .steps = reduction->steps,
          .every = reduction->every == nullptr ? weir::Extent() : extent(reduction->every, dimensions)};
}

weir::SessionOptions session_options(const weir_session_options* options) {
  if (options == nullptr) return {};
  return {.mode = text_or_empty(options->mode),
          .mapping = text_or_empty(options->mapping),
          .compute_per_server = options->compute_per_server,
          .node_size = options->node_size,
          .budget = options->budget};
}

weir::Ticket write(weir_file* file, const char* name, weir_type type, const void* data,
                   weir::WriteOptions options) {
  require(file != nullptr, "the file is a null pointer");
  return file->file.write_elements(text_or_empty(name), unchecked_type(type), data, weir::as_needed, options);
}

const weir::Attribute& attribute_of(const weir_reader* reader, const char* variable, const char* name) {
  require(reader != nullptr && name != nullptr, "the reader or the name is a null pointer");
  std::vector<std::string> names;
  for (const weir::Attribute& attribute : reader->reader.attributes()) {
    if (attribute.variable != text_or_empty(variable)) continue;
    if (attribute.name == name) return attribute;
    names.push_back(attribute.name);
  }
  const std::string of = text_or_empty(variable);
  const std::string owner = of.empty() ? "the file" : "variable '" + of + "'";
  throw Error(ErrorCode::not_found, -1,
              owner + " has no attribute '" + name + "'" +
                  (names.empty() ? "; it has none" : weir::suggest(name, names)));
}

std::uint64_t numbers_of(const weir::Attribute& attribute) {
  return attribute.elements.size() / weir::size_of(attribute.type);
}

weir_summary as_c(const weir::Summary& known) {
  return {.files = known.files,
          .writes = known.writes,
          .bytes = known.bytes,
          .storing_seconds = known.storing_seconds,
          .sending_seconds = known.sending_seconds,
          .waiting_seconds = known.waiting_seconds,
          .closing_seconds = known.closing_seconds,
          .peak_memory = known.peak_memory,
          .transport_bytes = known.transport_bytes,
          .transport_seconds = known.transport_seconds,
          .stored_bytes = known.stored_bytes};
}

const char* show(const weir::Summary& known) {
  last_summary = known.text();
  return last_summary.c_str();
}

}  // namespace

const char* weir_message(void) {
  return last_message.c_str();
}
const char* weir_version(void) {
  return weir::version_text;
}

weir_status weir_init(MPI_Comm comm, weir_session** session) {
  return weir_init_with(comm, nullptr, session);
}

weir_status weir_init_with(MPI_Comm comm, const weir_session_options* options, weir_session** session) {
  return as_status([&] {
    require(session != nullptr, "the place for the session is a null pointer");
    *session = nullptr;
    *session = new weir_session{weir::Session(comm, session_options(options))};
  });
}

weir_status weir_init_f(MPI_Fint comm, const weir_session_options* options, weir_session** session) {
  return weir_init_with(MPI_Comm_f2c(comm), options, session);
}

weir_status weir_compute_comm_f(const weir_session* session, MPI_Fint* comm) {
  return as_status([&] {
    require(session != nullptr && comm != nullptr,
            "the session or the place for the communicator is a null pointer");
    *comm = MPI_Comm_c2f(session->session.compute());
  });
}

weir_status weir_get_summary(const weir_session* session, weir_summary* summary) {
  return as_status([&] {
    require(session != nullptr && summary != nullptr,
            "the session or the place for the summary is a null pointer");
    *summary = as_c(session->session.summary());
  });
}

weir_status weir_summary_text(const weir_session* session, const char** text) {
  return as_status([&] {
    require(session != nullptr && text != nullptr, "the session or the place for the text is a null pointer");
    *text = show(session->session.summary());
  });
}

weir_status weir_allocate(weir_session* session, uint64_t bytes, weir_memory** memory, void** data) {
  return as_status([&] {
    require(session != nullptr && memory != nullptr && data != nullptr,
            "the session or the place for the memory is a null pointer");
    *memory = nullptr;
    *memory = new weir_memory{session->session.allocate_bytes(bytes)};
    *data = (*memory)->memory->data();
  });
}

weir_status weir_fresh(weir_memory* memory, void** data) {
  return as_status([&] {
    require(memory != nullptr && data != nullptr,
            "the memory or the place for its address is a null pointer");
    *data = memory->memory->fresh();
  });
}

weir_status weir_free(weir_memory** memory) {
  return as_status([&] {
    if (memory == nullptr) return;
    delete *memory;
    *memory = nullptr;
  });
}

weir_status weir_compute_comm(const weir_session* session, MPI_Comm* comm) {
  return as_status([&] {
    require(session != nullptr && comm != nullptr,
            "the session or the place for the communicator is a null pointer");
    *comm = session->session.compute();
  });
}

weir_status weir_finalize(weir_session** session) {
  return weir_finalize_with(session, nullptr, nullptr);
}

weir_status weir_finalize_with(weir_session** session, weir_summary* summary, const char** text) {
  if (summary != nullptr) *summary = {};
  if (text != nullptr) *text = "";
  return as_status([&] {
    if (session == nullptr || *session == nullptr) return;
    const std::unique_ptr<weir_session> owned(*session);
    *session = nullptr;
    const auto tell = [&] {
      const weir::Summary known = owned->session.summary();
      if (summary != nullptr) *summary = as_c(known);
      if (text != nullptr) *text = show(known);
    };
    try {
      owned->session.end();
    } catch (const weir::Error&) {
      tell();
      throw;
    }
    tell();
  });
}

weir_status weir_create(weir_session* session, const char* path, const weir_file_options* options,
                        weir_file** file) {
  return as_status([&] {
    require(session != nullptr && file != nullptr, "the session or the place for the file is a null pointer");
    *file = nullptr;
    *file = new weir_file{session->session.create(text_or_empty(path), file_options(options))};
  });
}

weir_status weir_write(weir_file* file, const char* name, weir_type type, const void* data, int dimensions,
                       const uint64_t* shape, const uint64_t* offset, const uint64_t* count, int64_t step,
                       weir_ticket** ticket) {
  return weir_write_reduced(file, name, type, data, dimensions, shape, offset, count, step, nullptr, ticket);
}

weir_status weir_write_reduced(weir_file* file, const char* name, weir_type type, const void* data,
                               int dimensions, const uint64_t* shape, const uint64_t* offset,
                               const uint64_t* count, int64_t step, const weir_reduction* reduction,
                               weir_ticket** ticket) {
  if (ticket != nullptr) *ticket = nullptr;
  return as_status([&] {
    weir::Ticket pending = write(file, name, type, data,
                                 {.shape = extent(shape, dimensions),
                                  .offset = extent(offset, dimensions),
                                  .count = extent(count, dimensions),
                                  .step = optional_step(step),
                                  .reduce = reduction_of(reduction, dimensions)});
    if (ticket != nullptr) {
      *ticket = new weir_ticket{std::move(pending)};
    } else {
      pending.wait_stored();
    }
  });
}

weir_status weir_write_independent(weir_file* file, const char* name, weir_type type, const void* data,
                                   int dimensions, const uint64_t* shape, const uint64_t* offset,
                                   const uint64_t* count, int64_t step) {
  return as_status([&] {
    write(file, name, type, data,
          {.shape = extent(shape, dimensions),
           .offset = extent(offset, dimensions),
           .count = extent(count, dimensions),
           .step = optional_step(step),
           .independent = true})
        .wait_stored();
  });
}

weir_status weir_reserve(weir_file* file, const char* name, weir_type type, int dimensions,
                         const uint64_t* shape, int64_t step) {
  return as_status([&] {
    require(file != nullptr, "the file is a null pointer");
    file->file.reserve(text_or_empty(name), unchecked_type(type), extent(shape, dimensions),
                       optional_step(step));
  });
}

weir_status weir_test(weir_ticket* ticket, int* done) {
  return as_status([&] {
    require(ticket != nullptr && done != nullptr, "the ticket or the place for the answer is a null pointer");
    *done = ticket->ticket.test() ? 1 : 0;
  });
}

weir_status weir_stored(weir_ticket* ticket, int* done) {
  return as_status([&] {
    require(ticket != nullptr && done != nullptr, "the ticket or the place for the answer is a null pointer");
    *done = ticket->ticket.stored() ? 1 : 0;
  });
}

weir_status weir_wait(weir_ticket** ticket) {
  return as_status([&] {
    if (ticket == nullptr || *ticket == nullptr) return;
    const std::unique_ptr<weir_ticket> owned(*ticket);
    *ticket = nullptr;
    owned->ticket.wait();
  });
}

weir_status weir_wait_stored(weir_ticket** ticket) {
  return as_status([&] {
    if (ticket == nullptr || *ticket == nullptr) return;
    const std::unique_ptr<weir_ticket> owned(*ticket);
    *ticket = nullptr;
    owned->ticket.wait_stored();
  });
}

weir_status weir_copy_ticket(const weir_ticket* ticket, weir_ticket** copy) {
  return as_status([&] {
    require(ticket != nullptr && copy != nullptr, "the ticket or the place for its copy is a null pointer");
    *copy = nullptr;
    *copy = new weir_ticket{ticket->ticket};
  });
}

weir_status weir_drop(weir_ticket** ticket) {
  return as_status([&] {
    if (ticket == nullptr) return;
    delete *ticket;
    *ticket = nullptr;
  });
}

weir_status weir_set_text(weir_file* file, const char* variable, const char* name, const char* text) {
  return as_status([&] {
    require(file != nullptr, "the file is a null pointer");
    file->file.set_variable_attribute(text_or_empty(variable), text_or_empty(name), text_or_empty(text));
  });
}

weir_status weir_set_numbers(weir_file* file, const char* variable, const char* name, weir_type type,
                             const void* elements, uint64_t count) {
  return as_status([&] {
    require(file != nullptr, "the file is a null pointer");
    file->file.set_variable_attribute(text_or_empty(variable), text_or_empty(name), unchecked_type(type),
                                      elements, count);
  });
}

weir_status weir_close(weir_file** file) {
  return as_status([&] {
    if (file == nullptr || *file == nullptr) return;
    const std::unique_ptr<weir_file> owned(*file);
    *file = nullptr;
    owned->file.close();
  });
}

weir_status weir_close_later(weir_file** file, weir_ticket** ticket) {
  if (ticket != nullptr) *ticket = nullptr;
  return as_status([&] {
    if (file == nullptr || *file == nullptr) return;
    const std::unique_ptr<weir_file> owned(*file);
    *file = nullptr;
    weir::Ticket closing = owned->file.close_later();
    if (ticket != nullptr) *ticket = new weir_ticket{std::move(closing)};
  });
}

weir_status weir_give_up(weir_file** file) {
  return as_status([&] {
    if (file == nullptr || *file == nullptr) return;
    const std::unique_ptr<weir_file> owned(*file);
    *file = nullptr;
    owned->file.give_up();
  });
}

weir_status weir_open(weir_session* session, const char* path, const weir_file_options* options,
                      weir_reader** reader) {
  return as_status([&] {
    require(session != nullptr && reader != nullptr,
            "the session or the place for the reader is a null pointer");
    *reader = nullptr;
    *reader = new weir_reader{session->session.open(text_or_empty(path), file_options(options))};
  });
}

weir_status weir_inquire(const weir_reader* reader, const char* name, weir_type* type, int* dimensions,
                         uint64_t* shape, uint64_t* steps) {
  return as_status([&] {
    require(reader != nullptr && name != nullptr, "the reader or the name is a null pointer");
    const weir::VariableInfo& info = reader->reader.variable(name);
    if (type != nullptr) *type = static_cast<weir_type>(info.type);
    if (steps != nullptr) *steps = info.steps.size();
    if (dimensions == nullptr) return;
    const int room = *dimensions;
    *dimensions = static_cast<int>(info.shape.size());
    if (shape == nullptr) return;
    require(room >= *dimensions, "the room for the shape is smaller than the number of dimensions");
    std::memcpy(shape, info.shape.data(), info.shape.size() * sizeof(std::uint64_t));
  });
}

weir_status weir_variable_name(const weir_reader* reader, uint64_t index, const char** name) {
  return as_status([&] {
    require(reader != nullptr && name != nullptr, "the reader or the place for the name is a null pointer");
    const auto& variables = reader->reader.variables();
    if (index >= variables.size())
      throw Error(ErrorCode::not_found, -1, "the file has no array of this number; count from 0");
    *name = variables[index].name.c_str();
  });
}

weir_status weir_steps(const weir_reader* reader, const char* name, int64_t* steps, uint64_t room) {
  return as_status([&] {
    require(reader != nullptr && name != nullptr, "the reader or the name is a null pointer");
    const weir::VariableInfo& info = reader->reader.variable(name);
    require(room >= info.steps.size() && (steps != nullptr || info.steps.empty()),
            "the room for the steps is smaller than their number");
    std::copy(info.steps.begin(), info.steps.end(), steps);
  });
}

weir_status weir_attribute_name(const weir_reader* reader, uint64_t index, const char** variable,
                                const char** name) {
  return as_status([&] {
    require(reader != nullptr && variable != nullptr && name != nullptr,
            "the reader or a place for the names is a null pointer");
    const auto& attributes = reader->reader.attributes();
    if (index >= attributes.size())
      throw Error(ErrorCode::not_found, -1, "the file has no attribute of this number; count from 0");
    *variable = attributes[index].variable.empty() ? nullptr : attributes[index].variable.c_str();
    *name = attributes[index].name.c_str();
  });
}

weir_status weir_inquire_attribute(const weir_reader* reader, const char* variable, const char* name,
                                   int* is_text, weir_type* type, uint64_t* count) {
  return as_status([&] {
    const weir::Attribute& attribute = attribute_of(reader, variable, name);
    if (is_text != nullptr) *is_text = attribute.is_text ? 1 : 0;
    if (type != nullptr) *type = static_cast<weir_type>(attribute.type);
    if (count != nullptr) *count = attribute.is_text ? attribute.text.size() : numbers_of(attribute);
  });
}

weir_status weir_get_text(const weir_reader* reader, const char* variable, const char* name,
                          const char** text) {
  return as_status([&] {
    require(text != nullptr, "the place for the text is a null pointer");
    const weir::Attribute& attribute = attribute_of(reader, variable, name);
    require(attribute.is_text, "the attribute holds numbers, not a text");
    *text = attribute.text.c_str();
  });
}

weir_status weir_get_numbers(const weir_reader* reader, const char* variable, const char* name,
                             weir_type type, void* elements, uint64_t room) {
  return as_status([&] {
    const weir::Attribute& attribute = attribute_of(reader, variable, name);
    require(!attribute.is_text, "the attribute holds a text, not numbers");
    if (attribute.type != unchecked_type(type))
      throw Error(ErrorCode::invalid_argument, -1,
                  "the attribute holds " + std::string(weir::name_of(attribute.type)) + ", the room is for " +
                      std::string(weir::name_of(unchecked_type(type))));
    require(room >= numbers_of(attribute) && (elements != nullptr || attribute.elements.empty()),
            "the room for the numbers is smaller than their count");
    std::copy(attribute.elements.begin(), attribute.elements.end(), static_cast<std::byte*>(elements));
  });
}

weir_status weir_read(weir_reader* reader, const char* name, weir_type type, void* data, int dimensions,
                      const uint64_t* offset, const uint64_t* count, int64_t step) {
  return as_status([&] {
    require(reader != nullptr, "the reader is a null pointer");
    reader->reader.read_elements(text_or_empty(name), unchecked_type(type), data, weir::as_needed,
                                 {.offset = extent(offset, dimensions),
                                  .count = extent(count, dimensions),
                                  .step = optional_step(step)});
  });
}

weir_status weir_close_reader(weir_reader** reader) {
  return as_status([&] {
    if (reader == nullptr || *reader == nullptr) return;
    const std::unique_ptr<weir_reader> owned(*reader);
    *reader = nullptr;
    owned->reader.close();
  });
}
