// SPDX-License-Identifier: Apache-2.0
//
// Results of NumPy (vectors.txt, written by make_vectors.py) against the same calls here, in f64.
#include "tutti_test/data.hpp"
#include "tutti_test/vectors.hpp"

namespace {

// Eigenvalues, whose order is open, in that of make_vectors.py.
array in_order(const array& w) {
  const array order = tutti::argsort(tutti::real(w) + tutti::imag(w) * 0.37, -1);
  return tutti::complex(tutti::take_along_axis(tutti::real(w), order, -1),
                        tutti::take_along_axis(tutti::imag(w), order, -1));
}

// clang-format off
const vector_calls& calls() {
  static const vector_calls table = {
#define TUTTI_CALL_1(name) {#name, [](const auto& a, std::int64_t) { return tutti::name(a[0]); }},
#define TUTTI_CALL_2(name) {#name, [](const auto& a, std::int64_t) { return tutti::name(a[0], a[1]); }},
#define TUTTI_CALL_NUMERIC(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_REAL(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_FLOATING(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_REAL_FLOATING(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_INTEGRAL(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_LOGICAL(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_ANY(arity, name) TUTTI_CALL_##arity(name)
#define TUTTI_CALL_IR(arity, name)
#define TUTTI_OP(id, name, arity, kinds, ...) TUTTI_CALL_##kinds(arity, name)
#include "tutti/op_table.def"
#undef TUTTI_OP
#define TUTTI_REDUCTION(name) {#name, [](const auto& a, std::int64_t axis) { return tutti::name(a[0], axis); }},
      TUTTI_REDUCTION(sum) TUTTI_REDUCTION(prod) TUTTI_REDUCTION(mean) TUTTI_REDUCTION(any)
      TUTTI_REDUCTION(all) TUTTI_REDUCTION(argmin) TUTTI_REDUCTION(argmax)
      {"angle", [](const auto& a, std::int64_t) { return tutti::angle(a[0]); }},
      {"matmul", [](const auto& a, std::int64_t) { return tutti::matmul(a[0], a[1]); }},
      {"take", [](const auto& a, std::int64_t axis) { return tutti::take(a[0], a[1], axis); }},
      {"where", [](const auto& a, std::int64_t) { return tutti::where(a[0], a[1], a[2]); }},
      {"concatenate", [](const auto& a, std::int64_t axis) { return tutti::concatenate(a, axis); }},
      {"stack", [](const auto& a, std::int64_t axis) { return tutti::stack(a, axis); }},
      {"swapaxes", [](const auto& a, std::int64_t) { return tutti::swapaxes(a[0], 0, 2); }},
      {"slice", [](const auto& a, std::int64_t) {
         return a[0]({{{}, {}, -2}, {1, 4, 1}, {-2, {}, 1}}); }},
      {"eye", [](const auto&, std::int64_t) { return tutti::eye(4, tutti::dtype::f64); }},
#define TUTTI_LINEAR(name) {#name, [](const auto& a, std::int64_t) { return tutti::linalg::name(a[0]); }},
      TUTTI_LINEAR(cholesky) TUTTI_LINEAR(inv) TUTTI_LINEAR(det) TUTTI_LINEAR(eigvalsh)
      TUTTI_LINEAR(svdvals) TUTTI_LINEAR(pinv) TUTTI_LINEAR(matrix_rank) TUTTI_LINEAR(cond)
      TUTTI_LINEAR(expm)
      {"eigvals", [](const auto& a, std::int64_t) { return in_order(tutti::linalg::eigvals(a[0])); }},
      {"solve", [](const auto& a, std::int64_t) { return tutti::linalg::solve(a[0], a[1]); }},
      {"slogdet_sign", [](const auto& a, std::int64_t) { return tutti::linalg::slogdet(a[0]).sign; }},
      {"slogdet_log", [](const auto& a, std::int64_t) { return tutti::linalg::slogdet(a[0]).logabsdet; }},
      {"qr_r_squared", [](const auto& a, std::int64_t) {
         return tutti::square(tutti::abs(tutti::linalg::qr(a[0]).r)); }},
      {"lu_rows", [](const auto& a, std::int64_t) { return tutti::linalg::lu(a[0]).permutation; }},
      {"lu_u", [](const auto& a, std::int64_t) { return tutti::linalg::lu(a[0]).u; }},
      {"lstsq", [](const auto& a, std::int64_t) { return tutti::linalg::lstsq(a[0], a[1]).solution; }},
      {"nuclear", [](const auto& a, std::int64_t) {
         return tutti::linalg::matrix_norm(a[0], tutti::linalg::matrix_order::nuclear); }},
  };
  return table;
}
// clang-format on

}  // namespace

BOOST_AUTO_TEST_CASE(vectors_of_numpy) {
  BOOST_TEST(check_vectors(tutti_test::data(paths::vectors), calls()) == 153);
}
