// SPDX-License-Identifier: Apache-2.0
//
// Work in flight when the process exits. Drivers that run on the host's cores continue to compile
// and compute in their own threads while exit() destroys their static objects, and crash; so exit()
// first waits for the work of the library. Later work is refused.
#pragma once

#include "base/background_thread.hpp"

namespace tutti::base {

/// Makes exit() call `wait`, which must not throw, and must not wait for locks that a thread holds
/// for long.
void wait_at_exit(idle_wait wait);

/// Whether this thread holds a device. If it exits, the work that it holds cannot be waited for.
bool holds_device() noexcept;
void note_device_held(bool is_held) noexcept;

/// Waits like exit(), without a time limit: for the work of all devices and the copies between
/// them.
void wait_for_all_work();

}  // namespace tutti::base
