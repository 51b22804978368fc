// SPDX-License-Identifier: Apache-2.0
//
// Results of NumPy (vectors.txt, written by make_vectors.py) against the same calls here, in f64.
#include <boost/test/unit_test.hpp>
#include <complex>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "tutti/fft.hpp"
#include "tutti/linalg.hpp"
#include "tutti_test/dense.hpp"
#include "tutti_test/paths.hpp"

namespace {

using namespace tutti_test;
using tutti::array;

using call = std::function<array(const std::vector<array>&, std::int64_t axis)>;

// clang-format off
const std::map<std::string, call>& calls() {
  static const std::map<std::string, call> table = {
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
      TUTTI_REDUCTION(sum) TUTTI_REDUCTION(prod) TUTTI_REDUCTION(min) TUTTI_REDUCTION(max)
      TUTTI_REDUCTION(mean) TUTTI_REDUCTION(var) TUTTI_REDUCTION(any) TUTTI_REDUCTION(all)
      TUTTI_REDUCTION(argmin) TUTTI_REDUCTION(argmax) TUTTI_REDUCTION(logsumexp)
      TUTTI_REDUCTION(softmax) TUTTI_REDUCTION(log_softmax)
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
#define TUTTI_FOURIER(name) {#name, [](const auto& a, std::int64_t) { return tutti::fft::name(a[0]); }},
      TUTTI_FOURIER(fft) TUTTI_FOURIER(rfft) TUTTI_FOURIER(irfft) TUTTI_FOURIER(hfft)
      TUTTI_FOURIER(fft2) TUTTI_FOURIER(rfftn) TUTTI_FOURIER(irfftn) TUTTI_FOURIER(fftshift)
      {"fft_padded", [](const auto& a, std::int64_t) {
         return tutti::fft::fft(a[0], 7, 1, tutti::fft::norm::ortho); }},
      {"ifft_cut", [](const auto& a, std::int64_t) { return tutti::fft::ifft(a[0], 2, 0); }},
      {"irfft_odd", [](const auto& a, std::int64_t) {
         return tutti::fft::irfft(a[0], 9, 0, tutti::fft::norm::forward); }},
      {"ihfft", [](const auto& a, std::int64_t) { return tutti::fft::ihfft(a[0], {}, 1); }},
      {"fftn_of_some", [](const auto& a, std::int64_t) {
         return tutti::fft::fftn(a[0], tutti::shape{2, 6}, {0, 2}, tutti::fft::norm::forward); }},
      {"ifftn_last", [](const auto& a, std::int64_t) {
         return tutti::fft::ifftn(a[0], tutti::shape{5, 3}); }},
      {"ifftshift_of_some", [](const auto& a, std::int64_t) {
         return tutti::fft::ifftshift(a[0], {0, 2}); }},
  };
  return table;
}
// clang-format on

struct typed {
  tutti::dtype type;
  dense values;  // complex numbers: with a last axis of two parts
};

typed parse(std::istringstream& line) {
  std::string type, extents, word;
  line >> type >> extents;
  typed out{tutti::dtype_from_name(type), {}};
  if (extents != "-") {
    std::istringstream list(extents);
    while (std::getline(list, word, ',')) out.values.extents.push_back(std::stoll(word));
  }
  if (tutti::is_complex(out.type)) out.values.extents.push_back(2);
  while (line >> word) out.values.values.push_back(std::strtod(word.c_str(), nullptr));
  return out;
}

// The parts of complex numbers as a last axis.
array parts(const array& a) {
  if (!tutti::is_complex(a.dtype())) return a;
  const array both[] = {tutti::real(a), tutti::imag(a)};
  return tutti::stack(both, -1);
}

array upload_typed(const typed& operand) {
  const array values = upload_as<double>(operand.values);
  if (!tutti::is_complex(operand.type)) return values.astype(operand.type);
  std::vector<std::complex<double>> numbers;
  for (std::size_t i = 0; i < operand.values.values.size(); i += 2)
    numbers.emplace_back(operand.values.values[i], operand.values.values[i + 1]);
  tutti::shape extents = operand.values.extents;
  extents.erase(extents.rank() - 1);
  return array::from(numbers, extents).astype(operand.type);
}

void check(const std::string& label, double tolerated, const std::vector<array>& operands,
           const typed& expected) {
  const std::size_t colon = label.find(':');
  const std::int64_t axis = colon == std::string::npos ? 0 : std::stoll(label.substr(colon + 1));
  BOOST_TEST_CONTEXT("case " << label) {
    const auto found = calls().find(label.substr(0, colon));
    BOOST_TEST_REQUIRE((found != calls().end()));
    const array got = found->second(operands, axis);
    BOOST_TEST((got.dtype() == expected.type));
    BOOST_TEST(
        matches(parts(got), expected.values, {.relative = tolerated, .absolute = tolerated}));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(vectors_of_numpy) {
  const char* moved = std::getenv("TUTTI_TEST_VECTORS");  // where the source tree is elsewhere
  std::ifstream file(moved != nullptr ? moved : tutti_test::paths::vectors);
  BOOST_TEST_REQUIRE(file.good());
  std::string text, role, label;
  double tolerated = 0;
  std::vector<array> operands;
  int cases = 0;
  while (std::getline(file, text)) {
    std::istringstream line(text);
    line >> role;
    if (role == "case") {
      line >> label >> tolerated;
      operands.clear();
    } else if (role == "in") {
      operands.push_back(upload_typed(parse(line)));
    } else {
      check(label, tolerated, operands, parse(line));
      ++cases;
    }
  }
  BOOST_TEST(cases > 160);
}
