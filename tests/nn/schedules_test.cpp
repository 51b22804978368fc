// SPDX-License-Identifier: Apache-2.0
//
// Learning rates by their formulas, and what waits for improvement.
#include <limits>

#include "networks.hpp"

namespace {

void check(const nn::schedule& s, std::initializer_list<std::pair<std::int64_t, double>> expected) {
  for (const auto& [step, rate] : expected) BOOST_TEST_CONTEXT("step " << step) {
      BOOST_TEST(std::abs(s(step) - rate) < 1e-15);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(schedules_follow_their_formulas) {
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
  check(nn::constant_schedule(0.3), {{0, 0.3}, {far, 0.3}});
  check(nn::step_schedule(1, 3, 0.5), {{0, 1}, {2, 1}, {3, 0.5}, {8, 0.25}, {far, 0}});
  check(nn::exponential_schedule(2, 0.5), {{0, 2}, {3, 0.25}, {far, 0}});
  check(nn::polynomial_schedule(1, 4, 2, 0.2), {{0, 1}, {2, 0.4}, {4, 0.2}, {far, 0.2}});
  check(nn::polynomial_schedule(1, 4), {{1, 0.75}, {3, 0.25}});
  check(nn::cosine_schedule(1, 6, 0.5), {{0, 1}, {2, 0.875}, {3, 0.75}, {6, 0.5}, {far, 0.5}});
  check(nn::warmup_schedule(3, nn::step_schedule(2, 2, 0.5)),
        {{0, 0.5}, {2, 1.5}, {3, 2}, {4, 2}, {5, 1}});
  check(nn::one_cycle_schedule(1, 10, {.rise = 0.4, .first = 0.1, .last = 0.01}),
        {{0, 0.1}, {2, 0.55}, {4, 1}, {7, 0.505}, {10, 0.01}, {far, 0.01}});
}

BOOST_AUTO_TEST_CASE(schedules_refuse_what_cannot_be) {
  FAILS(value_error, nn::constant_schedule(-1), "rate = -1");
  FAILS(value_error, nn::step_schedule(1, 0), "every must be positive");
  FAILS(value_error, nn::cosine_schedule(NAN, 3), "rate = nan");
  FAILS(value_error, nn::warmup_schedule(3, {}), "is empty");
  FAILS(value_error, nn::one_cycle_schedule(1, 3, {.rise = 1}), "rise = 1");
  FAILS(value_error, nn::plateau_schedule(1, {.factor = 1}), "factor = 1");
  FAILS(value_error, nn::early_stopping(-1), "patience = -1");
}

BOOST_AUTO_TEST_CASE(a_plateau_lowers_the_rate) {
  nn::plateau_schedule s(1, {.factor = 0.5, .patience = 1, .threshold = 0.1, .least = 0.2});
  BOOST_TEST(s(10) == 1);
  BOOST_TEST(s(8) == 1);
  BOOST_TEST(s(7.9) == 1);  // less than a tenth better
  BOOST_TEST(s(NAN) == 0.5);
  BOOST_TEST(s(7.5) == 0.5);
  BOOST_TEST(s(7.1) == 0.5);
  for (int i = 0; i < 8; ++i) s(9);
  BOOST_TEST(s.rate() == 0.2);
  nn::plateau_schedule up(1, {.patience = 0, .larger_is_better = true});
  BOOST_TEST(up(-5) == 1);
  BOOST_TEST(up(-4) == 1);
  BOOST_TEST(std::abs(up(-4) - 0.1) < 1e-16);
}

BOOST_AUTO_TEST_CASE(training_stops_early) {
  nn::early_stopping stop(2, 0.5);
  BOOST_TEST(!stop(5));
  BOOST_TEST(stop.is_best());
  BOOST_TEST(!stop(4.6));
  BOOST_TEST(!stop.is_best());
  BOOST_TEST(!stop(NAN));
  BOOST_TEST(stop(4.5));
  BOOST_TEST(!stop(4.4));
  BOOST_TEST(stop.best() == 4.4);
  nn::early_stopping up(0, 0, true);
  BOOST_TEST(!up(1));
  BOOST_TEST(up(1));
}
