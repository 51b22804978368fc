// SPDX-License-Identifier: Apache-2.0
//
// What exit() has to wait for in this module, which does not know the runtime that does so.
#pragma once

#include "base/background_thread.hpp"

namespace tutti::plugins {

/// Receives what exit() has to wait for. Set once, while the library is loaded.
void set_wait_at_exit(void (*tell)(base::idle_wait));

/// Makes exit() call `wait`, which must not throw.
void wait_at_exit(base::idle_wait wait);

}  // namespace tutti::plugins
