// SPDX-License-Identifier: Apache-2.0
//
// Every public function of arrays with arguments that make no sense: extents near 2^62, axes and
// indices at the ends of i64, NaN and infinite parameters, empty, huge and unassigned arrays. Each
// call throws a tutti::error or gives sound arrays, soon; the error names the function that was
// called, not a step of it. The seed is TUTTI_TEST_SEED.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <limits>

#include "hostile_arguments.hpp"

using hostile::entry;
using hostile::picker;

namespace {

constexpr int rounds = TUTTI_TEST_EVERYTHING ? 5000 : 300;

// A value that is small enough to be computed is.
void check_sound(const tutti::array& a, bool evaluate) {
  if (!a.valid()) return;
  std::uint64_t bytes = 0;
  BOOST_TEST(!__builtin_mul_overflow(a.size(), tutti::size_of(a.dtype()), &bytes));
  BOOST_TEST(a.nbytes() == bytes);
  BOOST_TEST(bytes <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  for (const std::int64_t extent : a.shape()) BOOST_TEST(extent >= 0);
  if (!evaluate || bytes > 1 << 16) return;
  std::vector<std::byte> values(bytes);
  a.copy_to(values.data(), values.size());
}

// "sum" of tutti::sum(p.any(), p.axes()); empty for what is no call of a function. What slices says
// the same whether it is written as a call or in braces.
std::string function_of(const entry& e) {
  const std::string row = e.name;
  const std::size_t end = row.find('(');
  const std::size_t colons = row.rfind("::", end);
  if (row.starts_with("p.") || colons == std::string::npos) return {};
  const std::string name = row.substr(colons + 2, end - colons - 2);
  return name == "slice_view" ? "slice" : name;
}

// What a device says is about the step that it ran.
bool is_of_arguments(const tutti::error& e) {
  return dynamic_cast<const tutti::device_error*>(&e) == nullptr;
}

void run(const entry& e, int round) {
  picker p(static_cast<std::uint64_t>(round));
  BOOST_TEST_CHECKPOINT(e.name << " round " << round);
  BOOST_TEST_CONTEXT(e.name << " round " << round) {
    const auto begin = std::chrono::steady_clock::now();
    bool returned = false;
    try {
      const hostile::results made = e.call(p);
      returned = true;
      for (const tutti::array& a : made.all) check_sound(a, !p.picked_huge());
    } catch (const tutti::error& error) {
      const std::string_view message = error.what();
      BOOST_TEST(message.size() < 1000u);
      if (const std::string name = function_of(e);
          !returned && is_of_arguments(error) && !name.empty())
        BOOST_TEST(message.starts_with(name + ": "), message);
    } catch (const std::exception& error) {
      BOOST_ERROR("not a tutti::error: " << error.what());
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    BOOST_TEST(took.count() < 20);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_function_survives_hostile_arguments) {
  for (const entry& e : hostile::entries())
    for (int round = 0; round < rounds; ++round) run(e, round);
}
