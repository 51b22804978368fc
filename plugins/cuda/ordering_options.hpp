// SPDX-License-Identifier: Apache-2.0
//
// Options of the kernel files of scans, sorts, searches and gathers; the tests compile every
// combination.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/validate_operator.hpp"

namespace tutti::cuda {

std::vector<std::string> scan_options(int32_t out, int32_t in, int32_t scan);
std::vector<std::string> sort_options(int32_t dtype, bool payload);
std::vector<std::string> lookup_options(int32_t dtype);
/// Rows of any type of this size are taken alike.
std::vector<std::string> take_options(int32_t dtype, int32_t index);
std::vector<std::string> scatter_options(int32_t dtype, int32_t index, sdk::combination how);

}  // namespace tutti::cuda
