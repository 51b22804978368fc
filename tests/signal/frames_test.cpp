// SPDX-License-Identifier: Apache-2.0
//
// Frames and their sums against loops, in layouts and dtypes; what transforms by frames and of
// cosines promise as identities.
#include "tutti/signal.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace signal = tutti::signal;

struct frame_case {
  std::int64_t length, hop;
};

// Hops that divide the length, that do not, and that leave samples out.
constexpr frame_case cases[] = {{1, 1}, {4, 1}, {4, 2}, {5, 3}, {3, 4}, {7, 2}};

dense added(const dense& frames, std::int64_t hop) {
  const std::int64_t rows = frames.extents[0], count = frames.extents[1],
                     length = frames.extents[2];
  dense out{{rows, (count - 1) * hop + length}, {}};
  out.values.resize(static_cast<std::size_t>(out.extents.size()));
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t f = 0; f < count; ++f)
      for (std::int64_t i = 0; i < length; ++i)
        out.values[static_cast<std::size_t>(r * out.extents[1] + f * hop + i)] +=
            frames.at({r, f, i});
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(frames_are_slices) {
  const dense values = random_dense({3, 11}, -2, 2, 701);
  for (const auto& [layout, x] : layouts<float>(values)) {
    for (const auto [length, hop] : cases) {
      BOOST_TEST_CONTEXT(layout << ": " << length << ", " << hop) {
        const std::int64_t n = length, step = hop;
        BOOST_TEST(matches(signal::frame(x, n, step),
                           tabulate({3, (11 - n) / step + 1, n}, [&](const position& i) {
                             return values.at({i[0], i[1] * step + i[2]});
                           })));
      }
    }
    BOOST_TEST(matches(signal::frame(x, 2, 1, 0), tabulate({2, 11, 2}, [&](const position& i) {
                         return values.at({i[0] + i[2], i[1]});
                       })));
  }
  BOOST_TEST((signal::frame(tutti::ones({5}, dtype::boolean), 2, 2).dtype() == dtype::boolean));
  BOOST_TEST(signal::frame(tutti::zeros({0, 5}), 2, 2).shape() == (shape{0, 2, 2}));
}

BOOST_AUTO_TEST_CASE(frames_add_up) {
  for (const auto [length, hop] : cases)
    for (const std::int64_t count : {1, 2, 5}) {
      BOOST_TEST_CONTEXT(count << " frames of " << length << ", " << hop << " apart") {
        const dense frames = random_integers({2, count, length}, -9, 9, 702);
        const dense expected = added(frames, hop);
        for (const auto& [layout, x] : layouts<float>(frames))
          BOOST_TEST(matches(signal::overlap_add(x, hop), expected), layout);
        BOOST_TEST(matches(signal::overlap_add(upload_as<std::int8_t>(frames), hop), expected));
        const array turned = tutti::moveaxis(upload_as<double>(frames), {1}, {0});
        BOOST_TEST(matches(signal::overlap_add(turned, hop, 0).T(), expected));
      }
    }
  const array half = tutti::full({2, 3}, 0.5f, dtype::bf16);
  BOOST_TEST((signal::overlap_add(half, 1).dtype() == dtype::bf16));
  BOOST_TEST(signal::overlap_add(tutti::zeros({0, 4, 3}), 2).shape() == (shape{0, 9}));
}

// <frames of x, y> = <x, sums of y>.
BOOST_AUTO_TEST_CASE(sums_are_the_adjoint_of_frames) {
  const array x = upload_as<double>(random_dense({17}, -1, 1, 703));
  const array y = upload_as<double>(random_dense({5, 5}, -1, 1, 704));
  const double left = tutti::sum(signal::frame(x, 5, 3) * y).item();
  BOOST_TEST(left == tutti::vecdot(x, signal::overlap_add(y, 3)).item(),
             boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(short_time_transforms_come_back) {
  const array x = upload_as<double>(random_dense({2, 101}, -1, 1, 705));
  for (const std::int64_t n : {1, 2, 16, 15}) {
    const std::int64_t hop = n > 4 ? 4 : 1;
    const array z = signal::stft(x, n, {.hop = hop, .window = tutti::ones({n}, dtype::f64)});
    BOOST_TEST(z.shape() == (shape{2, n / 2 + 1, 1 + (101 + n / 2 * 2 - n) / hop}));
    const array y = signal::istft(z, n, {.hop = hop, .window = tutti::ones({n}, dtype::f64)}, 101);
    // An odd transform leaves samples at the end that no frame reaches.
    const std::int64_t covered = std::min<std::int64_t>(101, (z.dim(-1) - 1) * hop + n - n / 2);
    BOOST_TEST(matches(y({{}, {0, covered}}), read(x({{}, {0, covered}})),
                       {.relative = 1e-13, .absolute = 1e-13}));
  }
  const array c = tutti::complex(x, tutti::flip(x));
  const array z = signal::stft(c, 12);
  BOOST_TEST(z.dim(-2) == 12);
  const array back = signal::istft(z, 12, {}, 101);
  BOOST_TEST((back.dtype() == dtype::c128));
  BOOST_TEST(matches(tutti::imag(back)({{}, {0, 100}}), read(tutti::flip(x)({{}, {0, 100}})),
                     {.relative = 1e-13, .absolute = 1e-13}));
  BOOST_TEST((signal::stft(x.astype(dtype::f32), 12).dtype() == dtype::c64));
  BOOST_TEST(signal::stft(tutti::zeros({0, 40}), 8).shape() == (shape{0, 5, 21}));
  BOOST_TEST(matches(signal::spectrogram(x, 8, {}, 1), read(tutti::abs(signal::stft(x, 8))),
                     {.relative = 1e-14}));
  BOOST_TEST(matches(signal::spectrogram(x, 8, {}, 3),
                     read(tutti::power(tutti::abs(signal::stft(x, 8)), 3)), {.relative = 1e-13}));
}

BOOST_AUTO_TEST_CASE(cosine_transforms_come_back_in_f32) {
  const dense values = random_dense({3, 21}, -1, 1, 706);
  for (const auto& [layout, x] : layouts<float>(values))
    for (int type = 1; type <= 4; ++type)
      for (const auto by :
           {tutti::fft::norm::backward, tutti::fft::norm::ortho, tutti::fft::norm::forward})
        BOOST_TEST(matches(signal::idct(signal::dct(x, type, {}, 1, by), type, {}, 1, by), values,
                           {.relative = 1e-6, .absolute = 1e-6}),
                   layout << ", type " << type);
  const array i = upload_as<std::int32_t>(random_integers({4}, -9, 9, 707));
  BOOST_TEST((signal::dct(i).dtype() == dtype::f32));
  // The norm of a line is kept.
  const array x = upload_as<double>(values);
  for (const int type : {2, 3, 4})
    BOOST_TEST(
        tutti::sum(tutti::square(signal::dct(x, type, {}, 1, tutti::fft::norm::ortho))).item() ==
            tutti::sum(tutti::square(x)).item(),
        boost::test_tools::tolerance(1e-13));
}
