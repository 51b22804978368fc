// SPDX-License-Identifier: Apache-2.0
//
// Recurrent networks over x [N, T, in]: functions of given weights, and layers that hold them. The
// graph has each of the T steps; the products with x are one product for all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/nn/initializers.hpp"
#include "tutti/nn/layer.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

/// Weights of G gates: of rnn() one, of lstm() i, f, g, o, of gru() r, z, n.
struct recurrent_weights {
  array input;                         ///< [in, G hidden]
  array hidden;                        ///< [hidden, G hidden]
  std::optional<array> bias{};         ///< [G hidden]
  std::optional<array> hidden_bias{};  ///< [G hidden], of the product with h
  std::optional<array> peephole{};     ///< [3 hidden], of lstm(): times c, for i, f and o
};
struct recurrence_options {
  bool reverse = false;        ///< from the last step to the first; results stay in their places
  bool last = false;           ///< only the result of the step that comes last: [N, hidden]
  std::vector<array> state{};  ///< to begin with: h, of lstm() c too, [N, hidden]; without it 0
  std::optional<array> lengths{};  ///< [N] integers: steps of each row. Behind them results are 0
  std::optional<double> clip{};    ///< what activations are given lies in [-clip, clip]
  activation gate = sigmoid;
  activation between = tanh;  ///< of rnn(), of g and n
  activation result = tanh;   ///< of lstm(): of c
  bool coupled = false;       ///< lstm(): 1 - i in the place of f
  bool reset_before = false;  ///< gru(): h is reset before its product, as K. Cho et al. have it
};
struct recurrence {
  array value;               ///< [N, T, hidden]: each h; with `last` [N, hidden]
  std::vector<array> state;  ///< behind the last step: h, of lstm() c too
};
/// h = tanh(x W + b + h U + b') (J. Elman, 1990). Throws shape_error where x, weights, state and
/// lengths do not fit each other, value_error for an option out of range.
TUTTI_API recurrence rnn(const array& x, const recurrent_weights& weights,
                         const recurrence_options& options = {});
/// The formulas of the layers below.
TUTTI_API recurrence lstm(const array& x, const recurrent_weights& weights,
                          const recurrence_options& options = {});
TUTTI_API recurrence gru(const array& x, const recurrent_weights& weights,
                         const recurrence_options& options = {});

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
