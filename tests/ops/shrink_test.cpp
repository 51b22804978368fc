// SPDX-License-Identifier: Apache-2.0
//
// The tests of random programs themselves: a wrong step is noticed, and shrinking leaves only what
// the failure needs. The host plays the device, with steps that are falsified on purpose.
#include "shrink.hpp"

#include <boost/test/unit_test.hpp>
#include <set>

namespace {

using namespace tutti_test;

const dtypes types{tutti::dtype::f32, tutti::dtype::i16};

// Whether the last step differs where the device is wrong as `tamper` has it.
std::function<bool(const program&)> failing(const tampering& tamper) {
  return [tamper](const program& steps) {
    const host_array right = on_host(steps, types).back();
    return difference(on_host(steps, types, tamper).back(), right).has_value();
  };
}

bool follows(const program& steps, std::size_t i, operation what, operation before) {
  return steps[i].what == what && steps[static_cast<std::size_t>(steps[i].from[0])].what == before;
}

// The smallest that is left of the random programs that the fault shows in.
std::vector<program> shrunk(const tampering& tamper) {
  std::vector<program> out;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const program steps = random_program(1000 + i, 30);
    if (failing(tamper)(steps)) out.push_back(shrink(steps, types, failing(tamper)));
  }
  return out;
}

void break_first(host_array& value) { value.values[0] += 3; }

}  // namespace

BOOST_AUTO_TEST_CASE(one_wrong_step_is_left_alone) {
  const tampering tamper = [](const program& steps, std::size_t i, host_array& value) {
    if (steps[i].what == operation::sort) break_first(value);
  };
  const std::vector<program> found = shrunk(tamper);
  BOOST_TEST(found.size() >= 5u);
  for (const program& small : found) {
    BOOST_TEST_CONTEXT('\n' << small) {
      BOOST_TEST_REQUIRE(small.size() == 2u);
      BOOST_TEST((small[0].what == operation::input && small[1].what == operation::sort));
      BOOST_TEST(small[0].shape.size() == 1);
      BOOST_TEST(small[0].values.values.size() == 1u);
    }
  }
}

// Wrong only after a certain other step, and only where there are enough elements.
BOOST_AUTO_TEST_CASE(two_steps_and_an_extent_are_kept) {
  const tampering tamper = [](const program& steps, std::size_t i, host_array& value) {
    if (follows(steps, i, operation::transpose, operation::slice) && value.values.size() >= 3)
      break_first(value);
  };
  const std::vector<program> found = shrunk(tamper);
  BOOST_TEST(found.size() >= 2u);
  for (const program& small : found) {
    BOOST_TEST_CONTEXT('\n' << small) {
      BOOST_TEST_REQUIRE(small.size() == 3u);
      BOOST_TEST((small[1].what == operation::slice && small[2].what == operation::transpose));
      BOOST_TEST(small[2].shape.size() >= 3);
      BOOST_TEST(small[2].shape.size() <= 5);
    }
  }
}

BOOST_AUTO_TEST_CASE(operands_shrink_together) {
  const tampering tamper = [](const program& steps, std::size_t i, host_array& value) {
    const step& s = steps[i];
    if (s.what == operation::binary && s.kind == value_kind::real && s.from[0] != s.from[1])
      break_first(value);
  };
  const std::vector<program> found = shrunk(tamper);
  BOOST_TEST(found.size() >= 10u);
  for (const program& small : found) {
    BOOST_TEST_CONTEXT('\n' << small) {
      BOOST_TEST_REQUIRE(small.size() == 3u);
      BOOST_TEST(small[2].shape.size() == 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(right_programs_have_no_difference) {
  const auto fails = failing([](const program&, std::size_t, host_array&) {});
  for (std::uint64_t i = 0; i < 20; ++i) BOOST_TEST(!fails(random_program(i, 30)));
}

// The programs reach every kind of step, and bounds of errors stay far below the values.
BOOST_AUTO_TEST_CASE(programs_reach_every_step) {
  std::set<std::pair<operation, value_kind>> seen;
  std::size_t elements = 0, loose = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const program steps = random_program(i, 30);
    const std::vector<host_array> values = on_host(steps, types);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      seen.insert({steps[k].what, steps[k].kind});
      for (std::size_t e = 0; e < values[k].values.size(); ++e) {
        BOOST_TEST_REQUIRE(std::abs(values[k].values[e]) <= 97);
        ++elements;
        loose += values[k].bounds[e] > 1e-3;
      }
    }
  }
  BOOST_TEST(loose * 1000 < elements);
  for (int what = 0; what <= static_cast<int>(operation::part); ++what) {
    int kinds = 0;
    for (const auto& [operation_seen, kind] : seen)
      kinds += static_cast<int>(operation_seen) == what;
    BOOST_TEST(kinds >= 1, name(operation(what)));
  }
  BOOST_TEST(seen.size() >= 45u);
}
