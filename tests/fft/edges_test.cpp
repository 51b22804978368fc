// SPDX-License-Identifier: Apache-2.0
//
// Several axes, frequencies, shifts; no elements, NaN, dtypes and bad input.
#include "sums.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace fft = tutti::fft;

bool identical(const array& a, const array& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && read_numbers(a) == read_numbers(b);
}

}  // namespace

BOOST_AUTO_TEST_CASE(several_axes_are_one_after_the_other) {
  const array x = random_numbers({3, 4, 5}, dtype::c128, 20);
  BOOST_TEST(identical(fft::fft2(x), fft::fft(fft::fft(x, {}, 2), {}, 1)));
  BOOST_TEST(identical(fft::fftn(x), fft::fft(fft::fft(fft::fft(x, {}, 2), {}, 1), {}, 0)));
  BOOST_TEST(identical(fft::ifftn(x, shape{6, 2}), fft::ifft(fft::ifft(x, 2, 2), 6, 1)));
  BOOST_TEST(identical(fft::fftn(x, shape{6, 2}, {2, 0}, fft::norm::forward),
                       fft::fft(fft::fft(x, 2, 0, fft::norm::forward), 6, 2, fft::norm::forward)));
  BOOST_TEST(identical(fft::ifft2(x, {}, {0, 2}, fft::norm::ortho),
                       fft::ifft(fft::ifft(x, {}, 2, fft::norm::ortho), {}, 0, fft::norm::ortho)));
  const array r = random_numbers({3, 4, 5}, dtype::f64, 21);
  BOOST_TEST(identical(fft::rfft2(r), fft::fft(fft::rfft(r, {}, 2), {}, 1)));
  BOOST_TEST(identical(fft::rfftn(r, {}, {2, 0}), fft::fft(fft::rfft(r, {}, 0), {}, 2)));
  BOOST_TEST(identical(fft::irfft2(x), fft::irfft(fft::ifft(x, {}, 1), {}, 2)));
  BOOST_TEST(identical(fft::irfftn(x, shape{3, 4, 7}),
                       fft::irfft(fft::ifft(fft::ifft(x, {}, 0), {}, 1), 7, 2)));
  BOOST_TEST(identical(fft::fftn(x, {}, std::vector<std::int64_t>{}), x));
}

BOOST_AUTO_TEST_CASE(frequencies) {
  const auto are = [](const array& a, const std::vector<float>& want) {
    return a.to_vector<float>() == want;
  };
  BOOST_TEST(are(fft::fftfreq(5), {0, 0.2F, 0.4F, -0.4F, -0.2F}));
  BOOST_TEST(are(fft::fftfreq(4, 0.5), {0, 0.5F, -1, -0.5F}));
  BOOST_TEST(are(fft::fftfreq(1), {0}));
  BOOST_TEST(are(fft::rfftfreq(4, 0.5), {0, 0.5F, 1}));
  BOOST_TEST(are(fft::rfftfreq(5, 2), {0, 0.1F, 0.2F}));
  BOOST_TEST((fft::rfftfreq(1, 1, dtype::f64).dtype() == dtype::f64));
}

BOOST_AUTO_TEST_CASE(shifts) {
  const array x = array::from(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {2, 5});
  const auto values = [](const array& a) { return a.to_vector<float>(); };
  BOOST_TEST((values(fft::fftshift(x, 1)) == std::vector<float>{3, 4, 0, 1, 2, 8, 9, 5, 6, 7}));
  BOOST_TEST((values(fft::ifftshift(x, 1)) == std::vector<float>{2, 3, 4, 0, 1, 7, 8, 9, 5, 6}));
  BOOST_TEST((values(fft::fftshift(x)) == std::vector<float>{8, 9, 5, 6, 7, 3, 4, 0, 1, 2}));
  BOOST_TEST((values(fft::ifftshift(fft::fftshift(x))) == values(x)));
  const array cube = tutti::reshape(tutti::arange(30.0), {2, 3, 5});
  const array two = fft::ifftshift(fft::ifftshift(cube, 0), 2);
  BOOST_TEST((values(fft::ifftshift(cube, {0, 2})) == values(two)));
  BOOST_TEST((values(fft::fftshift(two, {0, 2})) == values(cube)));
}

BOOST_AUTO_TEST_CASE(without_elements) {
  const array none = tutti::zeros({0, 4}, dtype::c64);
  BOOST_TEST((fft::fft(none).shape() == shape{0, 4}));
  BOOST_TEST((fft::irfft(none).shape() == shape{0, 6}));
  BOOST_TEST((fft::irfft(none).dtype() == dtype::f32));
  const array padded = fft::fft(tutti::zeros({2, 0}, dtype::c128), 3);
  BOOST_TEST((padded.shape() == shape{2, 3}));
  BOOST_TEST(norm_of(read_numbers(padded)) == 0);
  BOOST_CHECK_THROW(fft::fft(tutti::zeros({2, 0}, dtype::c64)), tutti::value_error);
}

// Each line by itself, also where lines share vectors.
BOOST_AUTO_TEST_CASE(not_a_number_stays_in_its_line) {
  for (const float odd :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const std::int64_t n : {8, 17, 60}) {
      std::vector<float> values(static_cast<std::size_t>(12 * n), 1);
      values[static_cast<std::size_t>(5 * n + 2)] = odd;
      const numbers_list got = read_numbers(fft::rfft(array::from(values, {12, n})));
      const std::int64_t each = n / 2 + 1;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const bool in_line = static_cast<std::int64_t>(i) / each == 5;
        BOOST_TEST(in_line != (std::isfinite(got[i].real()) && std::isfinite(got[i].imag())));
      }
    }
}

BOOST_AUTO_TEST_CASE(dtypes) {
  const shape extents{2, 4};
  BOOST_TEST((fft::fft(tutti::zeros(extents, dtype::f32)).dtype() == dtype::c64));
  BOOST_TEST((fft::fft(tutti::zeros(extents, dtype::f64)).dtype() == dtype::c128));
  BOOST_TEST((fft::fft(tutti::zeros(extents, dtype::i32)).dtype() == dtype::c64));
  BOOST_TEST((fft::rfft(tutti::zeros(extents, dtype::boolean)).dtype() == dtype::c64));
  BOOST_TEST((fft::irfft(tutti::zeros(extents, dtype::c128)).dtype() == dtype::f64));
  BOOST_TEST((fft::hfft(tutti::zeros(extents, dtype::f32)).dtype() == dtype::f32));
  BOOST_TEST((fft::fftshift(tutti::zeros(extents, dtype::i8)).dtype() == dtype::i8));
  for (const dtype half : {dtype::f16, dtype::bf16}) {
    const array x = tutti::zeros(extents, half);
    BOOST_CHECK_THROW(fft::fft(x), tutti::dtype_error);
    BOOST_CHECK_THROW(fft::rfftn(x), tutti::dtype_error);
  }
  BOOST_CHECK_THROW(fft::rfft(tutti::zeros(extents, dtype::c64)), tutti::dtype_error);
  BOOST_CHECK_THROW(fft::ihfft(tutti::zeros(extents, dtype::c64)), tutti::dtype_error);
  BOOST_CHECK_THROW(fft::fftfreq(3, 1, dtype::i32), tutti::dtype_error);
}

BOOST_AUTO_TEST_CASE(bad_input) {
  const array x = tutti::zeros({2, 4}, dtype::c64);
  BOOST_TEST(message_of<tutti::error>([&] { fft::fft(x, 0); }) ==
             "fft: a transform of 0 points along axis 1 of [2,4]");
  BOOST_TEST(message_of<tutti::error>([&] {
               fft::irfft(x({tutti::slice{}, tutti::slice{0, 1}}));
             }) == "irfft: a transform of 0 points along axis 1 of [2,1]");
  BOOST_CHECK_THROW(fft::ifft(x, -3), tutti::value_error);
  BOOST_CHECK_THROW(fft::fft(x, {}, 2), tutti::index_error);
  BOOST_CHECK_THROW(fft::fft(array(1.0F)), tutti::index_error);
  BOOST_CHECK_THROW(fft::fftn(x, {}, {1, 1}), tutti::value_error);
  BOOST_CHECK_THROW(fft::fftn(x, {}, {0, 2}), tutti::index_error);
  BOOST_TEST(message_of<tutti::error>([&] {
               fft::fftn(x, shape{2}, {0, 1});
             }) == "fftn: lengths [2] for axes [0,1]");
  BOOST_TEST(message_of<tutti::error>([&] {
               fft::fftn(x, shape{2, 2, 2});
             }) == "fftn: lengths [2,2,2] for an array of shape [2,4]");
  BOOST_CHECK_THROW(fft::rfftn(tutti::zeros({}, dtype::f32)), tutti::value_error);
  BOOST_CHECK_THROW(fft::fft(x, std::int64_t{1} << 61), tutti::error);
  BOOST_CHECK_THROW(fft::irfft(x, std::int64_t{1} << 62), tutti::error);
  BOOST_CHECK_THROW(fft::fftfreq(0), tutti::value_error);
  BOOST_CHECK_THROW(fft::fftshift(x, 2), tutti::index_error);
  BOOST_CHECK_THROW(fft::fft(x, {}, -1, static_cast<fft::norm>(9)), tutti::value_error);
  BOOST_CHECK_THROW(fft::fft(array()), tutti::value_error);
}
