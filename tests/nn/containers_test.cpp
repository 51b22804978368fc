// SPDX-License-Identifier: Apache-2.0
//
// Layers made of layers: names, parameters, state and keys reach the right one; checkpoints; the
// summary.
#include "networks.hpp"
#include "tutti/data/io.hpp"

namespace {

using names = std::vector<std::string>;

/// Counts how often it was applied, in its state, and gives x times its parameter.
nn::layer counting(double factor) {
  return nn::layer(
      nn::layer_parts{.kind = "counting",
                      .names = {"factor"},
                      .parameters = {tutti::full({}, factor, dtype::f64)},
                      .state_names = {"count"},
                      .state = {tutti::zeros({}, dtype::f64)},
                      .apply = [](std::span<const array> p, std::span<const array> state,
                                  const array& x, const nn::pass& how) -> nn::applied {
                        return {x * p[0], {state[0] + (how.training ? 1.0 : 0.0)}};
                      }});
}

/// Adds a number that its key decides.
nn::layer noisy() {
  return nn::layer(
      nn::layer_parts{.kind = "noisy",
                      .apply = [](std::span<const array>, std::span<const array>, const array& x,
                                  const nn::pass& how) -> nn::applied {
                        return {x + tutti::random::uniform(*how.key, {}, 0, 1, dtype::f64), {}};
                      }});
}

double once(const nn::layer& l, const nn::pass& how = {}) {
  return l.apply(l.parameters(), l.state(), tutti::ones({}, dtype::f64), how).value.item();
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_a_temporary_gave_outlives_it) {
  const list& parameters = counting(2).parameters();
  const list& state = counting(2).state();
  const names& of_both = nn::sequential({counting(2), counting(3)}).names();
  BOOST_TEST(parameters[0].item() == 2);
  BOOST_TEST(state.size() == 1u);
  BOOST_TEST(of_both[1] == "1.factor");
}

BOOST_AUTO_TEST_CASE(names_are_a_tree) {
  const nn::layer inner = nn::sequential({{"first", counting(2)}, {"second", counting(3)}});
  const nn::layer net =
      nn::sequential({nn::residual(inner, counting(5)),
                      nn::parallel({counting(7), counting(11)}, {nn::merge::sum})});
  const names expected{"0.body.first.factor", "0.body.second.factor", "0.shortcut.factor",
                       "1.0.factor", "1.1.factor"};
  BOOST_TEST(net.names() == expected, same);
  BOOST_TEST(net.state_names().size() == 5u);
  BOOST_TEST(net.state_names()[2] == "0.shortcut.count");
  BOOST_TEST(once(net) == (2 * 3 + 5) * (7 + 11));
  BOOST_TEST(once(nn::parallel({counting(2), counting(5)}, {nn::merge::product})) == 10);
  BOOST_TEST(once(nn::residual(counting(4))) == 5);

  const nn::applied trained =
      net.apply(net.parameters(), net.state(), tutti::ones({2}, dtype::f64), nn::training({1}));
  for (const array& s : trained.state) BOOST_TEST(s.item() == 1);
  const auto saved = net.named_state(trained.state);
  BOOST_TEST(saved.at("1.1.count").item() == 1);
  BOOST_TEST(net.ordered_state(saved).size() == 5u);
  // One file may have both.
  auto all = saved;
  all.merge(net.named(net.parameters()));
  BOOST_TEST(net.ordered_state(all).size() == 5u);
  BOOST_TEST(net.ordered(all).size() == net.parameters().size());
}

BOOST_AUTO_TEST_CASE(branches_are_joined_along_an_axis) {
  const nn::layer twice = nn::activate([](const array& x) { return x * 2; });
  const nn::layer identity = nn::activate([](const array& x) { return x; });
  const array x = tutti::arange(6).reshape({2, 3}).astype(dtype::f64);
  const array y = nn::parallel({identity, twice}).apply({}, x);
  BOOST_TEST((y.shape() == shape{2, 6}));
  BOOST_TEST(tutti::all(y == tutti::concatenate({x, x * 2}, 1)).item<bool>());
  BOOST_TEST((nn::parallel({identity, twice}, {.axis = 0}).apply({}, x).shape() == shape{4, 3}));
  const nn::layer rows = nn::activate([](const array& v) { return v({{0, 1}}); });
  FAILS(shape_error, nn::parallel({identity, rows}).apply({}, x), "");
  FAILS(shape_error, nn::parallel({identity, rows}, {nn::merge::sum}).apply({}, x),
        "branches 0 and 1 give [2,3] and [1,3]");
  FAILS(shape_error, nn::residual(rows).apply({}, x), "the body gives [1,3], the shortcut [2,3]");
  FAILS(value_error, nn::parallel({}), "parallel: no layers");
}

BOOST_AUTO_TEST_CASE(each_layer_has_a_key_of_its_own) {
  const nn::layer one = nn::parallel({noisy(), noisy()});
  const auto drawn = [&](std::uint64_t key) {
    return one.apply({}, tutti::zeros({1}, dtype::f64), nn::training({key})).to_vector<double>();
  };
  BOOST_TEST(drawn(1)[0] != drawn(1)[1]);
  BOOST_TEST(drawn(1) == drawn(1), same);
  BOOST_TEST(drawn(1)[0] != drawn(2)[0]);
}

BOOST_AUTO_TEST_CASE(wrong_parts_are_refused) {
  FAILS(value_error, nn::sequential({{"a.b", counting(1)}}), "'a.b'");
  FAILS(value_error, nn::sequential({{"a", counting(1)}, {"a", counting(1)}}),
        "'a' is empty, has a dot or occurs twice");
  FAILS(value_error, nn::residual(nn::layer()), "layer body");
  BOOST_TEST(fails<tutti::value_error>(
      [] {
        nn::layer({"a", "a"}, {tutti::ones({1}), tutti::ones({1})},
                  [](auto, const array& x) { return x; });
      },
      "the name a occurs twice"));
  FAILS(value_error, nn::layer({"a"}, {}, {}), "1 names for 0");
  const nn::layer l = counting(2);
  const array x = tutti::ones({});
  FAILS(value_error, l.apply(l.parameters(), x), "counting::apply: the layer has state (count)");
  FAILS(value_error, l.apply(l.parameters(), {}, x), "needs 1 states, got 0");
  const list wide{tutti::zeros({3})};
  FAILS(shape_error, l.apply(l.parameters(), wide, x), "count has shape [3], needs []");
  FAILS(value_error, nn::layer().apply({}, tutti::ones({})), "no function apply");
}

BOOST_AUTO_TEST_CASE(a_checkpoint_has_the_same_gradients) {
  const nn::layer body =
      nn::sequential({nn::linear(3, 4, {1}, {}, dtype::f64), nn::dropout(0.3),
                      nn::batch_norm(4, {}, dtype::f64), nn::activate(nn::gelu)});
  const nn::layer kept = nn::checkpoint(body);
  BOOST_TEST(kept.names() == body.names(), same);
  const array x = upload_as<double>(random_dense({5, 3}, -1, 1));
  const auto run = [&](const nn::layer& l) {
    return nn::loss_and_gradients(l, l.parameters(), l.state(), x, nn::training({3}),
                                  [](const array& y) { return tutti::sum(tutti::square(y)); });
  };
  const nn::training_result a = run(body), b = run(kept);
  BOOST_TEST(a.loss.item() == b.loss.item());
  for (std::size_t i = 0; i < a.gradients.size(); ++i)
    BOOST_TEST(
        matches(b.gradients[i], read(a.gradients[i]), {.relative = 1e-12, .absolute = 1e-14}));
  for (std::size_t i = 0; i < a.state.size(); ++i)
    BOOST_TEST(matches(b.state[i], read(a.state[i]), {}));

  // Integers have no gradient, and the second derivative goes through the recomputation.
  const nn::layer words = nn::checkpoint(nn::embedding(6, 3, {1}, {}, dtype::f64));
  const array index = array::from({1, 4, 1});
  check_gradient([&](const list& p) { return weighted_sum(words.apply(p, index)); },
                 {read(words.parameters()[0])});
  const nn::layer cube = nn::checkpoint(nn::activate([](const array& v) { return v * v * v; }));
  const auto slope = tutti::grad([&](const array& v) { return tutti::sum(cube.apply({}, v)); });
  const auto second = tutti::grad([&](const array& v) { return tutti::sum(slope(v)); });
  BOOST_TEST(std::abs(second(tutti::full({1}, 2.0, dtype::f64)).item() - 12) < 1e-12);
}

BOOST_AUTO_TEST_CASE(a_checkpoint_of_nan_and_of_nothing) {
  const nn::layer body = nn::sequential({nn::linear(2, 3, {1}), nn::activate(nn::gelu)});
  const auto gradients = [&](const nn::layer& l, const array& x) {
    list all = l.parameters();
    all.push_back(x);
    return tutti::grad([&](const list& p) {
      return tutti::sum(tutti::square(l.apply(std::span<const array>(p).first(2), p[2])));
    })(all);
  };
  for (const array& x :
       {array::from<float>({{1, NAN}, {2, 3}, {INFINITY, 1}}), tutti::zeros({0, 2})}) {
    const list a = gradients(body, x), b = gradients(nn::checkpoint(body), x);
    for (std::size_t i = 0; i < a.size(); ++i)
      BOOST_TEST(matches(b[i], read(a[i]), {.relative = 1e-6}));
  }
}

// Six blocks between whose ends lie two arrays of 128 KiB each, and as many gradients.
BOOST_AUTO_TEST_CASE(a_checkpoint_needs_less_memory) {
  const auto peak = [](bool keeps) {
    std::vector<nn::layer> blocks;
    for (std::uint64_t i = 0; i < 6; ++i) {
      const nn::layer block =
          nn::residual(nn::sequential({nn::linear(16, 128, {i}), nn::activate(nn::gelu),
                                       nn::batch_norm(128), nn::linear(128, 16, {i + 6})}));
      blocks.push_back(keeps ? block : nn::checkpoint(block));
    }
    const nn::sequential net(blocks);
    const array x = tutti::random::normal({3}, {256, 16});
    const list p = net.parameters(), state = net.state();
    tutti::eval(p, state, x);
    const auto before = tutti::stats().pool_bytes_in_use;
    tutti::reset_stats();
    const nn::training_result r =
        nn::loss_and_gradients(net, p, state, x, nn::training({1}),
                               [](const array& y) { return tutti::mean(tutti::square(y)); });
    tutti::eval(r.gradients, r.state, r.loss);
    return tutti::stats().pool_bytes_peak - before;
  };
  const auto with = peak(false), without = peak(true);
  BOOST_TEST_CONTEXT(with << " bytes and " << without) BOOST_TEST(3 * with < without);
}

BOOST_AUTO_TEST_CASE(a_summary_names_layers_and_shapes) {
  const nn::layer net = nn::sequential(
      {{"features",
        nn::sequential({nn::conv2d(1, 4, 3, {1}), nn::activate(tutti::relu), nn::max_pool(2)})},
       {"flatten", nn::flatten()},
       {"head", nn::linear(4 * 3 * 3, 10, {2})}});
  const std::string text = nn::summary(net, {2, 1, 8, 8});
  BOOST_TEST_INFO(text);
  BOOST_TEST(text.find("features: sequential") != std::string::npos);
  BOOST_TEST(text.find("    0: conv2d") != std::string::npos);
  BOOST_TEST(text.find("f32 [2,4,6,6]") != std::string::npos);
  BOOST_TEST(text.find("  flatten ") != std::string::npos);
  BOOST_TEST(text.find("  head: linear") != std::string::npos);
  BOOST_TEST(text.find("410 parameters, 1640 bytes; state of 0 bytes\n") != std::string::npos);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  BOOST_TEST(lines == 9);  // two beside one for each of seven layers
}

BOOST_AUTO_TEST_CASE(dropout_drops_and_scales) {
  const nn::layer l = nn::dropout(0.25);
  const array x = tutti::ones({64, 64});
  BOOST_TEST(tutti::all(l.apply({}, x) == x).item<bool>());
  const array y = l.apply({}, x, nn::training({5}));
  BOOST_TEST(tutti::all((y == 0) | (y == 1 / 0.75f)).item<bool>());
  BOOST_TEST(std::abs(tutti::mean(y).item() - 1) < 0.03);  // five deviations
  BOOST_TEST(tutti::all(l.apply({}, x, nn::training({5})) == y).item<bool>());
  BOOST_TEST(tutti::any(l.apply({}, x, nn::training({6})) != y).item<bool>());
  const array slopes =
      tutti::grad([&](const array& v) { return tutti::sum(l.apply({}, v, nn::training({5}))); })(x);
  BOOST_TEST(tutti::all(slopes == y).item<bool>());
  // Whole channels.
  const array images =
      nn::dropout(0.5, {.shared = {2, 3}}).apply({}, tutti::ones({8, 8, 3, 3}), nn::training({1}));
  BOOST_TEST(tutti::all(tutti::max(images, {2, 3}) == tutti::min(images, {2, 3})).item<bool>());
  BOOST_TEST(tutti::any(images == 0).item<bool>());
  // What is dropped is 0, whatever it was.
  const array endless = tutti::full({100}, INFINITY, dtype::f32);
  BOOST_TEST(!tutti::any(tutti::isnan(l.apply({}, endless, nn::training({1})))).item<bool>());
  BOOST_TEST((l.apply({}, tutti::zeros({0, 3}), nn::training({1})).shape() == shape{0, 3}));
  FAILS(value_error, nn::dropout(1), "rate = 1");
  FAILS(value_error, l.apply({}, x, {.training = true}), "needs a key");
}

BOOST_AUTO_TEST_CASE(embeddings_are_rows) {
  const nn::layer l = nn::embedding(5, 3, {1}, {.padding = 2}, dtype::f64);
  const array w = l.parameters()[0], index = array::from<std::int32_t>({{4, 2}, {0, 4}});
  const array y = l.apply(l.parameters(), index);
  BOOST_TEST((y.shape() == shape{2, 2, 3}));
  BOOST_TEST(tutti::all(y(0, 0) == w[4]).item<bool>());
  BOOST_TEST(tutti::all(y(0, 1) == 0.0).item<bool>());
  const array slopes =
      tutti::grad([&](const list& p) { return tutti::sum(l.apply(p, index)); })(l.parameters())[0];
  const std::vector<double> expected{1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2};
  BOOST_TEST(slopes.to_vector<double>() == expected, same);
  FAILS(index_error, l.apply(l.parameters(), array::from<std::int32_t>({5})), "embedding");
  FAILS(value_error, nn::embedding(5, 3, {1}, {.padding = 5}), "padding 5 is not below 5");
}
