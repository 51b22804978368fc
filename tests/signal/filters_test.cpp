// SPDX-License-Identifier: Apache-2.0
//
// Filters against the recurrence taken sample by sample in long double, in parts, layouts and
// dtypes; convolutions in the dtypes and shapes that SciPy's vectors leave out.
#include <boost/multiprecision/cpp_bin_float.hpp>

#include "tutti/signal.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace signal = tutti::signal;

// Direct forms of many poles near the unit circle lose all digits of a long double.
using exact = boost::multiprecision::cpp_bin_float_50;

template <class Number>
std::vector<Number> recurred(const std::vector<double>& b, const std::vector<double>& a,
                             const std::vector<Number>& x) {
  std::vector<Number> y(x.size());
  for (std::size_t n = 0; n < x.size(); ++n) {
    for (std::size_t k = 0; k < b.size() && k <= n; ++k) y[n] += b[k] * x[n - k];
    for (std::size_t k = 1; k < a.size() && k <= n; ++k) y[n] -= a[k] * y[n - k];
    y[n] /= a[0];
  }
  return y;
}

template <class Number>
std::vector<double> rounded(const std::vector<Number>& values) {
  std::vector<double> out;
  for (const Number& v : values) out.push_back(static_cast<double>(v));
  return out;
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> c(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) c[i + j] += a[i] * b[j];
  return c;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

}  // namespace

// Poles near the unit circle, where errors of the state live long; orders from 1 to 12.
BOOST_AUTO_TEST_CASE(recurrences) {
  struct filter_case {
    std::vector<double> b, a;
  };
  std::vector<double> many = {1};
  for (int i = 0; i < 12; ++i) {  // (1 - z^-1 / 2) twelve times
    many.push_back(0);
    for (std::size_t k = many.size() - 1; k > 0; --k) many[k] -= many[k - 1] / 2;
  }
  const filter_case all[] = {{{1}, {1, -1}},
                             {{0.001}, {1, -0.999}},
                             {{1, 2, 1}, {1, -1.999 * std::cos(0.3), 0.999001}},
                             {{0.5, 0, 0, 1}, {-2, 0.5}},
                             {{0.2, 0.5, -0.1, 0.3}, {2, -1.6, 1.1}},
                             {{1, -2, 3}, {2}},
                             {{1}, {1, -0.5, 0.2, 0.1}},
                             {{1}, many}};
  // States of long signals are found in several levels.
  for (const std::int64_t n : {1, 5, 64, 65, 130, 3000, 20000}) {
    const dense x = random_dense({n}, -1, 1, 711);
    for (const filter_case& f : all) {
      BOOST_TEST_CONTEXT(f.b.size()
                         << " and " << f.a.size() << " coefficients, " << n << " elements") {
        const std::vector<double> expected =
            rounded(recurred<long double>(f.b, f.a, {x.values.begin(), x.values.end()}));
        const double most = largest(expected);
        const bool has_state = f.a.size() > 1;
        const tolerance near{.relative = has_state ? 0 : 1e-13,
                             .absolute = has_state ? 1e-13 * most : 1e-13};
        BOOST_TEST(matches(signal::lfilter(f.b, f.a, upload_as<double>(x)), {{n}, expected}, near));
        if (!has_state) continue;  // a convolution in f32
        // One rounding of the result: states are in f64.
        BOOST_TEST(matches(signal::lfilter(f.b, f.a, upload_as<float>(x)), {{n}, expected},
                           {.relative = 1e-7, .absolute = 1e-12 * most}));
      }
    }
  }
}

// Many poles side by side: powers of the direct form's state are 10^10 and more before they cancel.
BOOST_AUTO_TEST_CASE(recurrences_of_narrow_filters) {
  struct filter_case {
    int order;
    double cutoff;
    std::int64_t length;
  };
  for (const filter_case& f :
       {filter_case{2, 1e-5, 20000}, filter_case{4, 0.01, 3000}, filter_case{4, 1e-3, 20000},
        filter_case{6, 0.01, 3000}, filter_case{8, 0.05, 1500}, filter_case{10, 0.1, 1500},
        filter_case{12, 1e-3, 3000}}) {
    BOOST_TEST_CONTEXT(f.order << " poles, cutoff " << f.cutoff) {
      const signal::sections sos = signal::butter(f.order, {f.cutoff});
      const dense x = random_dense({f.length}, -1, 1, 713);
      std::vector<exact> cascade(x.values.begin(), x.values.end());
      std::vector<double> b = {1}, a = {1};
      for (const signal::section& s : sos) {
        cascade = recurred<exact>({s[0], s[1], s[2]}, {s[3], s[4], s[5]}, cascade);
        b = product(b, {s[0], s[1], s[2]});
        a = product(a, {s[3], s[4], s[5]});
      }
      const std::vector<double> by_sections = rounded(cascade);
      BOOST_TEST(matches(signal::sosfilt(sos, upload_as<double>(x)), {{f.length}, by_sections},
                         {.absolute = 1e-12 * largest(by_sections)}));
      if (f.order > 10) continue;  // coefficients of a double have other poles there
      const std::vector<double> expected =
          rounded(recurred<exact>(b, a, {x.values.begin(), x.values.end()}));
      const double most = largest(expected);
      BOOST_TEST(matches(signal::lfilter(b, a, upload_as<double>(x)), {{f.length}, expected},
                         {.absolute = 1e-12 * most}));
      // States of the direct form between the parts lose digits, as they do between single steps.
      array state = tutti::zeros({static_cast<std::int64_t>(a.size()) - 1}, dtype::f64);
      std::vector<array> parts;
      for (std::int64_t from = 0; from < f.length; from += 128) {
        const signal::filtered y = signal::lfilter_from(
            b, a, upload_as<double>(x)({{from, std::min(from + 128, f.length)}}), state);
        parts.push_back(y.values);
        state = y.state;
      }
      BOOST_TEST(
          matches(tutti::concatenate(parts), {{f.length}, expected}, {.absolute = 1e-5 * most}));
    }
  }
}

BOOST_AUTO_TEST_CASE(signals_in_parts) {
  const std::vector<double> b = {1, 0.5}, a = {1, -0.9, 0.5};
  const array x = upload_as<double>(random_dense({2, 300}, -1, 1, 712));
  const dense whole = read(signal::lfilter(b, a, x));
  array state = tutti::zeros({2, 2}, dtype::f64);
  std::vector<array> parts;
  std::int64_t from = 0;
  for (const std::int64_t to : {1, 64, 65, 200, 200, 300}) {
    const signal::filtered y = signal::lfilter_from(b, a, x({{}, {from, to}}), state);
    parts.push_back(y.values);
    state = y.state;
    from = to;
  }
  BOOST_TEST(matches(tutti::concatenate(parts, 1), whole, {.relative = 1e-12, .absolute = 1e-13}));
  const signal::filtered gain = signal::lfilter_from({2}, {4}, x, tutti::zeros({2, 0}, dtype::f64));
  BOOST_TEST(matches(gain.values, read(x * 0.5)));
  BOOST_TEST(gain.state.shape() == (shape{2, 0}));
}

BOOST_AUTO_TEST_CASE(layouts_and_dtypes) {
  const dense values = random_dense({5, 70}, -1, 1, 713);
  const std::vector<double> b = {0.3, 0.2}, a = {1, -0.4};
  const dense expected = read(signal::lfilter(b, a, upload_as<double>(values)));
  for (const auto& [layout, x] : layouts<float>(values)) {
    BOOST_TEST(matches(signal::lfilter(b, a, x), expected, {.relative = 1e-7, .absolute = 1e-9}),
               layout);
    BOOST_TEST(matches(signal::lfilter(b, a, x.T(), 0).T(), expected,
                       {.relative = 1e-7, .absolute = 1e-9}),
               layout);
  }
  const array x = upload_as<float>(values);
  const array half = signal::lfilter(b, a, x.astype(dtype::f16));
  BOOST_TEST((half.dtype() == dtype::f16));
  BOOST_TEST(matches(half, expected, {.relative = 1e-3, .absolute = 1e-3}));
  BOOST_TEST((signal::lfilter(b, a, x.astype(dtype::i32)).dtype() == dtype::f32));
  BOOST_TEST(
      (signal::sosfilt(signal::butter(2, {0.1}), tutti::complex(x, x)).dtype() == dtype::c64));
  BOOST_TEST((signal::preemphasis(x.astype(dtype::bf16)).dtype() == dtype::bf16));
  BOOST_TEST(signal::lfilter(b, a, tutti::zeros({0, 4})).shape() == (shape{0, 4}));
  BOOST_TEST(signal::lfilter({1, 2}, {1}, tutti::zeros({4, 0})).shape() == (shape{4, 0}));
  BOOST_TEST(signal::filtfilt(b, a, tutti::zeros({0, 40})).shape() == (shape{0, 40}));
}

// Forwards and backwards: no delay, the square of the gain, and constants stay.
BOOST_AUTO_TEST_CASE(zero_phase) {
  const signal::sections sos = signal::butter(5, {0.2});
  const array constant = tutti::full({90}, 3.0, dtype::f64);
  BOOST_TEST(matches(signal::sosfiltfilt(sos, constant), read(constant), {.relative = 1e-11}));
  BOOST_TEST(matches(signal::filtfilt({0.1, 0.1}, {1, -0.8}, constant), read(constant),
                     {.relative = 1e-12}));
}

// Of integers convolution is exact, also where it wraps; halves are added up in f32.
BOOST_AUTO_TEST_CASE(dtypes_of_convolution) {
  const array a = array::from<std::int8_t>({100, 100, 100}), v = array::from<std::int8_t>({1, 1});
  const array sums = signal::convolve(a, v);
  BOOST_TEST((sums.dtype() == dtype::i8));
  BOOST_TEST((sums.to_vector<std::int8_t>() == std::vector<std::int8_t>{100, -56, -56, 100}));
  const array u = array::from<std::uint64_t>({std::uint64_t{1} << 63, 3});
  BOOST_TEST((signal::correlate(u, array::from<std::uint64_t>({2, 1})).to_vector<std::uint64_t>() ==
              std::vector<std::uint64_t>{std::uint64_t{1} << 63, 3, 6}));
  const array ones = tutti::ones({600}, dtype::f16);
  for (const auto method :
       {signal::convolution_method::direct, signal::convolution_method::fourier}) {
    const array y = signal::convolve(ones, ones, {.method = method});
    BOOST_TEST((y.dtype() == dtype::f16));
    BOOST_TEST(y[599].item() == 600);
  }
  const array four = upload_as<double>(random_integers({3, 2, 2, 2}, -5, 5, 714));
  const array other = upload_as<double>(random_integers({2, 2, 1, 2}, -5, 5, 715));
  BOOST_TEST(
      matches(signal::convolve(four, other),
              read(signal::convolve(four, other, {.method = signal::convolution_method::fourier})),
              {.relative = 1e-12, .absolute = 1e-12}));
  // Both with rows of their own.
  const array x = upload_as<double>(random_integers({2, 1, 6}, -5, 5, 716));
  const array w = upload_as<double>(random_integers({1, 3, 4}, -5, 5, 717));
  const array y = signal::convolve(x, w, {.axes = -1});
  BOOST_TEST(y.shape() == (shape{2, 3, 9}));
  BOOST_TEST(matches(y({1, 2}), read(signal::convolve(x({1, 0}), w({0, 2})))));
  BOOST_TEST(signal::convolve(tutti::zeros({0, 4}), tutti::zeros({1, 2}), {.axes = 1}).shape() ==
             (shape{0, 5}));
  BOOST_TEST(signal::convolve(array(3.0), array(2.0), {}).item() == 6);
}

BOOST_AUTO_TEST_CASE(large_convolutions_choose_transforms) {
  const dense a = random_dense({5000}, -1, 1, 718), v = random_dense({3000}, -1, 1, 719);
  const dense direct = read(signal::convolve(upload_as<double>(a), upload_as<double>(v),
                                             {.method = signal::convolution_method::direct}));
  BOOST_TEST(matches(signal::convolve(upload_as<double>(a), upload_as<double>(v)), direct,
                     {.absolute = 1e-11}));
  BOOST_TEST(matches(signal::convolve(upload_as<float>(a), upload_as<float>(v)), direct,
                     {.absolute = 1e-3}));
}
