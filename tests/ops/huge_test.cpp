// SPDX-License-Identifier: Apache-2.0
//
// u8 arrays of more than 2^31 elements: places beyond what 32 bits hold are read, written, found
// and counted. About 9 GiB and minutes; scripts/test --all runs it, with TUTTI_FALLBACK=error.
#include "tutti_test/arrays.hpp"

namespace {

constexpr std::int64_t count = (std::int64_t{1} << 31) + 1003;
constexpr std::int64_t far = (std::int64_t{1} << 31) + 77;  // beyond 32 bits with sign

constexpr std::int64_t value_at(std::int64_t i) { return i & 127; }
constexpr std::int64_t sum_below(std::int64_t n) {
  const std::int64_t rest = n & 127;
  return n / 128 * (127 * 64) + rest * (rest - 1) / 2;
}

// One for all cases.
const array& numbers() {
  static const array x = (tutti::arange(count, dtype::i64) & 127).astype(dtype::u8).wait();
  return x;
}

bool fits() {
  const tutti::device_properties& p = tutti::default_device().properties();
  return p.max_allocation_bytes >= std::uint64_t{3} << 30 && p.memory_bytes >= std::uint64_t{10}
                                                                                   << 30;
}

boost::test_tools::assertion_result enough_memory(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(fits());
  if (!fits()) result.message() << "the device holds no such arrays";
  return result;
}
const auto if_it_fits = boost::unit_test::precondition(enough_memory);

}  // namespace

BOOST_AUTO_TEST_CASE(elements_and_slices, *if_it_fits) {
  const array& x = numbers();
  BOOST_TEST(x[far].item() == value_at(far));
  BOOST_TEST(x[-1].item() == value_at(count - 1));
  const auto tail = x({slice{far, {}, 1}}).to_vector<std::uint8_t>();
  BOOST_TEST_REQUIRE(tail.size() == std::size_t(count - far));
  for (std::int64_t i = far; i < count; ++i)
    BOOST_TEST_REQUIRE(tail[std::size_t(i - far)] == value_at(i));
  const auto backwards = x({slice{count - 1, count - 4, -1}}).to_vector<std::uint8_t>();
  for (int i = 0; i < 3; ++i) BOOST_TEST(backwards[std::size_t(i)] == value_at(count - 1 - i));
}

BOOST_AUTO_TEST_CASE(elementwise_and_argmax, *if_it_fits) {
  const array y = tutti::where(tutti::arange(count, dtype::i64) == far, 255, numbers());
  const array bytes = y.astype(dtype::u8).wait();
  BOOST_TEST(bytes[far].item() == 255);
  BOOST_TEST(bytes[far - 1].item() == value_at(far - 1));
  BOOST_TEST(tutti::argmax(bytes).item<std::int64_t>() == far);
}

BOOST_AUTO_TEST_CASE(sums, *if_it_fits) {
  BOOST_TEST(tutti::sum(numbers()).item<std::uint64_t>() == std::uint64_t(sum_below(count)));
  const array rest = numbers()({slice{std::int64_t{1} << 30, {}, 1}});
  BOOST_TEST(tutti::sum(rest).item<std::uint64_t>() ==
             std::uint64_t(sum_below(count) - sum_below(std::int64_t{1} << 30)));
}

BOOST_AUTO_TEST_CASE(gathers, *if_it_fits) {
  const array index = array::from<std::int64_t>({0, far, count - 1, -2});
  const auto got = tutti::take(numbers(), index).to_vector<std::uint8_t>();
  BOOST_TEST(got[0] == 0);
  BOOST_TEST(got[1] == value_at(far));
  BOOST_TEST(got[2] == value_at(count - 1));
  BOOST_TEST(got[3] == value_at(count - 2));
}

BOOST_AUTO_TEST_CASE(joins, *if_it_fits) {
  const std::int64_t part = (std::int64_t{3} << 28) + 5;
  const array piece = numbers()({slice{3, part + 3, 1}});
  const array joined = tutti::concatenate({piece, piece, piece}).wait();
  BOOST_TEST(joined.size() == 3 * part);
  for (std::int64_t i : {std::int64_t{0}, part - 1, part, 2 * part, 3 * part - 1})
    BOOST_TEST(joined[i].item() == value_at(i % part + 3));
}

BOOST_AUTO_TEST_CASE(scans, *if_it_fits) {
  tutti::scan_options wrapping;
  wrapping.type = dtype::u8;
  const array sums = tutti::cumsum(numbers(), wrapping).wait();
  for (std::int64_t i : {std::int64_t{1000}, far, count - 1})
    BOOST_TEST(sums[i].item() == (sum_below(i + 1) & 255));
}

BOOST_AUTO_TEST_CASE(triangles_and_classes, *if_it_fits) {
  // Each is stored before it is counted: a reduction cannot number its elements itself.
  const array above = tutti::triu(tutti::ones({1, count}, dtype::u8), far).wait();
  BOOST_TEST(tutti::count_nonzero(above).item() == count - far);
  // No class is a negative number, whatever is left of its bits in 32.
  const array least = array::from<std::int32_t>({std::numeric_limits<std::int32_t>::min()});
  const array none = tutti::one_hot(least, count, dtype::boolean).wait();
  BOOST_TEST(!tutti::any(none).item<bool>());
}

// 32 bits count the places of a sort. Where the reference device may not help out, it says so.
BOOST_AUTO_TEST_CASE(rows_that_are_too_long_to_sort, *if_it_fits) {
  const std::string backend = tutti::default_device().backend();
  if (backend == "reference" || backend == "cpu") return;  // these sort them, in their own time
  FAILS(device_error, tutti::sort(numbers()).wait(), "rows of 2^31 elements and more");
}
