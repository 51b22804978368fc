// SPDX-License-Identifier: Apache-2.0
//
// The calls that differential.txt names.
#pragma once

#include <string>
#include <vector>

#include "semantics/host_half.hpp"
#include "tutti/analysis.hpp"
#include "tutti/image.hpp"
#include "tutti/nn.hpp"
#include "tutti/tutti.hpp"

namespace tutti_test {

/// A function's name and its arguments, "NAME:ARGUMENT:...", applied to operands.
tutti::array call(const std::string& text, const std::vector<tutti::array>& operands);

/// Whether the function has one result for each element, in the shape of its operands.
bool is_elementwise(const std::string& text);

}  // namespace tutti_test
