// SPDX-License-Identifier: Apache-2.0
//
// Random programs (expression.hpp): what the fuser makes of a whole program must equal what its
// steps give one by one, and loops on the host. A failure prints the program and the seed:
// TUTTI_TEST_SEED, printed by each test program, draws it again.
#include <boost/test/unit_test.hpp>
#include <sstream>

#include "expression.hpp"
#include "tutti_test/host_device.hpp"

namespace {

using namespace tutti_test;

// Where each new shape of program is compiled, fewer of them.
int program_count() {
  if (tutti_test::on_host()) return 1000;
  return TUTTI_TEST_EVERYTHING ? 100 : 20;
}

// Every pair of them comes up: their numbers have no divisor in common.
dtypes types_of(int i) {
  using enum tutti::dtype;
  constexpr tutti::dtype reals[] = {f64, f32, f16, f32, bf16};
  constexpr tutti::dtype integers[] = {i32, i16, i64, u8, i8, u16, u64, u32};
  return {reals[i % 5], integers[i % 8]};
}

std::optional<std::string> failure(const program& steps, dtypes types) {
  const std::vector<host_array> expected = on_host(steps, types);
  std::string what;
  try {
    const auto eager = on_device(steps, types, true);
    const auto lazy = on_device(steps, types, false);
    tutti::eval(std::span(lazy).last(1));
    for (std::size_t k = steps.size(); k-- > 0 && what.empty();) {
      auto text = difference(lazy[k], expected[k]);
      if (!text) text = difference(eager[k], expected[k]);
      if (text) what = "step " + std::to_string(k) + ' ' + *text;
    }
  } catch (const std::exception& e) {
    what = e.what();
  }
  if (what.empty()) return std::nullopt;
  std::ostringstream text;
  text << tutti::name(types.real) << ", " << tutti::name(types.integer) << ": " << what << '\n'
       << steps;
  return text.str();
}

}  // namespace

BOOST_AUTO_TEST_CASE(random_programs) {
  for (int i = 0; i < program_count(); ++i) {
    const auto program_seed = seed() * 1000 + static_cast<std::uint64_t>(i);
    const auto text = failure(random_program(program_seed, 30), types_of(i));
    if (text) BOOST_ERROR("program " << program_seed << ", " << *text);
  }
}
