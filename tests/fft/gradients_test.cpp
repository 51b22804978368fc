// SPDX-License-Identifier: Apache-2.0
//
// Gradients against central differences, first and second ones, over both parts.
#include "differences.hpp"

namespace {

namespace fft = tutti::fft;
using arguments = std::vector<array>;

// Cubes make the second derivatives depend on the argument.
array bent(const array& y) { return y * y * y; }

void check_both(const std::function<array(const array&)>& f, const tutti::shape& extents,
                bool is_complex) {
  const auto value = [=](const arguments& v) {
    return weighed(f(is_complex ? tutti::complex(bent(v[0]), v[1]) : bent(v[0])));
  };
  std::vector<dense> at = {random_dense(extents, -1, 1, 30)};
  if (is_complex) at.push_back(random_dense(extents, -1, 1, 31));
  check_gradient(value, at, 1e-6);
  const tutti::function second = [=](const arguments& v) {
    array sum = weighted_sum(tutti::grad(value)(v)[0]);
    return is_complex ? sum + weighted_sum(bent(v[1])) : sum;
  };
  check_gradient(second, at, 1e-5);
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_complex_transforms) {
  for (const std::int64_t n : {3, 4, 6}) {
    check_both([=](const array& a) { return fft::fft(a, n, 0); }, {4, 2}, true);
    check_both([=](const array& a) { return fft::ifft(a, n); }, {2, 4}, true);
  }
  check_both([](const array& a) { return fft::fft(a); }, {5}, false);
}

BOOST_AUTO_TEST_CASE(of_real_transforms) {
  for (const std::int64_t n : {3, 4, 5, 6}) {
    check_both([=](const array& a) { return fft::rfft(a, n); }, {2, 5}, false);
    check_both([=](const array& a) { return fft::ihfft(a, n, 0, fft::norm::ortho); }, {4, 2},
               false);
  }
}

BOOST_AUTO_TEST_CASE(of_hermitian_transforms) {
  for (const std::int64_t n : {3, 4, 5, 8}) {
    check_both([=](const array& a) { return fft::irfft(a, n); }, {2, 3}, true);
    check_both([=](const array& a) { return fft::hfft(a, n, 0); }, {4, 2}, true);
  }
}

BOOST_AUTO_TEST_CASE(of_several_axes) {
  check_both([](const array& a) { return fft::fftn(a); }, {2, 3}, true);
  check_both([](const array& a) { return fft::irfftn(fft::rfftn(a)); }, {3, 4}, false);
  check_both([](const array& a) { return fft::fftshift(fft::fft2(a)); }, {2, 3}, true);
}

// The gradient of a complex argument is that of its parts, however they are put together.
BOOST_AUTO_TEST_CASE(of_a_complex_argument) {
  const dense re = random_dense({6}, -1, 1, 32), im = random_dense({6}, -1, 1, 33);
  const array z = tutti::complex(upload_as<double>(re), upload_as<double>(im));
  const array g = tutti::grad([](const arguments& v) { return weighed(fft::fft(v[0])); })({z})[0];
  const arguments parts = tutti::grad([](const arguments& v) {
    return weighed(fft::fft(tutti::complex(v[0], v[1])));
  })({upload_as<double>(re), upload_as<double>(im)});
  BOOST_TEST(matches(tutti::real(g), read(parts[0]), {.relative = 1e-12, .absolute = 1e-12}));
  BOOST_TEST(matches(tutti::abs(tutti::imag(g)), read(tutti::abs(parts[1])),
                     {.relative = 1e-12, .absolute = 1e-12}));
}
