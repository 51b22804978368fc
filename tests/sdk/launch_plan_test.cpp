// SPDX-License-Identifier: Apache-2.0
//
// The words that a launch passes to its kernel: places beyond 2^31 and 2^32 arrive whole, or not at
// all, and quotients by the multipliers are those of a division.
#include "sdk/launch_plan.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "sdk/status.hpp"
#include "verify/program_spec.hpp"

namespace {

using namespace tutti::sdk;

// -in0, of the GPU schedule.
program_layout negation(uint8_t dtype, uint32_t rank, bool wide) {
  tutti::conformance::program_spec p;
  p.kept_rank = rank;
  p.wide_index = wide ? 1 : 0;
  const uint32_t in = p.input(dtype, TUTTI_ACCESS_STRIDED);
  p.output(p.op(TUTTI_OP_negative, dtype, {in}), dtype);
  render_options options;
  options.kind = schedule::gpu;
  return layout_of(p.desc(), options);
}

template <typename Word>
std::vector<Word> packed(const program_layout& layout, const std::vector<uint64_t>& extent,
                         const tutti_operand& in, const tutti_operand& out) {
  std::vector<Word> words(layout.geometry_words());
  BOOST_REQUIRE_EQUAL(layout.geometry_bytes(), words.size() * sizeof(Word));
  pack_geometry(layout, extent.data(), &in, &out, plan_launch(layout, extent.data(), machine{}),
                words.data());
  return words;
}

bool is_invalid(const std::string& part, auto&& f) {
  try {
    f();
  } catch (const plugin_error& e) {
    return e.code == TUTTI_ERROR_INVALID_ARGUMENT &&
           std::string(e.what()).find(part) != std::string::npos;
  }
  return false;
}

// Extents, then offset and strides of the input and of the output.
BOOST_AUTO_TEST_CASE(far_places_arrive_whole) {
  const std::vector<uint64_t> extent{3, 5};
  tutti_operand in{}, out{};
  in.offset = (uint64_t{3} << 30) + 7;
  in.stride[0] = -(int64_t{1} << 33) - 1;
  in.stride[1] = int64_t{5} << 32;
  out.offset = (uint64_t{1} << 40) + 1;
  out.stride[0] = 5;
  out.stride[1] = 1;
  const auto words = packed<int64_t>(negation(TUTTI_I8, 2, true), extent, in, out);
  const std::array<int64_t, 8> expected{3,
                                        5,
                                        (int64_t{3} << 30) + 7,
                                        -(int64_t{1} << 33) - 1,
                                        int64_t{5} << 32,
                                        (int64_t{1} << 40) + 1,
                                        5,
                                        1};
  BOOST_REQUIRE_GE(words.size(), expected.size());
  BOOST_CHECK_EQUAL_COLLECTIONS(words.begin(), words.begin() + expected.size(), expected.begin(),
                                expected.end());
  // Offsets are given in bytes and passed in elements.
  in.offset = uint64_t{1} << 36;
  out.offset = 0;
  BOOST_CHECK_EQUAL(packed<int64_t>(negation(TUTTI_F64, 2, true), extent, in, out)[2],
                    int64_t{1} << 33);
}

BOOST_AUTO_TEST_CASE(narrow_words_refuse_what_does_not_fit) {
  const std::vector<uint64_t> extent{7};
  tutti_operand in{}, out{};
  in.stride[0] = out.stride[0] = 1;
  in.offset = 0x7fffffff;
  const program_layout narrow = negation(TUTTI_I8, 1, false);
  BOOST_CHECK_EQUAL(packed<int32_t>(narrow, extent, in, out)[1], 0x7fffffff);
  const auto refuses = [&](const std::string& part) {
    return is_invalid(part, [&] { packed<int32_t>(narrow, extent, in, out); });
  };
  in.offset = uint64_t{3} << 30;
  BOOST_TEST(refuses("3221225472 does not fit 32 bits"));
  in.offset = uint64_t{1} << 32;  // whose lower half is 0
  BOOST_TEST(refuses("4294967296 does not fit"));
  in.offset = 0;
  in.stride[0] = -(int64_t{1} << 31) - 1;
  BOOST_TEST(refuses("-2147483649 does not fit"));
  in.stride[0] = 1;
  out.offset = uint64_t{1} << 33;
  BOOST_TEST(refuses("8589934592"));
}

BOOST_AUTO_TEST_CASE(offsets_between_elements_are_refused) {
  const std::vector<uint64_t> extent{2};
  tutti_operand in{}, out{};
  in.stride[0] = out.stride[0] = 1;
  in.offset = 6;
  BOOST_TEST(is_invalid("offset 6",
                        [&] { packed<int64_t>(negation(TUTTI_F32, 1, true), extent, in, out); }));
}

BOOST_AUTO_TEST_CASE(spaces_without_an_end_are_refused) {
  const program_layout layout = negation(TUTTI_F32, 2, true);
  const auto plan = [&](uint64_t a, uint64_t b) {
    const uint64_t extent[] = {a, b};
    return plan_launch(layout, extent, machine{});
  };
  BOOST_CHECK_EQUAL(plan(uint64_t{1} << 31, uint64_t{1} << 31).words[kept_word], int64_t{1} << 62);
  BOOST_TEST(is_invalid("", [&] { plan(uint64_t{1} << 32, uint64_t{1} << 31); }));
  BOOST_TEST(is_invalid("", [&] { plan(uint64_t{1} << 63, 2); }));
  BOOST_TEST(is_invalid("", [&] { plan(0, 3); }));
}

// n / d = (high half of m n + n) >> s.
template <typename Word, typename Unsigned>
void check_quotients(bool wide, const std::vector<uint64_t>& divisors,
                     const std::vector<uint64_t>& numbers) {
  constexpr int width = 8 * sizeof(Word);
  for (const uint64_t d : divisors) {
    const program_layout layout = negation(TUTTI_I8, 2, wide);
    BOOST_REQUIRE_EQUAL(layout.divisors(), 1);
    const auto words = packed<Word>(layout, {1, d}, tutti_operand{}, tutti_operand{});
    const auto multiplier = static_cast<Unsigned>(words[words.size() - 2]);
    const auto shift = static_cast<unsigned>(words.back());
    for (const uint64_t n : numbers) {
      __extension__ using twice = unsigned __int128;
      const twice high = (static_cast<twice>(multiplier) * n) >> width;
      BOOST_TEST_INFO(n << " / " << d);
      BOOST_CHECK_EQUAL(static_cast<uint64_t>((high + n) >> shift), n / d);
    }
  }
}

BOOST_AUTO_TEST_CASE(quotients_are_those_of_divisions) {
  std::vector<uint64_t> near, far;
  for (uint64_t n = 0; n < 40; ++n) near.push_back(n);
  for (int power = 6; power <= 31; ++power)
    for (int64_t by = -3; by <= (power == 31 ? -1 : 3); ++by)
      near.push_back((uint64_t{1} << power) + static_cast<uint64_t>(by));
  far = near;
  for (int power = 32; power <= 63; ++power)
    for (int64_t by = -3; by <= (power == 63 ? -1 : 3); ++by)
      far.push_back((uint64_t{1} << power) + static_cast<uint64_t>(by));
  const std::vector<uint64_t> small{1, 2, 3, 5, 7, 10, 63, 64, 641, 65537, 0x7fffffff};
  check_quotients<int32_t, uint32_t>(false, small, near);
  std::vector<uint64_t> large = small;
  for (const uint64_t d : {(uint64_t{1} << 32) + 1, (uint64_t{1} << 45) - 1, uint64_t{1} << 61})
    large.push_back(d);
  check_quotients<int64_t, uint64_t>(true, large, far);
}

}  // namespace
