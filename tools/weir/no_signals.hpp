// Threads that are not to be interrupted: one that is started while this lives hears of no signal. They are
// for the thread that waits for the program.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace weir::cli {

class NoSignalsHere {
 public:
  NoSignalsHere() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~NoSignalsHere() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignalsHere(const NoSignalsHere&) = delete;
  NoSignalsHere& operator=(const NoSignalsHere&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace weir::cli
