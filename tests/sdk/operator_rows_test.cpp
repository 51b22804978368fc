// SPDX-License-Identifier: Apache-2.0
//
// Descriptions of operators that fit the rows of operator.def, and what is refused of those that do
// not.
#include "semantics/operator_rows.hpp"

#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <vector>

#include "sdk/status.hpp"
#include "sdk/validate_operator.hpp"

using namespace tutti;

namespace {

struct view : tutti_view {
  view(int32_t type, std::initializer_list<uint64_t> extents) : tutti_view{} {
    dtype = type;
    rank = static_cast<uint32_t>(extents.size());
    std::copy(extents.begin(), extents.end(), extent);
    int64_t step = 1;
    for (uint32_t d = rank; d-- > 0; step *= static_cast<int64_t>(extent[d])) stride[d] = step;
  }
  view stepping(uint32_t axis, int64_t step) const {
    view v = *this;
    v.stride[axis] = step;
    return v;
  }
};

// TUTTI_OK, or the code of what is thrown.
int32_t verdict(int32_t kind, uint32_t outputs, std::initializer_list<view> given,
                const void* params = nullptr) {
  const std::vector<tutti_view> views(given.begin(), given.end());
  try {
    sdk::check_operator({kind, static_cast<uint32_t>(views.size()), views.data(), params, outputs});
  } catch (const sdk::plugin_error& e) {
    return e.code;
  }
  return TUTTI_OK;
}

constexpr int32_t f16 = TUTTI_F16, f32 = TUTTI_F32, c64 = TUTTI_C64, i32 = TUTTI_I32,
                  i64 = TUTTI_I64, truth = TUTTI_BOOL, wrong = TUTTI_ERROR_INVALID_ARGUMENT,
                  beyond = TUTTI_ERROR_UNSUPPORTED, good = TUTTI_OK;
constexpr tutti_matrix_params plain{sizeof plain, 0, TUTTI_TRANSPOSE_NONE, 0, 0};

}  // namespace

BOOST_AUTO_TEST_CASE(extents_of_equal_letters_are_equal) {
  const auto product = [](view a, view b) {
    return verdict(TUTTI_OPERATOR_MATMUL, 1, {view(a.dtype, {2, 3, 5}), a, b});
  };
  BOOST_TEST(product({f32, {2, 3, 4}}, {f32, {2, 4, 5}}) == good);
  BOOST_TEST(product(view(f32, {2, 3, 4}).stepping(0, 0), {f32, {2, 4, 5}}) == good);
  BOOST_TEST(product({f32, {2, 3, 4}}, {f32, {2, 6, 5}}) == wrong);
  BOOST_TEST(product({f32, {1, 3, 4}}, {f32, {1, 4, 5}}) == wrong);
  BOOST_TEST(product({f32, {2, 3, 4}}, {f32, {2, 4}}) == wrong);
  BOOST_TEST(product({f32, {2, 3, 4}}, {f16, {2, 4, 5}}) == wrong);
  BOOST_TEST(product({truth, {2, 3, 4}}, {truth, {2, 4, 5}}) == beyond);
}

BOOST_AUTO_TEST_CASE(views_that_may_be_left_out_come_with_their_parameter) {
  const view out(f32, {1, 3, 5}), a(f32, {1, 3, 4}), b(f32, {1, 4, 5});
  const tutti_matmul_params with{sizeof with, TUTTI_ACTIVATION_NONE, 1};
  BOOST_TEST(verdict(TUTTI_OPERATOR_MATMUL, 1, {out, a, b, out}, &with) == good);
  BOOST_TEST(verdict(TUTTI_OPERATOR_MATMUL, 1, {out, a, b, out}) == wrong);
  BOOST_TEST(verdict(TUTTI_OPERATOR_MATMUL, 1, {out, a, b}, &with) == wrong);
  BOOST_TEST(verdict(TUTTI_OPERATOR_MATMUL, 1, {out, a, b, a}, &with) == wrong);
  BOOST_TEST(verdict(TUTTI_OPERATOR_MATMUL, 1, {out, a}) == wrong);
}

BOOST_AUTO_TEST_CASE(outputs_are_all_there_or_the_least) {
  const view u(c64, {2, 4, 3}), s(f32, {2, 3}), vh(c64, {2, 3, 3}), a(c64, {2, 4, 3});
  BOOST_TEST(verdict(TUTTI_OPERATOR_SVD, 3, {u, s, vh, a}, &plain) == good);
  BOOST_TEST(verdict(TUTTI_OPERATOR_SVD, 1, {s, a}, &plain) == good);
  BOOST_TEST(verdict(TUTTI_OPERATOR_SVD, 2, {u, s, a}, &plain) == wrong);
  BOOST_TEST(verdict(TUTTI_OPERATOR_SVD, 1, {view(c64, {2, 3}), a}, &plain) == wrong);
  BOOST_TEST(verdict(TUTTI_OPERATOR_SVD, 1, {s, a}) == wrong);  // no parameters
  const view square(f32, {2, 3, 3});
  BOOST_TEST(verdict(TUTTI_OPERATOR_EIG, 1, {view(c64, {2, 3}), square}, &plain) == good);
  BOOST_TEST(verdict(TUTTI_OPERATOR_EIG, 1, {view(f32, {2, 3}), square}, &plain) == wrong);
  BOOST_TEST(verdict(TUTTI_OPERATOR_EIGH, 1, {view(f32, {2, 3}), a}, &plain) == wrong);
}

BOOST_AUTO_TEST_CASE(indices_are_whole_and_contiguous) {
  const auto take = [](view x, view index) {
    return verdict(TUTTI_OPERATOR_TAKE, 1, {view(x.dtype, {2, 4, 3}), x, index});
  };
  const view x(f32, {2, 7, 3});
  for (const int32_t type : {i32, i64}) BOOST_TEST(take(x, {type, {4}}) == good);
  BOOST_TEST(take(x.stepping(2, 9), {i32, {4}}) == good);
  BOOST_TEST(take(x, view(i32, {4}).stepping(0, 2)) == wrong);
  BOOST_TEST(take(x, {TUTTI_I16, {4}}) == wrong);
  BOOST_TEST(take(x, {i32, {5}}) == wrong);
  BOOST_TEST(take({f32, {2, 0, 3}}, {i32, {4}}) == wrong);
  BOOST_TEST(take({c64, {2, 7, 3}}, {i32, {4}}) == beyond);
}

BOOST_AUTO_TEST_CASE(starts_are_one_more_than_rows) {
  const auto product = [](view starts, view columns, int32_t type = f32) {
    return verdict(TUTTI_OPERATOR_SPMM, 1,
                   {view(type, {3, 5}), starts, columns, view(type, {6}), view(type, {4, 5})});
  };
  BOOST_TEST(product({i32, {4}}, {i32, {6}}) == good);
  BOOST_TEST(product({i64, {4}}, {i64, {6}}, c64) == good);
  BOOST_TEST(product({i32, {3}}, {i32, {6}}) == wrong);
  BOOST_TEST(product({i32, {0}}, {i32, {6}}) == wrong);
  BOOST_TEST(product({i32, {4}}, {i64, {6}}) == wrong);
  BOOST_TEST(product({i32, {4}}, {i32, {5}}) == wrong);
  BOOST_TEST(product({i32, {4}}, {i32, {6}}, f16) == beyond);
}

BOOST_AUTO_TEST_CASE(rows_say_the_layout) {
  const tutti_search_params right{sizeof right, 1, 0};
  const view out(i64, {2, 6}), sorted(f32, {2, 5}), values(f32, {2, 6});
  BOOST_TEST(verdict(TUTTI_OPERATOR_SEARCH, 1, {out, sorted, values}, &right) == good);
  BOOST_TEST(verdict(TUTTI_OPERATOR_SEARCH, 1, {out, sorted.stepping(0, 6), values}, &right) ==
             wrong);
  BOOST_TEST(verdict(TUTTI_OPERATOR_SEARCH, 1, {view(i32, {2, 6}), sorted, values}, &right) ==
             wrong);
  BOOST_TEST(verdict(TUTTI_OPERATOR_SEARCH, 1, {out, sorted, values}) == wrong);
}

// Counted by hand.
BOOST_AUTO_TEST_CASE(flops_are_products_of_extents) {
  const auto flops = [](int32_t kind, std::initializer_list<view> views) {
    const host::operator_row& row = *host::find_operator(kind);
    host::bound_extents extents;
    size_t n = 0;
    for (const view& v : views) BOOST_TEST(extents.bind(row.views[n++], v.rank, v.extent));
    return extents.product(row.flops);
  };
  BOOST_TEST(flops(TUTTI_OPERATOR_MATMUL, {{f32, {2, 3, 5}}, {f32, {2, 3, 4}}, {f32, {2, 4, 5}}}) ==
             2u * 2 * 3 * 4 * 5);
  BOOST_TEST(
      flops(TUTTI_OPERATOR_CONVOLUTION,
            {{f32, {2, 1, 3, 1, 4, 5}}, {f32, {2, 1, 7, 1, 5, 6}}, {f32, {1, 3, 7, 1, 2, 2}}}) ==
      2u * (2 * 3 * 4 * 5) * (7 * 2 * 2));
  BOOST_TEST(flops(TUTTI_OPERATOR_SORT, {{f32, {2, 3}}, {f32, {2, 3}}}) == 0u);
}
