// SPDX-License-Identifier: Apache-2.0
//
// Attention over views of one product for queries, keys and values.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "tutti/error.hpp"
#include "tutti/movement.hpp"
#include "tutti/nn_attention.hpp"
#include "tutti/nn_layers.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using tutti::detail::named;

namespace {

constexpr const char* attention_name = "scaled_dot_product_attention";
constexpr const char* heads_name = "multi_head_attention";

void check_attention(const array& q, const array& k, const array& v, const attention_options& o) {
  for (const array* a : {&q, &k, &v}) {
    detail::require_floating(attention_name, "operands", a->dtype());
    if (a->ndim() < 2)
      throw shape_error(
          fmt::format("{}: needs [..., T, D], got {}", attention_name, a->shape().str()));
  }
  if (q.dim(-1) != k.dim(-1) || k.dim(-2) != v.dim(-2) || (o.causal && q.dim(-2) > k.dim(-2)))
    throw shape_error(fmt::format("{}: queries {}, keys {} and values {} do not fit{}",
                                  attention_name, q.shape().str(), k.shape().str(), v.shape().str(),
                                  o.causal ? ", causal" : ""));
  detail::require_option(o.dropout >= 0 && o.dropout < 1, attention_name, "dropout", o.dropout);
  if (o.dropout > 0 && !o.key)
    throw value_error(fmt::format("{}: dropout needs a key", attention_name));
  if (o.scale) detail::require_option(std::isfinite(*o.scale), attention_name, "scale", *o.scale);
}

/// [T, S]: whether query i sees key j.
array seen_by(std::int64_t queries, std::int64_t keys, const device& on) {
  const dtype type = keys > std::numeric_limits<std::int32_t>::max() ? dtype::i64 : dtype::i32;
  const array row = arange(keys - queries, keys, std::int64_t{1}, type, on).reshape({queries, 1});
  return arange(std::int64_t{0}, keys, std::int64_t{1}, type, on) <= row;
}

/// softmax over the last axis of the scores that are seen, 0 in rows where none is.
array weights_of(array scores, const attention_options& o) {
  std::optional<array> seen;
  if (o.causal) seen = seen_by(scores.dim(-2), scores.dim(-1), scores.device());
  if (o.mask && is_bool(o.mask->dtype())) {
    seen = seen ? *seen & *o.mask : *o.mask;
  } else if (o.mask) {
    scores = scores + o.mask->astype(scores.dtype());
  }
  if (scores.dim(-1) == 0) return scores;
  const double low = scores.dtype() == dtype::f64 ? std::numeric_limits<double>::lowest()
                                                  : std::numeric_limits<float>::lowest();
  const array least = full({}, low, scores.dtype(), scores.device());
  // The lowest number, not minus infinity, which gives NaN where a row has nothing else.
  if (seen) scores = where(*seen, scores, least);
  if (o.mask) scores = maximum(scores, least);
  const array weights = softmax(scores, -1);
  if (!o.mask) return weights;                               // causal alone leaves each row a key
  const array none_seen = max(scores, {-1, true}) <= least;  // of NaN false, which stays NaN
  return where(none_seen, zeros({}, weights.dtype(), weights.device()), weights);
}

}  // namespace

array scaled_dot_product_attention(const array& q, const array& k, const array& v,
                                   const attention_options& options) {
  return named(attention_name, [&] {
    check_attention(q, k, v, options);
    const dtype type = result_type({q, k, v});
    const auto depth = static_cast<double>(q.dim(-1));
    const double scale = options.scale.value_or(depth > 0 ? 1 / std::sqrt(depth) : 1);
    const array scores = matmul(detail::widened(q) * scale, matrix_transpose(detail::widened(k)));
    array weights = weights_of(scores, options);
    if (options.dropout > 0) {
      const array kept =
          random::bernoulli(*options.key, weights.shape(), 1 - options.dropout, weights.device());
      weights = where(kept, weights * (1 / (1 - options.dropout)),
                      zeros({}, weights.dtype(), weights.device()));
    }
    return detail::narrowed(matmul(weights, detail::widened(v)), type);
  });
}

array rotary(const array& x, std::int64_t first, double base) {
  return named("rotary", [&] {
    detail::require_floating("rotary", "input", x.dtype());
    if (x.ndim() < 2 || x.dim(-1) % 2 != 0)
      throw shape_error(
          fmt::format("rotary: needs [..., T, D] with an even D, got {}", x.shape().str()));
    detail::require_option(std::isfinite(base) && base > 0, "rotary", "base", base);
    constexpr std::int64_t last_place = std::int64_t{1} << 52;
    if (first < -last_place || first > last_place)
      throw value_error(fmt::format("rotary: first = {} is out of range", first));
    const std::int64_t half = x.dim(-1) / 2, steps = x.dim(-2);
    const array wide = detail::widened(x);
    const dtype type = wide.dtype();
    const device on = x.device();
    const double rate = half > 0 ? -std::log(base) / static_cast<double>(half) : 0;
    const array turn = exp(arange(std::int64_t{0}, half, std::int64_t{1}, type, on) * rate);
    const array place = arange(first, first + steps, std::int64_t{1}, dtype::i64, on).astype(type);
    const array angle = place.reshape({steps, 1}) * turn;
    const array c = cos(angle), s = sin(angle);
    const std::vector<array> pair = split(wide, 2, -1);
    const array turned = concatenate({pair[0] * c - pair[1] * s, pair[1] * c + pair[0] * s}, -1);
    return detail::narrowed(turned, x.dtype());
  });
}

namespace {

struct head_sizes {
  std::int64_t width, heads, kv_heads, depth;
};

head_sizes sizes_of(std::int64_t width, std::int64_t heads, const multi_head_options& o) {
  detail::require_positive(heads_name, "width", width);
  detail::require_positive(heads_name, "heads", heads);
  const std::int64_t kv_heads = o.kv_heads == 0 ? heads : o.kv_heads;
  detail::require_positive(heads_name, "kv_heads", kv_heads);
  if (width % heads != 0 || heads % kv_heads != 0)
    throw value_error(fmt::format("{}: {} heads and {} kv_heads do not divide a width of {}",
                                  heads_name, heads, kv_heads, width));
  if (o.rotary && (width / heads) % 2 != 0)
    throw value_error(
        fmt::format("{}: rotary needs heads of even width, got {}", heads_name, width / heads));
  if (o.cache && !o.causal) throw value_error(fmt::format("{}: cache needs causal", heads_name));
  detail::require_option(o.dropout >= 0 && o.dropout < 1, heads_name, "dropout", o.dropout);
  return {width, heads, kv_heads, width / heads};
}

/// [N, T, heads * depth] as [N, heads, T, depth].
array by_head(const array& x, std::int64_t heads, std::int64_t depth) {
  return x.reshape({x.dim(0), x.dim(1), heads, depth}).transpose({0, 2, 1, 3});
}

array behind_cache(const array& cached, const array& fresh) {
  if (cached.size() == 0) return fresh;
  if (cached.ndim() != 4 || cached.dim(0) != fresh.dim(0) || cached.dim(1) != fresh.dim(1) ||
      cached.dim(3) != fresh.dim(3))
    throw shape_error(fmt::format("{}: the cache is {}, the input needs {}", heads_name,
                                  cached.shape().str(), fresh.shape().str()));
  return concatenate({cached, fresh}, 2);
}

applied attend(const head_sizes& size, const multi_head_options& o, std::span<const array> p,
               std::span<const array> state, const array& x, const pass& how) {
  if (x.ndim() != 3 || x.dim(2) != size.width)
    throw shape_error(
        fmt::format("{}: input must be [N,T,{}], got {}", heads_name, size.width, x.shape().str()));
  const std::int64_t rows = x.dim(0), steps = x.dim(1), kv_width = size.kv_heads * size.depth;
  array qkv = matmul(x, p[0]);
  if (o.bias) qkv = qkv + p[1];
  const std::vector<array> parts = split_at(qkv, {size.width, size.width + kv_width}, 2);
  array q = by_head(parts[0], size.heads, size.depth);
  array k = by_head(parts[1], size.kv_heads, size.depth);
  array v = by_head(parts[2], size.kv_heads, size.depth);
  const std::int64_t past = o.cache && state[0].size() > 0 ? state[0].dim(2) : 0;
  if (o.rotary) {
    q = rotary(q, past, o.rotary_base);
    k = rotary(k, past, o.rotary_base);
  }
  std::vector<array> next;
  if (o.cache) {
    k = behind_cache(state[0], k);
    v = behind_cache(state[1], v);
    next = {stop_gradient(k), stop_gradient(v)};
  }
  const std::int64_t shared = size.heads / size.kv_heads;
  if (shared > 1) {  // queries that share keys, on an axis of their own
    q = q.reshape({rows, size.kv_heads, shared, steps, size.depth});
    k = expand_dims(k, 2);
    v = expand_dims(v, 2);
  }
  const bool drops = how.training && o.dropout > 0;
  if (drops && !how.key)
    throw value_error(fmt::format("{}: training with dropout needs a key", heads_name));
  array y = scaled_dot_product_attention(q, k, v,
                                         {.causal = o.causal,
                                          .dropout = drops ? o.dropout : 0,
                                          .key = drops ? how.key : std::nullopt});
  y = y.reshape({rows, size.heads, steps, size.depth}).transpose({0, 2, 1, 3});
  y = matmul(y.reshape({rows, steps, size.width}), p[o.bias ? 2 : 1]);
  return {o.bias ? y + p[3] : y, std::move(next)};
}

}  // namespace

layer multi_head_attention(std::int64_t width, std::int64_t heads, random::key key,
                           const multi_head_options& options, dtype type, const device& on) {
  return named(heads_name, [&] {
    const head_sizes size = sizes_of(width, heads, options);
    const std::int64_t kv_width = size.kv_heads * size.depth;
    const std::vector<random::key> keys = random::split(key, 4);
    const auto weight = [&](std::size_t i, std::int64_t out) {
      return detail::initial_values(heads_name, "multi_head_options::weight", options.weight,
                                    keys[i], {width, out}, type, on);
    };
    layer_parts parts{.kind = heads_name};
    const auto add = [&](const char* name, const array& value) {
      parts.names.emplace_back(name);
      parts.parameters.push_back(value);
    };
    add("qkv.weight", concatenate({weight(0, width), weight(1, kv_width), weight(2, kv_width)}, 1));
    if (options.bias) add("qkv.bias", zeros({width + 2 * kv_width}, type, on));
    add("output.weight", weight(3, width));
    if (options.bias) add("output.bias", zeros({width}, type, on));
    if (options.cache) {
      parts.state_names = {"keys", "values"};
      parts.state.assign(2, zeros({0, size.kv_heads, 0, size.depth}, type, on));
    }
    parts.apply = [size, o = options](std::span<const array> p, std::span<const array> state,
                                      const array& x, const pass& how) -> applied {
      return named(heads_name, [&] { return attend(size, o, p, state, x, how); });
    };
    return layer(std::move(parts));
  });
}

layer transformer_block(std::int64_t width, std::int64_t heads, random::key key,
                        const transformer_options& options, dtype type, const device& on) {
  return named("transformer_block", [&] {
    const std::vector<random::key> keys = random::split(key, 3);
    const auto norm = [&] {
      return options.rms ? rms_norm(width, 1e-6, type, on) : layer_norm({width}, {}, type, on);
    };
    using parts = std::vector<std::pair<std::string, layer>>;
    parts attention{
        {"norm", norm()},
        {"attention", multi_head_attention(width, heads, keys[0], options.attention, type, on)}};
    // Behind the attention, which takes no width whose square is too large.
    const std::int64_t hidden = options.hidden == 0 ? 4 * width : options.hidden;
    parts between{{"norm", norm()},
                  {"first", linear(width, hidden, keys[1], {}, type, on)},
                  {"activation", activate(options.between)},
                  {"second", linear(hidden, width, keys[2], {}, type, on)}};
    if (options.dropout > 0) {
      attention.emplace_back("dropout", dropout(options.dropout));
      between.emplace_back("dropout", dropout(options.dropout));
    }
    return layer(sequential(parts{{"attention", residual(sequential(attention))},
                                  {"feed_forward", residual(sequential(between))}}));
  });
}

}  // namespace tutti::nn
