// SPDX-License-Identifier: Apache-2.0
//
// Attention over views of one product for queries, keys and values.
#include "tutti/nn/attention.hpp"

#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "tutti/movement.hpp"
#include "tutti/nn/layers.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using tutti::base::named;

namespace {

constexpr const char* attention_name = "scaled_dot_product_attention";
constexpr const char* heads_name = "multi_head_attention";

void check_attention(const array& q, const array& k, const array& v, const attention_options& o) {
  for (const array* a : {&q, &k, &v}) {
    detail::require_floating(attention_name, "operands", a->dtype());
    if (a->ndim() < (o.grouped ? 3 : 2))
      base::fail<shape_error>("{}: needs [..., T, D], got {}", attention_name, a->shape());
  }
  const auto not_fitting = [&](const char* how) {
    base::fail<shape_error>("{}: queries {}, keys {} and values {} do not fit{}", attention_name,
                            q.shape(), k.shape(), v.shape(), how);
  };
  if (q.dim(-1) != k.dim(-1) || k.dim(-2) != v.dim(-2) || (o.causal && q.dim(-2) > k.dim(-2)))
    not_fitting(o.causal ? ", causal" : "");
  if (o.grouped && (k.dim(-3) != v.dim(-3) || k.dim(-3) == 0 || q.dim(-3) % k.dim(-3) != 0))
    not_fitting(", grouped");
  detail::require_option(o.dropout >= 0 && o.dropout < 1, attention_name, "dropout", o.dropout);
  if (o.dropout > 0 && !o.key) base::fail<value_error>("{}: dropout needs a key", attention_name);
  if (o.scale) detail::require_option(std::isfinite(*o.scale), attention_name, "scale", *o.scale);
  if (o.soft_cap) detail::require_option(*o.soft_cap > 0, attention_name, "soft_cap", *o.soft_cap);
  for (const std::optional<std::int64_t>& side : {o.window.before, o.window.after})
    if (side && *side < 0) base::fail<value_error>("{}: a window of {}", attention_name, *side);
  const int axes = o.grouped ? 4 : 3;
  if (o.lengths && (q.ndim() < axes || o.lengths->shape() != shape{q.dim(0)} ||
                    !is_integral(o.lengths->dtype())))
    base::fail<shape_error>("{}: lengths {} are not one integer for each of {}", attention_name,
                            o.lengths->shape(), q.shape());
}

/// The keys that each query sees by causal, window, lengths and a bool mask; nothing if all.
std::optional<array> seen_of(const array& scores, const attention_options& o) {
  const std::int64_t queries = scores.dim(-2), keys = scores.dim(-1);
  const dtype type = keys > std::numeric_limits<std::int32_t>::max() ? dtype::i64 : dtype::i32;
  const device on = scores.device();
  const array key = arange(keys, type, on);
  const array own = arange(keys - queries, keys, type, on).reshape({queries, 1});
  std::optional<array> seen;
  const auto also = [&](const array& more) { seen = seen ? *seen & more : more; };
  const auto limit = [&](std::int64_t side) { return std::min(side, keys + queries); };
  if (o.causal) also(key <= own);
  if (o.window.before) also(key >= own - limit(*o.window.before));
  if (o.window.after) also(key <= own + limit(*o.window.after));
  if (o.lengths) {
    shape rows{o.lengths->dim(0)};
    for (int i = 1; i < scores.ndim(); ++i) rows.push_back(1);
    also(key < o.lengths->reshape(rows));
  }
  if (o.mask && is_bool(o.mask->dtype())) also(*o.mask);
  return seen;
}

/// softmax over the last axis of the visible scores; 0 in rows without any.
array weights_of(array scores, const attention_options& o) {
  if (scores.dim(-1) == 0) return scores;
  const std::optional<array> seen = seen_of(scores, o);
  const double low = scores.dtype() == dtype::f64 ? std::numeric_limits<double>::lowest()
                                                  : std::numeric_limits<float>::lowest();
  const array least = full({}, low, scores.dtype(), scores.device());
  // The lowest number instead of minus infinity, which gives NaN in rows without other values.
  if (seen) scores = where(*seen, scores, least);
  if (o.mask) scores = maximum(scores, least);
  const array weights = softmax(scores, -1);
  // With causal alone each row has a key.
  if (!o.mask && !o.lengths && !o.window.before && !o.window.after) return weights;
  const array none_seen = max(scores, {-1, true}) <= least;  // false for NaN, which stays NaN
  return where(none_seen, zeros({}, weights.dtype(), weights.device()), weights);
}

attention_result attended(const array& q, const array& k, const array& v,
                          const attention_options& options) {
  const dtype type = result_type({q, k, v});
  const auto depth = static_cast<double>(q.dim(-1));
  const double scale = options.scale.value_or(depth > 0 ? 1 / std::sqrt(depth) : 1);
  array scores = matmul(detail::widened(q) * scale, matrix_transpose(detail::widened(k)));
  if (options.soft_cap) scores = tanh(scores / *options.soft_cap) * *options.soft_cap;
  if (options.mask && !is_bool(options.mask->dtype()))
    scores = scores + options.mask->astype(scores.dtype());
  const array weights = weights_of(scores, options);
  array kept = weights;
  if (options.dropout > 0) {
    const array stays =
        random::bernoulli(*options.key, weights.shape(), 1 - options.dropout, weights.device());
    kept = where(stays, weights * (1 / (1 - options.dropout)),
                 zeros({}, weights.dtype(), weights.device()));
  }
  return {detail::narrowed(matmul(kept, detail::widened(v)), type), scores, weights};
}

/// Splits axis -3 of H heads into K and H / K; with extent 1, adds an axis.
array by_group(const array& a, std::int64_t groups) {
  if (a.ndim() < 3) return a;
  shape to = a.shape();
  const int axis = a.ndim() - 3;
  const bool is_one = a.dim(axis) == 1;
  to[axis] = is_one ? 1 : groups;
  to.insert(axis + 1, is_one ? 1 : a.dim(axis) / groups);
  return a.reshape(to);
}

array without_groups(const array& a) {
  shape to = a.shape();
  const int axis = a.ndim() - 4;
  to[axis] *= to[axis + 1];
  to.erase(axis + 1);
  return a.reshape(to);
}

attention_result attention_of(const array& q, const array& k, const array& v,
                              const attention_options& options) {
  check_attention(q, k, v, options);
  if (!options.grouped) return attended(q, k, v, options);
  const std::int64_t groups = k.dim(-3);
  attention_options grouped = options;
  if (grouped.mask) grouped.mask = by_group(*grouped.mask, groups);
  const attention_result r =
      attended(by_group(q, groups), expand_dims(k, -3), expand_dims(v, -3), grouped);
  return {without_groups(r.value), without_groups(r.scores), without_groups(r.weights)};
}

}  // namespace

attention_result attention_with_weights(const array& q, const array& k, const array& v,
                                        const attention_options& options) {
  return named("attention_with_weights", [&] { return attention_of(q, k, v, options); });
}

array scaled_dot_product_attention(const array& q, const array& k, const array& v,
                                   const attention_options& options) {
  return named(attention_name, [&] { return attention_of(q, k, v, options).value; });
}

namespace {

/// The angles position * base^(-i/half) for each of `half` pairs, applied to x.
array turned_by(const array& x, const array& place, double base, bool interleaved) {
  detail::require_option(std::isfinite(base) && base > 0, "rotary", "base", base);
  const std::int64_t half = x.dim(-1) / 2;
  const dtype type = detail::is_narrow(x.dtype()) ? dtype::f32 : x.dtype();
  const double rate = half > 0 ? -std::log(base) / static_cast<double>(half) : 0;
  const array turn = exp(arange(half, type, x.device()) * rate);
  const array angle = expand_dims(place.astype(type), -1) * turn;
  return rotate_pairs(x, cos(angle), sin(angle), interleaved);
}

void check_rotary(const array& x, std::int64_t width) {
  detail::require_floating("rotary", "input", x.dtype());
  if (x.ndim() < 2 || width % 2 != 0)
    base::fail<shape_error>("rotary: needs [..., T, D] with an even D, got {}", x.shape());
}

}  // namespace

array rotate_pairs(const array& x, const array& cosines, const array& sines, bool interleaved) {
  return named("rotate_pairs", [&] {
    detail::require_floating("rotate_pairs", "input", x.dtype());
    if (x.ndim() < 1 || x.dim(-1) % 2 != 0)
      base::fail<shape_error>("rotate_pairs: needs [..., D] with an even D, got {}", x.shape());
    const array wide = detail::widened(x);
    const array c = cosines.astype(wide.dtype()), s = sines.astype(wide.dtype());
    if (interleaved) {
      const array a = wide(ellipsis(), slice{0, {}, 2}), b = wide(ellipsis(), slice{1, {}, 2});
      const array turned = stack({a * c - b * s, b * c + a * s}, -1);
      return detail::narrowed(turned.reshape(x.shape()), x.dtype());
    }
    const std::vector<array> pair = split(wide, 2, -1);
    const array turned = concatenate({pair[0] * c - pair[1] * s, pair[1] * c + pair[0] * s}, -1);
    return detail::narrowed(turned, x.dtype());
  });
}

array rotary(const array& x, std::int64_t first, double base) {
  return named("rotary", [&] {
    check_rotary(x, x.ndim() > 0 ? x.dim(-1) : 0);
    constexpr std::int64_t last_place = std::int64_t{1} << 52;
    if (first < -last_place || first > last_place)
      base::fail<value_error>("rotary: first = {} is out of range", first);
    const array place = arange(first, first + x.dim(-2), dtype::i64, x.device());
    return turned_by(x, place, base, false);
  });
}

array rotary(const array& x, const array& positions, const rotary_options& o) {
  return named("rotary", [&] {
    const std::int64_t depth = x.ndim() > 0 ? x.dim(-1) : 0, width = o.width == 0 ? depth : o.width;
    check_rotary(x, width);
    if (width < 0 || width > depth)
      base::fail<value_error>("rotary: width = {} of {}", width, depth);
    const bool by_row = positions.ndim() == 2 && x.ndim() > 2 && positions.dim(0) == x.dim(0);
    if (!(positions.ndim() == 1 || by_row) || positions.dim(-1) != x.dim(-2))
      base::fail<shape_error>("rotary: positions {} do not fit {}", positions.shape(), x.shape());
    array place = positions;
    for (int i = 3; by_row && i < x.ndim(); ++i) place = expand_dims(place, 1);
    const array turned = turned_by(x(ellipsis(), slice{0, width}), place, o.base, o.interleaved);
    if (width == depth) return turned;
    return concatenate({turned, x(ellipsis(), slice{width, {}})}, -1);
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
    base::fail<value_error>("{}: {} heads and {} kv_heads do not divide a width of {}", heads_name,
                            heads, kv_heads, width);
  if (o.rotary && (width / heads) % 2 != 0)
    base::fail<value_error>("{}: rotary needs heads of even width, got {}", heads_name,
                            width / heads);
  if (o.cache && !o.causal) base::fail<value_error>("{}: cache needs causal", heads_name);
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
    base::fail<shape_error>("{}: the cache is {}, the input needs {}", heads_name, cached.shape(),
                            fresh.shape());
  return concatenate({cached, fresh}, 2);
}

applied attend(const head_sizes& size, const multi_head_options& o, std::span<const array> p,
               std::span<const array> state, const array& x, const pass& how) {
  if (x.ndim() != 3 || x.dim(2) != size.width)
    base::fail<shape_error>("{}: input must be [N,T,{}], got {}", heads_name, size.width,
                            x.shape());
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
  const bool drops = how.training && o.dropout > 0;
  if (drops && !how.key)
    base::fail<value_error>("{}: training with dropout needs a key", heads_name);
  array y = scaled_dot_product_attention(q, k, v,
                                         {.causal = o.causal,
                                          .dropout = drops ? o.dropout : 0,
                                          .key = drops ? how.key : std::nullopt,
                                          .grouped = size.kv_heads < size.heads});
  y = y.transpose({0, 2, 1, 3}).reshape({rows, steps, size.width});
  y = matmul(y, p[o.bias ? 2 : 1]);
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
      detail::add_parameter(parts, name, value);
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
    // After the attention layer, which refuses widths whose square overflows.
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
