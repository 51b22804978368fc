// SPDX-License-Identifier: Apache-2.0
//
// Attention beside PyTorch's values (vectors_test.cpp): the cache, shared keys, positions, what
// sees nothing, bad input.
#include "networks.hpp"
#include "tutti/movement.hpp"

namespace {

const tolerance tight{.relative = 1e-11, .absolute = 1e-12};

}  // namespace

BOOST_AUTO_TEST_CASE(generating_by_a_cache_is_the_whole_at_once) {
  const array x = upload_as<double>(random_dense({2, 5, 8}, -1, 1));
  nn::transformer_options options{.dropout = 0.5, .rms = true};
  options.attention.kv_heads = 2;
  const nn::layer whole = nn::transformer_block(8, 4, {1}, options, dtype::f64);
  options.attention.cache = true;
  const nn::layer step = nn::transformer_block(8, 4, {1}, options, dtype::f64);
  BOOST_TEST(step.names() == whole.names(), same);
  const list& p = whole.parameters();
  const array expected = whole.apply(p, x);
  list state = step.state(), results;
  for (const auto& [from, to] : {std::pair{0, 2}, {2, 3}, {3, 4}, {4, 5}}) {
    const nn::applied done = step.apply(p, state, x({{}, {from, to}}));
    results.push_back(done.value);
    state = done.state;
  }
  BOOST_TEST((state[0].shape() == shape{2, 2, 5, 2}));
  BOOST_TEST(matches(tutti::concatenate(results, 1), read(expected), tight));
  FAILS(shape_error, step.apply(p, state, x({{0, 1}})), "the cache is");
  // What comes later changes nothing before it.
  array changed = x;
  changed.set({{}, 4}, 9.0);
  BOOST_TEST(matches(whole.apply(p, changed)({{}, {0, 4}}), read(expected({{}, {0, 4}})), tight));
}

BOOST_AUTO_TEST_CASE(queries_share_keys) {
  // Of which there is a copy for each query otherwise.
  const nn::layer shared =
      nn::multi_head_attention(8, 4, {1}, {.kv_heads = 2, .bias = false}, dtype::f64);
  const nn::layer each = nn::multi_head_attention(8, 4, {1}, {.bias = false}, dtype::f64);
  const array qkv = shared.parameters()[0];
  BOOST_TEST((qkv.shape() == shape{8, 16}));
  const auto copied = [&](std::int64_t from) {
    return tutti::repeat(qkv({{}, {from, from + 4}}).reshape({8, 2, 2}), 2, 1).reshape({8, 8});
  };
  const list p{tutti::concatenate({qkv({{}, {0, 8}}), copied(8), copied(12)}, 1),
               shared.parameters()[1]};
  const array x = upload_as<double>(random_dense({2, 3, 8}, -1, 1));
  BOOST_TEST(matches(shared.apply(shared.parameters(), x), read(each.apply(p, x)), tight));
}

BOOST_AUTO_TEST_CASE(rotary_turns_pairs) {
  const auto x = random_dense({2, 3, 6}, -1, 1);
  const auto expected = read(nn::rotary(upload_as<double>(x), 7, 100));
  for (const auto& [name, view] : layouts<double>(x)) BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(matches(nn::rotary(view, 7, 100), expected, tight));
    }
  check_gradient([](const list& v) { return weighted_sum(nn::rotary(v[0], 2)); }, {x});
  BOOST_TEST((nn::rotary(tutti::zeros({0, 4})).shape() == shape{0, 4}));
  FAILS(shape_error, nn::rotary(tutti::zeros({2, 3})), "even D");
  FAILS(value_error, nn::rotary(tutti::zeros({2, 2}), 0, 0), "base = 0");
}

BOOST_AUTO_TEST_CASE(a_query_that_sees_nothing_gives_0) {
  const array q = upload_as<double>(random_dense({2, 3}, -1, 1));
  const array k = upload_as<double>(random_dense({4, 3}, -1, 1, 1));
  const array seen = array::from<std::int32_t>({{0, 0, 0, 0}, {1, 0, 1, 0}}).astype(dtype::boolean);
  const array added = tutti::where(seen, 0.0, -INFINITY);
  for (const array& mask : {seen, added.astype(dtype::f64)}) {
    const auto f = [&](const list& v) {
      return nn::scaled_dot_product_attention(v[0], v[1], v[1], {.mask = mask});
    };
    BOOST_TEST(tutti::all(f({q, k})[0] == 0.0).item<bool>());
    check_gradient([&](const list& v) { return weighted_sum(f(v)); }, {read(q), read(k)});
  }
  const array broken = array::from<double>({{NAN, 0, 0}, {0, 0, 0}});
  const array y =
      nn::scaled_dot_product_attention(broken, k, k, {.mask = tutti::ones({4}, dtype::boolean)});
  BOOST_TEST(tutti::all(tutti::isnan(y[0])).item<bool>());
  BOOST_TEST(!tutti::any(tutti::isnan(y[1])).item<bool>());
}

BOOST_AUTO_TEST_CASE(attention_at_the_ends) {
  const array q = tutti::ones({2, 3, 4});
  const auto f = [](const array& a, const array& b, const nn::attention_options& o = {}) {
    return nn::scaled_dot_product_attention(a, b, b, o);
  };
  BOOST_TEST((f(tutti::zeros({0, 3, 4}), tutti::zeros({0, 5, 4})).shape() == shape{0, 3, 4}));
  BOOST_TEST(tutti::all(f(q, tutti::zeros({2, 0, 4})) == 0).item<bool>());
  // Products of 60000 leave an f16, their weights do not.
  const array half = tutti::full({1, 2, 4}, 300, dtype::f16);
  BOOST_TEST(tutti::all(f(half, half) == 300).item<bool>());
  BOOST_TEST((f(half, half).dtype() == dtype::f16));
  FAILS(shape_error, f(q, tutti::ones({2, 3, 5})), "do not fit");
  FAILS(shape_error, f(q, tutti::ones({2, 2, 4}), {.causal = true}), "do not fit, causal");
  FAILS(dtype_error, f(tutti::arange(4).reshape({2, 2}), q), "got i32");
  FAILS(value_error, f(q, q, {.dropout = 0.5}), "dropout needs a key");
  const array dropped = f(q, q, {.dropout = 0.5, .key = tutti::random::key{1}});
  BOOST_TEST(tutti::any(dropped != 1).item<bool>());
  FAILS(value_error, nn::multi_head_attention(6, 4, {1}),
        "4 heads and 4 kv_heads do not divide a width of 6");
  FAILS(value_error, nn::multi_head_attention(6, 2, {1}, {.cache = true}), "cache needs causal");
  const nn::layer l = nn::multi_head_attention(6, 2, {1}, {.dropout = 0.5});
  FAILS(shape_error, l.apply(l.parameters(), q), "must be [N,T,6], got [2,3,4]");
}

BOOST_AUTO_TEST_CASE(options_of_attention_together) {
  const array q = upload_as<double>(random_dense({2, 4, 3, 2}, -1, 1, 1)),
              k = upload_as<double>(random_dense({2, 2, 5, 2}, -1, 1, 2));
  const array lengths = array::from({4, 0});
  const nn::attention_options options{.causal = true,
                                      .soft_cap = 0.5,
                                      .window = {.before = 1},
                                      .lengths = lengths,
                                      .grouped = true};
  const nn::attention_result r = nn::attention_with_weights(q, k, k, options);
  const auto weights = read(r.weights);
  BOOST_TEST((r.scores.shape() == shape{2, 4, 3, 5}));
  BOOST_TEST(tutti::all(tutti::abs(r.scores) <= 0.5).item<bool>());
  for (std::int64_t query = 0; query < 3; ++query)
    for (std::int64_t key = 0; key < 5; ++key) {
      const bool seen = key <= query + 2 && key >= query + 1 && key < 4;
      BOOST_TEST((weights.at({0, 3, query, key}) > 0) == seen);
      BOOST_TEST(weights.at({1, 3, query, key}) == 0);  // of no keys
    }
  BOOST_TEST(matches(r.value(1), read(tutti::zeros({4, 3, 2}))));
  // Each of two heads of keys for two of queries, as if they were repeated.
  nn::attention_options plain = options;
  plain.grouped = false;
  const array each = tutti::repeat(k, 2, 1);
  BOOST_TEST(matches(r.value, read(nn::scaled_dot_product_attention(q, each, each, plain)), tight));
  check_gradient(
      [&](const list& v) {
        return weighted_sum(nn::scaled_dot_product_attention(v[0], v[1], v[1], options));
      },
      {read(q), read(k)});
  const auto refused = [&](const nn::attention_options& o, const char* message) {
    return fails<tutti::error>([&] { nn::attention_with_weights(q, k, k, o); }, message);
  };
  BOOST_TEST(refused({}, "attention_with_weights: "));
  BOOST_TEST(refused({.soft_cap = 0, .grouped = true}, "soft_cap = 0"));
  BOOST_TEST(refused({.window = {.after = -1}, .grouped = true}, "a window of -1"));
  BOOST_TEST(refused({.lengths = array::from({1}), .grouped = true}, "lengths [1]"));
}

BOOST_AUTO_TEST_CASE(rotary_at_positions) {
  const array x = upload_as<double>(random_dense({2, 3, 6}, -1, 1, 1));
  const array places = array::from({7, 8, 9});
  BOOST_TEST(matches(nn::rotary(x, places, {.base = 100}), read(nn::rotary(x, 7, 100)), tight));
  const array rows = array::from({{7, 8, 9}, {0, 1, 2}});
  BOOST_TEST(matches(nn::rotary(x, rows)[1], read(nn::rotary(x, 0)[1]), tight));
  FAILS(shape_error, nn::rotary(x, array::from({1, 2})),
        "rotary: positions [2] do not fit [2,3,6]");
  FAILS(value_error, nn::rotary(x, places, {.width = 8}), "width = 8");
  FAILS(shape_error, nn::rotate_pairs(tutti::ones({3}), 1.0, 0.0), "rotate_pairs: needs [..., D]");
}
