// SPDX-License-Identifier: Apache-2.0
//
// Normalisation: both channel orders, views, halves, sizes of 0 and 1, second derivatives. Values
// and gradients for all three ranks are PyTorch's (vectors_test.cpp).
#include "networks.hpp"

namespace {

array trained(const nn::layer& l, const array& x) {
  return l.apply(l.parameters(), l.state(), x, nn::training({})).value;
}

}  // namespace

BOOST_AUTO_TEST_CASE(norms_of_all_layouts) {
  const dense x = random_dense({3, 4, 5}, -2, 2);
  const tolerance tight{.relative = 1e-11, .absolute = 1e-12};
  const array plain = upload_as<double>(x);
  const auto turned = [](const array& a) { return a.transpose({0, 2, 1}); };
  const auto last = tutti::channel_order::last;
  const nn::layer batch = nn::batch_norm(4, {}, dtype::f64),
                  rows = nn::layer_norm({5}, {}, dtype::f64),
                  pairs = nn::group_norm(2, 4, {}, dtype::f64);
  for (const auto& [name, view] : layouts<double>(x)) BOOST_TEST_CONTEXT(name) {
      for (const nn::layer& l : {batch, rows, pairs})
        BOOST_TEST(matches(trained(l, view), read(trained(l, plain)), tight));
      BOOST_TEST(matches(trained(nn::group_norm(4, 4, {}, dtype::f64), view),
                         read(trained(rows, plain)), tight));
      BOOST_TEST(
          matches(turned(trained(nn::batch_norm(4, {.order = last}, dtype::f64), turned(view))),
                  read(trained(batch, plain)), tight));
      BOOST_TEST(
          matches(turned(trained(nn::group_norm(2, 4, {.order = last}, dtype::f64), turned(view))),
                  read(trained(pairs, plain)), tight));
    }
}

BOOST_AUTO_TEST_CASE(halves_are_normalised_in_f32) {
  // Squares of 300 do not fit an f16, and means of 2049 ones do not count on in it.
  for (const dtype type : {dtype::f16, dtype::bf16}) {
    const dense x =
        tabulate({2, 2050}, [](const position& i) { return i[1] % 2 == 0 ? 300 : -300; });
    const array half = upload_as<double>(x).astype(type);
    for (const nn::layer& l : {nn::layer_norm({2050}, {}, type), nn::rms_norm(2050, 1e-6, type)}) {
      const array y = trained(l, half);
      BOOST_TEST((y.dtype() == type));
      BOOST_TEST(matches(y.astype(dtype::f64), tabulate({2, 2050}, [](const position& i) {
                           return i[1] % 2 == 0 ? 1 : -1;
                         })));
    }
    const nn::layer batch = nn::batch_norm(2050, {}, type);
    BOOST_TEST((batch.state()[0].dtype() == dtype::f32));
    BOOST_TEST((trained(batch, half).dtype() == type));
  }
}

BOOST_AUTO_TEST_CASE(batch_norm_follows_its_batches) {
  const nn::layer l = nn::batch_norm(1, {.momentum = 0.5}, dtype::f64);
  list state = l.state();
  const array x = array::from<double>({1, 3}).reshape({2, 1});
  for (int i = 0; i < 2; ++i) state = l.apply(l.parameters(), state, x, nn::training({})).state;
  // Mean 2, variance of divisor n - 1: 2.
  BOOST_TEST(state[0].item() == 1.5);
  BOOST_TEST(state[1].item() == 1.75);
  const nn::applied kept = l.apply(l.parameters(), state, x);
  BOOST_TEST(kept.state[0].item() == 1.5);
  BOOST_TEST(std::abs(kept.value[0].item() - (1 - 1.5) / std::sqrt(1.75 + 1e-5)) < 1e-14);
}

BOOST_AUTO_TEST_CASE(norms_at_the_ends) {
  const nn::layer batch = nn::batch_norm(2, {}, dtype::f64);
  FAILS(shape_error, trained(batch, tutti::ones({1, 2}, dtype::f64)), "two elements or more");
  FAILS(shape_error, trained(batch, tutti::ones({3, 3}, dtype::f64)),
        "2 channels on its second axis, got [3,3]");
  // Over nothing, as in PyTorch: nothing.
  for (const nn::layer& none : {nn::layer_norm({3, 0}), nn::rms_norm(0)}) {
    const array x = tutti::ones({2, 3, 0});
    const auto f = [&](const array& v) { return tutti::sum(trained(none, v)); };
    BOOST_TEST((trained(none, x).shape() == shape{2, 3, 0}));
    BOOST_TEST(f(x).item() == 0);
    BOOST_TEST((tutti::grad(f)(x).shape() == shape{2, 3, 0}));
  }
  FAILS(shape_error, nn::layer_norm({-1}), "layer_norm: ");
  const nn::layer rows = nn::layer_norm({3}, {}, dtype::f64);
  BOOST_TEST((trained(rows, tutti::ones({0, 3}, dtype::f64)).shape() == shape{0, 3}));
  BOOST_TEST(tutti::all(trained(rows, tutti::ones({2, 3}, dtype::f64)) == 0.0).item<bool>());
  FAILS(shape_error, trained(rows, tutti::ones({3, 2})), "must end in [3], got [3,2]");
  BOOST_TEST((trained(nn::group_norm(1, 2), tutti::ones({0, 2, 4})).shape() == shape{0, 2, 4}));
  BOOST_TEST(
      std::isnan(trained(rows, array::from<double>({1, NAN, 2}).reshape({1, 3}))(0, 0).item()));
  FAILS(value_error, nn::group_norm(3, 4), "3 groups do not divide 4");
  FAILS(value_error, nn::rms_norm(4, 0), "epsilon = 0");
  FAILS(value_error, nn::batch_norm(0), "channels must be positive");
  FAILS(dtype_error, nn::rms_norm(4, 1e-6, dtype::i32), "got i32");
}

BOOST_AUTO_TEST_CASE(second_derivatives_of_norms) {
  const dense x = random_dense({3, 4}, -2, 2, 1), w = random_dense({4}, 0.5, 2, 2);
  for (const nn::layer& l :
       {nn::batch_norm(4, {}, dtype::f64), nn::layer_norm({4}, {}, dtype::f64),
        nn::group_norm(2, 4, {}, dtype::f64), nn::rms_norm(4, 1e-6, dtype::f64)})
    BOOST_TEST_CONTEXT(l.kind()) {
      const auto slope = tutti::grad([&](const list& v) {
        list weights = l.parameters();
        weights[0] = v[1];
        const array y = l.apply(weights, l.state(), v[0], nn::training({1})).value;
        return weighted_sum(tutti::square(y));
      });
      const auto slopes = [&](const list& v) {
        const list found = slope(v);
        return weighted_sum(found[0]) + weighted_sum(found[1]);
      };
      check_gradient(slopes, {x, w}, 1e-6);
    }
}

BOOST_AUTO_TEST_CASE(norms_of_given_weights) {
  // As the layers of the same weights, which PyTorch's values are for (vectors_test.cpp).
  const array x = upload_as<double>(random_dense({2, 4, 3}, -2, 2, 1));
  const array w = upload_as<double>(random_dense({4}, -2, 2, 2));
  const list both{w, w + 1};
  const auto expected = [&](const nn::layer& l) { return read(l.apply(both, x)); };
  BOOST_TEST(matches(nn::group_norm(x, 2, {.weight = w, .bias = w + 1}),
                     expected(nn::group_norm(2, 4, {}, dtype::f64))));
  const auto m = nn::moments_of_channels(x);
  BOOST_TEST(matches(m.mean, read(tutti::mean(x, {0, 2}))));
  BOOST_TEST(matches(m.variance, read(tutti::var(x, {0, 2}))));
  const array trained_by =
      nn::batch_norm(4, {}, dtype::f64)
          .apply(both, nn::batch_norm(4, {}, dtype::f64).state(), x, nn::training({1}))
          .value;
  BOOST_TEST(matches(nn::batch_norm(x, m.mean, m.variance, {.weight = w, .bias = w + 1}),
                     read(trained_by)));
  const nn::layer wide = nn::rms_norm(tutti::shape{4, 3}, 1e-6, dtype::f64);
  BOOST_TEST((wide.parameters()[0].shape() == shape{4, 3}));
  BOOST_TEST(
      matches(wide.apply(wide.parameters(), x), read(nn::rms_norm(x, {1, 2}, {.epsilon = 1e-6}))));
  BOOST_TEST((nn::layer_norm(tutti::ones({2, 3}, dtype::f16), -1).dtype() == dtype::f16));
  FAILS(shape_error, nn::layer_norm(tutti::ones({3}), 0, {.weight = tutti::ones({2, 3})}),
        "layer_norm: weights do not broadcast to [3], but to [2,3]");
  FAILS(shape_error, nn::batch_norm(x, tutti::ones({3}), w),
        "batch_norm: needs one number for each of 4 channels");
  FAILS(value_error, nn::group_norm(x, 3), "3 groups do not divide 4");
}
