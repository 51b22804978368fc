// SPDX-License-Identifier: Apache-2.0
//
// Properties of this machine, from the operating system.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::sdk {

uint64_t physical_memory();   // bytes
uint64_t available_memory();  // bytes available without swapping
// Cores available to this process: its affinity mask, limited by its control group's quota.
uint32_t usable_cores();
std::string processor_name();
// Requests large pages, which reduce TLB misses; the system may ignore this.
void ask_for_large_pages(void* data, uint64_t bytes);
constexpr uint64_t large_page = uint64_t{2} << 20;

}  // namespace tutti::sdk
