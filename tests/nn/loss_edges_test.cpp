// SPDX-License-Identifier: Apache-2.0
//
// Losses beside PyTorch's values (vectors_test.cpp): more axes, views, large numbers, halves,
// labels out of range, no elements, second derivatives; CTC at its ends.

#include "networks.hpp"

namespace loss_edges_test {

namespace {

const tolerance tight{.relative = 1e-12, .absolute = 1e-13};

}  // namespace

BOOST_AUTO_TEST_CASE(ctc_at_the_ends) {
  const array log_p = tutti::log_softmax(tutti::zeros({1, 3, 4}, dtype::f64), 2);
  const array one = array::from<std::int32_t>({1});
  const auto loss = [&](const array& targets, std::int32_t steps, std::int32_t length) {
    return nn::ctc_loss(log_p, targets, array::from({steps}), array::from({length})).item();
  };
  const array target = array::from<std::int32_t>({{1, 2}});
  BOOST_TEST(loss(array::from<std::int32_t>({{2, 2}}), 2, 2) == INFINITY);  // a blank is between
  BOOST_TEST(std::isnan(loss(target, 4, 2)));
  BOOST_TEST(std::isnan(loss(target, 0, 2)));
  BOOST_TEST(std::isnan(loss(target, 3, 3)));
  BOOST_TEST(std::isnan(loss(array::from<std::int32_t>({{1, 4}}), 3, 2)));
  BOOST_TEST(std::isnan(loss(array::from<std::int32_t>({{0, 2}}), 3, 2)));
  const auto of_wrong = [&](const array& p) {
    return nn::ctc_loss(p, array::from<std::int32_t>({{1, 4}}), array::from({3}), array::from({2}),
                        {.zero_infinity = true});
  };
  BOOST_TEST(tutti::any(tutti::isnan(tutti::grad(of_wrong)(log_p))).item<bool>());
  BOOST_TEST(std::abs(loss(array::from<std::int32_t>({{1, 99}}), 3, 1) - std::log(64.0 / 6)) <
             1e-12);
  BOOST_TEST(std::abs(loss(tutti::zeros({1, 0}, dtype::i32), 3, 0) - 3 * std::log(4.0)) < 1e-12);
  // What a class is ruled out by is no NaN, nor is its gradient.
  array ruled_out = log_p;
  ruled_out.set({{}, {}, 1}, -INFINITY);
  const auto f = [&](const array& p) {
    return nn::ctc_loss(p, target, array::from({3}), array::from({2}), {.zero_infinity = true});
  };
  BOOST_TEST(f(ruled_out).item() == 0);
  BOOST_TEST(!tutti::any(tutti::isnan(tutti::grad(f)(ruled_out))).item<bool>());
  FAILS(shape_error, nn::ctc_loss(log_p, one, one, one), "got [1,3,4]");
  FAILS(value_error, nn::ctc_loss(log_p, target, one, one, {.blank = 4}), "blank 4 is not below 4");
  FAILS(dtype_error, nn::ctc_loss(log_p, log_p[0], one, one), "got f64");
}

BOOST_AUTO_TEST_CASE(labels_of_several_axes) {
  const dense x = random_dense({2, 3, 4}, -2, 2);
  const array labels = array::from<std::int32_t>({{0, 3, 1}, {2, 2, 0}});
  const array flat = nn::cross_entropy(upload_as<double>(x).reshape({6, 4}), labels.flatten());
  for (const auto& [name, view] : layouts<double>(x)) BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(matches(nn::cross_entropy(view, labels), read(flat), tight));
      const array none = nn::cross_entropy(view, labels, {.how = nn::reduction::none});
      BOOST_TEST((none.shape() == shape{2, 3}));
    }
  const array wrong = array::from<std::int32_t>({{0, 4, 1}, {2, -1, 0}});
  const array some =
      nn::cross_entropy(upload_as<double>(x), wrong, {.ignore = -1, .how = nn::reduction::none});
  BOOST_TEST(std::isnan(some(0, 1).item()));
  BOOST_TEST(some(1, 1).item() == 0);
  // What training goes on with tells of a wrong label as well, and of no label that is ignored.
  for (const double smoothing : {0.0, 0.1})
    for (const bool weighted : {false, true}) {
      nn::cross_entropy_options o{.label_smoothing = smoothing, .ignore = -1};
      if (weighted) o.weights = tutti::ones({4});
      const auto f = [&](const array& p) { return nn::cross_entropy(p, wrong, o); };
      const array slopes = tutti::grad(f)(upload_as<double>(x));
      const dense of_wrong =
          tabulate({2, 3, 4}, [](const position& i) { return i[0] == 0 && i[1] == 1 ? 1.0 : 0.0; });
      BOOST_TEST(matches(tutti::isnan(slopes).astype(dtype::f64), of_wrong));
    }
  BOOST_TEST(std::isnan(
      nn::cross_entropy(tutti::zeros({1, 4}), array::from<std::int32_t>({2}), {.ignore = 2})
          .item()));
  FAILS(shape_error, nn::cross_entropy(upload_as<double>(x), labels, {.weights = tutti::ones({3})}),
        "weights are [3]");
  FAILS(value_error, nn::nll_loss(upload_as<double>(x), labels, {.label_smoothing = 0.1}),
        "label_smoothing");
}

BOOST_AUTO_TEST_CASE(losses_of_large_numbers) {
  BOOST_TEST(nn::binary_cross_entropy_with_logits(array::from<float>({1000, -1000}),
                                                  array::from<float>({1, 0}))
                 .item() == 0);
  BOOST_TEST(nn::binary_cross_entropy_with_logits(array::from<float>({1000, -1000}),
                                                  array::from<float>({0, 1}))
                 .item() == 1000);
  const auto huber = [](const array& p) { return nn::huber_loss(p, tutti::zeros(p.shape())); };
  const array far = array::from<float>({3e30f});
  BOOST_TEST(huber(far).item() == 3e30f);
  BOOST_TEST(tutti::grad(huber)(far).item() == 1);
  const array half = array::from<float>({60000, -60000}).astype(dtype::f16);
  BOOST_TEST((nn::l1_loss(half, half).dtype() == dtype::f16));
  // Two squares of 200 have a sum that an f16 does not hold.
  const array two = tutti::full({2}, 200, dtype::f16);
  BOOST_TEST(nn::mse(two, tutti::zeros({2}, dtype::f16)).item() == 40000);
  const array bytes = array::from<std::int32_t>({0, 255}).astype(dtype::u8);
  BOOST_TEST(nn::l1_loss(bytes, array::from<std::int32_t>({255, 0}).astype(dtype::u8)).item() ==
             255);
}

BOOST_AUTO_TEST_CASE(losses_of_no_elements) {
  const array none = tutti::zeros({0, 3});
  BOOST_TEST(nn::l1_loss(none, none, nn::reduction::sum).item() == 0);
  BOOST_TEST((nn::huber_loss(none, none, {.how = nn::reduction::none}).shape() == shape{0, 3}));
  FAILS(shape_error, nn::l1_loss(none, none), "no elements in [0,3]");
  FAILS(shape_error, nn::l1_loss(none, tutti::zeros({3})), "shapes differ: [0,3] and [3]");
  FAILS(value_error, nn::huber_loss(none, none, {.delta = 0}), "delta = 0");
  // A distribution that has a 0 where the other has one too.
  const array p = array::from<double>({{0.5, 0.5, 0}});
  BOOST_TEST(std::abs(nn::kl_divergence(tutti::log(p), p).item()) < 1e-15);
}

BOOST_AUTO_TEST_CASE(second_derivatives_of_losses) {
  const array target = upload_as<double>(random_dense({2, 3}, 0, 1, 5));
  const array labels = array::from<std::int32_t>({2, 0});
  const auto twice = [&](const tutti::function& loss) {
    const auto slope = tutti::grad([&](const list& v) { return tutti::square(loss(v)); });
    check_gradient([&](const list& v) { return weighted_sum(slope(v)[0]); },
                   {random_dense({2, 3}, -2, 2, 6)}, 1e-6);
  };
  twice([&](const list& v) { return nn::binary_cross_entropy_with_logits(v[0], target); });
  twice([&](const list& v) { return nn::cross_entropy(v[0], labels, {.label_smoothing = 0.2}); });
  twice([&](const list& v) { return nn::triplet_loss(v[0], target, target * 2, {.margin = 9}); });
}

}  // namespace loss_edges_test
