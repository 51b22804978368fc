// SPDX-License-Identifier: Apache-2.0
//
// An evaluation takes the groups of an earlier one of the same structure. Graphs that differ in one
// respect follow each other here, and each value is compared with that of operations one by one.
#include "tutti_test/arrays.hpp"

namespace {

constexpr std::int64_t n = 6;

// A random program of `steps` operations on [n,n] matrices. `shape_seed` chooses the operations and
// their operands; `value_seed` chooses values, equal ones among inputs and among constants, where
// slices begin and which results are kept. `alone`: each operation is evaluated by itself.
std::vector<std::vector<float>> run(unsigned shape_seed, unsigned value_seed, bool alone) {
  std::mt19937 form(shape_seed), values(value_seed);
  const auto pick = [](std::mt19937& from, std::size_t below) {
    return static_cast<std::size_t>(from() % below);
  };
  std::vector<array> pool;
  for (unsigned i = 0; i < 3; ++i) {
    const array made = tutti::random::uniform({100 * value_seed + i}, {n, 2 * n}, -1, 1).eval();
    const auto begin = static_cast<std::int64_t>(pick(values, n + 1));
    pool.push_back(made({{}, {begin, begin + n}}));
  }
  if (pick(values, 2) == 0) pool[1] = pool[0];
  const array row = tutti::random::uniform({value_seed}, {n}, -1, 1).eval();
  const auto constant = [&] { return static_cast<float>(pick(values, 3)) / 2; };
  std::vector<array> kept, others;
  for (int step = 0; step < 8; ++step) {
    const array a = pool[pick(form, pool.size())], b = pool[pick(form, pool.size())];
    array y;
    switch (pick(form, 13)) {
      case 0:
        y = tutti::tanh(a) * tutti::tanh(b);
        break;
      case 1:
        y = a * constant() + b * constant();
        break;
      case 2:
        y = tutti::maximum(tutti::matmul(a, b) + row, tutti::full({n, n}, constant(), dtype::f32));
        break;
      case 3:
        y = tutti::tanh(tutti::matmul(a, b.T()));
        break;
      case 4:
        y = a - tutti::mean(b, {1, tutti::keep_dims::yes});
        break;
      case 5:
        y = a.T() + tutti::max(b, {0});
        break;
      case 6:
        y = tutti::concatenate({a({{0, n / 2}}), b({{n / 2, n}})}, 0);
        break;
      case 7:
        y = tutti::cumsum(a, static_cast<std::int64_t>(pick(form, 2))) * 0.25f;
        break;
      case 8:
        y = a + row;
        y.set({tutti::slice{0, n / 2, 1}}, b({{n / 2, n}}));
        break;
      case 9:
        y = tutti::where(a > constant(), b, -a);
        break;
      case 10:
        y = tutti::sort(a, 1) + tutti::argsort(b, 1).astype(dtype::f32) * 0.1f;
        break;
      case 11:
        y = tutti::tanh(tutti::matmul(a, b) + row) + tutti::matmul(a, b);
        break;
      default:
        y = (a.astype(dtype::f64) * 0.5).astype(dtype::f32) +
            tutti::reshape(b, {n * n}).reshape({n, n});
    }
    if (alone) y.eval();
    pool.push_back(y);
    if (pick(values, 4) == 0) kept.push_back(y);
    if (pick(values, 4) == 0) others.push_back(tutti::reshape(y, {n * n}));
  }
  kept.push_back(pool.back());
  pool.clear();
  tutti::eval(kept);
  std::vector<std::vector<float>> out;
  for (const auto* list : {&kept, &others})
    for (const array& a : *list) out.push_back(a.to_vector<float>());
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(random_programs_with_other_values) {
  for (unsigned form = 0; form < 150; ++form) {
    for (unsigned value = 0; value < 6; ++value) {
      const auto got = run(form, value % 4, false), want = run(form, value % 4, true);
      BOOST_TEST_REQUIRE(got.size() == want.size());
      for (std::size_t i = 0; i < got.size(); ++i)
        for (std::size_t k = 0; k < got[i].size(); ++k)
          BOOST_TEST_REQUIRE(std::abs(got[i][k] - want[i][k]) <= 1e-4f * (1 + std::abs(want[i][k])),
                             "program " << form << ", values " << value << ", result " << i << "["
                                        << k << "]: " << got[i][k] << ", not " << want[i][k]);
    }
  }
}

// f + f computes f once; f + g, which differs in one respect, computes both.
BOOST_AUTO_TEST_CASE(equal_operations_and_different_ones) {
  const array x = tutti::random::uniform({1}, {n, n}, -1, 1).eval();
  const array w = tutti::random::uniform({2}, {n, n}, -1, 1).eval();
  using operation = std::function<array()>;
  const array half_x = x({{0, n / 2}}), half_y = x({{n / 2, n}});
  const auto pending_half = [&](std::int64_t begin) {
    return tutti::tanh(x)({{begin, begin + n / 2}});
  };
  const array cube = tutti::random::uniform({3}, {3, 3, 3}, -1, 1).eval();
  const array z = tutti::complex(x, w).eval();
  const auto turned = [](const array& c, int a, int b, int d) {
    return tutti::transpose(c, {a, b, d});
  };
  const std::pair<operation, operation> pairs[] = {
      {[&] { return tutti::tanh(x); }, [&] { return tutti::sin(x); }},
      {[&] { return x * w; }, [&] { return x * x; }},
      {[&] { return x * 2.f; }, [&] { return x * 3.f; }},
      {[&] { return tutti::real(z * std::complex<double>(1, 1)); },
       [&] { return tutti::real(z * std::complex<double>(1, 2)); }},
      {[&] { return tutti::sum(x, 0); }, [&] { return tutti::max(x, 0); }},
      {[&] { return tutti::sum(x, 0); }, [&] { return tutti::sum(x, 1); }},
      {[&] { return tutti::cumsum(x, 0); }, [&] { return tutti::cummax(x, 0); }},
      {[&] { return tutti::topk(x, 2).values; },
       [&] { return tutti::topk(x, 2, -1, false).values; }},
      {[&] { return tutti::sin(turned(cube, 0, 2, 1)); },
       [&] { return tutti::sin(turned(cube, 2, 1, 0)); }},
      {[&] { return tutti::sin(turned(tutti::tanh(cube), 0, 2, 1)); },
       [&] { return tutti::sin(turned(tutti::tanh(cube), 2, 1, 0)); }},
      {[&] { return tutti::matmul(x, w); }, [&] { return tutti::matmul(w, x); }},
      {[&] { return tutti::sort(x, 0); }, [&] { return tutti::sort(x, 1); }},
      {[&] {
         return tutti::concatenate({x, w}, 0)({{n, 2 * n}});
       },
       [&] {
         return tutti::concatenate({x, w}, 1)({{}, {n, 2 * n}});
       }},
      {[&] { return tutti::sin(x); }, [&] { return tutti::sin(x.T()); }},
      {[&] { return tutti::sin(tutti::tanh(x)); }, [&] { return tutti::sin(tutti::tanh(x).T()); }},
      {[&] { return tutti::sin(half_x); }, [&] { return tutti::sin(half_y); }},
      {[&] { return tutti::sin(pending_half(0)); },
       [&] { return tutti::sin(pending_half(n / 2)); }},
  };
  for (std::size_t i = 0; i < std::size(pairs); ++i) {
    const auto& [f, g] = pairs[i];
    const auto one = f().to_vector<float>(), other = g().to_vector<float>();
    for (int round = 0; round < 2; ++round) {
      const auto twice = (f() + f()).to_vector<float>(), both = (f() + g()).to_vector<float>();
      for (std::size_t k = 0; k < one.size(); ++k) {
        BOOST_TEST(std::abs(twice[k] - 2 * one[k]) < 1e-5f, "pair " << i << " at " << k);
        BOOST_TEST(std::abs(both[k] - (one[k] + other[k])) < 1e-5f, "pair " << i << " at " << k);
      }
    }
  }
}

// The constants of a program are new in each evaluation, also those that were equal before, in two
// dtypes, or equal to a number that a conversion to halves uses.
BOOST_AUTO_TEST_CASE(programs_with_other_constants) {
  const array x = array::from({1.f, 2.f, 3.f}), halves = x.astype(dtype::f16).eval();
  const array z = x.astype(dtype::c64).eval(), zero = (x * 0.f).astype(dtype::f64).eval();
  constexpr double magic = 0x1.8p-81;
  const std::pair<double, double> constants[] = {{1, 1}, {1, 1},         {1, 1}, {2, 1},
                                                 {1, 4}, {magic, magic}, {3, 3}, {0.5, 0.25}};
  for (int round = 0; round < 2; ++round) {
    for (const auto& [a, b] : constants) {
      const auto sums = ((halves * a).astype(dtype::f32) + x * b).to_vector<float>();
      const auto parts = tutti::imag(z * std::complex<double>(a, b)).to_vector<float>();
      const auto narrow = (zero + a + b).astype(dtype::bf16).astype(dtype::f32).to_vector<float>();
      for (int i = 0; i < 3; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double in_half = a == magic ? 0 : a;
        BOOST_TEST(sums[at] == static_cast<float>((i + 1) * in_half + (i + 1) * b));
        BOOST_TEST(parts[at] == static_cast<float>((i + 1) * b));
        BOOST_TEST(narrow[at] == static_cast<float>(a + b));
      }
    }
  }
}

// A product takes a maximum with 0 into its kernel, and no other.
BOOST_AUTO_TEST_CASE(maxima_with_zero_and_others) {
  const array a = array::from({-1.f, 2.f, -3.f, 4.f}).reshape({2, 2});
  const array one = tutti::eye(2);
  const auto beyond = [&](float low) {
    return tutti::maximum(tutti::matmul(a, one), tutti::full({2, 2}, low, dtype::f32))
        .to_vector<float>();
  };
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(beyond(0) == (std::vector<float>{0, 2, 0, 4}), same);
    BOOST_TEST(beyond(3) == (std::vector<float>{3, 3, 3, 4}), same);
    BOOST_TEST(beyond(-2) == (std::vector<float>{-1, 2, -2, 4}), same);
  }
}

// A product that is read later, by itself or through a view of it, is stored, and so is everything
// that is evaluated together.
BOOST_AUTO_TEST_CASE(values_that_are_read_later) {
  const array a = array::from({1.f, -2.f, 3.f, 4.f}).reshape({2, 2});
  const array one = tutti::eye(2).eval(), zero = tutti::full({2, 2}, 0.f, dtype::f32);
  const std::vector<float> all{1, -2, 3, 4}, positive{1, 0, 3, 4};
  for (int i = 0; i < 32; ++i) {
    const bool is_product = i / 8 % 2 == 0, is_together = i / 4 % 2 == 1;
    array value = is_product ? tutti::matmul(a, one) : a * one + a * (1.f - one);
    const array seen = i % 4 == 1   ? value
                       : i % 4 == 2 ? tutti::reshape(value, {4})
                       : i % 4 == 3 ? value + 0.f
                                    : array();
    const array result = tutti::maximum(value, zero);
    value = array();
    const array both[] = {result, seen};
    tutti::eval({both, is_together && seen.valid() ? 2u : 1u});
    BOOST_TEST(result.to_vector<float>() == positive, same);
    if (!seen.valid()) continue;
    const auto before = tutti::stats().launches;
    BOOST_TEST(seen.to_vector<float>() == all, same);
    // An elementwise value is computed again; so is what nobody asked for.
    const bool is_stored = is_together || (is_product && i % 4 != 3);
    BOOST_TEST(is_stored == (tutti::stats().launches == before), "value " << i);
  }
}

// While a function is differentiated, a view refers to what it shows; afterwards another view may.
BOOST_AUTO_TEST_CASE(views_during_and_after_a_gradient) {
  const array a = array::from({1.f, -2.f, 3.f, 4.f}).reshape({2, 2});
  const array one = tutti::eye(2).eval(), zero = tutti::full({4}, 0.f, dtype::f32);
  for (int i = 0; i < 2; ++i) {
    tutti::value_and_grad([&](const array& x) {
      return tutti::sum(tutti::maximum(tutti::reshape(tutti::matmul(x, one), {4}), zero).eval());
    })(a);
    array product = tutti::matmul(a, one);
    const array seen = tutti::reshape(product, {1, 4});
    const array result = tutti::maximum(tutti::reshape(product, {4}), zero);
    product = array();
    result.eval();
    const auto before = tutti::stats().launches;
    BOOST_TEST(seen.to_vector<float>() == (std::vector<float>{1, -2, 3, 4}), same);
    BOOST_TEST(tutti::stats().launches == before);
  }
}

// More structures than memory is kept for: old ones go, and come back.
BOOST_AUTO_TEST_CASE(more_structures_than_are_kept) {
  for (int round = 0; round < 2; ++round) {
    for (std::int64_t length = 1; length < 1200; ++length) {
      array x = tutti::full({length}, 1.f, dtype::f32) + array::from({0.f});
      for (int i = 0; i < 100; ++i) x = x * 1.f + array::from({1.f});
      BOOST_TEST_REQUIRE(x.to_vector<float>().back() == 101.f);
    }
  }
}
