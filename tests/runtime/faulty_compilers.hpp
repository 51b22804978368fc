// SPDX-License-Identifier: Apache-2.0
//
// The compilers of the faulty plugin. Where its programs and operators begin on the host
// (TUTTI_FAULTY_TIERED) one works in the background and does what a test wants; what it has
// compiled runs as before. Those that are waited for can be made to wait for each other.
#pragma once

struct tutti_tier_api;

namespace faulty {

bool is_tiered();
const tutti_tier_api& tier();

/// Of programs and plans, by their handles.
void launched(const void* work);
bool is_on_host(const void* work);
void released(const void* work);

/// As tutti_faulty_compile_together() has asked for.
void compile_beside_others();

}  // namespace faulty
