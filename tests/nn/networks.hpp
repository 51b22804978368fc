// SPDX-License-Identifier: Apache-2.0
//
// What the tests of networks include, and the names that they use.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "differences.hpp"
#include "tutti/nn.hpp"
#include "tutti/ops.hpp"
#include "tutti_test/fails.hpp"
#include "tutti_test/files.hpp"

using namespace tutti_test;
using tutti::array;
using tutti::dtype;
using tutti::shape;
namespace nn = tutti::nn;
using list = std::vector<array>;
