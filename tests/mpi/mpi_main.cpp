// main() of every MPI test: the test passes only if it passes on all ranks; rank 0 speaks, others only to
// complain.
#include <gtest/gtest.h>
#include <mpi.h>

#if defined(__SANITIZE_ADDRESS__)
// Open MPI unloads its components before the leak check, which can then neither name nor suppress what they
// left: keep them.
extern "C" __attribute__((visibility("default"))) int dlclose(void*) {
  return 0;
}
#endif

// Tests that run in a session define these (session_fixture.cpp).
extern "C" __attribute__((weak)) void weir_test_begin();
extern "C" __attribute__((weak)) MPI_Comm weir_test_world();
extern "C" __attribute__((weak)) void weir_test_end();

namespace {

// Prefixes failures of other ranks, and keeps the rest of them quiet.
class FailuresOnly : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const char* file = result.file_name() == nullptr ? "" : result.file_name();
    std::fprintf(stderr, "[rank %d] %s:%d: %s\n", rank_, file, result.line_number(), result.summary());
  }

 private:
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  testing::InitGoogleTest(&argc, argv);
  MPI_Comm world = MPI_COMM_WORLD;
  if (weir_test_begin != nullptr) {
    weir_test_begin();
    world = weir_test_world();
  }
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  if (rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(rank));
  }
  int failed = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) failed = 1;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, world);
  if (weir_test_end != nullptr) weir_test_end();
  MPI_Finalize();
  return failed;
}
