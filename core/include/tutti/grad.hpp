// SPDX-License-Identifier: Apache-2.0
//
// Gradients as function transforms: reverse mode over the graph that the function records.
//
// Complex numbers follow the convention of JAX: the cotangent of z = x + iy is dL/dx - i dL/dy, so
// that a holomorphic f passes cotangents on by multiplication with f'(z), without conjugates. To
// descend, step along the conjugate of a gradient. (PyTorch's gradients are the conjugates.)
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "tutti/array.hpp"

namespace tutti {

using function = std::function<array(const std::vector<array>&)>;
using vector_function = std::function<std::vector<array>(const std::vector<array>&)>;

/// A function that returns f's value and its gradients with respect to the arguments `argnums`
/// (empty: all). f's value must be one floating element (shape_error otherwise, dtype_error where
/// it is complex); arguments must be floating or complex (dtype_error). Everything stays lazy: eval
/// value and gradients together.
TUTTI_API std::function<std::pair<array, std::vector<array>>(const std::vector<array>&)>
value_and_grad(function f, std::vector<int> argnums = {});

/// Only the gradients.
TUTTI_API vector_function grad(function f, std::vector<int> argnums = {});

/// Value of f at `arguments` and the products of `cotangents` with its Jacobian, one for each
/// argument.
TUTTI_API std::pair<std::vector<array>, std::vector<array>> vjp(
    const vector_function& f, const std::vector<array>& arguments,
    const std::vector<array>& cotangents);

}  // namespace tutti
