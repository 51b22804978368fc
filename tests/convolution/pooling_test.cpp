// SPDX-License-Identifier: Apache-2.0
//
// Pooling, views of windows and resampling against loops over their definition.
#include "tutti/nn/pooling.hpp"

#include "direct.hpp"
#include "tutti/nn/sampling.hpp"

namespace {

using tutti::channel_order;

struct window {
  std::int64_t size, stride, padding, dilation = 1;
};

std::int64_t places(const window& w, std::int64_t extent) {
  return (extent + 2 * w.padding - w.dilation * (w.size - 1) - 1) / w.stride + 1;
}

// f(values) over the elements of x [N, C, H, W] in each window; padding is left out.
template <class F>
dense over_windows(const dense& x, const window& down, const window& across, F&& f) {
  const shape& e = x.extents;
  return tabulate({e[0], e[1], places(down, e[2]), places(across, e[3])}, [&](const position& at) {
    std::vector<double> seen;
    for (std::int64_t i = 0; i < down.size; ++i)
      for (std::int64_t j = 0; j < across.size; ++j) {
        const std::int64_t row = at[2] * down.stride + i * down.dilation - down.padding;
        const std::int64_t column = at[3] * across.stride + j * across.dilation - across.padding;
        if (row >= 0 && row < e[2] && column >= 0 && column < e[3])
          seen.push_back(x.at({at[0], at[1], row, column}));
      }
    return f(seen);
  });
}

double largest(const std::vector<double>& seen) {
  double best = -std::numeric_limits<double>::infinity();
  for (double v : seen) best = v > best || std::isnan(v) ? v : best;
  return best;
}

double total(const std::vector<double>& seen) {
  double sum = 0;
  for (double v : seen) sum += v;
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_CASE(maxima_of_windows) {
  const dense x = random_integers({2, 3, 9, 23}, -50, 50, 1);
  for (const auto& [down, across] : {std::pair<window, window>{{2, 2, 0}, {2, 2, 0}},
                                     {{3, 2, 1}, {3, 1, 0}},
                                     {{2, 1, 0, 3}, {4, 3, 2, 2}},
                                     {{9, 1, 0}, {19, 2, 3}}}) {
    const tutti::pooling_options options{.stride = tutti::per_axis{down.stride, across.stride},
                                         .padding = {down.padding, across.padding},
                                         .dilation = {down.dilation, across.dilation}};
    const dense expected = over_windows(x, down, across, largest);
    BOOST_TEST(
        matches(tutti::max_pool(upload_as<float>(x), {down.size, across.size}, options), expected));
    BOOST_TEST(matches(
        tutti::max_pool(upload_as<std::int32_t>(x), {down.size, across.size}, options), expected));
  }
}

BOOST_AUTO_TEST_CASE(means_of_windows) {
  const dense x = random_integers({2, 3, 9, 12}, -50, 50, 1);
  const window down{3, 2, 1}, across{2, 1, 1};
  tutti::pooling_options options{.stride = tutti::per_axis{2, 1}, .padding = 1};
  const auto near = [&](const array& got, const dense& expected) {
    BOOST_TEST(matches(got, expected, {.relative = 1e-6, .absolute = 1e-5}));
  };
  near(tutti::avg_pool(upload_as<float>(x), {3, 2}, options),
       over_windows(x, down, across, [](const auto& seen) { return total(seen) / 6; }));
  options.count_padding = false;
  const dense inner = over_windows(x, down, across, [](const auto& seen) {
    return total(seen) / static_cast<double>(seen.size());
  });
  near(tutti::avg_pool(upload_as<float>(x), {3, 2}, options), inner);
  options.order = channel_order::last;
  const array last = tutti::moveaxis(upload_as<float>(x), 1, -1);
  near(tutti::moveaxis(tutti::avg_pool(last, {3, 2}, options), -1, 1), inner);
  near(tutti::avg_pool(upload_as<std::int16_t>(x), 3),
       over_windows(x, {3, 3, 0}, {3, 3, 0}, [](const auto& seen) { return total(seen) / 9; }));
}

// Along one axis, along both, on both sides; the largest numbers are at the edges, next to them.
BOOST_AUTO_TEST_CASE(means_of_windows_of_padding) {
  dense x = random_integers({1, 2, 3, 2}, 1, 50, 2);
  x.values.front() = std::numeric_limits<double>::infinity();
  x.values.back() = std::nan("");
  const window down{2, 1, 4}, across{2, 1, 3};
  const array got =
      tutti::avg_pool(upload_as<float>(x), 2,
                      {.stride = tutti::per_axis(1), .padding = {4, 3}, .count_padding = false});
  BOOST_TEST(matches(got,
                     over_windows(x, down, across,
                                  [](const auto& seen) {
                                    return seen.empty()
                                               ? 0
                                               : total(seen) / static_cast<double>(seen.size());
                                  }),
                     {.relative = 1e-6}));
  BOOST_TEST(!tutti::any(tutti::signbit(got)).item<bool>());
  const array of_none =
      tutti::avg_pool(tutti::zeros({1, 1, 0}), 2,
                      {.stride = tutti::per_axis(1), .padding = 2, .count_padding = false});
  BOOST_TEST((of_none.to_vector<float>() == std::vector<float>{0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(whole_planes_and_adaptive_windows) {
  const dense x = random_integers({2, 3, 9, 12}, -50, 50, 1);
  const array a = upload_as<float>(x);
  BOOST_TEST(matches(tutti::global_max_pool(a), over_windows(x, {9, 1, 0}, {12, 1, 0}, largest)));
  BOOST_TEST(matches(
      tutti::global_avg_pool(a),
      over_windows(x, {9, 1, 0}, {12, 1, 0}, [](const auto& seen) { return total(seen) / 108; }),
      {.relative = 1e-6, .absolute = 1e-5}));
  const auto adaptive = [&](std::int64_t rows, std::int64_t columns, auto&& f) {
    return tabulate({2, 3, rows, columns}, [&](const position& at) {
      std::vector<double> seen;
      for (std::int64_t i = at[2] * 9 / rows; i < ((at[2] + 1) * 9 + rows - 1) / rows; ++i)
        for (std::int64_t j = at[3] * 12 / columns; j < ((at[3] + 1) * 12 + columns - 1) / columns;
             ++j)
          seen.push_back(x.at({at[0], at[1], i, j}));
      return f(seen);
    });
  };
  const auto average = [](const auto& seen) {
    return total(seen) / static_cast<double>(seen.size());
  };
  BOOST_TEST(matches(tutti::adaptive_max_pool(a, {3, 5}), adaptive(3, 5, largest)));
  BOOST_TEST(matches(tutti::adaptive_max_pool(a, {4, 17}), adaptive(4, 17, largest)));
  BOOST_TEST(matches(tutti::adaptive_avg_pool(a, {4, 6}), adaptive(4, 6, average),
                     {.relative = 1e-5, .absolute = 1e-4}));
}

BOOST_AUTO_TEST_CASE(nan_is_the_largest_and_padding_the_lowest) {
  dense x = random_integers({1, 1, 4, 4}, -9, -1, 1);
  x.values[5] = std::nan("");
  const array got = tutti::max_pool(upload_as<float>(x), 2);
  BOOST_TEST(matches(got, over_windows(x, {2, 2, 0}, {2, 2, 0}, largest)));
  const array around = tutti::max_pool(upload_as<float>(x), 1, {.padding = 1});
  BOOST_TEST(around({0, 0, 0, 0}).item() == -std::numeric_limits<double>::infinity());
}

BOOST_AUTO_TEST_CASE(windows_are_views) {
  const dense x = random_integers({3, 5, 6}, -9, 9, 1);
  for (const auto& [name, seen] : layouts(x)) BOOST_TEST_CONTEXT(name) {
      const array all = tutti::sliding_window_view(seen, {2, 3}, {2, 1});
      const dense expected = tabulate({3, 3, 5, 2, 3}, [&](const position& at) {
        return x.at({at[0], at[1] + at[4], at[2] + at[3]});
      });
      BOOST_TEST(matches(all, expected));
      BOOST_TEST(matches(tutti::as_strided(seen, {4, 3}, {7, -2}, 11),
                         tabulate({4, 3}, [&](const position& at) {
                           return x.values[static_cast<std::size_t>(11 + 7 * at[0] - 2 * at[1])];
                         })));
    }
  const array a = upload_as<float>(x);
  const auto outside = [&](const shape& extents, const shape& strides, std::int64_t offset) {
    const std::string got =
        message_of<tutti::index_error>([&] { tutti::as_strided(a, extents, strides, offset); });
    BOOST_TEST(got.find("reach beyond 90 elements") != std::string::npos, got);
  };
  outside({91}, {1}, 0);
  outside({2}, {-1}, 0);
  outside({3, 3}, {std::int64_t{1} << 62, 1}, 0);
  outside({1}, {1}, 90);
  const std::string longer =
      message_of<tutti::shape_error>([&] { tutti::sliding_window_view(a, {7}, {2}); });
  BOOST_TEST(longer.find("a window [7] over [3,5,6]") != std::string::npos, longer);
}

BOOST_AUTO_TEST_CASE(places_between_elements) {
  const dense x = random_dense({2, 2, 5, 7}, -1, 1, 1);
  const array a = upload_as<float>(x);
  const auto linear = [](double at, std::int64_t k) {
    return std::max(0.0, 1 - std::abs(at - static_cast<double>(k)));
  };
  const auto keys = [](double at, std::int64_t k) {
    const double d = std::abs(at - static_cast<double>(k)), b = -0.75;
    if (d <= 1) return (b + 2) * d * d * d - (b + 3) * d * d + 1;
    return d < 2 ? b * d * d * d - 5 * b * d * d + 8 * b * d - 4 * b : 0.0;
  };
  const auto resampled = [&](std::int64_t rows, std::int64_t columns, bool corners, bool clipped,
                             auto&& kernel) {
    const auto source = [&](std::int64_t i, std::int64_t extent, std::int64_t size) {
      const double n = static_cast<double>(extent), m = static_cast<double>(size);
      const double at = corners ? static_cast<double>(i) * (n - 1) / (m - 1)
                                : (static_cast<double>(i) + 0.5) * n / m - 0.5;
      return clipped ? std::max(at, 0.0) : at;
    };
    return tabulate({2, 2, rows, columns}, [&](const position& at) {
      const double down = source(at[2], 5, rows), across = source(at[3], 7, columns);
      double sum = 0;
      for (std::int64_t i = -3; i < 9; ++i)
        for (std::int64_t j = -3; j < 11; ++j)
          sum += kernel(down, i) * kernel(across, j) *
                 x.at({at[0], at[1], std::clamp<std::int64_t>(i, 0, 4),
                       std::clamp<std::int64_t>(j, 0, 6)});
      return sum;
    });
  };
  const tolerance near{.relative = 1e-5, .absolute = 1e-5};
  using tutti::nn::resampling;
  for (const bool corners : {false, true}) {
    BOOST_TEST(matches(tutti::nn::interpolate(a, {8, 3}, {resampling::linear, corners}),
                       resampled(8, 3, corners, true, linear), near));
    BOOST_TEST(matches(tutti::nn::interpolate(a, {8, 3}, {resampling::cubic, corners}),
                       resampled(8, 3, corners, false, keys), near));
  }
  BOOST_TEST(
      matches(tutti::nn::interpolate(a, {8, 3}), tabulate({2, 2, 8, 3}, [&](const position& at) {
                return x.at({at[0], at[1], at[2] * 5 / 8, at[3] * 7 / 3});
              })));
}

BOOST_AUTO_TEST_CASE(pooling_and_padding_stay_on_the_device_of_their_input) {
  const tutti::device there("reference");
  const array x = upload_as<float>(random_dense({1, 2, 4, 4}, -1, 1, 1)).to(there);
  const tutti::pooling_options padded{.padding = 1};
  BOOST_TEST((tutti::max_pool(x, 2, padded).device() == there));
  BOOST_TEST((tutti::max_pool_with_indices(x, 2, padded).indices.device() == there));
  const auto pooled = [](const std::vector<array>& v) {
    return tutti::sum(tutti::max_pool(v[0], 2));
  };
  BOOST_TEST((tutti::grad(pooled)({x})[0].device() == there));
  const array none = tutti::pad(tutti::zeros({0, 3}, dtype::f32, there), {{1, 0}, {0, 2}});
  BOOST_TEST((none.device() == there));
  BOOST_TEST(matches(none, {{1, 5}, std::vector<double>(5, 0.0)}));
}
