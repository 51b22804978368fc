// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers beside PyTorch's values (vectors_test.cpp): states that are carried, the last
// step, views, halves, bad input.
#include <boost/test/unit_test.hpp>

#include "differences.hpp"
#include "tutti/grad.hpp"
#include "tutti/nn.hpp"
#include "tutti_test/dense.hpp"
#include "tutti_test/files.hpp"

using tutti::array;
using tutti::dtype;
using tutti::shape;
using tutti_test::dense;
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

BOOST_AUTO_TEST_CASE(recurrence_of_given_weights) {
  const dense x = random_dense({2, 3, 2}, -1, 1, 1), h = random_dense({2, 2}, -1, 1, 2);
  const dense input = random_dense({2, 8}, -1, 1, 3), hidden = random_dense({2, 8}, -1, 1, 4);
  const array lengths = array::from({2, 3});
  // With rows of different lengths, all that is floating has a gradient.
  const auto run = [&](const list& v) {
    return nn::lstm(v[0], {.input = v[1], .hidden = v[2]},
                    {.reverse = true, .state = {v[3]}, .lengths = lengths});
  };
  tutti_test::check_gradient([&](const list& v) { return tutti_test::weighted_sum(run(v).value); },
                             {x, input, hidden, h});
  const list v{upload_as<double>(x), upload_as<double>(input), upload_as<double>(hidden),
               upload_as<double>(h)};
  const nn::recurrence done = run(v);
  // What stands behind a row's end is 0, and nothing of x there is seen.
  BOOST_TEST(matches(done.value(0, 2), dense{{2}, {0, 0}}));
  array other = v[0];
  other.set({0, 2}, NAN);
  BOOST_TEST(matches(run({other, v[1], v[2], v[3]}).value, read(done.value)));
  BOOST_TEST(matches(done.state[0], read(done.value(tutti::all(), 0)), tight));
  const nn::recurrent_weights w{.input = v[1], .hidden = v[2]};
  BOOST_TEST(
      fails<tutti::shape_error>([&] { nn::gru(v[0], w); }, "gru: hidden is [2,8], needs [2,6]"));
  BOOST_TEST(fails<tutti::shape_error>(
      [&] {
        nn::lstm(v[0], w, {.lengths = array::from({1, 1, 1})});
      },
      "lengths is [3], needs [2]"));
  BOOST_TEST(fails<tutti::shape_error>(
      [&] {
        nn::lstm(v[0], w, {.state = {tutti::ones({2, 3})}});
      },
      "the state is [2,3], the input needs [2,2]"));
  BOOST_TEST(fails<tutti::value_error>([&] { nn::lstm(v[0], w, {.clip = 0}); }, "clip = 0"));
  const nn::layer plain = nn::rnn(2, 4, {1}, {.last = true});
  BOOST_TEST((plain.apply(plain.parameters(), tutti::ones({3, 5, 2})).shape() == shape{3, 4}));
}
