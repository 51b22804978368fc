// SPDX-License-Identifier: Apache-2.0
//
// What the tests of networks include, and the names that they use.
#pragma once

#include "differences.hpp"
#include "tutti/nn.hpp"

namespace nn = tutti::nn;
using list = std::vector<array>;
