// SPDX-License-Identifier: Apache-2.0
//
// Which members are left out, decided by given times; what a trainer does with that.
#include "nn/slow_members.hpp"

#include "members.hpp"
#include "tutti/nn.hpp"

namespace slow_members_test {

namespace nn = tutti::nn;
using nn::kinds;

namespace {

/// Whether there is a device of another backend than the first one's.
bool is_mixed(const device_group& group) {
  for (const tutti::device& d : group)
    if (d.backend() != group[0].backend()) return true;
  return false;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_kind_stays_where_steps_are_faster_with_it) {
  const auto kept = [](const kinds& all, const std::map<kinds, double>& seconds) {
    return nn::fastest_kinds(all, [&](const kinds& some) { return seconds.at(some); });
  };
  BOOST_TEST((kept({0}, {}) == kinds{0}));
  BOOST_TEST((kept({0, 1}, {{{0, 1}, 8.4}, {{0}, 1.3}}) == kinds{0}));
  BOOST_TEST((kept({0, 1}, {{{0, 1}, 1.2}, {{0}, 1.3}}) == kinds{0, 1}));
  BOOST_TEST((kept({0, 1}, {{{0, 1}, 1.3}, {{0}, 1.3}}) == kinds{0, 1}));
  // The slowest goes, the other helps.
  BOOST_TEST(
      (kept({0, 1, 2}, {{{0, 1, 2}, 5}, {{0, 1}, 4.9}, {{0, 2}, 0.7}, {{0}, 1}}) == kinds{0, 2}));
  // Both go, the one that costs most first.
  BOOST_TEST((kept({0, 1, 2}, {{{0, 1, 2}, 9}, {{0, 1}, 3}, {{0, 2}, 8}, {{0}, 1}}) == kinds{0}));
}

BOOST_AUTO_TEST_CASE(a_kind_whose_steps_take_long_is_left_out) {
  const device_group group = largest_group();
  int made = 0;
  const device_group kept =
      nn::without_slow_members(group, [&](const device_group& members) -> std::function<void()> {
        ++made;
        return [slow = is_mixed(members)] {
          if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        };
      });
  BOOST_TEST(made == (is_mixed(group) ? 2 : 0));
  std::vector<tutti::device> expected;
  for (const tutti::device& d : group)
    if (d.backend() == group[0].backend()) expected.push_back(d);
  BOOST_TEST((kept.members() == expected));
}

BOOST_AUTO_TEST_CASE(errors_of_steps_and_no_steps) {
  FAILS(value_error, nn::without_slow_members(largest_group(), {}),
        "without_slow_members: there is no function");
  if (!is_mixed(largest_group())) return;
  BOOST_TEST(fails<std::runtime_error>(
      [] {
        nn::without_slow_members(largest_group(), [](const device_group&) {
          return [] { throw std::runtime_error("a step fails"); };
        });
      },
      "a step fails"));
  BOOST_TEST(fails<tutti::value_error>(
      [] {
        nn::without_slow_members(largest_group(),
                                 [](const device_group&) { return std::function<void()>(); });
      },
      "without_slow_members: there is no step"));
}

// Whoever is left out: loss and parameters are those of one device, and random layers, state, steps
// and what is saved go on from where they were.
BOOST_AUTO_TEST_CASE(a_trainer_measures_before_its_first_step) {
  const dense rows = random_dense({12, 4}, -1, 1, 81), targets = random_dense({12, 2}, -1, 1, 82);
  const auto train = [&](const device_group& on) {
    const nn::sequential model = nn::perceptron({4, 5, 2}, {4}, tutti::tanh, {}, dtype::f64, on[0]);
    nn::trainer run(model, nn::adam({.learning_rate = 0.05}),
                    [](const array& y, const std::vector<array>& b) { return nn::mse(y, b[1]); },
                    {.group = on});
    const auto step = [&] {
      return run.step({put(rows, on[0], dtype::f64), put(targets, on[0], dtype::f64)})
          .item<double>();
    };
    std::vector<double> out{step(), step()};
    BOOST_TEST(run.steps() == 2);
    BOOST_TEST((run.group()[0] == on[0]));
    const device_group kept = run.group();
    run.load(run.arrays());
    out.push_back(step());
    BOOST_TEST((run.group() == kept));
    for (const double v : read(run(put(rows, on[0], dtype::f64))).values) out.push_back(v);
    return out;
  };
  const std::vector<double> alone = train(first_devices(1)), together = train(largest_group());
  BOOST_TEST(alone == together, boost::test_tools::tolerance(1e-9) << same);
}

}  // namespace slow_members_test
