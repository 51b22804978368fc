// SPDX-License-Identifier: Apache-2.0
//
// Questions are asked in threads of their own, for a device that hangs in one must not take along
// whoever needs the answer.
#pragma once

#include <chrono>
#include <functional>

#include "tutti/export.hpp"

namespace tutti::detail {

/// Runs `question` and waits for it; false where it has not ended after that many seconds. If it
/// does later, `late` is called in its thread. Neither may throw. Where no thread can be had,
/// `question` runs in this one, however long it takes. Throws device_error where the process exits.
TUTTI_INTERNAL_API bool asked_within(double seconds, std::function<void()> question,
                                     std::function<void()> late);

/// Waits for the questions that are being asked and that nobody has given up; false where one is at
/// the deadline.
TUTTI_INTERNAL_API bool wait_for_proofs(std::chrono::steady_clock::time_point deadline);

}  // namespace tutti::detail
