// Who writes to a file keeps away who writes holes of it back, and nobody else, whatever the file is open
// for.
#include "collective/write_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <list>
#include <thread>

#include "collective_support.hpp"

namespace weir::collective {
namespace {

using Kind = WriteLock::Kind;

class WriteLocks : public testing::TestWithParam<int> {
 protected:
  Descriptor open_again(int mode) const { return open_file(file_.path(), mode | O_CLOEXEC).value(); }
  const test::SharedFile file_;
};

TEST_P(WriteLocks, WritersDoNotWaitForEachOther) {
  std::list<Descriptor> files;
  std::list<WriteLock> locks;
  for (int i = 0; i < 20; ++i) {
    files.push_back(open_again(GetParam()));
    ASSERT_TRUE(locks.emplace_back(files.back().get(), Kind::shared).held());
  }
  files.push_back(open_again(O_RDWR));
  EXPECT_TRUE(WriteLock(files.back().get(), Kind::shared).held());
  while (!locks.empty()) {
    EXPECT_FALSE(WriteLock(files.back().get(), Kind::exclusive).held()) << locks.size() << " write";
    locks.pop_front();
  }
  EXPECT_TRUE(WriteLock(files.back().get(), Kind::exclusive).held());
}

TEST_P(WriteLocks, AWriterWaitsForWhoHasTheFileAlone) {
  const Descriptor filling = open_again(O_RDWR), writing = open_again(GetParam());
  std::optional<WriteLock> alone(std::in_place, filling.get(), Kind::exclusive);
  ASSERT_TRUE(alone->held());
  std::atomic<bool> filled = false, waited = false;
  std::thread writer([&] {
    const WriteLock lock(writing.get(), Kind::shared);
    waited = lock.held() && filled;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // time enough to see who does not wait
  filled = true;
  alone.reset();
  writer.join();
  EXPECT_TRUE(waited);
}

INSTANTIATE_TEST_SUITE_P(OpenFor, WriteLocks, testing::Values(O_RDWR, O_WRONLY),
                         [](const auto& mode) { return mode.param == O_RDWR ? "Both" : "Writing"; });

}  // namespace
}  // namespace weir::collective
