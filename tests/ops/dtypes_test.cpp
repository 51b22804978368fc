// SPDX-License-Identifier: Apache-2.0
//
// Operators other than the rows of op_table.def over the dtypes that few programs use: narrow and
// unsigned integers, bool, halves. Values are small, so that every dtype holds every result exactly
// and loops over doubles are the oracle.
#include <boost/test/unit_test.hpp>

#include "tutti_test/dense.hpp"
#include "tutti_test/files.hpp"

namespace dtypes_test {

namespace {

using namespace tutti_test;
using tutti::array;
using tutti::dtype;
using enum tutti::dtype;

constexpr dtype rare[] = {boolean, i8, i16, u8, u16, u32, u64, f16, bf16};

// 0 and 1, and 2 where the dtype has it.
dense values_for(dtype type, const tutti::shape& extents, std::uint64_t salt) {
  return random_integers(extents, 0, type == boolean ? 1 : 2, salt);
}

dtype sum_type(dtype type) {
  return tutti::is_floating(type) ? type : tutti::is_unsigned(type) ? u64 : i64;
}

template <class F>
void for_each_rare(F&& f) {
  for (dtype type : rare) {
    BOOST_TEST_CONTEXT(tutti::name(type)) {
      const dense x = values_for(type, {5, 37}, 21);
      f(type, x, upload_as<float>(x).astype(type).wait());
    }
  }
}

void check(const array& got, dtype type, const dense& expected) {
  BOOST_TEST((got.dtype() == type));
  BOOST_TEST(matches(got, expected));
}

}  // namespace

BOOST_AUTO_TEST_CASE(reductions_of_rare_dtypes) {
  for_each_rare([](dtype type, const dense& x, const array& a) {
    const auto along_rows = [&](double start, auto&& join) {
      return tabulate({37}, [&](const position& j) {
        double total = start;
        for (std::int64_t i = 0; i < 5; ++i) total = join(total, x.at({i, j[0]}));
        return total;
      });
    };
    const auto plus = [](double p, double q) { return p + q; };
    const auto smaller = [](double p, double q) { return std::fmin(p, q); };
    const auto larger = [](double p, double q) { return std::fmax(p, q); };
    check(tutti::sum(a, 0), sum_type(type), along_rows(0, plus));
    check(tutti::prod(a, 0), sum_type(type),
          along_rows(1, [](double p, double q) { return p * q; }));
    check(tutti::min(a, 0), type, along_rows(9, smaller));
    check(tutti::max(a, 0), type, along_rows(-9, larger));
    double total = 0;
    for (double v : x.values) total += v;
    // Inner reductions; 185 and its like are exact in every dtype.
    check(tutti::sum(a), sum_type(type), {{}, {total}});
    const dtype real = tutti::is_floating(type) ? type : f32;
    BOOST_TEST((tutti::mean(a).dtype() == real));
    BOOST_TEST(matches(tutti::mean(a), {{}, {total / 185}}, {.relative = 0x1p-8}));
    const auto place = std::max_element(x.values.begin(), x.values.end()) - x.values.begin();
    check(tutti::argmax(a), i64, {{}, {static_cast<double>(place)}});
    check(tutti::any(a), boolean, {{}, {1}});
    check(tutti::all(a), boolean, {{}, {0}});
  });
}

BOOST_AUTO_TEST_CASE(products_of_rare_dtypes) {
  for_each_rare([](dtype type, const dense& x, const array& a) {
    if (type == boolean) return;  // refused: promotion_test.cpp
    const dense y = values_for(type, {37, 3}, 22);
    check(tutti::matmul(a, upload_as<float>(y).astype(type)), type,
          tabulate({5, 3}, [&](const position& i) {
            double total = 0;
            for (std::int64_t k = 0; k < 37; ++k) total += x.at({i[0], k}) * y.at({k, i[1]});
            return total;
          }));
  });
}

BOOST_AUTO_TEST_CASE(movement_of_rare_dtypes) {
  for_each_rare([](dtype type, const dense& x, const array& a) {
    check(tutti::concatenate({a, a}, 1), type, tabulate({5, 74}, [&](const position& i) {
            return x.at({i[0], i[1] % 37});
          }));
    const array index = array::from<std::int64_t>({4, -5, 2});
    const std::int64_t rows[] = {4, 0, 2};
    check(tutti::take(a, index), type, tabulate({3, 37}, [&](const position& i) {
            return x.at({rows[i[0]], i[1]});
          }));
    const tutti::slice odd[] = {{1, {}, 2}};
    check(tutti::slice_update(a, tutti::ones({37}, type), odd), type,
          tabulate({5, 37}, [&](const position& i) { return i[0] % 2 == 1 ? 1 : x.at(i); }));
    check(tutti::where(a, a, tutti::ones_like(a)), type,
          tabulate({5, 37}, [&](const position& i) { return std::fmax(1, x.at(i)); }));
    check(tutti::contiguous(a.T()), type, tabulate({37, 5}, [&](const position& i) {
            return x.at({i[1], i[0]});
          }));
    const array one = tutti::contiguous(a({tutti::slice{2, 3, 1}, tutti::slice{3, 4, 1}}));
    BOOST_TEST(one.item() == x.at({2, 3}));
  });
}

BOOST_AUTO_TEST_CASE(creation_of_rare_dtypes) {
  for (dtype type : rare) {
    BOOST_TEST_CONTEXT(tutti::name(type)) {
      check(tutti::eye(3, type), type,
            tabulate({3, 3}, [](const position& i) { return i[0] == i[1] ? 1 : 0; }));
      check(tutti::full({2}, 1, type), type, {{2}, {1, 1}});
      check(tutti::one_hot(array::from<std::int32_t>({2, 0}), 3, type), type,
            {{2, 3}, {0, 0, 1, 1, 0, 0}});
      if (type != boolean) check(tutti::arange(5, type), type, {{5}, {0, 1, 2, 3, 4}});
    }
  }
}

}  // namespace dtypes_test
