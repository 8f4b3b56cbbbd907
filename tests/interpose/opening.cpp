// What a program may say when it opens a file under the service, and what becomes of it: opening CASE FOLDER.
// Prints "as expected" on rank 0.
#include <mpi.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>

#include "../mpi/pretended_lustre.hpp"
#include "faults_support.hpp"

namespace {

constexpr int anew = MPI_MODE_CREATE | MPI_MODE_RDWR;
using Hint = std::pair<const char*, const char*>;

MPI_Info info_of(std::initializer_list<Hint> hints) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : hints) MPI_Info_set(info, key, value);
  return info;
}

// The words name the file, which is not made.
void expect_no_file(const std::string& path, MPI_Info info, std::initializer_list<int> classes,
                    const std::string& words) {
  for (const std::string& named : {words, path}) {
    MPI_File file = MPI_FILE_NULL;
    expect(MPI_File_open(MPI_COMM_WORLD, path.c_str(), anew, info, &file), classes, named);
  }
  if (::access(path.c_str(), F_OK) == 0) give_up("the file was made");
  MPI_Barrier(MPI_COMM_WORLD);
}

void expect_hint(MPI_File file, const Hint& hint) {
  if (const std::string value = reported(file, hint.first); value != hint.second)
    give_up(std::string(hint.first) + " is reported as '" + value + "'");
}

void between_groups(const std::string& path) {
  MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
  for (MPI_Comm comm : {both, MPI_COMM_WORLD}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_File file = MPI_FILE_NULL;
  expect(MPI_File_open(both, path.c_str(), anew, MPI_INFO_NULL, &file), {MPI_ERR_COMM}, "");
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

// It has no size to go by.
void device(const std::string&) {
  MPI_File file = open_shared("/dev/zero", MPI_MODE_RDONLY);
  char data[64];
  std::memset(data, 'x', sizeof data);
  MPI_Status status;
  const int code = MPI_File_read_at_all(file, 0, data, sizeof data, MPI_BYTE, &status);
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (code != MPI_SUCCESS || count != sizeof data || data[sizeof data - 1] != 0)
    give_up("read " + std::to_string(count) + " bytes of zeros");
  MPI_File_close(&file);
}

// Ranks of MPI_COMM_WORLD, whoever opens the file.
void aggregators(const std::string& path) {
  for (const char* wrong : {"0,99", "1,1"}) {
    MPI_Info info = info_of({{"weir_aggregators", wrong}});
    expect_no_file(path, info, {MPI_ERR_ARG}, "hint weir_aggregators");
    MPI_Info_free(&info);
  }
  MPI_Info info = info_of({{"weir_aggregators", "1"}});
  MPI_File file = open_shared(path, anew, info);
  expect_hint(file, {"weir_aggregators", "1"});
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  file = open_shared(path, anew, info, MPI_COMM_SELF);
  if (!is_served(file)) give_up("a file of one rank is not served");
  expect_hint(file, {"weir_aggregators", rank == 1 ? "1" : ""});
  const char data = static_cast<char>('a' + rank);
  if (const int code = MPI_File_write_at_all(file, rank, &data, 1, MPI_CHAR, MPI_STATUS_IGNORE);
      code != MPI_SUCCESS)
    give_up(words_of(code));
  MPI_File_close(&file);
  MPI_Info_free(&info);
}

void wrong_aggregators(const std::string& path) {
  expect_no_file(path, MPI_INFO_NULL, {MPI_ERR_ARG}, "WEIR_AGGREGATORS");
}

// What the environment says, as faults.sh sets it, and what was said too late.
void in_use(const std::string& path) {
  MPI_File file = open_shared(path, anew);
  const auto look = [&] {
    for (const Hint& hint :
         {Hint{"weir_req", "4"}, Hint{"cb_nodes", "1"}, Hint{"weir_agg", "1"}, Hint{"weir_rr", "0"},
          Hint{"weir_two_phase", "auto"}, Hint{"striping_unit", "65536"}, Hint{"striping_factor", "2"},
          Hint{"cb_buffer_size", "65536"}, Hint{"weir_fill", "1"}})
      expect_hint(file, hint);
  };
  look();
  MPI_Info late = info_of({{"weir_req", "4"}, {"weir_two_phase", "nonsense"}});
  if (const int code = MPI_File_set_info(file, late); code != MPI_SUCCESS) give_up(words_of(code));
  look();
  if (const int code = MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", late); code != MPI_SUCCESS)
    give_up(words_of(code));
  look();
  MPI_Info_free(&late);
  MPI_File_close(&file);
}

// Hints of the standard are advice, which rank 0 gives for all; those of Weir have to be the same.
void hints_of_one(const std::string& path) {
  MPI_Info info = rank == 0 ? info_of({{"weir_req", "1"}}) : MPI_INFO_NULL;
  expect_no_file(path, info, {MPI_ERR_NOT_SAME}, "weir_req=1");
  if (rank == 0) {
    MPI_Info_delete(info, "weir_req");
    for (const Hint& hint : {Hint{"cb_nodes", "1"}, Hint{"striping_unit", "65536"},
                             Hint{"striping_factor", "2"}, Hint{"cb_buffer_size", "131072"}})
      MPI_Info_set(info, hint.first, hint.second);
  }
  for (int i = 0; i < 2; ++i) {  // said once
    MPI_File file = open_shared(path, anew, info);
    expect_hint(file, {"cb_nodes", "1"});
    expect_hint(file, {"cb_buffer_size", "131072"});
    expect_hint(file, {"striping_unit", "65536"});
    MPI_File_close(&file);
  }
  if (rank == 0) MPI_Info_free(&info);
}

// Rank 0 of the job is none of the file's: it is accounted for all the same.
void without_first(const std::string& path) {
  MPI_Comm rest = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &rest);
  if (rank == 0) return;
  MPI_File file = open_shared(path, anew, MPI_INFO_NULL, rest);
  const char data[8] = "";
  if (const int code = MPI_File_write_at_all(file, 8 * (rank - 1), data, 8, MPI_CHAR, MPI_STATUS_IGNORE);
      code != MPI_SUCCESS)
    give_up(words_of(code));
  MPI_File_close(&file);
  MPI_Comm_free(&rest);
}

// Who insists on making the file gets it striped as well, on Lustre; and an error where it is there already.
void striped_exclusively(const std::string& path) {
  weir::test::pretended.lustre = true;
  constexpr int insisting = anew | MPI_MODE_EXCL;
  MPI_Info info = info_of({{"striping_unit", "1048576"}, {"striping_factor", "4"}});
  MPI_File file = open_shared(path, insisting, info);
  if (rank == 0 && weir::test::pretended.attribute.empty()) give_up("the file was not striped");
  if (!is_served(file)) give_up("the file is not served");
  int mode = 0;
  MPI_File_get_amode(file, &mode);
  if (mode != insisting) give_up("the file is open in mode " + std::to_string(mode));
  MPI_File_close(&file);
  expect(MPI_File_open(MPI_COMM_WORLD, path.c_str(), insisting, info, &file),
         {MPI_ERR_FILE_EXISTS, MPI_ERR_FILE, MPI_ERR_IO}, "");
  if (::access(path.c_str(), F_OK) != 0) give_up("a file that was there is gone");
  // Nothing is left of a file that cannot be opened.
  const std::string other = path + ".other";
  MPI_Barrier(MPI_COMM_WORLD);
  constexpr int impossible = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDONLY;
  if (MPI_File_open(MPI_COMM_WORLD, other.c_str(), impossible, info, &file) == MPI_SUCCESS)
    give_up("a new file was opened to be read only");
  MPI_Barrier(MPI_COMM_WORLD);
  if (::access(other.c_str(), F_OK) == 0) give_up("a file that cannot be opened was made");
  MPI_Info_free(&info);
}

// A non-blocking call of a program that did not ask for threads.
void returns_at_once(const std::string& path) {
  MPI_File file = open_shared(path, anew);
  const char data = static_cast<char>('a' + rank);
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_File_iwrite_at_all(file, rank, &data, 1, MPI_CHAR, &request) != MPI_SUCCESS) give_up("write");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  std::string all(static_cast<std::size_t>(ranks), ' ');
  MPI_File_read_at_all(file, 0, all.data(), ranks, MPI_CHAR, MPI_STATUS_IGNORE);
  for (int i = 0; i < ranks; ++i)
    if (all[static_cast<std::size_t>(i)] != static_cast<char>('a' + i)) give_up("read '" + all + "'");
  MPI_File_close(&file);
}

void wrong_nonblocking(const std::string& path) {
  expect_no_file(path, MPI_INFO_NULL, {MPI_ERR_ARG}, "WEIR_NONBLOCKING is 'perhaps'");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) return 2;
  const Case cases[] = {{"between_groups", between_groups},
                        {"device", device},
                        {"aggregators", aggregators},
                        {"wrong_aggregators", wrong_aggregators},
                        {"in_use", in_use},
                        {"hints_of_one", hints_of_one},
                        {"without_first", without_first},
                        {"striped_exclusively", striped_exclusively},
                        {"returns_at_once", returns_at_once},
                        {"wrong_nonblocking", wrong_nonblocking}};
  run_case(cases, argv[1], argv[2]);
  MPI_Finalize();
}
