// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices: what they are, products, solvers.
#pragma once

#include "tutti/sparse/matrix.hpp"
#include "tutti/sparse/solvers.hpp"
