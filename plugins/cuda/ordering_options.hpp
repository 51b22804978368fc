// SPDX-License-Identifier: Apache-2.0
//
// Options of the kernel files of scans, sorts and searches; the tests compile every combination.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::cuda {

std::vector<std::string> scan_options(int32_t out, int32_t in, int32_t scan);
std::vector<std::string> sort_options(int32_t dtype, bool payload);
std::vector<std::string> lookup_options(int32_t dtype);

}  // namespace tutti::cuda
