// Keeps pthread_cancel() waiting while it lives. Cancelled in the middle, a thread is unwound, which ends the process
// at the first noexcept function or catch (...) that it comes to, here or in the standard library; and every wait here
// has a deadline. One goes around whatever waits, opens or closes. A thread's own.
#pragma once

#include <pthread.h>

namespace next_id::client {

class Uncancelled {
 public:
    Uncancelled() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~Uncancelled() { ::pthread_setcancelstate(before_, nullptr); }
    Uncancelled(const Uncancelled&) = delete;
    Uncancelled& operator=(const Uncancelled&) = delete;

 private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace next_id::client
