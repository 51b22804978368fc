// SPDX-License-Identifier: Apache-2.0
//
// Gradients as function transforms: reverse mode over the graph that the function records.
//
// Complex numbers follow the convention of JAX: the cotangent of z = x + iy is dL/dx - i dL/dy, so
// that a holomorphic f multiplies cotangents by f'(z), without conjugates. For gradient descent,
// step along the conjugate of a gradient. (PyTorch's gradients are the conjugates.)
#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/array.hpp"

namespace tutti {

using function = std::function<array(const std::vector<array>&)>;
using vector_function = std::function<std::vector<array>(const std::vector<array>&)>;

/// A function that returns the value of f and its gradients with respect to the arguments `argnums`
/// (empty: all). The value must be one floating element (shape_error otherwise, dtype_error if it
/// is complex); arguments must be floating or complex (dtype_error). Everything stays lazy: eval
/// value and gradients together. Over the ranks of a job the mean of their values is
/// differentiated, which is the value if all ranks return the same (tutti/job.hpp). An empty f
/// throws value_error here, and in grad and vjp.
TUTTI_API std::function<std::pair<array, std::vector<array>>(const std::vector<array>&)>
value_and_grad(function f, std::vector<int> argnums = {});

/// Only the gradients.
TUTTI_API vector_function grad(function f, std::vector<int> argnums = {});

namespace detail {
template <class F>
concept function_of_one = std::is_invocable_r_v<array, F&, const array&> &&
    !std::is_invocable_v<F&, const std::vector<array>&>;

// An empty function stays empty.
inline function of_list(std::function<array(const array&)> f) {
  if (!f) return {};
  return [f = std::move(f)](const std::vector<array>& x) { return f(x[0]); };
}
}  // namespace detail

/// The same for a function of one array: grad([](const array& x) { return sum(square(x)); })(x) is
/// an array. The parameter of a lambda needs its type: with auto the compiler also tries lists.
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

/// The values of f at `arguments` and the products of `cotangents` with its Jacobian, one for each
/// argument.
TUTTI_API std::pair<std::vector<array>, std::vector<array>> vjp(
    const vector_function& f, const std::vector<array>& arguments,
    const std::vector<array>& cotangents);

/// Computes the cotangents of a function's arguments from its arguments, its values and their
/// cotangents (zeros for values that nothing depends on). One for each argument, with its shape; an
/// invalid array if the derivative is zero, as for an argument that is not floating.
using backward_function = std::function<std::vector<array>(const std::vector<array>& arguments,
                                                           const std::vector<array>& values,
                                                           const std::vector<array>& cotangents)>;

/// `forward` with a custom gradient: within value_and_grad, grad and vjp its derivative is the
/// result of `backward`, independently of its operations. For kernels, which otherwise have no
/// gradient, and for formulas that are better than the derived one.
///
/// Neither function may use arrays that are being differentiated and are not among its arguments.
/// If an argument is being differentiated, `forward` throws value_error in this case; if none is,
/// it is an ordinary function, and captured arrays have the derivatives of its operations.
/// Cotangents whose number differs from the arguments throw value_error, those of another shape
/// shape_error. A second derivative is computed from the operations in `backward`; a kernel in it
/// needs its own custom_vjp, otherwise it throws value_error.
TUTTI_API vector_function custom_vjp(vector_function forward, backward_function backward);

}  // namespace tutti
