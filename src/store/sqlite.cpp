#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "core/file.hpp"
#include "store/database.hpp"
#include "store/store.hpp"

namespace weir::store {

namespace {

namespace fs = std::filesystem;

constexpr int patience_ms = 60'000;  // for other writers

class SqliteRow : public Row {
 public:
  explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}
  bool null(int column) const override { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::int64_t integer(int column) const override { return sqlite3_column_int64(statement_, column); }
  double real(int column) const override { return sqlite3_column_double(statement_, column); }
  std::string_view bytes(int column) const override {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    return {data, data == nullptr ? 0 : static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }

 private:
  sqlite3_stmt* statement_;
};

class Sqlite : public Database {
 public:
  Sqlite(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  ~Sqlite() override {
    for (const auto& [text, statement] : statements_) sqlite3_finalize(statement);
    sqlite3_close(handle_);
  }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  Status run(std::string_view text, std::span<const Value> values, const EachRow& each) override {
    WEIR_ASSIGN(sqlite3_stmt* const statement, prepared(text));
    struct Reset {
      sqlite3_stmt* statement;
      ~Reset() {
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
      }
    } const reset{statement};
    for (std::size_t i = 0; i < values.size(); ++i) bind(statement, static_cast<int>(i), values[i]);
    const SqliteRow row(statement);
    while (true) {
      const int code = sqlite3_step(statement);
      if (code == SQLITE_DONE) return {};
      if (code != SQLITE_ROW) return failure(code);
      if (each) WEIR_TRY(each(row));
    }
  }

  Status script(const std::string& statements) override {
    const int code = sqlite3_exec(handle_, statements.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return failure(code);
    return {};
  }

  Status begin_write() override { return script("BEGIN IMMEDIATE"); }
  Status begin_read() override { return script("BEGIN"); }
  Status commit() override { return script("COMMIT"); }
  void rollback() noexcept override {
    // SQLite may have done so itself, when the disk is full for instance.
    if (sqlite3_get_autocommit(handle_) == 0) sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  Status lock() override { return {}; }  // every transaction that writes is alone

  std::string_view format() const override { return "SQLite"; }
  std::string_view blob_type() const override { return "BLOB"; }
  std::string_view serial_key() const override { return "INTEGER PRIMARY KEY AUTOINCREMENT"; }
  Result<std::uint64_t> size() override {
    std::error_code error;
    std::uint64_t bytes = fs::file_size(path_, error);
    if (error) return fail_errno(error.value(), "look at the size", path_);
    // What was written lately is still in the log beside the file.
    if (const auto log = fs::file_size(path_ + "-wal", error); !error) bytes += log;
    return bytes;
  }
  Result<bool> has_table(std::string_view name) override {
    bool found = false;
    WEIR_TRY(run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1", std::vector<Value>{name},
                 [&](const Row&) -> Status {
                   found = true;
                   return {};
                 }));
    return found;
  }
  Status give_back_space() override {
    WEIR_TRY(script("PRAGMA incremental_vacuum"));
    return script("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  tl::unexpected<Failure> failure(int code) const {
    Failure failure{.code = ErrorCode::io, .cause = sqlite3_errmsg(handle_), .object = path_};
    // Where there is no room for its helpers SQLite speaks of an error of the disk.
    constexpr std::uint64_t little = 65536;
    const bool full = (code & 0xff) == SQLITE_IOERR && free_space(path_) < little;
    switch (full ? SQLITE_FULL : code & 0xff) {
      case SQLITE_FULL:
        failure.cause = "No space left on device";
        failure.advice = "free some space; what was acknowledged before is safe";
        break;
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        failure.cause = "another process kept the store locked for a minute";
        failure.advice = "try again when it is done";
        break;
      case SQLITE_READONLY:
      case SQLITE_PERM:
        failure.advice = "open it for reading only, or get permission to write to it";
        break;
      case SQLITE_NOTADB:
        failure.code = ErrorCode::corrupt;
        failure.cause = "this is no store: it is not a SQLite database";
        failure.advice = "give the path of a store, or of a file that does not exist yet";
        break;
      case SQLITE_CORRUPT:
        failure.code = ErrorCode::corrupt;
        failure.advice = "restore the store from a copy";
        break;
      case SQLITE_NOMEM:
        failure.code = ErrorCode::no_memory;
        break;
      default:
        break;
    }
    return tl::make_unexpected(std::move(failure));
  }

 private:
  Result<sqlite3_stmt*> prepared(std::string_view text) {
    if (const auto found = statements_.find(text); found != statements_.end()) return found->second;
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(handle_, text.data(), static_cast<int>(text.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return failure(code);
    statements_.emplace(text, statement);
    return statement;
  }

  // "$2" is a name to SQLite, numbered by where it first stands.
  static void bind(sqlite3_stmt* statement, int i, const Value& value) {
    const std::string name = '$' + std::to_string(i + 1);
    const int at = sqlite3_bind_parameter_index(statement, name.c_str());
    struct Binder {
      sqlite3_stmt* statement;
      int at;
      void operator()(std::monostate) const { sqlite3_bind_null(statement, at); }
      void operator()(std::int64_t number) const { sqlite3_bind_int64(statement, at, number); }
      void operator()(double number) const { sqlite3_bind_double(statement, at, number); }
      void operator()(std::string_view text) const {
        sqlite3_bind_text64(statement, at, text.data() == nullptr ? "" : text.data(), text.size(),
                            SQLITE_STATIC, SQLITE_UTF8);
      }
      void operator()(const Bytes& bytes) const {
        sqlite3_bind_blob64(statement, at, bytes.bytes.data(), bytes.bytes.size(), SQLITE_STATIC);
      }
    };
    std::visit(Binder{statement, at}, value);
  }

  std::string path_;
  sqlite3* handle_;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

// A path as SQLite's URI wants it, so that no character of it has a meaning.
std::string uri_of(const std::string& path, std::string_view query) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + std::string(query);
}

Result<std::unique_ptr<Sqlite>> attempt(const std::string& path, std::string_view query, int flags) {
  sqlite3* handle = nullptr;
  const std::string uri = uri_of(path, query);
  const int code =
      sqlite3_open_v2(uri.c_str(), &handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  if (handle == nullptr) return fail(ErrorCode::no_memory, "out of memory");
  auto database = std::make_unique<Sqlite>(path, handle);
  sqlite3_extended_result_codes(handle, 1);
  if (code != SQLITE_OK) return database->failure(code);
  sqlite3_busy_timeout(handle, patience_ms);
  // The first look at the file: is it a database, and can it be read?
  WEIR_TRY(database->script("PRAGMA schema_version"));
  return database;
}

}  // namespace

Result<std::unique_ptr<Database>> open_sqlite(const std::string& path, Access access) {
  if (access != Access::create) {
    if (::access(path.c_str(), F_OK) != 0) return fail_errno(errno, "open store", path);
    if (::access(path.c_str(), R_OK) != 0) return fail_errno(errno, "open store", path);
  }
  if (access == Access::read) {
    // Readers of a store that is being written need to leave marks beside it. Where that is not possible
    // nobody writes either, and SQLite need not care.
    auto database = attempt(path, "?mode=ro", SQLITE_OPEN_READONLY);
    if (!database && database.error().code == ErrorCode::io)
      database = attempt(path, "?immutable=1", SQLITE_OPEN_READONLY);
    if (!database) return tl::make_unexpected(std::move(database).error());
    WEIR_TRY((*database)->script("PRAGMA mmap_size = 1073741824"));
    return std::unique_ptr<Database>(std::move(*database));
  }
  if (access == Access::create && ::access(path.c_str(), F_OK) != 0) {
    const fs::path folder = fs::path(path).parent_path();
    if (std::error_code error; !folder.empty() && !fs::is_directory(folder, error))
      return fail_errno(ENOENT, "create store", path);
  }
  auto database =
      attempt(path, "", SQLITE_OPEN_READWRITE | (access == Access::create ? SQLITE_OPEN_CREATE : 0));
  if (!database) return tl::make_unexpected(std::move(database).error());
  // The log beside the file lets readers go on while one writes; FULL makes a commit wait for the disk.
  WEIR_TRY(
      (*database)->script("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA page_size = 8192;"
                          "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                          "PRAGMA journal_size_limit = 67108864; PRAGMA mmap_size = 1073741824"));
  return std::unique_ptr<Database>(std::move(*database));
}

}  // namespace weir::store
