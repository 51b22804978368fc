// SPDX-License-Identifier: Apache-2.0
//
// Activations, layers and their composition, against plain loops in double.
#include <limits>

#include "networks.hpp"

namespace {

/// x [n, in] times w [in, out] plus b.
std::vector<double> affine(const std::vector<double>& x, const std::vector<double>& w,
                           const std::vector<double>& b, std::size_t in) {
  const std::size_t out = b.size(), rows = x.size() / in;
  std::vector<double> y(rows * out);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t o = 0; o < out; ++o) {
      y[r * out + o] = b[o];
      for (std::size_t i = 0; i < in; ++i) y[r * out + o] += x[r * in + i] * w[i * out + o];
    }
  }
  return y;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(layers)

BOOST_AUTO_TEST_CASE(the_key_decides_the_weights) {
  const auto weights = [](std::uint64_t key) {
    const nn::sequential net = nn::perceptron({3, 4, 2}, {key}, tutti::relu);
    return net.parameters()[0].to_vector<float>();
  };
  BOOST_CHECK(weights(1) == weights(1));
  BOOST_CHECK(weights(1) != weights(2));
}

// Values between are SciPy's (tests/ops/differential_test.cpp) and ONNX's (leaky_relu).
BOOST_AUTO_TEST_CASE(activations_far_from_0) {
  const array huge = array::from<float>({-1000, 1000});
  BOOST_TEST(all_close(nn::softplus(huge).to_vector<float>(), {0, 1000}));
  // Far on the negative side, where 1 + erf cancels.
  const auto far = nn::gelu(array::from<double>({-5, -20})).to_vector<double>();
  BOOST_TEST(std::abs(far[0] / (-2.5 * std::erfc(5 / std::sqrt(2))) - 1) < 1e-13);
  BOOST_TEST(std::abs(far[1] / (-10 * std::erfc(20 / std::sqrt(2))) - 1) < 1e-13);
  const array half = array::from(random_vector<float>(1003, -6, 6)).astype(dtype::f16);
  BOOST_TEST(all_close(
      nn::gelu(half).astype(dtype::f32).to_vector<float>(),
      nn::gelu(half.astype(dtype::f32)).astype(dtype::f16).astype(dtype::f32).to_vector<float>()));
}

// The limits, which infinity times 0 is not.
BOOST_AUTO_TEST_CASE(gelu_and_silu_at_the_ends) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const nn::activation& f : {nn::activation(nn::gelu), nn::activation(nn::silu)})
    for (const dtype type : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64})
      BOOST_TEST_CONTEXT(tutti::name(type)) {
        const array x =
            array::from<double>({-infinite, -60000, -1001, 60000, infinite, 0}).astype(type);
        const auto y = f(x).astype(dtype::f64).to_vector<double>();
        const std::vector<double> limits = {0, 0, 0, x[3].astype(dtype::f64).item(), infinite, 0};
        BOOST_TEST(y == limits, same);
        const array slopes = tutti::grad([&](const array& v) { return tutti::sum(f(v)); })(x);
        const std::vector<double> ends = {0, 0, 0, 1, 1, 0.5};
        BOOST_TEST(slopes.astype(dtype::f64).to_vector<double>() == ends, same);
        const double nan = std::numeric_limits<double>::quiet_NaN();
        BOOST_TEST(std::isnan(f(array::from<double>({nan}).astype(type)).item()));
      }
}

BOOST_AUTO_TEST_CASE(activations_of_integers_are_those_of_floats) {
  for (const auto& [name, f] : std::vector<std::pair<const char*, nn::activation>>{
           {"sigmoid", tutti::sigmoid},
           {"leaky_relu", [](const array& v) { return nn::leaky_relu(v); }},
           {"gelu", nn::gelu},
           {"silu", nn::silu},
           {"softplus", nn::softplus}})
    for (const dtype type : {dtype::u8, dtype::u64, dtype::i8, dtype::boolean})
      BOOST_TEST_CONTEXT(name << " of " << tutti::name(type)) {
        const array x = array::from<std::int32_t>({0, 1, 6}).astype(type);
        const array y = f(x);
        BOOST_CHECK(y.dtype() == dtype::f32);
        BOOST_TEST(all_close(y.to_vector<float>(), f(x.astype(dtype::f32)).to_vector<float>(),
                             {.relative = 1e-6}));
      }
}

BOOST_AUTO_TEST_CASE(derivatives_of_softplus_at_zero) {
  const auto once = tutti::grad([](const list& v) { return tutti::sum(nn::softplus(v[0])); });
  const array zero = tutti::zeros({1}, dtype::f64);
  BOOST_TEST(std::abs(once({zero})[0].item() - 0.5) < 1e-15);
  const auto twice = tutti::grad([&](const list& v) { return once(v)[0]; });
  BOOST_TEST(std::abs(twice({zero})[0].item() - 0.25) < 1e-15);
}

BOOST_AUTO_TEST_CASE(linear_is_x_w_plus_b) {
  const auto x = random_vector<double>(5 * 3, -1, 1, 1), w = random_vector<double>(3 * 4, -1, 1, 2),
             b = random_vector<double>(4, -1, 1, 3);
  const nn::layer layer = nn::linear(3, 4, {1}, {}, dtype::f64);
  const list p{array::from(w, {3, 4}), array::from(b)};
  const array y = layer.apply(p, array::from(x, {5, 3}));
  BOOST_TEST((y.shape() == shape{5, 4}));
  BOOST_TEST(all_close(y.to_vector<double>(), affine(x, w, b, 3), {.relative = 1e-12}));
  const nn::layer bare = nn::linear(3, 4, {1}, {.bias = false}, dtype::f64);
  BOOST_TEST(bare.names().size() == 1u);
  const auto unbiased = bare.apply(std::span(p).first(1), array::from(x, {5, 3}));
  BOOST_TEST(all_close(unbiased.to_vector<double>(), affine(x, w, {0, 0, 0, 0}, 3),
                       {.relative = 1e-12, .absolute = 1e-15}));
  const auto narrow = [&] { layer.apply(p, array::from(x, {3, 5})); };
  BOOST_TEST(fails<tutti::shape_error>(narrow, "linear: input must end in 3, got [3,5]"));
  FAILS(value_error, nn::linear(0, 4, {1}), "got 0 -> 4");
}

BOOST_AUTO_TEST_CASE(a_perceptron_names_and_orders_its_parameters) {
  const nn::sequential net = nn::perceptron({3, 5, 2}, {1}, tutti::tanh, {}, dtype::f64);
  const std::vector<std::string> names{"0.weight", "0.bias", "2.weight", "2.bias"};
  BOOST_TEST(net.names() == names, same);
  BOOST_TEST(net.parameter_count() == 3 * 5 + 5 + 5 * 2 + 2);
  const auto& p = net.parameters();
  BOOST_TEST(all_close(p[1].to_vector<double>(), std::vector<double>(5)));

  const auto x = random_vector<double>(4 * 3, -1, 1);
  auto hidden = affine(x, p[0].to_vector<double>(), p[1].to_vector<double>(), 3);
  for (double& v : hidden) v = std::tanh(v);
  const auto expected = affine(hidden, p[2].to_vector<double>(), p[3].to_vector<double>(), 5);
  BOOST_TEST(all_close(net.apply(p, array::from(x, {4, 3})).to_vector<double>(), expected,
                       {.relative = 1e-11, .absolute = 1e-14}));

  auto named = net.named(p);
  const auto again = net.ordered(named);
  for (std::size_t i = 0; i < p.size(); ++i) {
    BOOST_CHECK(again[i].to_vector<double>() == p[i].to_vector<double>());
  }
  named["other"] = p[0];
  FAILS(value_error, net.ordered(named), "other is none of the 4 parameters");
  named.erase("other");
  named["2.bias"] = p[1];
  FAILS(shape_error, net.ordered(named), "2.bias has shape [5]");
  named["2.bias"] = p[3].astype(dtype::f32);
  FAILS(dtype_error, net.ordered(named), "2.bias has dtype f32");
  named.erase("2.bias");
  FAILS(value_error, net.ordered(named), "2.bias is missing");
}

BOOST_AUTO_TEST_CASE(a_perceptron_refuses_wrong_parameters) {
  FAILS(value_error, nn::perceptron({3}, {1}, tutti::relu), "got 1");
  const nn::sequential net = nn::perceptron({3, 5, 2}, {1}, tutti::relu);
  const array x = tutti::zeros({4, 3});
  auto p = net.parameters();
  std::swap(p[0], p[2]);
  FAILS(shape_error, net.apply(p, x), "0.weight has shape [5,2]");
  p.pop_back();
  FAILS(value_error, net.apply(p, x), "needs 4 parameters, got 3");
}

BOOST_AUTO_TEST_CASE(gradients_of_a_perceptron_match_differences) {
  for (const nn::activation& f : {nn::activation(tutti::tanh), nn::activation(nn::gelu),
                                  nn::activation(nn::silu), nn::activation(nn::softplus)}) {
    const nn::sequential net = nn::perceptron({3, 4, 3}, {5}, f, {}, dtype::f64);
    const array x = array::from(random_vector<double>(5 * 3, -1, 1), {5, 3});
    const array labels = array::from<std::int32_t>({0, 1, 2, 1, 0});
    std::vector<dense> parameters;
    for (const array& p : net.parameters()) parameters.push_back(read(p));
    check_gradient([&](const list& p) { return nn::cross_entropy(net.apply(p, x), labels); },
                   parameters, 1e-9);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(functions_that_are_empty_are_refused) {
  FAILS(value_error, nn::activate({}), "activate: the function is empty");
  FAILS(value_error, nn::perceptron({3, 4, 2}, {1}, {}),
        "perceptron: the activation function is empty");
  FAILS(value_error, nn::sequential({nn::layer()}), "sequential: layer 0 has no function apply");
  nn::linear_options options;
  options.weight = {};
  FAILS(value_error, nn::linear(3, 4, {1}, options), "linear: the initialiser");
}

BOOST_AUTO_TEST_CASE(an_initialiser_of_another_shape_is_refused) {
  nn::linear_options options;
  options.weight = [](tutti::random::key, const tutti::shape&, dtype type,
                      const tutti::device& on) {
    return tutti::zeros({4, 3}, type, on);
  };
  FAILS(shape_error, nn::linear(3, 4, {1}, options),
        "linear_options::weight gave [4,3], not [3,4]");
  options.weight = [](auto&&...) { return array(); };
  FAILS(value_error, nn::linear(3, 4, {1}, options), "linear");
}

BOOST_AUTO_TEST_CASE(what_is_moved_from_keeps_its_layers) {
  nn::sequential first = nn::perceptron({3, 4, 2}, {1}, tutti::relu);
  nn::sequential second = std::move(first);
  nn::sequential third = nn::perceptron({1, 1}, {1}, tutti::relu);
  third = std::move(second);
  for (const nn::sequential* net : {&first, &second, &third}) {
    BOOST_TEST(net->names().size() == 4u);
    BOOST_TEST(net->parameter_count() == 26);
    BOOST_TEST(net->apply(net->parameters(), tutti::ones({5, 3})).shape() == tutti::shape({5, 2}));
  }
}
