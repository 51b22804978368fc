// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers beside PyTorch's values (vectors_test.cpp): states that are carried, the last
// step, views, halves, bad input.
#include <boost/test/unit_test.hpp>

#include "tutti/grad.hpp"
#include "tutti/nn.hpp"
#include "tutti_test/dense.hpp"
#include "tutti_test/files.hpp"

using tutti::array;
using tutti::dtype;
using tutti::shape;
using tutti_test::fails;
using tutti_test::matches;
using tutti_test::random_dense;
using tutti_test::read;
using tutti_test::upload_as;
namespace nn = tutti::nn;

namespace {

using list = std::vector<array>;
using maker = nn::layer (*)(const nn::recurrent_options&);

nn::layer lstm(const nn::recurrent_options& o) { return nn::lstm(3, 4, {1}, o, dtype::f64); }
nn::layer gru(const nn::recurrent_options& o) { return nn::gru(3, 4, {1}, o, dtype::f64); }

const tutti_test::tolerance tight{.relative = 1e-12, .absolute = 1e-13};

}  // namespace

BOOST_AUTO_TEST_CASE(a_stream_in_pieces_is_the_whole) {
  const array x = upload_as<double>(random_dense({2, 7, 3}, -1, 1));
  for (const maker make : {&lstm, &gru}) {
    const nn::layer whole = make({}), piecewise = make({.carry = true});
    const list& p = whole.parameters();
    const array expected = whole.apply(p, x);
    list state = piecewise.state(), results;
    for (const auto& [from, to] : {std::pair{0, 3}, {3, 4}, {4, 7}}) {
      const nn::applied done = piecewise.apply(p, state, x({{}, {from, to}}));
      results.push_back(done.value);
      state = done.state;
    }
    BOOST_TEST(matches(tutti::concatenate(results, 1), read(expected), tight));
    BOOST_TEST(matches(state[0], read(expected(tutti::all(), 6)), tight));
    BOOST_TEST(matches(make({.last = true}).apply(p, x), read(expected(tutti::all(), 6)), tight));
    BOOST_TEST(fails<tutti::shape_error>(
        [&] {
          piecewise.apply(p, state, x({{0, 1}}));
        },
        "the state is [2,4], the input needs [1,4]"));
  }
}

BOOST_AUTO_TEST_CASE(backwards_is_forwards_of_the_reverse) {
  const array x = upload_as<double>(random_dense({2, 5, 3}, -1, 1));
  const array reversed = x({{}, {{}, {}, -1}});
  for (const maker make : {&lstm, &gru}) {
    const list p = make({}).parameters();
    const array forwards = make({}).apply(p, reversed);
    BOOST_TEST(
        matches(make({.reverse = true}).apply(p, x), read(forwards({{}, {{}, {}, -1}})), tight));
    BOOST_TEST(matches(make({.reverse = true, .last = true}).apply(p, x),
                       read(forwards(tutti::all(), 4)), tight));
  }
}

BOOST_AUTO_TEST_CASE(weights_of_recurrent_layers) {
  const nn::layer l = lstm({});
  const std::vector<std::string> names{"input.weight", "hidden.weight", "bias"};
  BOOST_TEST(l.names() == names, boost::test_tools::per_element());
  const auto bias = l.parameters()[2].to_vector<double>();
  for (std::size_t i = 0; i < 16; ++i) BOOST_TEST(bias[i] == (i / 4 == 1 ? 1 : 0));
  // Each gate's part of the hidden weights is orthogonal.
  const array gate = l.parameters()[1]({{}, {4, 8}});
  BOOST_TEST(matches(tutti::matmul(gate.T(), gate), read(tutti::eye(4, dtype::f64)), tight));
  BOOST_TEST(tutti::any(gate != l.parameters()[1]({{}, {0, 4}})).item<bool>());
}

BOOST_AUTO_TEST_CASE(recurrent_layers_at_the_ends) {
  for (const maker make : {&lstm, &gru}) {
    const nn::layer l = make({});
    const list& p = l.parameters();
    BOOST_TEST((l.apply(p, tutti::zeros({0, 2, 3}, dtype::f64)).shape() == shape{0, 2, 4}));
    BOOST_TEST((l.apply(p, tutti::zeros({2, 1, 3}, dtype::f64)).shape() == shape{2, 1, 4}));
    BOOST_TEST(fails<tutti::shape_error>(
        [&] {
          l.apply(p, tutti::zeros({2, 0, 3}));
        },
        "[N,T,3] with T at least 1, got [2,0,3]"));
    BOOST_TEST(fails<tutti::shape_error>([&] { l.apply(p, tutti::zeros({2, 3})); }, "got [2,3]"));
    BOOST_TEST(fails<tutti::value_error>([&] { make({.reverse = true, .carry = true}); },
                                         "carry goes on forwards"));
  }
  BOOST_TEST(fails<tutti::value_error>([] { nn::gru(0, 4, {1}); }, "gru: in must be positive"));
  const nn::layer half = nn::gru(3, 4, {1}, {}, dtype::f16);
  BOOST_TEST(
      (half.apply(half.parameters(), tutti::zeros({1, 2, 3}, dtype::f16)).dtype() == dtype::f16));
}
