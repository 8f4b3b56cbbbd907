// The session of tests that run in all modes: WEIR_TEST_MODE says which. With servers, the ranks that serve
// never get further than weir_test_begin().
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "mpi/comm.hpp"
#include "support.hpp"

namespace weir::test {

namespace {
std::unique_ptr<Session> the_session;
}

Session& session() {
  return *the_session;
}

MPI_Comm world() {
  return the_session->compute();
}

std::string failure_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no failure";
}

std::string common_failure(const std::function<void()>& body) {
  const std::string message = failure_of(body);
  for (const std::string& other : mpi::Comm::duplicate(world()).gather_to_all(message))
    EXPECT_EQ(other, message);
  return message;
}

}  // namespace weir::test

extern "C" void weir_test_begin() {
  const char* mode = std::getenv("WEIR_TEST_MODE");
  weir::test::the_session = std::make_unique<weir::Session>(
      MPI_COMM_WORLD, weir::SessionOptions{.mode = mode == nullptr ? "" : mode});
}

extern "C" MPI_Comm weir_test_world() {
  return weir::test::world();
}

extern "C" void weir_test_end() {
  weir::test::the_session->end();
  weir::test::the_session.reset();
}
