// SPDX-License-Identifier: Apache-2.0
//
// Losses and metrics where the answer is known; values and gradients of others are PyTorch's
// (vectors_test.cpp).
#include "networks.hpp"

BOOST_AUTO_TEST_SUITE(losses)

BOOST_AUTO_TEST_CASE(labels_of_any_integer_dtype) {
  const array logits = array::from(random_vector<float>(7 * 5, -4, 4), {7, 5});
  const array labels = array::from<std::int64_t>({0, 4, 2, 2, 1, 3, 0});
  const double expected = nn::cross_entropy(logits, labels).item();
  for (const dtype type : {dtype::i32, dtype::u8})
    BOOST_TEST(nn::cross_entropy(logits, labels.astype(type)).item() == expected);
}

// The loss does not depend on what all logits share: log(1 + 2/e) here, beside 4096.
BOOST_AUTO_TEST_CASE(cross_entropy_of_logits_far_from_0) {
  for (const float shared : {-4096.f, 4096.f, 65536.f}) {
    const array logits = array::from<float>({shared + 1, shared, shared}, {1, 3});
    const array loss = nn::cross_entropy(logits, array::from<std::int32_t>({0}));
    BOOST_TEST(loss.item() == std::log1p(2 * std::exp(-1.0)), boost::test_tools::tolerance(1e-6));
  }
}

BOOST_AUTO_TEST_CASE(cross_entropy_does_not_overflow) {
  const array logits = array::from<float>({1000, 0, -1000, 0}, {2, 2});
  const array labels = array::from<std::int32_t>({0, 0});
  BOOST_TEST(nn::cross_entropy(logits, labels).item() == 500);
  const auto loss = [&](const list& a) { return nn::cross_entropy(a[0], labels); };
  const auto gradient = tutti::grad(loss)({logits})[0].to_vector<float>();
  BOOST_TEST(all_close(gradient, {0, 0, -0.5f, 0.5f}));
  // A class ruled out by -inf is no NaN.
  const array ruled_out = array::from<float>({0, 0, -INFINITY}, {1, 3});
  const array first = array::from<std::int32_t>({0});
  BOOST_TEST(nn::cross_entropy(ruled_out, first).item() == std::log(2.0),
             boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(cross_entropy_shows_labels_out_of_range) {
  const array logits = tutti::zeros({2, 3});
  for (const std::int32_t wrong : {-1, 3}) {
    BOOST_TEST(std::isnan(nn::cross_entropy(logits, array::from<std::int32_t>({0, wrong})).item()));
  }
}

BOOST_AUTO_TEST_CASE(losses_refuse_wrong_operands) {
  const array logits = tutti::zeros({2, 3});
  const array labels = array::from<std::int32_t>({0, 1});
  FAILS(shape_error, nn::cross_entropy(logits, array::from<std::int32_t>({0})), "[2,3] and [1]");
  FAILS(shape_error, nn::cross_entropy(logits, logits), "got [2,3]");
  FAILS(dtype_error, nn::cross_entropy(logits, array::from<float>({0, 1})), "got f32");
  FAILS(dtype_error, nn::cross_entropy(logits.astype(dtype::i32), labels), "got i32");
  FAILS(shape_error, nn::cross_entropy(tutti::zeros({0, 3}), tutti::zeros({0}, dtype::i32)),
        "no elements in [0,3]");
  FAILS(shape_error, nn::mse(logits, tutti::zeros({2, 1})), "shapes differ: [2,3] and [2,1]");
}

BOOST_AUTO_TEST_CASE(mse_and_its_gradient) {
  const array target = array::from<double>({1, 2, 3, 4});
  const auto loss = [&](const list& a) { return nn::mse(a[0], target); };
  const auto [value, gradients] = tutti::value_and_grad(loss)({array::from<double>({1, 4, 0, 4})});
  BOOST_TEST(value.item() == (4 + 9) / 4.0);
  BOOST_TEST(all_close(gradients[0].to_vector<double>(), {0, 1, -1.5, 0}));
  const array bytes = array::from<std::int32_t>({1, 2, 3, 4}).astype(dtype::u8);
  const array far = array::from<std::int32_t>({3, 255, 0, 4}).astype(dtype::u8);
  BOOST_TEST(nn::mse(bytes, far).item() == (4 + 253 * 253 + 9) / 4.0);
}

BOOST_AUTO_TEST_CASE(accuracy_counts_right_answers) {
  const array scores = array::from<float>({1, 2, 0, 5, 1, 1, 0, 0, 9, 3, 3, 3}, {4, 3});
  for (const dtype type : {dtype::i32, dtype::i64, dtype::u8, dtype::u64}) {
    const array labels = array::from<std::int32_t>({1, 0, 1, 0}).astype(type);
    BOOST_TEST(nn::accuracy(scores, labels).item() == 0.75);
  }
}

BOOST_AUTO_TEST_CASE(confusion_counts_pairs) {
  const array truth = array::from<std::int32_t>({0, 0, 1, 2, 2, 2});
  const array guess = array::from<std::int64_t>({0, 1, 1, 2, 0, 2});
  const auto counts = nn::confusion_matrix(truth, guess, 3).to_vector<std::int64_t>();
  const std::vector<std::int64_t> expected{1, 1, 0, 0, 1, 0, 1, 0, 2};
  BOOST_TEST(counts == expected, same);
  FAILS(index_error, nn::confusion_matrix(truth, guess, 2), "class 2 at 3 is not below 2");
  FAILS(value_error, nn::confusion_matrix(truth, guess, 0), "0 classes");
  FAILS(shape_error, nn::confusion_matrix(truth, array::from<std::int32_t>({1}), 3), "[6] and [1]");
}

BOOST_AUTO_TEST_SUITE_END()
