// SPDX-License-Identifier: Apache-2.0
//
// What happens to work in flight when the process exits. Drivers that run on the host's cores go on
// compiling and computing in threads of their own while exit() destroys the statics they use, and
// crash; so exit() first waits for the work of the library.
#pragma once

#include "base/background_thread.hpp"

namespace tutti::runtime {

/// Has exit() call `wait`, which must not throw, and not wait for locks that a thread holds for
/// long.
void wait_at_exit(detail::idle_wait wait);

/// What exit() would wait for, without a time limit: the work of all devices and the copies between
/// them.
void wait_for_all_work();

}  // namespace tutti::runtime
