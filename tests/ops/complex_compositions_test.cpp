// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers in what is composed of other operations: cumulative sums and products,
// differences, products over shared axes; against loops on the host. And the bits of products.
#include "differences.hpp"
#include "tutti_test/host_device.hpp"

namespace {

using tutti::scan_options;
using c64 = std::complex<float>;
using c128 = std::complex<double>;

struct values {
  shape extents;
  std::vector<c128> elements;
  c128 at(std::initializer_list<std::int64_t> i) const {
    std::int64_t place = 0;
    int d = 0;
    for (std::int64_t k : i) place = place * extents[d++] + k;
    return elements.at(static_cast<std::size_t>(place));
  }
};

// Near the unit circle, so that long products stay in range.
values random_values(const shape& extents, std::uint64_t salt) {
  const dense size = random_dense(extents, 0.9, 1.1, salt),
              angle = random_dense(extents, -3, 3, salt + 1);
  values out{extents, {}};
  for (std::size_t i = 0; i < size.values.size(); ++i)
    out.elements.push_back(std::polar(size.values[i], angle.values[i]));
  return out;
}

template <class C>
array upload_complex(const values& v) {
  return array::from(std::vector<C>(v.elements.begin(), v.elements.end()), v.extents);
}

template <class C>
boost::test_tools::assertion_result near(const array& got, const values& expected) {
  boost::test_tools::assertion_result result(got.shape() == expected.extents &&
                                             got.dtype() == tutti::dtype_of<C>);
  result.message() << "shape " << got.shape().str() << " of " << tutti::name(got.dtype());
  if (!result) return result;
  const std::vector<C> found = got.to_vector<C>();
  const double allowed = sizeof(C) == sizeof(c64) ? 3e-5 : 1e-12;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const c128 is(static_cast<double>(found[i].real()), static_cast<double>(found[i].imag()));
    if (std::abs(is - expected.elements[i]) <= allowed * (1 + std::abs(expected.elements[i])))
      continue;
    result = false;
    result.message() << ": [" << i << "] got " << is << ", expected " << expected.elements[i];
    return result;
  }
  return result;
}

values scanned(const values& x, int axis, bool product, bool exclusive, bool reverse) {
  values out = x;
  std::int64_t inner = 1;
  for (int i = axis + 1; i < x.extents.rank(); ++i) inner *= x.extents[i];
  const std::int64_t n = x.extents[axis];
  for (std::int64_t start = 0; start < x.extents.size(); ++start) {
    if (start / inner % n != 0) continue;
    c128 value = product ? 1 : 0;
    for (std::int64_t step = 0; step < n; ++step) {
      const auto at = static_cast<std::size_t>(start + (reverse ? n - 1 - step : step) * inner);
      const c128 before = value;
      value = product ? value * x.elements[at] : value + x.elements[at];
      out.elements[at] = exclusive ? before : value;
    }
  }
  return out;
}

values contracted(const shape& to, std::int64_t summed,
                  const std::function<c128(const position&, std::int64_t)>& term) {
  values out{to, {}};
  tabulate(to, [&](const position& p) {
    c128 sum = 0;
    for (std::int64_t k = 0; k < summed; ++k) sum += term(p, k);
    out.elements.push_back(sum);
    return 0;
  });
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(cumulative_complex, C, decltype(std::tuple<c64, c128>{})) {
  const values x = random_values({2, 37, 3}, 901);
  const array a = upload_complex<C>(x);
  const bool all = tutti_test::on_host();
  for (int axis = 0; axis < 3; ++axis) {
    for (int flags = 0; flags < 4; ++flags) {
      if (!all && axis != 1) continue;
      const scan_options o(axis - 3, (flags & 1) != 0, (flags & 2) != 0);
      BOOST_TEST_CONTEXT("axis " << axis << " flags " << flags) {
        BOOST_TEST(near<C>(tutti::cumsum(a, o), scanned(x, axis, false, o.exclusive, o.reverse)));
        BOOST_TEST(near<C>(tutti::cumprod(a, o), scanned(x, axis, true, o.exclusive, o.reverse)));
      }
    }
  }
  values flat = x;
  flat.extents = {222};
  BOOST_TEST(near<C>(tutti::cumprod(a), scanned(flat, 0, true, false, false)));
  const array turned = a.transpose({1, 0, 2})({tutti::slice{{}, {}, -1}});
  const array back = tutti::cumprod(turned, 0)({tutti::slice{{}, {}, -1}}).transpose({1, 0, 2});
  BOOST_TEST(near<C>(back, scanned(x, 1, true, false, true)));
}

// Parts of products are rounded once an operation, nothing is contracted, at any place of a line.
BOOST_AUTO_TEST_CASE(products_have_the_bits_of_single_operations) {
  for (const std::int64_t n : {1, 63, 64, 65, 200}) {
    const auto a = upload_complex<c64>(random_values({n}, 31)).to_vector<c64>();
    const auto b = upload_complex<c64>(random_values({n}, 33)).to_vector<c64>();
    const auto found = (array::from(a) * array::from(b)).to_vector<c64>();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const volatile float rr = a[i].real() * b[i].real(), ii = a[i].imag() * b[i].imag();
      const volatile float ri = a[i].real() * b[i].imag(), ir = a[i].imag() * b[i].real();
      BOOST_TEST(found[i] == c64(rr - ii, ri + ir));
    }
  }
}

BOOST_AUTO_TEST_CASE(cumulative_complex_edges) {
  const array one = array::from<c64>({{2, 1}}), none = tutti::zeros({0, 3}, dtype::c64);
  BOOST_TEST(near<c64>(tutti::cumprod(one, 0), {{1}, {{2, 1}}}));
  BOOST_TEST(near<c64>(tutti::cumprod(one, scan_options(0, true)), {{1}, {{1, 0}}}));
  BOOST_TEST(near<c64>(tutti::cumsum(one[0]), {{1}, {{2, 1}}}));
  for (int axis : {0, 1}) {
    BOOST_TEST(tutti::cumprod(none, axis).shape() == (shape{0, 3}));
    BOOST_TEST(tutti::cumsum(none, axis).shape() == (shape{0, 3}));
  }
  const array z = array::from<c64>({{1, 1}, {0, 2}, {3, -1}});
  BOOST_TEST(
      near<c64>(tutti::cumulative_prod(z, 0, {}, true), {{4}, {{1, 0}, {1, 1}, {-2, 2}, {-4, 8}}}));
  BOOST_TEST(near<c128>(tutti::cumulative_sum(z, 0, dtype::c128, true),
                        {{4}, {{0, 0}, {1, 1}, {1, 3}, {4, 2}}}));
  BOOST_TEST(near<c64>(
      tutti::cumprod(array::from<float>({2, 3}), scan_options(0, false, false, dtype::c64)),
      {{2}, {{2, 0}, {6, 0}}}));
  BOOST_TEST(near<c64>(tutti::diff(z), {{2}, {{-1, 1}, {3, -3}}}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const array poisoned = tutti::cumprod(array::from<c64>({{2, 0}, {nan, 0}, {1, 1}}), 0);
  BOOST_TEST(matches(tutti::isnan(poisoned), {{3}, {0, 1, 1}}));
  FAILS(dtype_error, tutti::cumsum(z, scan_options(0, false, false, dtype::f32)),
        "cumsum: c64 elements do not accumulate in f32");
  FAILS(dtype_error, tutti::cummax(z), "cummax");
  FAILS(dtype_error, tutti::logcumsumexp(z), "logcumsumexp");
}

BOOST_AUTO_TEST_CASE(taken_along_an_axis) {
  const array z = array::from<c64>({{1, 1}, {0, 2}, {3, -1}, {4, 5}}).reshape({2, 2});
  const array index = array::from(std::vector<std::int32_t>{1, -2}, {1, 2});
  BOOST_TEST(near<c64>(tutti::take_along_axis(z, index, 0), {{1, 2}, {{3, -1}, {0, 2}}}));
  BOOST_TEST(near<c64>(tutti::put_along_axis(z, index, c64(7, 8), 0),
                       {{2, 2}, {{1, 1}, {7, 8}, {7, 8}, {4, 5}}}));
}

BOOST_AUTO_TEST_CASE(products_over_shared_axes) {
  const values a = random_values({3, 4, 5}, 911), b = random_values({3, 5, 2}, 913);
  const array x = upload_complex<c64>(a), y = upload_complex<c64>(b);
  const values product = contracted({3, 4, 2}, 5, [&](const position& p, std::int64_t k) {
    return a.at({p[0], p[1], k}) * b.at({p[0], k, p[2]});
  });
  BOOST_TEST(near<c64>(tutti::matmul(x, y), product));
  BOOST_TEST(near<c64>(tutti::einsum("bij,bjk->bik", {x, y}), product));
  const array turned = x.transpose({0, 2, 1})({tutti::slice{}, tutti::slice{{}, {}, -1}});
  BOOST_TEST(near<c64>(
      tutti::einsum("bji,bjk->bik", {turned, y({tutti::slice{}, tutti::slice{{}, {}, -1}})}),
      product));
  BOOST_TEST(near<c128>(tutti::matmul(upload_complex<c128>(a), upload_complex<c128>(b)), product));
  const values over_two = contracted({4, 2}, 15, [&](const position& p, std::int64_t k) {
    return a.at({k / 5, p[0], k % 5}) * b.at({k / 5, k % 5, p[1]});
  });
  BOOST_TEST(near<c64>(tutti::tensordot(x, y, {0, 2}, {0, 1}), over_two));
  // A real operand has no imaginary part.
  values part = b;
  for (c128& v : part.elements) v = v.real();
  BOOST_TEST(near<c64>(tutti::matmul(x, tutti::real(y)),
                       contracted({3, 4, 2}, 5, [&](const position& p, std::int64_t k) {
                         return a.at({p[0], p[1], k}) * part.at({p[0], k, p[2]});
                       })));
  const values other = random_values({4, 5}, 915);
  const array w = upload_complex<c64>(other);
  BOOST_TEST(
      near<c64>(tutti::vecdot(x, w), contracted({3, 4}, 5, [&](const position& p, std::int64_t k) {
                  return std::conj(a.at({p[0], p[1], k})) * other.at({p[1], k});
                })));
  BOOST_TEST(near<c64>(tutti::vecdot(w, x, -2),
                       contracted({3, 5}, 4, [&](const position& p, std::int64_t k) {
                         return std::conj(other.at({k, p[1]})) * a.at({p[0], k, p[1]});
                       })));
  BOOST_TEST(near<c64>(tutti::inner(x, w),
                       contracted({3, 4, 4}, 5, [&](const position& p, std::int64_t k) {
                         return a.at({p[0], p[1], k}) * other.at({p[2], k});
                       })));
  BOOST_TEST(near<c64>(tutti::outer(w[0], w[1]),
                       contracted({5, 5}, 1, [&](const position& p, std::int64_t) {
                         return other.at({0, p[0]}) * other.at({1, p[1]});
                       })));
}

BOOST_AUTO_TEST_CASE(gradients_of_complex_compositions) {
  const dense re = random_dense({5}, 0.5, 1.5, 921), im = random_dense({5}, -1, 1, 922);
  const auto check = [&](const std::function<array(const array&)>& f) {
    check_gradient(
        [&](const std::vector<array>& v) {
          const array y = f(tutti::complex(v[0], v[1]));
          return weighted_sum(tutti::real(y)) + weighted_sum(tutti::imag(y)) * 2;
        },
        {re, im});
  };
  check([](const array& z) { return tutti::cumprod(z, 0); });
  check([](const array& z) { return tutti::cumsum(z * z, scan_options(0, true, true)); });
  check([](const array& z) { return tutti::vecdot(z, z * z); });
}
