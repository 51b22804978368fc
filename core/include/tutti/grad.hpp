// SPDX-License-Identifier: Apache-2.0
//
// Gradients as function transforms: reverse mode over the graph that the function records.
//
// Complex numbers follow the convention of JAX: the cotangent of z = x + iy is dL/dx - i dL/dy, so
// that a holomorphic f passes cotangents on by multiplication with f'(z), without conjugates. To
// descend, step along the conjugate of a gradient. (PyTorch's gradients are the conjugates.)
#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/array.hpp"

namespace tutti {

using function = std::function<array(const std::vector<array>&)>;
using vector_function = std::function<std::vector<array>(const std::vector<array>&)>;

/// A function that returns f's value and its gradients with respect to the arguments `argnums`
/// (empty: all). f's value must be one floating element (shape_error otherwise, dtype_error where
/// it is complex); arguments must be floating or complex (dtype_error). Everything stays lazy: eval
/// value and gradients together. An empty f is a value_error here, in grad and in vjp.
TUTTI_API std::function<std::pair<array, std::vector<array>>(const std::vector<array>&)>
value_and_grad(function f, std::vector<int> argnums = {});

/// Only the gradients.
TUTTI_API vector_function grad(function f, std::vector<int> argnums = {});

namespace detail {
template <class F>
concept function_of_one = std::is_invocable_r_v<array, F&, const array&> &&
    !std::is_invocable_v<F&, const std::vector<array>&>;

// An empty one stays one.
inline function of_list(std::function<array(const array&)> f) {
  if (!f) return {};
  return [f = std::move(f)](const std::vector<array>& x) { return f(x[0]); };
}
}  // namespace detail

/// The same for a function of one array: grad([](const array& x) { return sum(square(x)); })(x) is
/// an array. The parameter of a lambda needs its type here: with auto the compiler tries lists too.
template <detail::function_of_one F>
std::function<std::pair<array, array>(const array&)> value_and_grad(F f) {
  return [of_list = value_and_grad(detail::of_list(std::move(f)))](const array& x) {
    auto [value, gradients] = of_list({x});
    return std::pair{std::move(value), std::move(gradients[0])};
  };
}
template <detail::function_of_one F>
std::function<array(const array&)> grad(F f) {
  return
      [of_list = grad(detail::of_list(std::move(f)))](const array& x) { return of_list({x})[0]; };
}

/// Value of f at `arguments` and the products of `cotangents` with its Jacobian, one for each
/// argument.
TUTTI_API std::pair<std::vector<array>, std::vector<array>> vjp(
    const vector_function& f, const std::vector<array>& arguments,
    const std::vector<array>& cotangents);

/// Cotangents of a function's arguments from its arguments, its values and their cotangents (zeros
/// for values that nothing depends on). One for each argument, of its shape; an invalid array where
/// the derivative is zero, as for an argument that is not floating.
using backward_function = std::function<std::vector<array>(const std::vector<array>& arguments,
                                                           const std::vector<array>& values,
                                                           const std::vector<array>& cotangents)>;

/// `forward` with a gradient of its own: within value_and_grad, grad and vjp its derivative is what
/// `backward` returns, whatever is inside. For kernels, which have none otherwise, and for formulas
/// that are better than the one that would be derived.
///
/// Neither function may use arrays that are being differentiated and are not among its arguments.
/// Where an argument is being differentiated, `forward` throws value_error for that; where none is,
/// it is an ordinary function, and what it captured has the derivative of its operations.
/// Cotangents that are not one for each argument throw value_error, those of another shape
/// shape_error. A second derivative goes through the operations in `backward`; where there is a
/// kernel in it, that kernel needs a custom_vjp of its own, else it throws value_error.
TUTTI_API vector_function custom_vjp(vector_function forward, backward_function backward);

}  // namespace tutti
