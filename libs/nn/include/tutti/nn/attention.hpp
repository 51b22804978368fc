// SPDX-License-Identifier: Apache-2.0
//
// Attention and what transformers are made of. f16 and bf16 are computed in f32 between products.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/nn/activations.hpp"
#include "tutti/nn/initializers.hpp"
#include "tutti/nn/layer.hpp"

namespace tutti::nn {

/// How many keys beside its own place S - T + i a query i of T sees.
struct attention_window {
  std::optional<std::int64_t> before{}, after{};  ///< without one, all
};
struct attention_options {
  bool causal = false;            ///< query i of T sees the keys up to S - T + i of S
  std::optional<array> mask{};    ///< broadcasts to [..., T, S]: bool, what is seen; else added
  std::optional<double> scale{};  ///< of the products; without one 1 / sqrt(D)
  double dropout = 0;             ///< of the weights, by `key`
  std::optional<random::key> key{};
  std::optional<double> soft_cap{};  ///< scores s become soft_cap * tanh(s / soft_cap)
  attention_window window{};
  std::optional<array> lengths{};  ///< integers, one for each of the first axis: keys that count
  bool grouped = false;  ///< q [..., H, T, D], k and v [..., K, S, D]: each of K for H / K heads
};
/// softmax(q k^T scale) v: q [..., T, D], k [..., S, D], v [..., S, E], leading axes broadcast
/// (A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017, eq. 1). A query that sees nothing
/// gives 0. Throws shape_error for operands that do not fit, and where causal has T > S,
/// dtype_error for operands that are not floating, value_error for options out of range.
TUTTI_API array scaled_dot_product_attention(const array& q, const array& k, const array& v,
                                             const attention_options& options = {});

struct attention_result {
  array value;    ///< what scaled_dot_product_attention gives
  array scores;   ///< [..., T, S]: scaled and capped, plus a mask of numbers
  array weights;  ///< their softmax over the keys that are seen, before dropout
};
/// The same, with what it comes from. With `grouped` both are [..., H, T, S].
TUTTI_API attention_result attention_with_weights(const array& q, const array& k, const array& v,
                                                  const attention_options& options = {});

/// x [..., T, D] of positions first, first + 1, ...: the pair (x[i], x[i + D/2]) turned by position
/// * base^(-2i/D) radians (J. Su et al., "RoFormer", arXiv:2104.09864, pairs as in GPT-NeoX and
/// LLaMA). Throws shape_error unless D is even, value_error unless base > 0.
TUTTI_API array rotary(const array& x, std::int64_t first = 0, double base = 10000);

struct rotary_options {
  double base = 10000;
  std::int64_t width = 0;    ///< only so many of the D numbers are turned, the first ones; 0: all
  bool interleaved = false;  ///< pairs (x[2 i], x[2 i + 1]), as in RoFormer and GPT-J
};
/// At given positions: numbers [T], or [N, T] for x [N, ..., T, D].
TUTTI_API array rotary(const array& x, const array& positions, const rotary_options& options = {});
/// Pairs of x [..., D] turned by angles whose cosines and sines are given, [..., D/2] that
/// broadcast to the pairs.
TUTTI_API array rotate_pairs(const array& x, const array& cosines, const array& sines,
                             bool interleaved = false);

struct multi_head_options {
  std::int64_t kv_heads = 0;  ///< of keys and values, each for heads / kv_heads queries; 0: heads
  bool causal = false;
  bool rotary = false;  ///< positions of queries and keys by rotary()
  double rotary_base = 10000;
  bool bias = true;
  double dropout = 0;  ///< of the weights, in training
  /// For generating step by step: keys and values of earlier calls are the state, "keys" and
  /// "values" [N, kv_heads, S, D], without elements to begin with, and each call adds its own.
  /// The parameters are those without it. Needs causal.
  bool cache = false;
  initializer weight = glorot_uniform;
};
/// Self-attention of x [N, T, width] with heads of D = width / heads numbers: parameters
/// "qkv.weight" [width, width + 2 kv_heads D], "qkv.bias", "output.weight" [width, width],
/// "output.bias". Throws value_error where heads do not divide width, or kv_heads heads; applied,
/// shape_error for another x.
TUTTI_API layer multi_head_attention(std::int64_t width, std::int64_t heads, random::key key,
                                     const multi_head_options& options = {},
                                     dtype type = dtype::f32, const device& on = default_device());

struct transformer_options {
  multi_head_options attention{.causal = true, .rotary = true};
  std::int64_t hidden = 0;  ///< units between; 0: 4 width
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
