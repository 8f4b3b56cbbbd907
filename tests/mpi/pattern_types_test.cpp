// Our data types against the MPI library's own: the same random types, built in both, have the same size and
// bounds and the same bytes in the same order.
#include <gtest/gtest.h>
#include <mpi.h>

#include <random>

#include "pattern/datatype.hpp"

namespace weir::pattern {
namespace {

struct Both {
  MPI_Datatype mpi;
  Datatype ours;
};

class TypeMaker {
 public:
  explicit TypeMaker(unsigned seed) : random_(seed) {}
  ~TypeMaker() {
    for (MPI_Datatype& type : made_) MPI_Type_free(&type);
  }

  Both make(int depth) {
    if (depth == 0) {
      switch (draw(0, 3)) {
        case 0:
          return {MPI_CHAR, Datatype::named(1)};
        case 1:
          return {MPI_SHORT, Datatype::named(2)};
        case 2:
          return {MPI_DOUBLE_INT, Datatype::named(12, 16, 8)};
        default:
          return {MPI_DOUBLE, Datatype::named(8)};
      }
    }
    const Both of = make_with_bytes(depth - 1);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    Result<Datatype> ours = Datatype();
    const int count = draw(1, 3), length = draw(0, 2), stride = draw(2, 4);
    const std::vector<int> lengths{draw(0, 2), draw(1, 2), draw(0, 1)};
    const std::vector<int> places{draw(0, 3), draw(4, 6), draw(7, 9)};
    const std::vector<std::int64_t> long_lengths(lengths.begin(), lengths.end());
    std::vector<std::int64_t> long_places(places.begin(), places.end());
    std::vector<MPI_Aint> byte_places;
    for (const int place : places) byte_places.push_back(MPI_Aint{place} * 64);
    const std::vector<std::int64_t> our_places(byte_places.begin(), byte_places.end());
    switch (draw(0, 11)) {
      case 0:
        MPI_Type_contiguous(count, of.mpi, &type);
        ours = Datatype::contiguous(count, of.ours);
        break;
      case 1:
        MPI_Type_vector(count, length, stride, of.mpi, &type);
        ours = Datatype::vector(count, length, stride, of.ours);
        break;
      case 2:
        MPI_Type_create_hvector(count, length, MPI_Aint{stride} * 48, of.mpi, &type);
        ours = Datatype::hvector(count, length, std::int64_t{stride} * 48, of.ours);
        break;
      case 3:
        MPI_Type_indexed(3, lengths.data(), places.data(), of.mpi, &type);
        ours = Datatype::indexed(long_lengths, long_places, of.ours);
        break;
      case 4:
        MPI_Type_create_hindexed(3, lengths.data(), byte_places.data(), of.mpi, &type);
        ours = Datatype::hindexed(long_lengths, our_places, of.ours);
        break;
      case 5:
        MPI_Type_create_indexed_block(3, count, places.data(), of.mpi, &type);
        ours = Datatype::indexed_block(count, long_places, of.ours);
        break;
      case 6:
        MPI_Type_create_hindexed_block(3, count, byte_places.data(), of.mpi, &type);
        ours = Datatype::hindexed_block(count, our_places, of.ours);
        break;
      case 7: {
        Both other = make_with_bytes(depth - 1);
#if defined(MPICH_VERSION)
        // The standard lets the parts that have bounds of their own decide where there are such; MPICH's
        // library asks all parts.
        other = of;
#endif
        const MPI_Datatype types[3] = {of.mpi, other.mpi, of.mpi};
        const std::vector<Datatype> our_types{of.ours, other.ours, of.ours};
        MPI_Type_create_struct(3, lengths.data(), byte_places.data(), types, &type);
        ours = Datatype::structure(long_lengths, our_places, our_types);
        break;
      }
      case 8: {
        const int sizes[3] = {4, 3, 5}, parts[3] = {draw(1, 2), draw(1, 3), 2},
                  starts[3] = {draw(0, 2), 0, draw(0, 3)};
        const bool fortran = draw(0, 1) == 1;
        MPI_Type_create_subarray(3, sizes, parts, starts, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, of.mpi,
                                 &type);
        ours = Datatype::subarray(widened(sizes), widened(parts), widened(starts),
                                  fortran ? ArrayOrder::fortran : ArrayOrder::c, of.ours);
        break;
      }
      case 9: {
        const int sizes[3] = {draw(5, 9), draw(4, 7), 3}, grid[3] = {3, 2, 1}, rank = draw(0, 5),
                  block = draw(1, 3);
        const int how[3] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
        const int arguments[3] = {block, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
        const bool fortran = draw(0, 1) == 1;
        MPI_Type_create_darray(6, rank, 3, sizes, how, arguments, grid,
                               fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, of.mpi, &type);
        ours = Datatype::darray(6, rank, widened(sizes),
                                std::vector{Distribution::cyclic, Distribution::block, Distribution::none},
                                std::vector<std::int64_t>{block, default_argument, default_argument},
                                widened(grid), fortran ? ArrayOrder::fortran : ArrayOrder::c, of.ours);
        break;
      }
      case 10:
        MPI_Type_create_resized(of.mpi, 0, of.ours.extent() + 8, &type);
        ours = Datatype::resized(0, of.ours.extent() + 8, of.ours);
        break;
      default:
        MPI_Type_dup(of.mpi, &type);
        ours = Datatype::dup(of.ours);
    }
    EXPECT_TRUE(ours) << ours.error().message();
    made_.push_back(type);
    return {type, *ours};
  }

 private:
  // Where parts without bytes stand is a matter on which MPI libraries disagree, even with themselves.
  Both make_with_bytes(int depth) {
    for (;;) {
      Both type = make(depth);
      if (type.ours.size() > 0) return type;
    }
  }

  int draw(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  static std::vector<std::int64_t> widened(const int (&numbers)[3]) { return {numbers, numbers + 3}; }

  std::mt19937 random_;
  std::vector<MPI_Datatype> made_;
};

std::vector<std::int64_t> packed_bytes(MPI_Datatype type, int count, std::int64_t lower, std::int64_t upper) {
  // The address of each byte, in four buffers of one byte of it each.
  const auto room = static_cast<std::size_t>(upper - lower);
  int size = 0;
  MPI_Pack_size(count, type, MPI_COMM_SELF, &size);
  std::vector<std::int64_t> addresses;
  for (unsigned part = 0; part < 4; ++part) {
    std::vector<unsigned char> memory(room), out(static_cast<std::size_t>(size) + 1);
    for (std::size_t at = 0; at < room; ++at) memory[at] = static_cast<unsigned char>(at >> (8 * part));
    int position = 0;
    MPI_Pack(memory.data() - lower, count, type, out.data(), size, &position, MPI_COMM_SELF);
    addresses.resize(static_cast<std::size_t>(position), lower);
    for (std::size_t at = 0; at < addresses.size(); ++at)
      addresses[at] += std::int64_t{out[at]} << (8 * part);
  }
  return addresses;
}

TEST(PatternTypes, AreThoseOfTheMpiLibrary) {
  int compared = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    TypeMaker maker(seed);
    const Both type = maker.make(static_cast<int>(seed % 5));
    int size = 0;
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_size(type.mpi, &size);
    MPI_Type_get_extent(type.mpi, &lower, &extent);
    ASSERT_EQ(type.ours.size(), static_cast<std::uint64_t>(size)) << seed;
    if (size == 0 || size > 1 << 16 || extent > 1 << 22) continue;
    ++compared;
    ASSERT_EQ(type.ours.lower(), lower) << seed;
    ASSERT_EQ(type.ours.extent(), extent) << seed;
    std::vector<std::int64_t> ours;
    type.ours.for_each_block(2, [&](std::int64_t offset, std::uint64_t length) {
      for (std::uint64_t at = 0; at < length; ++at) ours.push_back(offset + static_cast<std::int64_t>(at));
      return true;
    });
    const std::int64_t upper = std::max(type.ours.true_upper(), type.ours.true_upper() + type.ours.extent());
    MPI_Datatype committed = type.mpi;
    MPI_Type_commit(&committed);
    ASSERT_EQ(ours, packed_bytes(committed, 2, std::min<std::int64_t>(0, type.ours.true_lower()), upper))
        << seed;
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace weir::pattern
