// SPDX-License-Identifier: Apache-2.0
//
// Recurrent networks over x [N, T, in]: functions of given weights, and layers that contain them.
// The graph contains each of the T steps; the products with x, and the weights' gradients, are
// computed as one product for all steps. With activations other than sigmoid(), tanh() and relu(),
// with peepholes and with reset_before, the gradient takes several times as many operations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/nn/initializers.hpp"
#include "tutti/nn/layer.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

/// Weights of G gates: one for rnn(); i, f, g, o for lstm(); r, z, n for gru().
struct recurrent_weights {
  array input;                         ///< [in, G hidden]
  array hidden;                        ///< [hidden, G hidden]
  std::optional<array> bias{};         ///< [G hidden]
  std::optional<array> hidden_bias{};  ///< [G hidden], of the product with h
  std::optional<array> peephole{};     ///< [3 hidden], for lstm(): times c, for i, f and o
};
struct recurrence_options {
  bool reverse = false;        ///< from the last step to the first; results keep their positions
  bool last = false;           ///< only the result of the last processed step: [N, hidden]
  std::vector<array> state{};  ///< initial h, for lstm() also c, [N, hidden]; default: 0
  std::optional<array> lengths{};  ///< [N] integers: steps of each row. Later results are 0
  std::optional<double> clip{};    ///< arguments of activations are clipped to [-clip, clip]
  activation gate = sigmoid;
  activation between = tanh;  ///< for rnn(), for g and n
  activation result = tanh;   ///< for lstm(): for c
  bool coupled = false;       ///< lstm(): 1 - i instead of f
  bool reset_before = false;  ///< gru(): h is reset before its product, as in K. Cho et al.
};
struct recurrence {
  array value;               ///< [N, T, hidden]: each h; with `last` [N, hidden]
  std::vector<array> state;  ///< after the last step: h, for lstm() also c
};
/// h = tanh(x W + b + h U + b') (J. Elman, 1990). Throws shape_error if x, weights, state and
/// lengths do not match, value_error for an option out of range.
TUTTI_API recurrence rnn(const array& x, const recurrent_weights& weights,
                         const recurrence_options& options = {});
/// The formulas of the layers below.
TUTTI_API recurrence lstm(const array& x, const recurrent_weights& weights,
                          const recurrence_options& options = {});
TUTTI_API recurrence gru(const array& x, const recurrent_weights& weights,
                         const recurrence_options& options = {});

struct recurrent_options {
  bool reverse = false;  ///< from the last step to the first; results keep their positions
  bool last = false;     ///< only the result of the last processed step: [N, hidden]
  /// The hidden state is the state of the layer and continues in the next call, for a sequence in
  /// pieces: "hidden" [N, hidden], for an LSTM also "cell"; without elements until the first call,
  /// which starts at 0. Its gradient ends with the call. Not with reverse.
  bool carry = false;
  initializer input_weight = glorot_uniform;
  initializer hidden_weight = orthogonal;  ///< for each gate
  double forget_bias = 1;                  ///< initial value for an LSTM
};

/// Long short-term memory (S. Hochreiter, J. Schmidhuber, 1997; F. Gers et al., 2000), as PyTorch's
/// but with one bias: [i, f, g, o] = x W + h U + b, c = sigmoid(f) c + sigmoid(i) tanh(g), h =
/// sigmoid(o) tanh(c). Parameters "input.weight" [in, 4 hidden], "hidden.weight" [hidden, 4
/// hidden], "bias" [4 hidden]. Result [N, T, hidden]: each h. Throws value_error for sizes that are
/// not positive and incompatible options; when applied, shape_error for another x and for T = 0.
TUTTI_API layer lstm(std::int64_t in, std::int64_t hidden, random::key key,
                     const recurrent_options& options = {}, dtype type = dtype::f32,
                     const device& on = default_device());

/// rnn() with tanh: parameters "input.weight" [in, hidden], "hidden.weight" [hidden, hidden],
/// "bias" [hidden].
TUTTI_API layer rnn(std::int64_t in, std::int64_t hidden, random::key key,
                    const recurrent_options& options = {}, dtype type = dtype::f32,
                    const device& on = default_device());

/// Gated recurrent unit (K. Cho et al., 2014), in PyTorch's form: r, z = sigmoid(x W + h U + b +
/// b'), n = tanh(x W + b + r (h U + b')), h = (1 - z) n + z h. Parameters "input.weight" [in, 3
/// hidden] for r, z, n, "hidden.weight" [hidden, 3 hidden], "bias" and "hidden.bias" [3 hidden].
TUTTI_API layer gru(std::int64_t in, std::int64_t hidden, random::key key,
                    const recurrent_options& options = {}, dtype type = dtype::f32,
                    const device& on = default_device());

}  // namespace tutti::nn
