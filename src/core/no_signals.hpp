// Threads that are not to be interrupted: one that is started while this lives takes no signal, so that the
// program's handlers run in the program's threads. What a thread does itself to memory it may not touch
// (SIGSEGV and the like) still reaches it: programs handle that, too.
//
// Threads: each for itself.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace weir {

class NoSignalsHere {
 public:
  NoSignalsHere() {
    sigset_t all;
    ::sigfillset(&all);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) ::sigdelset(&all, own);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~NoSignalsHere() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignalsHere(const NoSignalsHere&) = delete;
  NoSignalsHere& operator=(const NoSignalsHere&) = delete;

 private:
  sigset_t before_{};
};

// A thread of Weir's within a program.
template <class Body>
std::thread thread_without_signals(Body body) {
  const NoSignalsHere now;
  return std::thread(std::move(body));
}

}  // namespace weir
