#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/binding.hpp"
#include "platform/usable.hpp"

namespace weir {
namespace {

using testing::HasSubstr;

// Binding lasts: each try is a process of its own. The child's answer is its exit code.
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST(Binding, KeepsTheProcessWhereItShouldBe) {
  const auto usable = usable_cpus();
  ASSERT_TRUE(usable);
  for (const std::uint32_t pu : usable->pus) {
    EXPECT_EQ(in_child([&] {
                if (!bind_this_process({pu})) return 1;
                const auto now = usable_cpus();
                return now && now->pus == Numbers{pu} ? 0 : 2;
              }),
              0);
  }
  EXPECT_EQ(in_child([&] { return bind_this_process(usable->pus) ? 0 : 1; }), 0);
}

TEST(Binding, IsSeen) {
  const auto usable = usable_cpus();
  ASSERT_TRUE(usable);
  if (launcher_bound() || usable->pus.size() < 2) GTEST_SKIP() << "this test itself is bound";
  EXPECT_EQ(in_child([&] { return bind_this_process({usable->pus[0]}) && launcher_bound() ? 0 : 1; }), 0);
}

TEST(Binding, RefusesWhatIsNotThere) {
  const auto before = usable_cpus();
  const Status status = bind_this_process({before->pus[0], 999'999});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message(), HasSubstr("999999"));
  EXPECT_FALSE(bind_this_process({}));
  EXPECT_EQ(usable_cpus()->pus, before->pus) << "nothing has changed";
}

}  // namespace
}  // namespace weir
