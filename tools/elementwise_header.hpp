// SPDX-License-Identifier: Apache-2.0
//
// The text of core/include/tutti/elementwise.hpp: a documented declaration for each public row of
// op_table.def.
#pragma once

#include <string>

namespace tutti::tools {

std::string elementwise_header();

}  // namespace tutti::tools
