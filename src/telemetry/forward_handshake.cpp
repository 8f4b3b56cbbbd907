#include "telemetry/forward_handshake.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/random.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "telemetry/msgpack.hpp"

namespace weir::telemetry {

namespace {

using Type = Token::Type;

std::string digest(std::string_view salt, std::string_view name, std::string_view nonce,
                   std::string_view key) {
  std::string text;
  for (const std::string_view part : {salt, name, nonce, key}) text += part;
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha512(), nullptr) != 1)
    throw std::logic_error("libcrypto has no sha512");
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    constexpr std::string_view digits = "0123456789abcdef";
    hex += digits[hash[i] >> 4U];
    hex += digits[hash[i] & 15U];
  }
  return hex;
}

// Takes the same time wherever the first difference is.
bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// The plain values of a list that begins with this word, without it. Empty: it is something else.
std::vector<Token> list_after(std::string_view message, std::string_view word, std::size_t least) {
  MsgPackReader reader(message);
  Token token;
  if (!reader.next(token) || token.type != Type::array || token.number <= least || token.number > 8)
    return {};
  const auto elements = static_cast<std::size_t>(token.number);
  if (!reader.next(token) || !token.is_bytes() || token.bytes != word) return {};
  std::vector<Token> values;
  for (std::size_t i = 1; i < elements; ++i) {
    if (!reader.next(token) || token.type == Type::array || token.type == Type::map) return {};
    values.push_back(token);
  }
  return values;
}

}  // namespace

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (::getrandom(bytes.data(), count, 0) != static_cast<ssize_t>(count))
    throw std::logic_error("the system has no random numbers");
  return bytes;
}

std::string make_helo(std::string_view nonce) {
  std::string message;
  MsgPackWriter writer(message);
  writer.array(2);
  writer.text("HELO");
  writer.map(3);
  writer.text("nonce");
  writer.binary(nonce);
  writer.text("auth");
  writer.text("");
  writer.text("keepalive");
  writer.boolean(true);
  return message;
}

Result<std::string> parse_helo(std::string_view message) {
  MsgPackReader reader(message);
  Token token;
  const bool is_helo = reader.next(token) && token.type == Type::array && token.number == 2 &&
                       reader.next(token) && token.is_bytes() && token.bytes == "HELO" &&
                       reader.next(token) && token.type == Type::map;
  if (!is_helo)
    return fail(ErrorCode::corrupt, "the server did not begin with HELO",
                "leave the shared key away if the server has none");
  std::string nonce;
  const std::uint64_t pairs = token.number;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    Token key;
    Token value;
    if (!reader.next(key) || !reader.next(value) || value.type == Type::array || value.type == Type::map)
      return fail(ErrorCode::corrupt, "the server's HELO cannot be read");
    if (!key.is_bytes() || !value.is_bytes()) continue;
    if (key.bytes == "nonce") nonce = value.bytes;
    if (key.bytes == "auth" && !value.bytes.empty())
      return fail(ErrorCode::unsupported, "the server asks for a user and a password",
                  "use a shared key alone (fluentd: user_auth false)");
  }
  if (nonce.empty()) return fail(ErrorCode::corrupt, "the server's HELO has no nonce");
  return nonce;
}

std::string make_ping(std::string_view client_name, std::string_view salt, std::string_view nonce,
                      std::string_view shared_key) {
  std::string message;
  MsgPackWriter writer(message);
  writer.array(6);
  writer.text("PING");
  writer.text(client_name);
  writer.binary(salt);
  writer.text(digest(salt, client_name, nonce, shared_key));
  writer.text("");
  writer.text("");
  return message;
}

Result<PingAnswer> answer_ping(std::string_view message, std::string_view server_name, std::string_view nonce,
                               std::string_view shared_key) {
  const std::vector<Token> values = list_after(message, "PING", 3);
  if (values.size() < 3 || !values[0].is_bytes() || !values[1].is_bytes() || !values[2].is_bytes())
    return fail(ErrorCode::corrupt, "it did not answer HELO with PING",
                "give the sender the server's shared key");
  const std::string_view salt = values[1].bytes;
  PingAnswer answer{.client = std::string(values[0].bytes.substr(0, 255))};
  answer.accepted = same(values[2].bytes, digest(salt, values[0].bytes, nonce, shared_key));
  MsgPackWriter writer(answer.pong);
  writer.array(5);
  writer.text("PONG");
  writer.boolean(answer.accepted);
  writer.text(answer.accepted ? "" : "shared_key mismatch");
  writer.text(answer.accepted ? server_name : "");
  writer.text(answer.accepted ? digest(salt, server_name, nonce, shared_key) : "");
  return answer;
}

Status check_pong(std::string_view message, std::string_view salt, std::string_view nonce,
                  std::string_view shared_key) {
  const std::vector<Token> values = list_after(message, "PONG", 4);
  if (values.size() < 4 || values[0].type != Type::boolean || !values[1].is_bytes() ||
      !values[2].is_bytes() || !values[3].is_bytes())
    return fail(ErrorCode::corrupt, "the server did not answer PING with PONG");
  if (values[0].number == 0)
    return fail(ErrorCode::invalid_argument,
                "the server refused: " + std::string(values[1].bytes.substr(0, 200)),
                "give the shared key that the server has");
  if (!same(values[3].bytes, digest(salt, values[2].bytes, nonce, shared_key)))
    return fail(ErrorCode::invalid_argument, "the server does not know the shared key",
                "see that HOST:PORT is the server that was meant");
  return {};
}

}  // namespace weir::telemetry
