// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices, their products, solvers.
#pragma once

#include "tutti/sparse/matrix.hpp"
#include "tutti/sparse/solvers.hpp"
