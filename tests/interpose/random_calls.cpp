// Random collective calls: random_calls ROUNDS SEED FOLDER. Files, what was read, counts, positions and sizes
// depend on the arguments and the number of ranks only: two runs leave equal folders, whoever carried out the
// calls.
//
// Every second round is for Weir only: its file grows, holes are left behind its end, and reads go beyond it.
// MPI libraries differ there (Open MPI 4.1 leaves in holes what was in memory), so the program knows by itself
// what is right.
#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;
constexpr int file_bytes = 1 << 17;

using Random = std::mt19937_64;
int pick(Random& random, int from, int to) {
  return std::uniform_int_distribution<int>(from, to)(random);
}

void must(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::fprintf(stderr, "rank %d: %s: %s\n", rank, what.c_str(), text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// The rank's part of a tile that all ranks share without overlap, in elements; the tile's cuts are the same
// on all ranks.
struct Share {
  std::vector<int> lengths, places;
  int tile = 0;
};
Share deal(Random& common, int largest) {
  Share share;
  const int cells = pick(common, 1, 12 * ranks);
  for (int cell = 0; cell < cells; ++cell) {
    const int length = pick(common, 1, largest);
    const int owner = pick(common, 0, ranks);  // `ranks`: nobody's
    if (owner == rank) {
      share.lengths.push_back(length);
      share.places.push_back(share.tile);
    }
    share.tile += length;
  }
  share.tile += pick(common, 0, 9);
  return share;
}

struct View {
  MPI_Datatype element = MPI_BYTE;
  int element_size = 1;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Offset displacement = 0;
  int elements = 0;  // of one file type
  bool derived_element = false;
  std::vector<long> places;  // of the bytes of one file type, in order
  long extent = 0;

  MPI_Offset place_of(long byte) const {
    const long size = static_cast<long>(places.size());
    return displacement + byte / size * extent + places[static_cast<std::size_t>(byte % size)];
  }
  void place(long first, long length) {  // in elements
    for (long i = first * element_size; i < (first + length) * element_size; ++i) places.push_back(i);
  }
};

View random_view(Random& common) {
  View view;
  switch (pick(common, 0, 3)) {
    case 0:
      break;
    case 1:
      view.element = MPI_INT;
      break;
    case 2:
      view.element = MPI_DOUBLE;
      break;
    default:
      MPI_Type_contiguous(3, MPI_CHAR, &view.element);
      MPI_Type_commit(&view.element);
      view.derived_element = true;
  }
  MPI_Type_size(view.element, &view.element_size);
  view.displacement = pick(common, 0, 100);
  MPI_Datatype parts = MPI_DATATYPE_NULL;
  switch (pick(common, 0, 3)) {
    case 0: {  // cells of any size, dealt at random
      const Share share = deal(common, 9);
      MPI_Type_indexed(static_cast<int>(share.lengths.size()), share.lengths.data(), share.places.data(),
                       view.element, &parts);
      for (std::size_t i = 0; i < share.lengths.size(); ++i) view.place(share.places[i], share.lengths[i]);
      MPI_Type_create_resized(parts, 0, static_cast<MPI_Aint>(std::max(share.tile, 1)) * view.element_size,
                              &view.type);
      break;
    }
    case 1: {  // a 2-D tile
      const int rows = pick(common, 1, 9), columns = pick(common, 1, 7);
      const int sizes[] = {rows, columns * ranks}, subsizes[] = {rows, columns},
                starts[] = {0, columns * rank};
      const bool fortran = pick(common, 0, 1) == 1;
      const int sizes_f[] = {columns * ranks, rows}, subsizes_f[] = {columns, rows},
                starts_f[] = {columns * rank, 0};
      MPI_Type_create_subarray(2, fortran ? sizes_f : sizes, fortran ? subsizes_f : subsizes,
                               fortran ? starts_f : starts, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                               view.element, &view.type);
      // In the order of Fortran the sizes are turned round as well: it is the same tile.
      for (int row = 0; row < rows; ++row)
        view.place(static_cast<long>(row) * columns * ranks + static_cast<long>(columns) * rank, columns);
      break;
    }
    case 2: {  // strided blocks of blocks
      const int length = pick(common, 1, 5), count = pick(common, 1, 4);
      MPI_Type_vector(count, length, length * ranks, view.element, &parts);
      for (int i = 0; i < count; ++i) view.place(static_cast<long>(i) * length * ranks, length);
      MPI_Type_create_resized(parts, 0, static_cast<MPI_Aint>(length) * ranks * count * view.element_size,
                              &view.type);
      view.displacement += static_cast<MPI_Offset>(length) * rank * view.element_size;
      break;
    }
    default: {  // a part of the file for each rank
      const int length = pick(common, 1, 2000 / ranks);
      MPI_Type_contiguous(length, view.element, &parts);
      view.place(0, length);
      MPI_Type_create_resized(parts, 0, static_cast<MPI_Aint>(length) * ranks * view.element_size,
                              &view.type);
      view.displacement += static_cast<MPI_Offset>(length) * rank * view.element_size;
    }
  }
  MPI_Type_commit(&view.type);
  if (parts != MPI_DATATYPE_NULL) MPI_Type_free(&parts);
  int size = 0;
  MPI_Type_size(view.type, &size);
  view.elements = size / view.element_size;
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(view.type, &lower, &extent);
  view.extent = extent;
  return view;
}

// A buffer for so many bytes, laid out in memory at random.
struct Memory {
  std::vector<unsigned char> bytes;
  MPI_Datatype type = MPI_BYTE;
  int count = 0;
  long first = 0;            // where the buffer argument points
  std::vector<long> places;  // of the bytes that are transferred, in order
};
Memory random_memory(Random& own, int bytes) {
  Memory memory;
  memory.count = bytes;
  memory.bytes.resize(static_cast<std::size_t>(bytes) * 3 + 64);
  for (unsigned char& byte : memory.bytes) byte = static_cast<unsigned char>(own());
  for (int i = 0; i < bytes; ++i) memory.places.push_back(i);
  if (bytes == 0 || pick(own, 0, 2) == 0) return memory;
  memory.count = 1;
  if (pick(own, 0, 1) == 0) {  // every second byte, backwards
    MPI_Type_create_hvector(bytes, 1, -2, MPI_BYTE, &memory.type);
    memory.first = 2L * bytes;
    for (int i = 0; i < bytes; ++i) memory.places[static_cast<std::size_t>(i)] = memory.first - 2L * i;
  } else {  // stretches with gaps, the second half before the first
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    MPI_Aint at = 0;
    for (int left = bytes; left > 0;) {
      const int length = std::min(left, pick(own, 1, 40));
      lengths.push_back(length);
      places.push_back(at);
      at += length + pick(own, 0, length);
      left -= length;
    }
    std::rotate(places.begin(), places.begin() + static_cast<long>(places.size() / 2), places.end());
    std::rotate(lengths.begin(), lengths.begin() + static_cast<long>(lengths.size() / 2), lengths.end());
    MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_BYTE,
                             &memory.type);
    memory.places.clear();
    for (std::size_t i = 0; i < lengths.size(); ++i)
      for (int b = 0; b < lengths[i]; ++b) memory.places.push_back(places[i] + b);
  }
  MPI_Type_commit(&memory.type);
  return memory;
}

std::uint64_t hash(const std::vector<unsigned char>& bytes) {
  std::uint64_t value = 1469598103934665603U;
  for (const unsigned char byte : bytes) value = (value ^ byte) * 1099511628211U;
  return value;
}

int call(int form, bool writes, MPI_File file, MPI_Offset offset, void* buffer, const Memory& memory,
         MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  switch (form) {
    case 0:
      return writes ? MPI_File_write_at_all(file, offset, buffer, memory.count, memory.type, status)
                    : MPI_File_read_at_all(file, offset, buffer, memory.count, memory.type, status);
    case 1:
      return writes ? MPI_File_write_all(file, buffer, memory.count, memory.type, status)
                    : MPI_File_read_all(file, buffer, memory.count, memory.type, status);
    case 2:
      code = writes ? MPI_File_write_at_all_begin(file, offset, buffer, memory.count, memory.type)
                    : MPI_File_read_at_all_begin(file, offset, buffer, memory.count, memory.type);
      if (code != MPI_SUCCESS) return code;
      return writes ? MPI_File_write_at_all_end(file, buffer, status)
                    : MPI_File_read_at_all_end(file, buffer, status);
    case 3:
      code = writes ? MPI_File_write_all_begin(file, buffer, memory.count, memory.type)
                    : MPI_File_read_all_begin(file, buffer, memory.count, memory.type);
      if (code != MPI_SUCCESS) return code;
      return writes ? MPI_File_write_all_end(file, buffer, status)
                    : MPI_File_read_all_end(file, buffer, status);
    case 4:
      code = writes ? MPI_File_iwrite_at_all(file, offset, buffer, memory.count, memory.type, &request)
                    : MPI_File_iread_at_all(file, offset, buffer, memory.count, memory.type, &request);
      break;
    default:
      code = writes ? MPI_File_iwrite_all(file, buffer, memory.count, memory.type, &request)
                    : MPI_File_iread_all(file, buffer, memory.count, memory.type, &request);
  }
  if (code != MPI_SUCCESS) return code;
  return MPI_Wait(&request, status);
}

void round(int number, Random& common, Random& own, const std::string& folder, std::ostream& log) {
  const std::string name = folder + "/file" + std::to_string(number);
  MPI_File file = MPI_FILE_NULL;
  must(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
       "open");
  // All of the file has bytes that must stay where nobody writes.
  if (rank == 0) {
    std::vector<unsigned char> old(file_bytes);
    for (std::size_t i = 0; i < old.size(); ++i) old[i] = static_cast<unsigned char>(i * 7 + i / 251);
    must(MPI_File_write_at(file, 0, old.data(), file_bytes, MPI_BYTE, MPI_STATUS_IGNORE), "fill");
  }
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int views = pick(common, 1, 3); views > 0; --views) {
    View view = random_view(common);
    must(MPI_File_set_view(file, view.displacement, view.element, view.type, "native", MPI_INFO_NULL),
         "set_view");
    const int tiles = static_cast<int>((file_bytes - 4096) / std::max(view.extent, 1L));
    for (int calls = pick(common, 1, 4); calls > 0; --calls) {
      const int form = pick(common, 0, 5);
      const bool writes = pick(common, 0, 1) == 1;
      // Anywhere, as long as it stays within what was filled; often the same again.
      const int most = std::min(view.elements * tiles, 3000);
      int count = most == 0 ? 0 : pick(own, 0, most);
      if (pick(own, 0, 4) == 0) count = 0;
      const MPI_Offset offset = most == 0 ? 0 : pick(own, 0, most - count);
      if (form % 2 == 1 && view.elements > 0) MPI_File_seek(file, offset, MPI_SEEK_SET);
      Memory memory = random_memory(own, count * view.element_size);
      MPI_Status status;
      must(call(form, writes, file, offset, memory.bytes.data() + memory.first, memory, &status),
           writes ? "write" : "read");
      int moved = 0;
      MPI_Get_count(&status, MPI_BYTE, &moved);
      MPI_Offset position = 0, size = 0;
      MPI_File_get_position(file, &position);
      MPI_File_sync(file);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_File_get_size(file, &size);
      log << number << ' ' << form << (writes ? " write " : " read ") << offset << ' ' << count << " moved "
          << moved << " position " << (form % 2 == 1 ? position : 0) << " size " << size << " memory "
          << hash(memory.bytes) << '\n';
      if (memory.type != MPI_BYTE) MPI_Type_free(&memory.type);
    }
    MPI_Type_free(&view.type);
    if (view.derived_element) MPI_Type_free(&view.element);
  }
  MPI_File_close(&file);
}

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "rank %d: %s\n", rank, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// What the file must hold, written byte by byte without MPI.
class Shadow {
 public:
  explicit Shadow(std::string name) : name_(std::move(name)) {
    descriptor_ = ::open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    expect(descriptor_ >= 0, "no file " + name_);
  }
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;
  ~Shadow() { ::close(descriptor_); }

  long size() const {
    struct stat status {};
    return ::fstat(descriptor_, &status) == 0 ? static_cast<long>(status.st_size) : -1;
  }
  void put(MPI_Offset offset, unsigned char byte) const {
    expect(::pwrite(descriptor_, &byte, 1, offset) == 1, "cannot write " + name_);
  }
  unsigned char at(MPI_Offset offset) const {
    unsigned char byte = 0;
    expect(::pread(descriptor_, &byte, 1, offset) == 1, "cannot read " + name_);
    return byte;
  }

 private:
  std::string name_;
  int descriptor_ = -1;
};

std::string content(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A file that begins empty: whatever is written makes it longer or leaves holes, and is read back beyond its
// end.
void growing_round(int number, std::uint64_t seed, const std::string& folder) {
  Random common(seed), own(seed * 1000 + static_cast<std::uint64_t>(rank) + 1);
  const std::string name = folder + "/growing" + std::to_string(number);
  MPI_File file = MPI_FILE_NULL;
  must(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
       "open");
  const Shadow shadow(name + ".shadow");
  for (int views = pick(common, 1, 3); views > 0; --views) {
    View view = random_view(common);
    if (pick(common, 0, 3) == 0) view.displacement += pick(common, 1, file_bytes);
    must(MPI_File_set_view(file, view.displacement, view.element, view.type, "native", MPI_INFO_NULL),
         "set_view");
    for (int calls = pick(common, 2, 5); calls > 0; --calls) {
      const int form = pick(common, 0, 5);
      const bool writes = pick(common, 0, 1) == 1;
      const int count = view.elements == 0 || pick(own, 0, 4) == 0 ? 0 : pick(own, 1, 1500);
      const MPI_Offset offset = pick(own, 0, 3) == 0 ? pick(own, 0, 2000) : 0;
      if (form % 2 == 1 && view.elements > 0) MPI_File_seek(file, offset, MPI_SEEK_SET);
      Memory memory = random_memory(own, count * view.element_size);
      std::vector<unsigned char> wanted = memory.bytes;
      MPI_Barrier(MPI_COMM_WORLD);
      const long before = shadow.size();
      MPI_Barrier(MPI_COMM_WORLD);
      int there = 0;
      for (long i = 0; i < static_cast<long>(count) * view.element_size; ++i) {
        unsigned char& byte = wanted[static_cast<std::size_t>(memory.places[static_cast<std::size_t>(i)])];
        const MPI_Offset place = view.place_of(offset * view.element_size + i);
        if (!writes && place >= before) continue;
        ++there;
        if (writes)
          shadow.put(place, byte);
        else
          byte = shadow.at(place);
      }
      MPI_Status status;
      must(call(form, writes, file, offset, memory.bytes.data() + memory.first, memory, &status),
           writes ? "write" : "read");
      MPI_Barrier(MPI_COMM_WORLD);
      int moved = 0;
      MPI_Get_count(&status, MPI_BYTE, &moved);
      MPI_Offset size = 0;
      MPI_File_get_size(file, &size);
      const std::string what = name + (writes ? ": a write" : ": a read") + " of form " +
                               std::to_string(form) + ", " + std::to_string(count) + " elements at " +
                               std::to_string(offset) + ", the file having had " + std::to_string(before) +
                               " bytes: ";
      expect(memory.bytes == wanted, what + "other bytes in memory");
      expect(moved == there, what + std::to_string(moved) + " bytes instead of " + std::to_string(there));
      expect(size == shadow.size(),
             what + "then " + std::to_string(size) + " bytes instead of " + std::to_string(shadow.size()));
      if (memory.type != MPI_BYTE) MPI_Type_free(&memory.type);
    }
    MPI_Type_free(&view.type);
    if (view.derived_element) MPI_Type_free(&view.element);
  }
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    expect(content(name) == content(name + ".shadow"), name + " is not what was written");
    ::unlink(name.c_str());
    ::unlink((name + ".shadow").c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4) return 2;
  const int rounds = std::atoi(argv[1]);
  const auto seed = static_cast<std::uint64_t>(std::atoll(argv[2]));
  const std::string folder = argv[3];
  Random common(seed), own(seed * 1000 + static_cast<std::uint64_t>(rank) + 1);
  std::ostringstream log;
  const bool served = std::getenv("WEIR_COLLECTIVE") != nullptr;
  for (int i = 0; i < rounds; ++i) {
    if (i % 2 == 0)
      round(i, common, own, folder, log);
    else if (served)
      growing_round(i, seed * 100 + static_cast<std::uint64_t>(i), folder);
  }
  std::ofstream(folder + "/log" + std::to_string(rank)) << log.str();
  MPI_Finalize();
}
