// A database as the store uses it: SQLite or PostgreSQL behind one small interface.
//
// Statements are written once for both: parameters are $1, $2, ...; ON CONFLICT and RETURNING are known to
// both. A statement is prepared when it is first used, and kept.
//
// Threads: a Database belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.hpp"

namespace weir::store {

struct Bytes {
  std::string_view bytes;
};

// NULL, a whole number, a real number, text, bytes. Text and bytes must live until the call returns.
using Value = std::variant<std::monostate, std::int64_t, double, std::string_view, Bytes>;

// A row of an answer; columns count from 0. Views are valid until the next row.
class Row {
 public:
  virtual ~Row() = default;
  virtual bool null(int column) const = 0;
  virtual std::int64_t integer(int column) const = 0;
  virtual double real(int column) const = 0;
  virtual std::string_view bytes(int column) const = 0;  // text too
  std::string text(int column) const { return std::string(bytes(column)); }
};

class Database {
 public:
  virtual ~Database() = default;

  // `each` may be empty, and must not use the database. Its first failure ends the query and is returned.
  using EachRow = std::function<Status(const Row&)>;
  virtual Status run(std::string_view statement, std::span<const Value> values, const EachRow& each) = 0;
  Status run(std::string_view statement, std::initializer_list<Value> values = {}, const EachRow& each = {}) {
    return run(statement, std::span<const Value>(values.begin(), values.size()), each);
  }
  virtual Status script(const std::string& statements) = 0;  // several, without values or answers

  // A transaction that writes keeps other writers waiting, at most for the patience the database was opened
  // with.
  virtual Status begin_write() = 0;
  virtual Status begin_read() = 0;  // all reads until the end see the same state
  virtual Status commit() = 0;
  virtual void rollback() noexcept = 0;
  // Inside a transaction that writes: others that ask for the same wait until its end. So at most one process
  // names new series, or sorts blocks, at a time.
  virtual Status lock() = 0;

  // Words in which the two differ.
  virtual std::string_view format() const = 0;      // "SQLite", "PostgreSQL"
  virtual std::string_view blob_type() const = 0;   // "BLOB", "BYTEA"
  virtual std::string_view serial_key() const = 0;  // a column that numbers itself
  virtual Result<std::uint64_t> size() = 0;         // bytes on disk
  virtual Result<bool> has_table(std::string_view name) = 0;
  // Turns what deleted rows left behind into free space for others.
  virtual Status give_back_space() = 0;
};

enum class Access;

// Refuses a file that is no SQLite database; with Access::create makes an empty one.
Result<std::unique_ptr<Database>> open_sqlite(const std::string& path, Access access);
Result<std::unique_ptr<Database>> open_postgresql(const std::string& address, Access access);

// Runs the body in a transaction; a failure undoes it.
template <class Body>
auto in_transaction(Database& database, Body&& body) -> decltype(body()) {
  WEIR_TRY(database.begin_write());
  auto result = guarded(body);
  if (!result) {
    database.rollback();
    return result;
  }
  if (Status done = database.commit(); !done) {
    database.rollback();
    return tl::make_unexpected(std::move(done).error());
  }
  return result;
}

}  // namespace weir::store
