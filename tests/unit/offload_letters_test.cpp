// What compute ranks and servers tell each other: letters keep everything, and blocks are cut in order.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "offload/backlog.hpp"
#include "offload/operation.hpp"

namespace weir::offload {
namespace {

Operation round_trip(const Operation& operation) {
  return from_letter(Json::from_cbor(to_letter(operation)));
}

TEST(Letters, CreateAndWriteKeepEverything) {
  Operation create;
  create.kind = Operation::Kind::create;
  create.file = std::numeric_limits<std::uint64_t>::max();
  create.path = "/a b/\xC3\xA4.h5";
  create.options = {.backend = "hdf5",
                    .options = {{"deflate", "4"}, {"x", ""}},
                    .checksums = true,
                    .fsync = true,
                    .fsync_writes = true};
  const Operation created = round_trip(create);
  EXPECT_EQ(created.kind, Operation::Kind::create);
  EXPECT_EQ(created.file, create.file);
  EXPECT_EQ(created.path, create.path);
  EXPECT_EQ(created.options.backend, "hdf5");
  EXPECT_EQ(created.options.options, create.options.options);
  EXPECT_TRUE(created.options.checksums && created.options.fsync && created.options.fsync_writes);
  EXPECT_FALSE(created.unseen);

  constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  Operation write;
  write.kind = Operation::Kind::write;
  write.file = 3;
  write.heading = {.name = "T",
                   .type = Type::complex128,
                   .shape = {huge, 1, 0},
                   .step = std::numeric_limits<std::int64_t>::min()};
  write.box = {{huge - 1, 0, 0}, {1, 1, 0}};
  write.independent = true;
  write.region = huge;
  write.place = huge - 2;
  write.pieces = huge - 3;
  write.reduce = {.operation = "mean", .steps = 7, .every = {2, 3, 4}};
  write.unseen = Failure{
      .code = ErrorCode::no_memory, .cause = "c", .operation = "o", .object = "b", .advice = "a", .rank = 12};
  const Operation written = round_trip(write);
  EXPECT_EQ(written.heading.name, "T");
  EXPECT_EQ(written.heading.type, Type::complex128);
  EXPECT_EQ(written.heading.shape, write.heading.shape);
  EXPECT_EQ(written.heading.step, write.heading.step);
  EXPECT_EQ(written.box, write.box);
  EXPECT_TRUE(written.independent);
  EXPECT_EQ(written.region, write.region);
  EXPECT_EQ(written.place, write.place);
  EXPECT_EQ(written.pieces, write.pieces);
  EXPECT_EQ(written.reduce.operation, "mean");
  EXPECT_EQ(written.reduce.steps, 7U);
  EXPECT_EQ(written.reduce.every, write.reduce.every);
  ASSERT_TRUE(written.unseen);
  EXPECT_EQ(written.unseen->code, ErrorCode::no_memory);
  EXPECT_EQ(written.unseen->message(), write.unseen->message());
  EXPECT_EQ(written.unseen->rank, 12);
  EXPECT_EQ(describe(written, "a"), describe(write, "a"));

  Operation plain;
  plain.heading = {.name = "", .type = Type::uint8, .shape = {}, .step = std::nullopt};
  EXPECT_EQ(round_trip(plain).heading.step, std::nullopt);
  EXPECT_TRUE(round_trip(plain).reduce.operation == plain.reduce.operation);
}

TEST(Letters, AttributesOfTextAndNumbers) {
  Operation set;
  set.kind = Operation::Kind::attribute;
  set.attribute = {.variable = "T", .name = "unit", .value = std::string("K\0x\xC2\xB0", 5)};
  EXPECT_EQ(std::get<std::string>(round_trip(set).attribute.value), std::string("K\0x\xC2\xB0", 5));
  const double numbers[] = {std::numeric_limits<double>::quiet_NaN(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::denorm_min(), -0.0};
  Values values{.type = Type::float64, .bytes = std::vector<std::byte>(sizeof numbers)};
  std::memcpy(values.bytes.data(), numbers, sizeof numbers);
  set.attribute.value = values;
  const Operation numbered = round_trip(set);
  EXPECT_EQ(std::get<Values>(numbered.attribute.value).type, Type::float64);
  EXPECT_EQ(std::get<Values>(numbered.attribute.value).bytes, values.bytes);
  EXPECT_EQ(numbered.attribute.variable, "T");
  EXPECT_EQ(numbered.attribute.name, "unit");
  set.attribute.value = Values{.type = Type::int8, .bytes = {}};
  EXPECT_TRUE(std::get<Values>(round_trip(set).attribute.value).bytes.empty());
}

TEST(Letters, TheOtherKinds) {
  for (const auto kind : {Operation::Kind::reserve, Operation::Kind::close, Operation::Kind::map,
                          Operation::Kind::unmap, Operation::Kind::stop}) {
    Operation operation;
    operation.kind = kind;
    operation.file = 5;
    operation.heading = {.name = "n", .type = Type::int16, .shape = {4, 0}, .step = -1};
    operation.later = true;
    operation.region = 8;
    operation.process = 1234567890123;
    operation.descriptor = 9;
    operation.bytes = 1ULL << 60U;
    const Operation back = round_trip(operation);
    EXPECT_EQ(back.kind, kind);
    EXPECT_EQ(back.file, 5U);
    EXPECT_EQ(describe(back, "a"), describe(operation, "a"));
    EXPECT_EQ(back.later, kind == Operation::Kind::close);
    EXPECT_EQ(back.heading.step.value_or(0), kind == Operation::Kind::reserve ? -1 : 0);
    if (kind == Operation::Kind::map) {
      EXPECT_EQ(back.region, 8U);
      EXPECT_EQ(back.process, operation.process);
      EXPECT_EQ(back.descriptor, 9);
      EXPECT_EQ(back.bytes, operation.bytes);
    }
  }
  const Piece piece{.box = {{1, 2}, {3, 4}}, .place = 1ULL << 63U, .end = ~0ULL, .bytes = 6};
  const Json letter = Json::from_cbor(to_letter(piece));
  EXPECT_TRUE(is_piece(letter));
  EXPECT_FALSE(is_piece(Json::from_cbor(to_letter(Operation{}))));
  const Piece back = piece_from_letter(letter);
  EXPECT_EQ(back.box, piece.box);
  EXPECT_EQ(back.place, piece.place);
  EXPECT_EQ(back.end, piece.end);
  EXPECT_EQ(back.bytes, 6U);
}

// The parts in which a backlog moves a write, and the number of them that its letter announces.
std::vector<Backlog::Part> parts_of(const Operation& write, std::uint64_t room, std::uint64_t& announced) {
  Backlog backlog(room, true);
  backlog.submit(write);
  announced = from_letter(Json::from_cbor(backlog.begin_next().value())).pieces;
  EXPECT_FALSE(backlog.begin_next()) << "one at a time";
  std::vector<Backlog::Part> parts;
  while (const auto part = backlog.next_part()) {
    parts.push_back(*part);
    EXPECT_FALSE(backlog.finish_moving());
    backlog.moved_part(part->bytes, 0);
  }
  EXPECT_TRUE(backlog.finish_moving());
  EXPECT_EQ(backlog.report().transport_bytes, write.bytes);
  return parts;
}

TEST(Backlog, LargeBlocksAreCutSoThatSeveralFit) {
  const std::vector<std::byte> data(90 * 900 * 8);
  Operation write;
  write.heading = {.name = "T", .type = Type::float64, .shape = {100, 1000}, .step = std::nullopt};
  write.box = {{3, 10}, {90, 900}};
  write.bytes = data.size();
  write.data = data.data();
  write.progress = std::make_shared<Progress>();
  std::uint64_t announced = 0;
  EXPECT_EQ(parts_of(write, 2 * write.bytes, announced).size(), 1U);
  EXPECT_EQ(announced, 1U);
  EXPECT_TRUE(write.progress->taken());
  const auto parts = parts_of(write, 65536, announced);
  EXPECT_GT(parts.size(), 30U);
  EXPECT_EQ(announced, parts.size());
  std::uint64_t bytes = 0;
  for (const Backlog::Part& part : parts) {
    EXPECT_LE(part.bytes, 65536U / 4);
    EXPECT_EQ(part.data, data.data() + bytes) << "in order, without gaps";
    bytes += part.bytes;
  }
  EXPECT_EQ(bytes, data.size());
}

TEST(Backlog, EverythingFailsWhenTheServerIsGone) {
  Backlog backlog(1 << 20, true);
  Operation first;
  first.kind = Operation::Kind::close;
  first.progress = std::make_shared<Progress>();
  Operation second = first;
  second.progress = std::make_shared<Progress>();
  Operation third = first;
  third.progress = std::make_shared<Progress>();
  backlog.submit(first);
  backlog.submit(second);
  ASSERT_TRUE(backlog.begin_next());
  EXPECT_TRUE(backlog.awaits_answers());
  backlog.give_up({.code = ErrorCode::io, .cause = "gone"});
  backlog.submit(third);
  for (const Operation* operation : {&first, &second, &third}) {
    ASSERT_TRUE(operation->progress->failed());
    EXPECT_EQ(operation->progress->status().error().cause, "gone");
  }
  EXPECT_FALSE(backlog.awaits_answers());
}

// Whoever waits hears which of its files is lost, whether its request was sent, waited or came later.
TEST(BacklogTest, AServerThatIsLostIsToldWithTheFile) {
  Backlog backlog(1U << 20U, true);
  const auto submit = [&](Operation::Kind kind) {
    Operation operation;
    operation.kind = kind;
    operation.path = "run.h5";
    operation.heading = {.name = "T", .type = Type::float64, .shape = {1}, .step = 3};
    operation.progress = std::make_shared<Progress>();
    auto progress = operation.progress;
    backlog.submit(std::move(operation));
    return progress;
  };
  const auto sent = submit(Operation::Kind::write);
  ASSERT_TRUE(backlog.begin_next());
  const auto waiting = submit(Operation::Kind::close);
  backlog.give_up(server_lost("the I/O server (rank 3 of the job) has ended"));
  const auto later = submit(Operation::Kind::create);
  const auto words = [](const std::shared_ptr<Progress>& progress) {
    return progress->status().error().message();
  };
  EXPECT_TRUE(words(sent).starts_with("run.h5: write variable 'T', step 3: the I/O server (rank 3"))
      << words(sent);
  EXPECT_TRUE(words(waiting).starts_with("run.h5: close: the I/O server")) << words(waiting);
  EXPECT_TRUE(words(later).starts_with("run.h5: create: the I/O server")) << words(later);
  EXPECT_TRUE(backlog.report().lost);
}

}  // namespace
}  // namespace weir::offload
