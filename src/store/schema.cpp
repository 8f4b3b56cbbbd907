#include "store/schema.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace weir::store {

namespace {

// {key} is a column that numbers itself, {blob} the type for bytes.
constexpr std::array migrations = {
    std::string_view(R"(
CREATE TABLE weir_series (
  id {key},
  counter TEXT NOT NULL, node TEXT NOT NULL, component TEXT NOT NULL, job TEXT NOT NULL,
  UNIQUE (node, counter, component, job));
CREATE TABLE weir_blocks (
  id {key},
  grp BIGINT NOT NULL, seq BIGINT NOT NULL,
  first_ns BIGINT NOT NULL, last_ns BIGINT NOT NULL, samples BIGINT NOT NULL, data {blob} NOT NULL);
CREATE INDEX weir_blocks_where ON weir_blocks (grp, last_ns, first_ns);
CREATE TABLE weir_jobs (
  id TEXT PRIMARY KEY,
  user_name TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
  submit_ns BIGINT NOT NULL, start_ns BIGINT NOT NULL, end_ns BIGINT NOT NULL,
  node_count BIGINT NOT NULL, nodes TEXT NOT NULL, shape TEXT NOT NULL, figures TEXT NOT NULL, labels TEXT NOT NULL);
CREATE INDEX weir_jobs_when ON weir_jobs (start_ns);
CREATE TABLE weir_nodes (
  id {key},
  name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, coordinates TEXT NOT NULL, rack TEXT NOT NULL,
  targets TEXT NOT NULL, servers TEXT NOT NULL);
CREATE INDEX weir_nodes_role ON weir_nodes (role);
)"),
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

int schema_version() {
  return static_cast<int>(migrations.size());
}

Result<int> stored_version(Database& database) {
  WEIR_ASSIGN(const bool there, database.has_table("weir_meta"));
  if (!there) return 0;
  int version = 0;
  WEIR_TRY(
      database.run("SELECT value FROM weir_meta WHERE name = 'version'", {}, [&](const Row& row) -> Status {
        const std::string text = row.text(0);
        std::from_chars(text.data(), text.data() + text.size(), version);
        return {};
      }));
  if (version > schema_version()) {
    return fail(ErrorCode::unsupported,
                fmt::format("the store has version {} of the tables, and this Weir knows versions up to {}",
                            version, schema_version()),
                "use a newer Weir for it");
  }
  return version;
}

Status migrate(Database& database) {
  WEIR_ASSIGN(const int before, stored_version(database));
  if (before == schema_version()) return {};
  return in_transaction(database, [&]() -> Status {
    WEIR_TRY(database.lock());
    WEIR_TRY(
        database.run("CREATE TABLE IF NOT EXISTS weir_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"));
    // Somebody else may have been quicker.
    WEIR_ASSIGN(int version, stored_version(database));
    for (; version < schema_version(); ++version) {
      std::string statements(migrations[static_cast<std::size_t>(version)]);
      statements = replaced(std::move(statements), "{key}", database.serial_key());
      statements = replaced(std::move(statements), "{blob}", database.blob_type());
      WEIR_TRY(database.script(statements));
    }
    return database.run(
        "INSERT INTO weir_meta (name, value) VALUES ('version', $1) ON CONFLICT (name) DO UPDATE SET value = "
        "excluded.value",
        {std::string_view(std::to_string(schema_version()))});
  });
}

}  // namespace weir::store
