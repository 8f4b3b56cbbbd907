// Random collective calls: random_calls ROUNDS SEED FOLDER. Files, what was read, counts, positions and sizes
// depend on the arguments and the number of ranks only: two runs leave equal folders, whoever carried out the
// calls.
#include <mpi.h>

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
      break;
    }
    case 2: {  // strided blocks of blocks
      const int length = pick(common, 1, 5), count = pick(common, 1, 4);
      MPI_Type_vector(count, length, length * ranks, view.element, &parts);
      MPI_Type_create_resized(parts, 0, static_cast<MPI_Aint>(length) * ranks * count * view.element_size,
                              &view.type);
      view.displacement += static_cast<MPI_Offset>(length) * rank * view.element_size;
      break;
    }
    default: {  // a part of the file for each rank
      const int length = pick(common, 1, 2000 / ranks);
      MPI_Type_contiguous(length, view.element, &parts);
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
  return view;
}

// A buffer for so many bytes, laid out in memory at random.
struct Memory {
  std::vector<unsigned char> bytes;
  MPI_Datatype type = MPI_BYTE;
  int count = 0;
  long first = 0;  // where the buffer argument points
};
Memory random_memory(Random& own, int bytes) {
  Memory memory;
  memory.count = bytes;
  memory.bytes.resize(static_cast<std::size_t>(bytes) * 3 + 64);
  for (unsigned char& byte : memory.bytes) byte = static_cast<unsigned char>(own());
  if (bytes == 0 || pick(own, 0, 2) == 0) return memory;
  memory.count = 1;
  if (pick(own, 0, 1) == 0) {  // every second byte, backwards
    MPI_Type_create_hvector(bytes, 1, -2, MPI_BYTE, &memory.type);
    memory.first = 2L * bytes;
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
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_extent(view.type, &lower, &extent);
    const int tiles = static_cast<int>((file_bytes - 4096) / std::max<MPI_Aint>(extent, 1));
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
  for (int i = 0; i < rounds; ++i) round(i, common, own, folder, log);
  std::ofstream(folder + "/log" + std::to_string(rank)) << log.str();
  MPI_Finalize();
}
