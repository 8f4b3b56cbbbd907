// The table of backends as it is where HDF5 and ADIOS2 are absent: this program is linked with the entries
// that take their place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/backend.hpp"

namespace weir::backends {
namespace {

using testing::HasSubstr;

TEST(MissingBackends, SayWhatTheyWereBuiltWithout) {
  for (const auto& [name, library] : {std::pair{"hdf5", "HDF5"},
                                      {"adios2-bp5", "ADIOS2"},
                                      {"adios2-bp4", "ADIOS2"},
                                      {"adios2-hdf5", "ADIOS2"}}) {
    const auto found = find(name);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, ErrorCode::unsupported);
    EXPECT_THAT(found.error().message(),
                HasSubstr("backend '" + std::string(name) + "': built without " + library));
  }
  EXPECT_TRUE(find("posix"));
}

// Not another backend in silence: the name asks for a format.
TEST(MissingBackends, AreChosenByExtensionAllTheSame) {
  const auto chosen = choose_for_writing("run.h5");
  ASSERT_FALSE(chosen);
  EXPECT_THAT(chosen.error().message(), HasSubstr("built without HDF5"));
}

}  // namespace
}  // namespace weir::backends
