#include "core/worker.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <future>

namespace weir {
namespace {

// A handler of the program is for the program's threads. Those of Weir take no signal, not even when nobody
// else does.
TEST(Worker, TakesNoSignals) {
  const auto before = std::signal(SIGUSR1, [](int) {});
  sigset_t one, usual, pending;
  ::sigemptyset(&one);
  ::sigaddset(&one, SIGUSR1);
  Worker worker;
  ::pthread_sigmask(SIG_BLOCK, &one, &usual);
  ::kill(::getpid(), SIGUSR1);
  std::promise<sigset_t> mask;
  worker.post([&] {
    sigset_t of_worker;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &of_worker);
    mask.set_value(of_worker);
  });
  const sigset_t of_worker = mask.get_future().get();
  EXPECT_EQ(::sigismember(&of_worker, SIGTERM), 1);
  EXPECT_EQ(::sigismember(&of_worker, SIGSEGV), 0) << "programs may handle what becomes of their memory";
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGUSR1), 1) << "the worker took it";
  ::pthread_sigmask(SIG_SETMASK, &usual, nullptr);
  std::signal(SIGUSR1, before);
}

// What launchers do to a rank: one processor, and a word about how many ranks there are.
class Bound : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::sched_getaffinity(0, sizeof(before_), &before_), 0);
    if (CPU_COUNT(&before_) < 2) GTEST_SKIP() << "one processor only";
    mine_ = ::sched_getcpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(mine_), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  }
  void TearDown() override {
    ::sched_setaffinity(0, sizeof(before_), &before_);
    ::unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  }

  cpu_set_t before_{};
  int mine_ = -1;
};

TEST_F(Bound, AProcessAmongOthersHasNothingToSpare) {
  EXPECT_FALSE(has_processor_to_spare(1));
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2", 1);
  EXPECT_FALSE(has_processor_to_spare(2));
}

TEST_F(Bound, ALoneProcessUsesTheOtherProcessors) {
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1", 1);
  EXPECT_TRUE(has_processor_to_spare(1));
  Worker* worker = Worker::of_process();
  ASSERT_NE(worker, nullptr);
  std::atomic<int> ran_on = -1;
  worker->post([&] {
    ran_on = ::sched_getcpu();
    ran_on.notify_all();
  });
  ran_on.wait(-1);
  EXPECT_NE(ran_on, mine_);
}

}  // namespace
}  // namespace weir
