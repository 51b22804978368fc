// SPDX-License-Identifier: Apache-2.0
//
// Products that take a bias and relu with them: values against loops in double, and, by counting
// launches, what is taken and what must not be.
#include <tutti/nn.hpp>

#include "tutti_test/arrays.hpp"
#include "tutti_test/launches.hpp"

namespace epilogue_test {

namespace {

const tolerance near{.relative = 1e-5, .absolute = 1e-5};

// [M, K] x [K, N] + [N], then max(x, 0) where `relu`.
dense layer(const dense& a, const dense& b, const dense& bias, bool relu) {
  return tabulate({a.extents[0], b.extents[1]}, [&](const position& i) {
    double sum = bias.values[static_cast<std::size_t>(i[1])];
    for (std::int64_t k = 0; k < a.extents[1]; ++k) sum += a.at({i[0], k}) * b.at({k, i[1]});
    return relu && sum < 0 ? 0 : sum;
  });
}

// CPU devices take every epilogue; GPUs may leave one to a second kernel (CLBlast, cuBLASLt).
bool all_in_one(std::uint64_t count, std::uint64_t least = 1, std::uint64_t most = 2) {
  const bool cpu = tutti::default_device().properties().type == tutti::device_type::cpu;
  return cpu ? count == least : count >= least && count <= most;
}

struct operands {
  dense a, b, c;
  array x, y, z;
  operands(std::int64_t m, std::int64_t k, std::int64_t n)
      : a(random_dense({m, k}, -1, 1, 51)),
        b(random_dense({k, n}, -1, 1, 52)),
        c(random_dense({n}, -1, 1, 53)),
        x(upload_as<float>(a)),
        y(upload_as<float>(b)),
        z(upload_as<float>(c)) {}
};

}  // namespace

BOOST_AUTO_TEST_CASE(bias_and_relu_are_part_of_the_product) {
  const std::int64_t sizes[][3] = {{1, 3, 1},     {1, 7, 5},    {5, 4, 1},      {17, 33, 9},
                                   {64, 64, 128}, {3, 2000, 3}, {130, 300, 67}, {2, 513, 2}};
  for (const auto& [m, k, n] : sizes) {
    const operands o(m, k, n);
    BOOST_TEST_CONTEXT(m << " x " << k << " x " << n) {
      array sum = tutti::matmul(o.x, o.y) + o.z;
      BOOST_TEST(all_in_one(launches([&] { sum.eval(); })));
      BOOST_TEST(matches(sum, layer(o.a, o.b, o.c, false), near));
      array both = tutti::relu(o.z + tutti::matmul(o.x, o.y));
      BOOST_TEST(all_in_one(launches([&] { both.eval(); })));
      BOOST_TEST(matches(both, layer(o.a, o.b, o.c, true), near));
      array only = tutti::relu(tutti::matmul(o.x, o.y));
      BOOST_TEST(all_in_one(launches([&] { only.eval(); })));
      const dense zero{o.c.extents, std::vector<double>(o.c.values.size(), 0)};
      BOOST_TEST(matches(only, layer(o.a, o.b, zero, true), near));
    }
  }
}

BOOST_AUTO_TEST_CASE(operands_and_results_may_be_views) {
  const operands o(17, 33, 9);
  const dense expected = layer(o.a, o.b, o.c, true);
  for (const auto& [la, x] : layouts(o.a)) {
    for (const auto& [lc, z] : layouts(o.c)) {
      BOOST_TEST_CONTEXT(la << " + " << lc) {
        BOOST_TEST(matches(tutti::relu(tutti::matmul(x, o.y) + z), expected, near));
      }
    }
  }
  const array row = o.z.reshape({1, 9});
  BOOST_TEST(matches(tutti::relu(tutti::matmul(o.x, o.y) + row), expected, near));
  array turned = tutti::relu(tutti::matmul(o.x, o.y) + o.z).transpose();
  BOOST_TEST(all_in_one(launches([&] { turned.eval(); })));
  BOOST_TEST(matches(turned.transpose(), expected, near));
  // The bias is the same for the wrong axis only where the product is square.
  const operands square(9, 33, 9);
  const array column = square.z.reshape({9, 1});
  const dense by_rows = tabulate({9, 9}, [&](const position& i) {
    const dense none{square.c.extents, std::vector<double>(9, 0)};
    return layer(square.a, square.b, none, false).at(i) +
           square.c.values[static_cast<std::size_t>(i[0])];
  });
  BOOST_TEST(matches(tutti::matmul(square.x, square.y) + column, by_rows, near));
}

BOOST_AUTO_TEST_CASE(batches_share_the_bias) {
  const dense a = random_dense({3, 5, 8}, -1, 1, 54), b = random_dense({3, 8, 7}, -1, 1, 55);
  const dense w = random_dense({8, 7}, -1, 1, 56), c = random_dense({7}, -1, 1, 57);
  const auto expected = [&](bool shared) {
    return tabulate({3, 5, 7}, [&](const position& i) {
      double sum = c.at({i[2]});
      for (std::int64_t k = 0; k < 8; ++k)
        sum += a.at({i[0], i[1], k}) * (shared ? w.at({k, i[2]}) : b.at({i[0], k, i[2]}));
      return std::max(sum, 0.0);
    });
  };
  const array x = upload_as<float>(a), y = upload_as<float>(b), z = upload_as<float>(c);
  array each = tutti::relu(tutti::matmul(x, y) + z);
  BOOST_TEST(all_in_one(launches([&] { each.eval(); })));
  BOOST_TEST(matches(each, expected(false), near));
  array one = tutti::relu(tutti::matmul(x, upload_as<float>(w)) + z);
  BOOST_TEST(all_in_one(launches([&] { one.eval(); })));
  BOOST_TEST(matches(one, expected(true), near));
  const array doubles =
      tutti::relu(tutti::matmul(upload_as<double>(a), upload_as<double>(b)) + upload_as<double>(c));
  BOOST_TEST(matches(doubles, expected(false), {.relative = 1e-13, .absolute = 1e-13}));
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_pass_through_relu) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const array a = array::from(std::vector<float>{inf, 1, nan, 1, -inf, 1, -1, 1}, {4, 2});
  const array b = array::from(std::vector<float>{1, 2, 3, 4}, {2, 2});
  const array c = array::from(std::vector<float>{1, -9});
  BOOST_TEST(
      matches(tutti::relu(tutti::matmul(a, b) + c), {{4, 2}, {inf, inf, nan, nan, 0, 0, 3, 0}}));
  const array nans = array::from(std::vector<float>{nan, -inf});
  BOOST_TEST(matches(tutti::relu(tutti::matmul(b, b) + nans), {{2, 2}, {nan, 0, nan, 0}}));
}

BOOST_AUTO_TEST_CASE(what_somebody_else_reads_is_stored) {
  const operands o(17, 33, 9);
  const dense sum = layer(o.a, o.b, o.c, false), relu = layer(o.a, o.b, o.c, true);
  {  // A handle on the product.
    const array product = tutti::matmul(o.x, o.y);
    array y = product + o.z;
    BOOST_TEST(launches([&] { y.eval(); }) == 2u);
    BOOST_TEST(launches([&] { product.eval(); }) == 0u);
    BOOST_TEST(matches(y - product,
                       tabulate({17, 9}, [&](const position& i) { return o.c.at({i[1]}); }), near));
  }
  {  // A handle on the sum.
    const array kept = tutti::matmul(o.x, o.y) + o.z;
    array y = tutti::relu(kept);
    BOOST_TEST(launches([&] { y.eval(); }) <= 2u);
    BOOST_TEST(matches(y, relu, near));
    BOOST_TEST(matches(kept, sum, near));
  }
  {  // Two readers, one of them a view.
    array p = tutti::matmul(o.x, o.y);
    array y = p + o.z, z = p.transpose() * 2;
    p = array(0);
    tutti::eval(std::vector<array>{y, z});
    BOOST_TEST(matches(y, sum, near));
    BOOST_TEST(matches(z,
                       tabulate({9, 17},
                                [&](const position& i) {
                                  return 2 * (sum.at({i[1], i[0]}) - o.c.at({i[0]}));
                                }),
                       near));
  }
  {  // The same product written twice is computed once.
    array y = tutti::matmul(o.x, o.y) + o.z, z = tutti::matmul(o.x, o.y) * 3;
    tutti::eval(std::vector<array>{y, z});
    BOOST_TEST(matches(y, sum, near));
    array one = tutti::matmul(o.x, o.y) + o.z, two = tutti::matmul(o.x, o.y) + o.z;
    tutti::eval(std::vector<array>{one, two});
    BOOST_TEST(matches(one, sum, near));
    BOOST_TEST(matches(two, sum, near));
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_bias_is_added_all_the_same) {
  const operands o(9, 33, 9);
  const dense none{o.c.extents, std::vector<double>(9, 0)};
  const dense plain = layer(o.a, o.b, none, false);
  const auto plus = [&](double value) {
    return tabulate({9, 9}, [&](const position& i) { return plain.at(i) + value; });
  };
  BOOST_TEST(matches(tutti::matmul(o.x, o.y) + 2, plus(2), near));
  const array two = tutti::full({9}, 2, dtype::f32, tutti::default_device());
  BOOST_TEST(matches(tutti::matmul(o.x, o.y) + two, plus(2), near));
  BOOST_TEST(matches(tutti::matmul(o.x, o.y) + array::from(std::vector<float>{2}), plus(2), near));
  BOOST_TEST(matches(tutti::matmul(o.x, o.y) + tutti::matmul(o.x, o.y),
                     tabulate({9, 9}, [&](const position& i) { return 2 * plain.at(i); }), near));
  BOOST_TEST(matches(tutti::maximum(tutti::matmul(o.x, o.y), 1),
                     tabulate({9, 9}, [&](const position& i) { return std::max(1., plain.at(i)); }),
                     near));
  // A bias that makes the result larger than the product.
  const array deep = upload_as<float>(random_dense({2, 1, 9}, -1, 1, 58));
  BOOST_TEST((tutti::matmul(o.x, o.y) + deep).shape() == (shape{2, 9, 9}));
  const array x = upload_as<std::int32_t>({{2, 2}, {1, 2, 3, 4}});
  const array c = upload_as<std::int32_t>({{2}, {-8, 5}});
  BOOST_TEST(matches(tutti::relu(tutti::matmul(x, x) + c), {{2, 2}, {0, 15, 7, 27}}));
}

BOOST_AUTO_TEST_CASE(layers_of_a_network_are_single_launches) {
  const tutti::nn::sequential network = tutti::nn::perceptron(
      {20, 33, 17, 10}, tutti::random::key{3}, [](const array& a) { return tutti::relu(a); });
  std::vector<array> parameters = network.parameters();
  // Biases begin as zeros, which take no memory.
  for (std::size_t i = 1; i < parameters.size(); i += 2)
    parameters[i] = upload_as<float>(random_dense(parameters[i].shape(), -1, 1, i));
  tutti::eval(parameters);
  const array x = upload_as<float>(random_dense({12, 20}, -1, 1, 59));
  array y = network.apply(parameters, x);
  BOOST_TEST(all_in_one(launches([&] { y.eval(); }), 3, 6));
}

// Gradients against differences of the value in double.
BOOST_AUTO_TEST_CASE(gradients_go_through) {
  const operands o(6, 5, 4);
  const auto loss = [&](const std::vector<array>& p) {
    return tutti::sum(tutti::square(tutti::relu(tutti::matmul(o.x, p[0]) + p[1])));
  };
  auto [value, gradients] = tutti::value_and_grad(loss)({o.y, o.z});
  tutti::eval(std::vector<array>{value});  // the gradients ask later for what was not stored
  const auto total = [&](const dense& b, const dense& c) {
    double sum = 0;
    for (double v : layer(o.a, b, c, true).values) sum += v * v;
    return sum;
  };
  BOOST_TEST(std::abs(value.item() - total(o.b, o.c)) < 1e-4);
  const double step = 1e-6;
  const dense by_bias = tabulate({4}, [&](const position& i) {
    dense up = o.c, down = o.c;
    up.values[static_cast<std::size_t>(i[0])] += step;
    down.values[static_cast<std::size_t>(i[0])] -= step;
    return (total(o.b, up) - total(o.b, down)) / (2 * step);
  });
  const dense by_weight = tabulate({5, 4}, [&](const position& i) {
    dense up = o.b, down = o.b;
    up.values[static_cast<std::size_t>(i[0] * 4 + i[1])] += step;
    down.values[static_cast<std::size_t>(i[0] * 4 + i[1])] -= step;
    return (total(up, o.c) - total(down, o.c)) / (2 * step);
  });
  const tolerance close{.relative = 1e-4, .absolute = 1e-4};
  BOOST_TEST(matches(gradients[0], by_weight, close));
  BOOST_TEST(matches(gradients[1], by_bias, close));
}

}  // namespace epilogue_test
