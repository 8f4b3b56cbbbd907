// The forward protocol as bytes: messages, the handshake, and a client's side of the server. No sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "telemetry/forward_handshake.hpp"
#include "telemetry/forward_message.hpp"
#include "telemetry/forward_peer.hpp"
#include "telemetry/msgpack.hpp"

namespace weir::telemetry {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr Nanoseconds second = 1'000'000'000;
constexpr Nanoseconds moment = 1564617600 * second + 4'512'000;

// Values one after another: {"a", 1} as MessagePack.
struct Pack {
  std::string bytes;
  MsgPackWriter writer{bytes};

  Pack& array(std::uint32_t n) { return writer.array(n), *this; }
  Pack& map(std::uint32_t n) { return writer.map(n), *this; }
  Pack& text(std::string_view t) { return writer.text(t), *this; }
  Pack& number(std::uint64_t n) { return writer.number(n), *this; }
  Pack& nil() { return writer.nil(), *this; }
  Pack& raw(std::string_view b) { return bytes += b, *this; }
  Pack& record(std::uint64_t value) {
    return map(3).text("node").text("io1").text("link").text("X+").text("bytes").number(value);
  }
};

struct Decoded {
  Result<ForwardMessage> message;
  Batch batch;
  std::uint64_t value(std::size_t i) const { return batch.points.at(i).value; }
};

Decoded decode(const std::string& bytes, std::uint64_t largest = 1 << 20U) {
  Decoded result{.message = ForwardMessage()};
  ForwardDecoder decoder(largest);
  result.message = decoder.decode(bytes, result.batch);
  return result;
}

std::string entries() {
  Pack pack;
  pack.array(2).number(1564617600).record(1);
  pack.array(2);
  pack.writer.event_time(moment);
  return pack.record(2).bytes;
}

TEST(Forward, HeartbeatIsNothing) {
  const auto decoded = decode(Pack().nil().bytes);
  EXPECT_TRUE(decoded.message->heartbeat);
  EXPECT_TRUE(decoded.batch.points.empty());
}

TEST(Forward, MessageMode) {
  for (const bool with_option : {false, true}) {
    Pack pack;
    pack.array(with_option ? 4 : 3).text("tofu.stats").number(1564617600).record(77);
    if (with_option) pack.map(1).text("chunk").text("abc");
    const auto decoded = decode(pack.bytes);
    ASSERT_TRUE(decoded.message) << decoded.message.error().message();
    EXPECT_EQ(decoded.message->chunk, with_option ? "abc" : "");
    EXPECT_EQ(decoded.batch.sample(0),
              (Sample{{counter_id("link.bytes"), "io1", "X+", ""}, 1564617600 * second, 77}));
  }
}

TEST(Forward, ForwardMode) {
  const auto decoded = decode(Pack()
                                  .array(3)
                                  .text("t")
                                  .array(2)
                                  .raw(entries())
                                  .map(2)
                                  .text("size")
                                  .number(2)
                                  .text("chunk")
                                  .text("c")
                                  .bytes);
  ASSERT_TRUE(decoded.message);
  EXPECT_EQ(decoded.message->chunk, "c");
  EXPECT_EQ(decoded.message->tally, (Tally{.records = 2, .samples = 2}));
  EXPECT_EQ(decoded.batch.points.at(1).time, moment);
}

TEST(Forward, PackedModeAsTextOrBinaryAndCompressed) {
  const std::string packed = entries();
  const std::string half = entries();
  std::vector<std::string> messages = {
      Pack().array(2).text("t").text(packed + std::string()).bytes,
      forward_message("t", packed, Compression::none, "c"),
      forward_message("t", packed, Compression::gzip, "c"),
      forward_message("t", packed, Compression::zstd, "c"),
  };
  for (const std::string& message : messages) {
    const auto decoded = decode(message);
    ASSERT_TRUE(decoded.message) << decoded.message.error().message();
    ASSERT_EQ(decoded.batch.points.size(), 2);
    EXPECT_EQ(decoded.value(1), 2);
    EXPECT_EQ(decoded.batch.points[1].time, moment);
  }
}

TEST(Forward, CompressedPiecesOneAfterAnother) {
  for (const Compression compression : {Compression::gzip, Compression::zstd}) {
    const std::string pieces = compress(entries(), compression) + compress(entries(), compression);
    Pack pack;
    pack.array(3).text("t");
    pack.writer.binary(pieces);
    pack.map(1).text("compressed").text(to_string(compression));
    EXPECT_EQ(decode(pack.bytes).batch.points.size(), 4);
  }
}

TEST(Forward, ABombIsCountedAndAcknowledged) {
  const std::string zeros(std::size_t{4} << 20U, '\0');
  for (const Compression compression : {Compression::gzip, Compression::zstd}) {
    const auto decoded = decode(forward_message("t", zeros, compression, "c"), 1 << 20U);
    ASSERT_TRUE(decoded.message);
    EXPECT_EQ(decoded.message->tally.rejected, 1);
    EXPECT_THAT(decoded.message->first_rejected, HasSubstr("more than 1048576 bytes"));
    EXPECT_EQ(decoded.message->chunk, "c");
  }
}

TEST(Forward, BrokenCompressionIsCounted) {
  for (const std::string kind : {"gzip", "zstd", "brotli"}) {
    std::string packed = compress(entries(), kind == "gzip" ? Compression::gzip : Compression::zstd);
    for (const std::string& bytes :
         {packed.substr(0, packed.size() - 5), packed.substr(0, 3), std::string("junk")}) {
      const auto decoded =
          decode(Pack().array(3).text("t").text(bytes).map(1).text("compressed").text(kind).bytes);
      ASSERT_TRUE(decoded.message);
      EXPECT_EQ(decoded.message->tally.rejected, 1) << kind;
      EXPECT_TRUE(decoded.batch.points.empty());
    }
  }
}

TEST(Forward, WrongRecordsLeaveTheOthers) {
  Pack inside;
  inside.array(2).number(1).record(1);
  inside.array(2).number(1).text("no map");
  inside.array(3).number(1).number(2).number(3);
  inside.array(2).number(1).map(1).text("node").text("n");
  inside.array(2).text("when").record(4);
  inside.array(2).number(1).record(5);
  const auto decoded = decode(forward_message("t", inside.bytes, Compression::none, ""));
  ASSERT_TRUE(decoded.message);
  EXPECT_EQ(decoded.message->tally, (Tally{.records = 2, .samples = 2, .rejected = 4}));
  EXPECT_EQ(decoded.value(1), 5);
}

TEST(Forward, PackedEntriesThatBreakOffKeepWhatCameBefore) {
  std::string packed = entries();
  packed.pop_back();
  const auto decoded = decode(forward_message("t", packed, Compression::none, "c"));
  ASSERT_TRUE(decoded.message);
  EXPECT_EQ(decoded.message->tally, (Tally{.records = 1, .samples = 1, .rejected = 1}));
}

TEST(Forward, BadUtf8IsRejected) {
  const auto decoded = decode(Pack()
                                  .array(3)
                                  .text("t")
                                  .number(5)
                                  .map(2)
                                  .text("node")
                                  .text("\xff\xfe")
                                  .text("link.bytes")
                                  .number(1)
                                  .bytes);
  EXPECT_EQ(decoded.message->tally.rejected, 1);
}

TEST(Forward, WhatIsNoMessage) {
  const std::vector<std::string> cases = {"",
                                          "\xc1",
                                          Pack().number(7).bytes,
                                          Pack().text("GET / HTTP/1.1").bytes,
                                          Pack().array(1).text("t").bytes,
                                          Pack().array(3).number(1).number(2).number(3).bytes,
                                          Pack().array(2).text("t").number(3).bytes,
                                          Pack().array(3).text("t").map(0).nil().bytes,
                                          Pack().array(3).text("t").array(1).array(2).number(1).bytes,
                                          Pack().array(3).text("t").number(1).map(40).bytes};
  for (const std::string& bytes : cases) EXPECT_FALSE(decode(bytes).message) << testing::PrintToString(bytes);
}

TEST(Forward, EveryShortenedMessageIsRefusedOrCounted) {
  const std::string whole =
      Pack().array(3).text("t").array(2).raw(entries()).map(1).text("chunk").text("c").bytes;
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(decode(whole.substr(0, size)).message) << size;
}

TEST(Forward, BatchesSurviveTheWire) {
  Batch batch;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::string node = "io" + std::to_string(i / 7);
    batch.add({counter_id("link.bytes"), node, "X+", ""}, moment + static_cast<Nanoseconds>(i / 7),
              i << (i % 60));
    batch.add({counter_id("link.wait_cycles"), node, "X+", "j1"}, moment, UINT64_MAX - i);
  }
  const auto decoded = decode(forward_message("weir", pack_entries(batch), Compression::zstd, "c"));
  ASSERT_TRUE(decoded.message);
  ASSERT_EQ(decoded.batch.points.size(), batch.points.size());
  for (std::size_t i = 0; i < batch.points.size(); ++i)
    ASSERT_EQ(decoded.batch.sample(i), batch.sample(i)) << i;
}

TEST(Measure, FindsTheEndHoweverTheBytesArrive) {
  const std::string whole = Pack()
                                .array(3)
                                .text("t")
                                .array(2)
                                .raw(entries())
                                .map(1)
                                .text("chunk")
                                .text(std::string(300, 'x'))
                                .bytes;
  const std::string two = whole + whole;
  for (std::size_t step = 1; step < two.size(); ++step) {
    MsgPackMeasure measure;
    std::optional<std::size_t> found;
    for (std::size_t there = step; !found; there += step)
      found = measure.measure(std::string_view(two).substr(0, there), 1 << 20U).value();
    EXPECT_EQ(*found, whole.size()) << step;
  }
}

TEST(Measure, RefusesBeforeTheBytesArrive) {
  const auto refusal = [](std::string_view bytes) {
    const auto measured = MsgPackMeasure().measure(bytes, 1000);
    return measured ? "accepted" : measured.error().message();
  };
  EXPECT_THAT(refusal("\xdb\xff\xff\xff\xff"), HasSubstr("more than 1000 bytes"));
  EXPECT_THAT(refusal("\xdd\xff\xff\xff\xff"), HasSubstr("more than 1000 bytes"));
  EXPECT_THAT(refusal("\xdf\xff\xff\xff\xff"), HasSubstr("more than 1000 bytes"));
  EXPECT_THAT(refusal(std::string(100, '\x91')), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal("\xc1"), HasSubstr("not MessagePack"));
}

TEST(Handshake, BothSidesKnowTheKey) {
  const std::string nonce = random_bytes(16);
  EXPECT_EQ(parse_helo(make_helo(nonce)).value(), nonce);
  const auto answer = answer_ping(make_ping("client", "salt", nonce, "secret"), "server", nonce, "secret");
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->accepted);
  EXPECT_EQ(answer->client, "client");
  EXPECT_TRUE(check_pong(answer->pong, "salt", nonce, "secret"));
  EXPECT_THAT(check_pong(answer->pong, "salt", nonce, "other").error().message(), HasSubstr("does not know"));
}

TEST(Handshake, DigestIsTheProtocols) {
  // printf 'saltclientnoncesecret' | sha512sum
  const std::string expected =
      "1be50de88fcdae1f5a9ec876b6dec05a03596b2d7d5659d9dbbdc6bc667ccbac885295aee591cc7189d951779e7667fc849666"
      "b14de832ed73f8434db768409c";
  EXPECT_THAT(make_ping("client", "salt", "nonce", "secret"), HasSubstr(expected));
}

TEST(Handshake, AWrongKeyIsRefused) {
  const auto answer = answer_ping(make_ping("client", "salt", "nonce", "wrong"), "server", "nonce", "secret");
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->accepted);
  EXPECT_THAT(check_pong(answer->pong, "salt", "nonce", "wrong").error().message(),
              HasSubstr("shared_key mismatch"));
  EXPECT_FALSE(answer_ping(Pack().nil().bytes, "server", "nonce", "secret"));
  EXPECT_FALSE(answer_ping(entries(), "server", "nonce", "secret"));
}

struct Server {
  ForwardServerOptions options{.shared_key = {}, .name = "server"};
  ForwardDecoder decoder{1 << 20U};
  Batch batch;
  ForwardServerTally tally;
  std::vector<std::string> problems;

  Status feed(ForwardPeer& peer, std::string_view bytes) {
    return peer.receive(bytes, decoder, batch, tally,
                        [&](const std::string& what) { problems.push_back(what); });
  }
};

TEST(Peer, AcknowledgesAfterStoringOnly) {
  Server server;
  ForwardPeer peer(server.options);
  EXPECT_TRUE(peer.let_in());
  const std::string first = forward_message("t", entries(), Compression::none, "one");
  const std::string second_message = forward_message("t", entries(), Compression::gzip, "two");
  EXPECT_TRUE(server.feed(peer, first + second_message.substr(0, 5)));
  EXPECT_TRUE(peer.in_message());
  EXPECT_TRUE(peer.owes());
  EXPECT_TRUE(peer.output.empty());
  EXPECT_TRUE(server.feed(peer, second_message.substr(5)));
  EXPECT_FALSE(peer.in_message());
  peer.stored();
  EXPECT_EQ(peer.output, acknowledgement("one") + acknowledgement("two"));
  EXPECT_EQ(parse_acknowledgement(acknowledgement("one")).value(), "one");
  EXPECT_EQ(server.tally.messages, 2);
  EXPECT_EQ(server.batch.points.size(), 4);
}

TEST(Peer, WithAKeyNothingIsTakenBeforePing) {
  Server server;
  server.options.shared_key = "secret";
  ForwardPeer peer(server.options);
  const std::string nonce = parse_helo(peer.output).value();
  EXPECT_FALSE(server.feed(peer, forward_message("t", entries(), Compression::none, "")));
  EXPECT_TRUE(server.batch.points.empty());

  ForwardPeer good(server.options);
  const std::string good_nonce = parse_helo(good.output).value();
  EXPECT_NE(nonce, good_nonce);
  good.output.clear();
  EXPECT_TRUE(server.feed(good, make_ping("c", "s", good_nonce, "secret") +
                                    forward_message("t", entries(), Compression::none, "")));
  EXPECT_TRUE(check_pong(good.output, "s", good_nonce, "secret"));
  EXPECT_EQ(server.batch.points.size(), 2);

  ForwardPeer wrong(server.options);
  const std::string wrong_nonce = parse_helo(wrong.output).value();
  EXPECT_FALSE(server.feed(wrong, make_ping("c", "s", wrong_nonce, "guess")));
  EXPECT_TRUE(wrong.refused());
  EXPECT_FALSE(wrong.let_in());
}

TEST(Peer, RejectedRecordsAreToldAndAcknowledged) {
  Server server;
  ForwardPeer peer(server.options);
  const std::string bad =
      Pack().array(4).text("t").number(1).map(1).text("a").text("b").map(1).text("chunk").text("c").bytes;
  EXPECT_TRUE(server.feed(peer, bad));
  EXPECT_THAT(server.problems, Contains(HasSubstr("1 of 1 records rejected; the first: there is no 'node'")));
  peer.stored();
  EXPECT_EQ(peer.output, acknowledgement("c"));
}

}  // namespace
}  // namespace weir::telemetry
