// SPDX-License-Identifier: Apache-2.0
#include "plugin/exit_waits.hpp"

#include <utility>

namespace tutti::plugins {
namespace {

using listener = void (*)(base::idle_wait);
constinit listener told = nullptr;

}  // namespace

void set_wait_at_exit(void (*tell)(base::idle_wait)) { told = tell; }

void wait_at_exit(base::idle_wait wait) {
  if (told != nullptr) told(std::move(wait));
}

}  // namespace tutti::plugins
