// SPDX-License-Identifier: Apache-2.0
//
// Training in f16 and bf16 with f32 masters, and the scale of the loss.
#include "networks.hpp"

BOOST_AUTO_TEST_CASE(only_floating_arrays_are_cast) {
  const list all{tutti::ones({2}), tutti::arange(2), tutti::ones({2}, dtype::f64)};
  const list cast = nn::cast(all, dtype::bf16);
  BOOST_TEST((cast[0].dtype() == dtype::bf16));
  BOOST_TEST((cast[1].dtype() == dtype::i32));
  BOOST_TEST((cast[2].dtype() == dtype::bf16));
  FAILS(dtype_error, nn::cast(all, dtype::i32), "got i32");
}

BOOST_AUTO_TEST_CASE(the_scale_follows_overflows) {
  nn::loss_scaler scaler({.scale = 8, .every = 2});
  BOOST_TEST(scaler.scaled(array::from<float>({2}).astype(dtype::f16)).item() == 16);
  const list good{array::from<float>({8, 16}), array::from<float>({4}).astype(dtype::f16)};
  const auto unscaled = scaler.unscale(good);
  BOOST_REQUIRE(unscaled.has_value());
  BOOST_TEST((*unscaled)[0][1].item() == 2);
  BOOST_TEST((*unscaled)[1].item() == 0.5);
  BOOST_TEST(((*unscaled)[1].dtype() == dtype::f32));
  BOOST_TEST(scaler.scale() == 8);
  BOOST_TEST(scaler.unscale(good).has_value());
  BOOST_TEST(scaler.scale() == 16);  // after two
  for (const float bad : {INFINITY, -INFINITY, NAN})
    BOOST_TEST(!scaler.unscale({good[0], array::from<float>({bad, 1})}).has_value());
  BOOST_TEST(scaler.scale() == 2);
  FAILS(value_error, nn::loss_scaler({.scale = 0}), "scale = 0");
}

// 0 and 2^-126 by a scale that fell for ever would be 0 times infinity.
BOOST_AUTO_TEST_CASE(the_scale_stays_a_number_of_f32) {
  nn::loss_scaler falling({.scale = 1, .backoff = 1e-30});
  const list bad{array::from<float>({INFINITY})}, good{array::from<float>({0, 3})};
  for (int i = 0; i < 5; ++i) BOOST_TEST(!falling.unscale(bad).has_value());
  BOOST_TEST(falling.scale() == std::ldexp(1.0, -126));
  const auto unscaled = falling.unscale(good);
  BOOST_REQUIRE(unscaled.has_value());
  BOOST_TEST((*unscaled)[0][0].item() == 0);
  BOOST_TEST((*unscaled)[0][1].item() == std::ldexp(3.0, 126));
  nn::loss_scaler rising({.scale = std::ldexp(1.0, 125), .every = 1});
  for (int i = 0; i < 3; ++i) BOOST_TEST(rising.unscale(good).has_value());
  BOOST_TEST(rising.scale() == std::ldexp(1.0, 126));
  for (const double scale : {std::ldexp(1.0, -127), std::ldexp(1.0, 127), -1.0, double{NAN}})
    FAILS(value_error, nn::loss_scaler({.scale = scale}), "is out of range");
}

// Gradients of 2^-26, which an f16 does not hold, reach f32 masters by the scale.
BOOST_AUTO_TEST_CASE(small_gradients_survive_f16) {
  const list masters{tutti::ones({4})};
  const array tiny = tutti::full({}, std::ldexp(1.0, -13), dtype::f16);
  nn::loss_scaler scaler;
  const auto loss = [&](const list& p) {
    const array half = nn::cast(p, dtype::f16)[0];
    return tutti::sum(half * tiny * tiny);
  };
  const auto plain = tutti::grad(loss)(masters);
  BOOST_TEST(tutti::all(plain[0] == 0).item<bool>());
  const auto scaled = tutti::grad([&](const list& p) { return scaler.scaled(loss(p)); })(masters);
  const auto found = scaler.unscale(scaled);
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(((*found)[0].dtype() == dtype::f32));
  BOOST_TEST(tutti::all((*found)[0] == std::ldexp(1.0, -26)).item<bool>());
}

BOOST_AUTO_TEST_CASE(a_network_trains_in_lower_precision) {
  for (const dtype type : {dtype::f16, dtype::bf16}) {
    const nn::layer net = nn::sequential({nn::linear(2, 8, {1}), nn::layer_norm({8}),
                                          nn::activate(nn::gelu), nn::linear(8, 2, {2})});
    const array x = tutti::random::normal({3}, {32, 2}).astype(type);
    const array labels = (tutti::sum(x.astype(dtype::f32), 1) > 0).astype(dtype::i32);
    list masters = net.parameters();
    nn::adam optimizer({.learning_rate = 0.05});
    nn::loss_scaler scaler({.scale = 128});
    double first = 0;
    for (int step = 0; step < 25; ++step) {
      const auto scaled = tutti::value_and_grad([&](const list& p) {
        return scaler.scaled(nn::cross_entropy(net.apply(nn::cast(p, type), x), labels));
      })(masters);
      if (step == 0) first = scaled.first.item() / scaler.scale();
      const auto gradients = scaler.unscale(scaled.second);
      BOOST_REQUIRE(gradients.has_value());
      masters = optimizer.step(masters, *gradients);
      tutti::eval(masters, optimizer.state());
      if (step == 24) BOOST_TEST(scaled.first.item() / scaler.scale() < 0.4 * first);
    }
    BOOST_TEST((masters[0].dtype() == dtype::f32));
  }
}
