// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers beside PyTorch's values (vectors_test.cpp): states that are carried, the last
// step, views, halves, bad input.
#include "networks.hpp"

namespace {

using maker = nn::layer (*)(const nn::recurrent_options&);

nn::layer lstm(const nn::recurrent_options& o) { return nn::lstm(3, 4, {1}, o, dtype::f64); }
nn::layer gru(const nn::recurrent_options& o) { return nn::gru(3, 4, {1}, o, dtype::f64); }

const tolerance tight{.relative = 1e-12, .absolute = 1e-13};

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
    FAILS(shape_error, piecewise.apply(p, state, x({{0, 1}})),
          "the state is [2,4], the input needs [1,4]");
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
  BOOST_TEST(l.names() == names, same);
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
    FAILS(shape_error, l.apply(p, tutti::zeros({2, 0, 3})),
          "[N,T,3] with T at least 1, got [2,0,3]");
    FAILS(shape_error, l.apply(p, tutti::zeros({2, 3})), "got [2,3]");
    FAILS(value_error, make({.reverse = true, .carry = true}), "carry goes on forwards");
  }
  FAILS(value_error, nn::gru(0, 4, {1}), "gru: in must be positive");
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
  check_gradient([&](const list& v) { return weighted_sum(run(v).value); }, {x, input, hidden, h});
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
  FAILS(shape_error, nn::gru(v[0], w), "gru: hidden is [2,8], needs [2,6]");
  FAILS(shape_error, nn::lstm(v[0], w, {.lengths = array::from({1, 1, 1})}),
        "lengths is [3], needs [2]");
  FAILS(shape_error, nn::lstm(v[0], w, {.state = {tutti::ones({2, 3})}}),
        "the state is [2,3], the input needs [2,2]");
  FAILS(value_error, nn::lstm(v[0], w, {.clip = 0}), "clip = 0");
  const nn::layer plain = nn::rnn(2, 4, {1}, {.last = true});
  BOOST_TEST((plain.apply(plain.parameters(), tutti::ones({3, 5, 2})).shape() == shape{3, 4}));
}

// Functions with arrays of their own keep the gradient of the operations; it is that of the
// backward pass over all steps at once.
BOOST_AUTO_TEST_CASE(gradients_of_all_steps_at_once) {
  using network =
      nn::recurrence (*)(const array&, const nn::recurrent_weights&, const nn::recurrence_options&);
  const nn::activation gate = [](const array& a) { return tutti::sigmoid(a); };
  const nn::activation other = [](const array& a) { return tanh(a); };
  const array lengths = array::from({4, 1, 0});
  std::vector<nn::recurrence_options> ways(5);
  ways[1].reverse = true;
  ways[2].lengths = lengths;
  ways[2].clip = 0.3;
  ways[3].reverse = ways[3].coupled = true;
  ways[3].lengths = lengths;
  ways[4].last = true;
  struct kind {
    network function;
    std::int64_t gates;
    std::size_t states;
  };
  for (const kind& k : {kind{nn::rnn, 1, 1}, {nn::lstm, 4, 2}, {nn::gru, 3, 1}}) {
    const std::int64_t width = k.gates * 2;
    list v;  // x, the weights, both biases, the states
    for (const shape& s :
         std::vector<shape>{{3, 4, 3}, {3, width}, {2, width}, {width}, {width}, {3, 2}, {3, 2}})
      v.push_back(upload_as<double>(random_dense(s, -1, 1, static_cast<unsigned>(v.size() + 1))));
    v.resize(5 + k.states);
    for (nn::recurrence_options o : ways) {
      const auto loss = [&](const list& of) {
        o.state.assign(of.begin() + 5, of.end());
        const nn::recurrence done = k.function(
            of[0], {.input = of[1], .hidden = of[2], .bias = of[3], .hidden_bias = of[4]}, o);
        array total = weighted_sum(done.value);
        for (const array& state : done.state) total = total + sum(square(state));
        return total;
      };
      // The second derivative as well.
      const auto length = [&](const list& of) {
        array total = tutti::zeros({}, dtype::f64);
        for (const array& g : tutti::grad(loss)(of)) total = total + sum(square(g));
        return total;
      };
      const auto [value, at_once] = tutti::value_and_grad(loss)(v);
      const list second = tutti::grad(length)(v);
      o.gate = gate;
      o.between = o.result = other;
      const auto [expected, by_operations] = tutti::value_and_grad(loss)(v);
      BOOST_TEST(matches(value, read(expected), tight));
      const list of_operations = tutti::grad(length)(v);
      for (std::size_t i = 0; i < v.size(); ++i) {
        BOOST_TEST(matches(at_once[i], read(by_operations[i]), tight));
        BOOST_TEST(matches(second[i], read(of_operations[i]), tight));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_recurrent_layers_in_half_precision) {
  for (const dtype type : {dtype::f16, dtype::bf16}) {
    const nn::layer layer = nn::gru(3, 4, {1}, {}, type);
    const auto loss = [&](const list& p) {
      return sum(layer.apply(p, tutti::ones({2, 5, 3}, type)).astype(dtype::f32));
    };
    const list found = tutti::grad(loss)(layer.parameters());
    const nn::layer exact = nn::gru(3, 4, {1}, {}, dtype::f64);
    list rounded;
    for (const array& p : layer.parameters()) rounded.push_back(p.astype(dtype::f64));
    const auto expected = tutti::grad([&](const list& p) {
      return sum(exact.apply(p, tutti::ones({2, 5, 3}, dtype::f64)));
    })(rounded);
    const double rounding = type == dtype::f16 ? 0x1p-11 : 0x1p-8;
    for (std::size_t i = 0; i < found.size(); ++i) {
      BOOST_TEST((found[i].dtype() == type));
      BOOST_TEST(matches(found[i].astype(dtype::f64), read(expected[i]),
                         {.relative = 20 * rounding, .absolute = 20 * rounding}));
    }
  }
}
