// SPDX-License-Identifier: Apache-2.0
//
// Attention and other parts of transformers. f16 and bf16 are computed in f32 between products.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/nn/activations.hpp"
#include "tutti/nn/initializers.hpp"
#include "tutti/nn/layer.hpp"

namespace tutti::nn {

/// Number of keys that query i of T attends to, before and after its position S - T + i.
struct attention_window {
  std::optional<std::int64_t> before{}, after{};  ///< default: all
};
struct attention_options {
  bool causal = false;            ///< query i of T attends to the keys up to S - T + i of S
  std::optional<array> mask{};    ///< broadcasts to [..., T, S]: bool (true: attend), or added
  std::optional<double> scale{};  ///< of the products; default 1 / sqrt(D)
  double dropout = 0;             ///< of the weights, with `key`
  std::optional<random::key> key{};
  std::optional<double> soft_cap{};  ///< scores s become soft_cap * tanh(s / soft_cap)
  attention_window window{};
  std::optional<array> lengths{};  ///< integers, for each of the first axis: number of valid keys
  bool grouped = false;  ///< q [..., H, T, D], k and v [..., K, S, D]: H / K heads share each of K
};
/// softmax(q k^T scale) v: q [..., T, D], k [..., S, D], v [..., S, E], leading axes broadcast (A.
/// Vaswani et al., "Attention Is All You Need", NeurIPS 2017, eq. 1). A query without any key gives
/// 0. Throws shape_error for operands that do not match, and if causal has T > S, dtype_error for
/// operands that are not floating, value_error for options out of range.
TUTTI_API array scaled_dot_product_attention(const array& q, const array& k, const array& v,
                                             const attention_options& options = {});

struct attention_result {
  array value;    ///< the result of scaled_dot_product_attention
  array scores;   ///< [..., T, S]: scaled and capped, plus a mask of numbers
  array weights;  ///< their softmax over the keys attended to, before dropout
};
/// The same, with intermediate results. With `grouped` both are [..., H, T, S].
TUTTI_API attention_result attention_with_weights(const array& q, const array& k, const array& v,
                                                  const attention_options& options = {});

/// x [..., T, D] at positions first, first + 1, ...: the pair (x[i], x[i + D/2]) is rotated by
/// position * base^(-2i/D) radians (J. Su et al., "RoFormer", arXiv:2104.09864, pairs as in
/// GPT-NeoX and LLaMA). Throws shape_error unless D is even, value_error unless base > 0.
TUTTI_API array rotary(const array& x, std::int64_t first = 0, double base = 10000);

struct rotary_options {
  double base = 10000;
  std::int64_t width = 0;    ///< only the first `width` of the D numbers are rotated; 0: all
  bool interleaved = false;  ///< pairs (x[2 i], x[2 i + 1]), as in RoFormer and GPT-J
};
/// At given positions: [T], or [N, T] for x [N, ..., T, D].
TUTTI_API array rotary(const array& x, const array& positions, const rotary_options& options = {});
/// Rotates pairs of x [..., D] by angles with the given cosines and sines, [..., D/2], which
/// broadcast to the pairs.
TUTTI_API array rotate_pairs(const array& x, const array& cosines, const array& sines,
                             bool interleaved = false);

struct multi_head_options {
  std::int64_t kv_heads = 0;  ///< heads of keys and values, each for heads / kv_heads; 0: heads
  bool causal = false;
  bool rotary = false;  ///< applies rotary() to queries and keys
  double rotary_base = 10000;
  bool bias = true;
  double dropout = 0;  ///< of the weights, in training
  /// For step-by-step generation: keys and values of earlier calls are the state, "keys" and
  /// "values" [N, kv_heads, S, D], initially without elements, to which each call appends. The
  /// parameters are the same as without it. Requires causal.
  bool cache = false;
  initializer weight = glorot_uniform;
};
/// Self-attention of x [N, T, width] with heads of D = width / heads numbers: parameters
/// "qkv.weight" [width, width + 2 kv_heads D], "qkv.bias", "output.weight" [width, width],
/// "output.bias". Throws value_error if heads do not divide width, or kv_heads heads; when applied,
/// shape_error for another x.
TUTTI_API layer multi_head_attention(std::int64_t width, std::int64_t heads, random::key key,
                                     const multi_head_options& options = {},
                                     dtype type = dtype::f32, const device& on = default_device());

struct transformer_options {
  multi_head_options attention{.causal = true, .rotary = true};
  std::int64_t hidden = 0;  ///< hidden units; 0: 4 width
  activation between = gelu;
  double dropout = 0;  ///< after attention and after the second product
  bool rms = false;    ///< rms_norm instead of layer_norm
};
/// x + attention(norm(x)), then that plus linear(between(linear(norm(that)))): a block with the
/// normalisation first (R. Xiong et al., arXiv:2002.04745). x [N, T, width].
TUTTI_API layer transformer_block(std::int64_t width, std::int64_t heads, random::key key,
                                  const transformer_options& options = {}, dtype type = dtype::f32,
                                  const device& on = default_device());

}  // namespace tutti::nn
