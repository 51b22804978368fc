// SPDX-License-Identifier: Apache-2.0
//
// What the pool keeps of memory that is free: bounded where sizes do not come again, all of it
// where a loop repeats itself, none with TUTTI_POOL_MB=0. And how many programs stay in memory.
#include "tutti_test/arrays.hpp"

namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

const std::vector<float>& host_memory() {
  static const std::vector<float> values(8 * mebibyte / sizeof(float), 1.f);
  return values;
}

array of_bytes(std::uint64_t bytes) {
  const auto n = static_cast<std::int64_t>(bytes / sizeof(float));
  return array::from_bytes(host_memory().data(), static_cast<std::size_t>(n), tutti::dtype::f32,
                           {n});
}

std::uint64_t reserved() { return tutti::stats().pool_bytes_reserved; }

bool keeps_nothing() { return std::getenv("TUTTI_POOL_MB") != nullptr; }

}  // namespace

BOOST_AUTO_TEST_CASE(a_cache_that_grows_row_by_row_does_not_keep_all_its_former_sizes) {
  const std::uint64_t before = reserved();
  array cache;
  for (std::uint64_t rows = 1; rows <= 100; ++rows) cache = of_bytes(rows << 16);
  BOOST_TEST(cache.nbytes() == 100u << 16);
  BOOST_TEST(reserved() - before <= 80 * mebibyte);  // 323 MiB in all
}

BOOST_AUTO_TEST_CASE(a_loop_that_repeats_itself_allocates_nothing_after_its_first_steps) {
  if (keeps_nothing()) return;
  // More, and of more sizes, than is kept of memory that nobody asks for again.
  const auto step = [] {
    for (std::uint64_t i = 0; i < 24; ++i) {
      const array a = of_bytes(3 * mebibyte + (i << 17)), b = of_bytes(1000 + 300 * i);
    }
  };
  for (int i = 0; i < 4; ++i) step();
  const std::uint64_t before = tutti::stats().pool_allocations;
  for (int i = 0; i < 4; ++i) step();
  BOOST_TEST(tutti::stats().pool_allocations == before);
}

BOOST_AUTO_TEST_CASE(a_training_loop_allocates_nothing_after_its_first_steps) {
  if (keeps_nothing()) return;
  array w = of_bytes(64 * 64 * sizeof(float)).reshape({64, 64}) * 0.01f;
  const auto loss = tutti::value_and_grad([](const std::vector<array>& p) {
    return tutti::mean(tutti::square(tutti::tanh(tutti::matmul(p[0], p[0])) - 0.5f));
  });
  const auto step = [&] {
    const auto [value, slopes] = loss({w});
    w = w - slopes[0] * 0.1f;
    tutti::eval({w, value});
  };
  for (int i = 0; i < 5; ++i) step();
  w.wait();
  const std::uint64_t before = tutti::stats().pool_allocations;
  for (int i = 0; i < 20; ++i) step();
  w.wait();
  BOOST_TEST(tutti::stats().pool_allocations == before);
}

// Each turn's upload needs memory that no work uses: turns do not run ahead by more than some 64
// MiB.
BOOST_AUTO_TEST_CASE(a_loop_that_never_waits_does_not_take_more_memory_with_each_turn) {
  if (keeps_nothing()) return;
  array total = tutti::zeros({});
  total.wait();
  const std::uint64_t before = reserved();
  for (int i = 0; i < 48; ++i) {
    total = total + tutti::sum(tutti::exp(tutti::sin(of_bytes(8 * mebibyte))));
    total.eval();
  }
  BOOST_TEST(reserved() <= before + 112 * mebibyte);  // 384 MiB in all
  const double each = double(8 * mebibyte / sizeof(float)) * std::exp(std::sin(1.0));
  BOOST_TEST(std::abs(total.item() / (48 * each) - 1) < 1e-4);
}

BOOST_AUTO_TEST_CASE(a_limit_acts_at_once) {
  if (!keeps_nothing()) return;
  array a = of_bytes(mebibyte) + 1.f;
  a.wait();
  const std::uint64_t with = reserved();
  BOOST_TEST(with >= mebibyte);
  a = array();
  BOOST_TEST(reserved() + mebibyte <= with);
  // What is in flight yet, when it has ended.
  array b = of_bytes(mebibyte);
  b = b + 1.f;
  b.eval();
  b = array();
  (of_bytes(64) + 1.f).wait();
  BOOST_TEST(reserved() + mebibyte <= with);
}

// Each of its own instructions: bit k says what the k-th of them is.
array program(unsigned number) {
  static const array x = of_bytes(16);
  array y = x;
  for (int bit = 0; bit < 12; ++bit) y = (number >> bit & 1u) != 0 ? y + 1.5f : y * 1.5f;
  return y;
}

BOOST_AUTO_TEST_CASE(programs_that_were_not_used_for_long_do_not_stay_in_memory) {
  if (keeps_nothing() || tutti::default_device().backend() != "reference") return;
  const auto found = [](unsigned number) {
    const std::uint64_t before = tutti::stats().memory_cache_hits;
    program(number).wait();
    return tutti::stats().memory_cache_hits > before;
  };
  BOOST_TEST(!found(0));
  BOOST_TEST(!found(1));
  for (unsigned i = 2; i < 2500; ++i) {
    program(i).eval();
    if (i % 50 == 0) BOOST_TEST(found(1));
  }
  BOOST_TEST(found(2499));
  BOOST_TEST(found(1));
  BOOST_TEST(!found(0));
}
