// SPDX-License-Identifier: Apache-2.0
//
// Activations in addition to relu, sigmoid, tanh and softmax of ops.hpp. bool and integers become
// f32. For infinities, values and gradients are the limits, also where a formula would multiply by
// 0.
#pragma once

#include <functional>

#include "tutti/array.hpp"

namespace tutti::nn {

using activation = std::function<array(const array&)>;

/// a for a > 0, else slope * a.
TUTTI_API array leaky_relu(const array& a, double slope = 0.01);
/// a * Phi(a), Phi the normal distribution function (D. Hendrycks, K. Gimpel, arXiv:1606.08415).
TUTTI_API array gelu(const array& a);
/// Its approximation a / 2 * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 a^3))), PyTorch's
/// approximate="tanh".
TUTTI_API array gelu_tanh(const array& a);
/// a * sigmoid(a).
TUTTI_API array silu(const array& a);
/// log(1 + exp(a)) without overflow.
TUTTI_API array softplus(const array& a);
/// a for a > 0, else alpha * (exp(a) - 1) (D. Clevert et al., arXiv:1511.07289).
TUTTI_API array elu(const array& a, double alpha = 1);
/// elu() scaled so that mean 0 and variance 1 are kept (G. Klambauer et al., arXiv:1706.02515).
TUTTI_API array selu(const array& a);
/// a * tanh(softplus(a)) (D. Misra, arXiv:1908.08681).
TUTTI_API array mish(const array& a);
/// min(max(a + 3, 0), 6) / 6, and a times that (A. Howard et al., arXiv:1905.02244).
TUTTI_API array hard_sigmoid(const array& a);
TUTTI_API array hard_swish(const array& a);
/// The first half along `axis` times the sigmoid of the second (Y. Dauphin et al.,
/// arXiv:1612.08083). Throws shape_error for an odd extent.
TUTTI_API array glu(const array& a, integer axis = -1);

}  // namespace tutti::nn
