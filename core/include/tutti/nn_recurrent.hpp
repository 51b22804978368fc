// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers over x [N, T, in]. The graph has each of the T steps; the products with x are
// one product for all of them.
#pragma once

#include <cstdint>

#include "tutti/nn_initializers.hpp"
#include "tutti/nn_layer.hpp"

namespace tutti::nn {

struct recurrent_options {
  bool reverse = false;  ///< from the last step to the first; results stay in their places
  bool last = false;     ///< only the result of the step that comes last: [N, hidden]
  /// The hidden state is the layer's state and goes on in the next call, for a stream in pieces:
  /// "hidden" [N, hidden], of an LSTM "cell" as well; without elements until the first call, which
  /// starts at 0. Its gradient ends with the call. Not with reverse.
  bool carry = false;
  initializer input_weight = glorot_uniform;
  initializer hidden_weight = orthogonal;  ///< of each gate
  double forget_bias = 1;                  ///< of an LSTM, to begin with
};

/// Long short-term memory (S. Hochreiter, J. Schmidhuber, 1997; F. Gers et al., 2000), as PyTorch's
/// but for one bias: [i, f, g, o] = x W + h U + b, c = sigmoid(f) c + sigmoid(i) tanh(g), h =
/// sigmoid(o) tanh(c). Parameters "input.weight" [in, 4 hidden], "hidden.weight" [hidden, 4
/// hidden], "bias" [4 hidden]. Result [N, T, hidden]: each h. Throws value_error for sizes that are
/// not positive and options that exclude each other; applied, shape_error for another x and for T =
/// 0.
TUTTI_API layer lstm(std::int64_t in, std::int64_t hidden, random::key key,
                     const recurrent_options& options = {}, dtype type = dtype::f32,
                     const device& on = default_device());

/// Gated recurrent unit (K. Cho et al., 2014), in PyTorch's form: r, z = sigmoid(x W + h U + b +
/// b'), n = tanh(x W + b + r (h U + b')), h = (1 - z) n + z h. Parameters "input.weight" [in, 3
/// hidden] for r, z, n, "hidden.weight" [hidden, 3 hidden], "bias" and "hidden.bias" [3 hidden].
TUTTI_API layer gru(std::int64_t in, std::int64_t hidden, random::key key,
                    const recurrent_options& options = {}, dtype type = dtype::f32,
                    const device& on = default_device());

}  // namespace tutti::nn
