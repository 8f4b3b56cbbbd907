#include <fmt/format.h>
#include <libpq-fe.h>

#include <bit>
#include <cstring>
#include <map>

#include "store/database.hpp"
#include "store/store.hpp"

namespace weir::store {

namespace {

// Object ids of types, fixed since long ago.
constexpr Oid bytea_type = 17, bigint_type = 20, text_type = 25, double_type = 701;

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, Clear>;

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

std::string to_big_endian(std::uint64_t number) {
  std::string bytes(8, 0);
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (56 - 8 * i));
  return bytes;
}

class PostgresqlRow : public Row {
 public:
  explicit PostgresqlRow(const PGresult* result) : result_(result) {}
  bool null(int column) const override { return PQgetisnull(result_, 0, column) != 0; }
  std::int64_t integer(int column) const override {
    const std::string_view raw = bytes(column);
    const std::uint64_t number = big_endian(raw);
    if (raw.size() == 4) return static_cast<std::int32_t>(number);
    return static_cast<std::int64_t>(number);
  }
  double real(int column) const override { return std::bit_cast<double>(big_endian(bytes(column))); }
  std::string_view bytes(int column) const override {
    return {PQgetvalue(result_, 0, column), static_cast<std::size_t>(PQgetlength(result_, 0, column))};
  }

 private:
  const PGresult* result_;
};

std::string without_newline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

class Postgresql : public Database {
 public:
  Postgresql(std::string name, PGconn* connection, bool read_only)
      : name_(std::move(name)), connection_(connection), read_only_(read_only) {}
  ~Postgresql() override { PQfinish(connection_); }
  Postgresql(const Postgresql&) = delete;
  Postgresql& operator=(const Postgresql&) = delete;

  Status run(std::string_view text, std::span<const Value> values, const EachRow& each) override {
    WEIR_TRY(connect_again());
    Parameters parameters(values);
    WEIR_ASSIGN(const std::string statement, prepared(text, parameters.types));
    if (PQsendQueryPrepared(connection_, statement.c_str(), static_cast<int>(values.size()),
                            parameters.data.data(), parameters.lengths.data(), parameters.formats.data(),
                            1) == 0)
      return failure(nullptr);
    PQsetSingleRowMode(connection_);  // an answer may be larger than memory
    Status status;
    while (Answer answer{PQgetResult(connection_)}) {
      const ExecStatusType kind = PQresultStatus(answer.get());
      if (kind == PGRES_SINGLE_TUPLE) {
        if (status && each) {
          status = each(PostgresqlRow(answer.get()));
          if (!status) cancel();  // the rest of the answer is passed over
        }
      } else if (kind != PGRES_TUPLES_OK && kind != PGRES_COMMAND_OK && status) {
        status = failure(answer.get());
      }
    }
    return status;
  }

  Status script(const std::string& statements) override {
    WEIR_TRY(connect_again());
    return simple(statements);
  }

  Status begin_write() override {
    WEIR_TRY(connect_again());
    WEIR_TRY(simple("BEGIN"));
    in_transaction_ = true;
    return {};
  }
  Status begin_read() override {
    WEIR_TRY(connect_again());
    WEIR_TRY(simple("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
    in_transaction_ = true;
    return {};
  }
  Status commit() override {
    Status done = simple("COMMIT");
    in_transaction_ = false;
    return done;
  }
  void rollback() noexcept override {
    in_transaction_ = false;
    const Answer answer(PQexec(connection_, "ROLLBACK"));
  }
  Status lock() override {
    // Any number will do that other programs in the same database do not use: "weir" as bytes.
    return Database::run("SELECT pg_advisory_xact_lock(2003134834)", {}, {});
  }

  std::string_view format() const override { return "PostgreSQL"; }
  std::string_view blob_type() const override { return "BYTEA"; }
  std::string_view serial_key() const override { return "BIGSERIAL PRIMARY KEY"; }
  Result<std::uint64_t> size() override {
    std::uint64_t bytes = 0;
    WEIR_TRY(
        Database::run("SELECT CAST(SUM(pg_total_relation_size(c.oid)) AS BIGINT) FROM pg_class c "
                      "WHERE c.relkind = 'r' AND c.relname LIKE 'weir\\_%'",
                      {}, [&](const Row& row) -> Status {
                        bytes = row.null(0) ? 0 : static_cast<std::uint64_t>(row.integer(0));
                        return {};
                      }));
    return bytes;
  }
  Result<bool> has_table(std::string_view name) override {
    bool found = false;
    WEIR_TRY(Database::run("SELECT to_regclass($1::text) IS NOT NULL", {name}, [&](const Row& row) -> Status {
      found = row.bytes(0) == std::string_view("\1", 1);
      return {};
    }));
    return found;
  }
  Status give_back_space() override { return {}; }  // its own vacuum does

  Status open() {
    if (PQstatus(connection_) != CONNECTION_OK) return failure(nullptr);
    return settle();
  }

 private:
  struct Parameters {
    explicit Parameters(std::span<const Value> values) : texts(values.size()) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::visit([&](const auto& value) { add(texts[i], value); }, values[i]);
      }
    }
    void add(std::string&, std::monostate) { push(0, nullptr, 0); }
    void add(std::string& kept, std::int64_t number) {
      kept = to_big_endian(static_cast<std::uint64_t>(number));
      push(bigint_type, kept.data(), 8);
    }
    void add(std::string& kept, double number) {
      kept = to_big_endian(std::bit_cast<std::uint64_t>(number));
      push(double_type, kept.data(), 8);
    }
    void add(std::string&, std::string_view text) {
      push(text_type, text.data() == nullptr ? "" : text.data(), text.size());
    }
    void add(std::string&, const Bytes& bytes) {
      push(bytea_type, bytes.bytes.data() == nullptr ? "" : bytes.bytes.data(), bytes.bytes.size());
    }
    void push(Oid type, const char* pointer, std::size_t length) {
      types.push_back(type);
      data.push_back(pointer);
      lengths.push_back(static_cast<int>(length));
      formats.push_back(1);
    }
    std::vector<std::string> texts;
    std::vector<Oid> types;
    std::vector<const char*> data;
    std::vector<int> lengths, formats;
  };

  // The server may have been away; statements and settings are then gone. Not inside a transaction: what was
  // done in it is lost, and its caller has to know.
  Status connect_again() {
    if (PQstatus(connection_) == CONNECTION_OK) return {};
    if (in_transaction_) return failure(nullptr);
    PQreset(connection_);
    statements_.clear();
    return open();
  }

  Status settle() {
    WEIR_TRY(
        simple("SET client_encoding = 'UTF8'; SET client_min_messages = warning; SET lock_timeout = '60s'"));
    if (read_only_) return simple("SET default_transaction_read_only = on");
    // A commit waits for the disk, whatever the site's default is; a stricter one stays.
    return simple(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = "
        "'off'");
  }

  Status simple(const std::string& statements) {
    const Answer answer(PQexec(connection_, statements.c_str()));
    const ExecStatusType kind = PQresultStatus(answer.get());
    if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK && kind != PGRES_EMPTY_QUERY)
      return failure(answer.get());
    return {};
  }

  Result<std::string> prepared(std::string_view text, const std::vector<Oid>& types) {
    if (const auto found = statements_.find(text); found != statements_.end()) return found->second;
    const std::string name = "s" + std::to_string(statements_.size());
    const Answer answer(PQprepare(connection_, name.c_str(), std::string(text).c_str(),
                                  static_cast<int>(types.size()), types.data()));
    if (PQresultStatus(answer.get()) != PGRES_COMMAND_OK) return failure(answer.get());
    statements_.emplace(text, name);
    return name;
  }

  void cancel() {
    PGcancel* const request = PQgetCancel(connection_);
    char ignored[256];
    if (request != nullptr) PQcancel(request, ignored, sizeof ignored);
    PQfreeCancel(request);
  }

  tl::unexpected<Failure> failure(const PGresult* result) const {
    Failure failure{
        .code = ErrorCode::io, .cause = without_newline(PQerrorMessage(connection_)), .object = name_};
    const char* state = result != nullptr ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
    if (result != nullptr && PQresultErrorMessage(result)[0] != 0)
      failure.cause = without_newline(PQresultErrorMessage(result));
    if (PQstatus(connection_) != CONNECTION_OK) {
      failure.advice = "check that the server runs and lets you in";
    } else if (state != nullptr && std::string_view(state) == "53100") {
      failure.advice = "free some space on the server; what was acknowledged before is safe";
    } else if (state != nullptr &&
               (std::string_view(state) == "25006" || std::string_view(state) == "42501")) {
      failure.advice = "ask the site for permission to write";
    }
    return tl::make_unexpected(std::move(failure));
  }

  std::string name_;  // without the password
  PGconn* connection_;
  bool read_only_;
  bool in_transaction_ = false;
  std::map<std::string, std::string, std::less<>> statements_;
};

// Addresses stand in messages; passwords must not.
std::string without_password(const std::string& address) {
  const std::size_t host = address.find('@'), user = address.find("://");
  const std::size_t colon = user == std::string::npos ? user : address.find(':', user + 3);
  std::string shown = address;
  if (host != std::string::npos && colon != std::string::npos && colon < host)
    shown.erase(colon, host - colon);
  if (const std::size_t at = shown.find("password="); at != std::string::npos)
    shown.replace(at, std::min(shown.find('&', at), shown.size()) - at, "password=...");
  return shown;
}

}  // namespace

Result<std::unique_ptr<Database>> open_postgresql(const std::string& address, Access access) {
  const std::string with_timeout =
      address.find("connect_timeout=") != std::string::npos
          ? address
          : address + (address.find('?') == std::string::npos ? "?" : "&") + "connect_timeout=10";
  PGconn* const connection = PQconnectdb(with_timeout.c_str());
  if (connection == nullptr) return fail(ErrorCode::no_memory, "out of memory");
  auto database = std::make_unique<Postgresql>(without_password(address), connection, access == Access::read);
  WEIR_TRY(database->open());
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace weir::store
