// SPDX-License-Identifier: Apache-2.0
//
// Random programs (expression.hpp): what the fuser makes of a whole program must equal what its
// steps give one by one, and loops on the host. A failure prints the shortest failing prefix.
#include <boost/test/unit_test.hpp>
#include <sstream>

#include "expression.hpp"

namespace {

using namespace tutti_test;

// Where each new shape of program is compiled, fewer of them.
int program_count() { return tutti::default_device().backend() == "reference" ? 1000 : 20; }

tolerance allowed_for(const step& s, dtypes types) {
  if (s.integer) return {};
  return {.absolute = types.real == tutti::dtype::f64 ? 1e-11 : 5e-4};
}

// Empty where step n of the program is right.
std::string failure(const program& steps, std::size_t n, dtypes types, bool eager) {
  const program prefix(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(n) + 1);
  const dense expected = on_host(prefix).back();
  const auto result =
      matches(on_device(prefix, types, eager).back(), expected, allowed_for(prefix.back(), types));
  if (result) return {};
  std::ostringstream text;
  text << result.message() << (eager ? ", step by step:\n" : ", lazily:\n") << prefix;
  return text.str();
}

void check_program(std::uint64_t program_seed, dtypes types) {
  const program steps = random_program(program_seed, 30);
  const std::vector<dense> expected = on_host(steps);
  const auto eager = on_device(steps, types, true);
  const auto lazy = on_device(steps, types, false);
  tutti::eval(std::span(lazy).last(1));
  for (std::size_t k = steps.size(); k-- > 0;) {
    const tolerance allowed = allowed_for(steps[k], types);
    if (matches(lazy[k], expected[k], allowed) && matches(eager[k], expected[k], allowed)) continue;
    for (std::size_t n = 0; n <= k; ++n) {
      for (bool step_by_step : {true, false}) {
        const std::string text = failure(steps, n, types, step_by_step);
        if (text.empty()) continue;
        BOOST_ERROR("program " << program_seed << ": " << text);
        return;
      }
    }
    BOOST_ERROR("program " << program_seed << " fails only as a whole, at step " << k << ":\n"
                           << steps);
    return;
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(random_programs) {
  for (int i = 0; i < program_count(); ++i) {
    const auto program_seed = seed() * 1000 + static_cast<std::uint64_t>(i);
    BOOST_TEST_CONTEXT("program " << program_seed) {
      using enum tutti::dtype;
      constexpr tutti::dtype integers[] = {i32, i16, i64, i32};
      check_program(program_seed, {i % 3 == 0 ? f64 : f32, integers[i % 4]});
    }
  }
}
