// SPDX-License-Identifier: Apache-2.0
//
// What the operating system says of this machine.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::sdk {

uint64_t physical_memory();   // bytes
uint64_t available_memory();  // bytes that can be had without swapping
// Cores that this process may compute on: of its affinity mask, and no more than its control
// group's share of time.
uint32_t usable_cores();
std::string processor_name();
// Asks the system for large pages, of which the processor can find more at once; it may have none.
void ask_for_large_pages(void* data, uint64_t bytes);
constexpr uint64_t large_page = uint64_t{2} << 20;

}  // namespace tutti::sdk
