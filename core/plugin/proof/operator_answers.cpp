// SPDX-License-Identifier: Apache-2.0
//
// Operators with their operands and, by plain loops, what they must give. Values are chosen so that
// every dtype holds them, and all sums on the way, exactly.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "plugin/proof/known_answer.hpp"
#include "tutti/dtype.hpp"

namespace tutti::detail {
namespace {

using numbers = std::vector<double>;

constexpr std::uint64_t row_length = 3000;

/// Whole numbers that the dtype holds: from -most to most, or from 0 where it has no sign.
numbers integers(std::int32_t type, std::size_t n, std::uint32_t seed, int most) {
  const auto t = static_cast<dtype>(type);
  if (is_bool(t)) return whole_numbers(n, seed, 0, 1);
  return whole_numbers(n, seed, is_unsigned(t) ? 0 : -most, most);
}

/// The output of an operator that writes all of it: what it held does not matter.
operator_question made(tutti_operator kind, std::vector<tensor> inputs, tensor right,
                       double tolerance = 0) {
  tensor before = overwritten(right);
  return {kind, {}, std::move(inputs), std::move(before), {std::move(right), tolerance}};
}

template <class Params>
operator_question with(operator_question q, const Params& params) {
  q.params = as_words(params);
  return q;
}

// ---- products

struct product_sizes {
  std::uint64_t rows, depth, columns;
};

product_sizes sizes_of(product_variant variant) {
  if (variant == product_variant::large) return {130, 150, 140};
  if (variant == product_variant::vector) return {1, 70, 90};
  return {37, 29, 43};
}

/// Those of a use, but for what would take the host long, or leave the integers that f32 holds.
product_sizes sizes_of(const tutti_operator_desc& use) {
  constexpr std::uint64_t longest = 1024, most = 1 << 25;  // multiplications: some 20 ms
  std::uint64_t sizes[] = {use.views[0].extent[1], use.views[1].extent[2], use.views[0].extent[2]};
  for (std::uint64_t& n : sizes) n = std::clamp<std::uint64_t>(n, 1, longest);
  while (sizes[0] * sizes[1] * sizes[2] > most) *std::max_element(sizes, sizes + 3) /= 2;
  return {sizes[0], sizes[1], sizes[2]};
}

operator_question product(product_variant variant, std::int32_t type,
                          const tutti_operator_desc* use) {
  const auto [m, k, n] = use != nullptr ? sizes_of(*use) : sizes_of(variant);
  const bool both = variant == product_variant::bias_and_relu;
  const bool has_bias = both || variant == product_variant::bias;
  const bool has_relu = both || variant == product_variant::relu;
  const numbers a = integers(type, m * k, 1, 3), b = integers(type, k * n, 2, 3);
  const numbers bias = integers(type, n, 3, 9);
  numbers c(m * n);
  for (std::uint64_t i = 0; i < m; ++i) {
    for (std::uint64_t q = 0; q < k; ++q)
      for (std::uint64_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + q] * b[q * n + j];
    for (std::uint64_t j = 0; j < n; ++j) {
      double& sum = c[i * n + j];
      if (has_bias) sum += bias[j];
      if (has_relu) sum = std::max(sum, 0.0);
    }
  }
  operator_question q = made(TUTTI_OPERATOR_MATMUL,
                             {make_tensor(type, {1, m, k}, a), make_tensor(type, {1, k, n}, b)},
                             make_tensor(type, {1, m, n}, c));
  if (has_bias) q.inputs.push_back(make_tensor(type, {n}, bias));
  if (!has_bias && !has_relu) return q;
  return with(std::move(q),
              tutti_matmul_params{sizeof(tutti_matmul_params),
                                  has_relu ? TUTTI_ACTIVATION_RELU : TUTTI_ACTIVATION_NONE,
                                  has_bias ? 1u : 0u});
}

// ---- rows picked by an index

tensor index_of(std::size_t n, std::uint64_t step, std::uint64_t rows, bool is_short) {
  numbers index(n);
  for (std::size_t i = 0; i < n; ++i) index[i] = static_cast<double>(i * step % rows);
  return make_tensor(is_short ? TUTTI_I32 : TUTTI_I64, {n}, index);
}

operator_question gather(std::int32_t type, bool is_short) {
  constexpr std::uint64_t rows = 50, picked = 70, columns = 9;
  const numbers x = integers(type, rows * columns, 3, 100);
  const tensor index = index_of(picked, 37, rows, is_short);
  numbers y(picked * columns);
  for (std::uint64_t i = 0; i < picked; ++i)
    std::copy_n(&x[i * 37 % rows * columns], columns, &y[i * columns]);
  return made(TUTTI_OPERATOR_TAKE, {make_tensor(type, {1, rows, columns}, x), index},
              make_tensor(type, {1, picked, columns}, y));
}

double combined(std::optional<tutti_scatter> how, double held, double update) {
  if (!how) return held + update;
  if (*how == TUTTI_SCATTER_SET) return update;
  if (*how == TUTTI_SCATTER_MULTIPLY) return held * update;
  return *how == TUTTI_SCATTER_MIN ? std::min(held, update) : std::max(held, update);
}

/// Adds where there is no `how`.
operator_question scatter(std::int32_t type, std::optional<tutti_scatter> how, bool is_short) {
  constexpr std::uint64_t rows = 20, updates = 90, columns = 5;
  const bool multiplies = how == TUTTI_SCATTER_MULTIPLY;
  const numbers x = multiplies ? whole_numbers(updates * columns, 4, 1, 2)
                               : integers(type, updates * columns, 4, 10);
  numbers y = integers(type, rows * columns, 5, multiplies ? 3 : 10);
  const tensor before = make_tensor(type, {1, rows, columns}, y);
  for (std::uint64_t i = 0; i < updates; ++i)
    for (std::uint64_t c = 0; c < columns; ++c) {
      double& held = y[i * 7 % rows * columns + c];
      held = combined(how, held, x[i * columns + c]);
    }
  operator_question q{
      how ? TUTTI_OPERATOR_SCATTER : TUTTI_OPERATOR_SCATTER_ADD,
      {},
      {make_tensor(type, {1, updates, columns}, x), index_of(updates, 7, rows, is_short)},
      before,
      {make_tensor(type, {1, rows, columns}, y)}};
  if (how) q.params = as_words(tutti_scatter_params{sizeof(tutti_scatter_params), *how, 0});
  return q;
}

// ---- scans

/// From an element and the one before it along the scan, in the order of the scan.
template <class Step>
void along(std::uint64_t rows, std::uint64_t length, std::uint64_t inner, Step&& step) {
  for (std::uint64_t o = 0; o < rows; ++o)
    for (std::uint64_t at = o * length * inner + inner; at < (o + 1) * length * inner; ++at)
      step(at, at - inner);
}

double scanned(tutti_scan scan, double before, double x) {
  switch (scan) {
    case TUTTI_SCAN_SUM:
      return before + x;
    case TUTTI_SCAN_PROD:
      return before * x;
    case TUTTI_SCAN_MIN:
      return std::min(before, x);
    case TUTTI_SCAN_MAX:
      return std::max(before, x);
    case TUTTI_SCAN_LOGSUMEXP:
      return std::max(before, x) + std::log1p(std::exp(-std::fabs(before - x)));
  }
  return 0;
}

/// What rounding may add up to, over the 300 steps of a logsumexp.
double logsumexp_tolerance(std::int32_t type) {
  return type == TUTTI_F64 ? 1e-12 : type == TUTTI_F32 ? 1e-4 : type == TUTTI_F16 ? 2e-3 : 2e-2;
}

numbers scan_operand(tutti_scan scan, std::int32_t type, std::uint64_t rows, std::uint64_t length,
                     std::uint64_t inner) {
  const std::size_t n = rows * length * inner;
  if (scan == TUTTI_SCAN_LOGSUMEXP) return whole_numbers(n, 6, 1, 4);
  if (scan == TUTTI_SCAN_SUM) {  // steps between numbers from 0 to 100, so that no sum is large
    const numbers sums = whole_numbers(n, 6, 0, 100);
    numbers x = sums;
    along(rows, length, inner, [&](auto at, auto before) { x[at] = sums[at] - sums[before]; });
    return x;
  }
  if (scan != TUTTI_SCAN_PROD) return integers(type, n, 6, 100);
  numbers x(n, 1);
  const bool has_sign = !is_unsigned(static_cast<dtype>(type));
  for (std::size_t i = 0; i < n; ++i)
    x[i] = (has_sign && i % 3 == 0 ? -1 : 1) * (i / inner % length % 997 == 5 ? 2 : 1);
  return x;
}

operator_question scan_question(tutti_scan scan, std::int32_t type, bool columns) {
  const std::uint64_t rows = 3, inner = columns ? 40 : 1;
  const bool is_long = !columns && scan != TUTTI_SCAN_LOGSUMEXP;
  const std::uint64_t length = is_long ? row_length : columns ? 50 : 300;
  const numbers x = scan_operand(scan, type, rows, length, inner);
  numbers y = x;
  along(rows, length, inner,
        [&](auto at, auto before) { y[at] = scanned(scan, y[before], x[at]); });
  return with(made(TUTTI_OPERATOR_SCAN, {make_tensor(type, {rows, length, inner}, x)},
                   make_tensor(type, {rows, length, inner}, y),
                   scan == TUTTI_SCAN_LOGSUMEXP ? logsumexp_tolerance(type) : 0),
              tutti_scan_params{sizeof(tutti_scan_params), scan, 0, 0, 0});
}

// ---- order

/// A row with many equals, and for floats with what is hardest to order.
numbers unordered_row(std::int32_t type) {
  numbers x = integers(type, row_length, 7, 100);
  if (!is_floating(static_cast<dtype>(type))) return x;
  x[17] = x[1900] = std::numeric_limits<double>::quiet_NaN();
  x[333] = std::numeric_limits<double>::infinity();
  x[2500] = -x[333];
  return x;
}

/// NaN comes last in both orders; equals stay as they are.
std::vector<std::size_t> order_of(const numbers& x, bool descending) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (std::isnan(x[a]) || std::isnan(x[b])) return !std::isnan(x[a]);
    return descending ? x[a] > x[b] : x[a] < x[b];
  });
  return order;
}

tensor positions(const std::vector<std::size_t>& at) {
  numbers y(at.begin(), at.end());
  return make_tensor(TUTTI_I64, {1, at.size()}, y);
}

operator_question ordered(tutti_operator kind, std::int32_t type, bool descending) {
  const numbers x = unordered_row(type);
  std::vector<std::size_t> order = order_of(x, descending);
  const tensor row = make_tensor(type, {1, row_length}, x);
  const tutti_sort_params params{sizeof params, descending ? 1u : 0u, 0};
  if (kind == TUTTI_OPERATOR_ARGSORT) return with(made(kind, {row}, positions(order)), params);
  if (kind == TUTTI_OPERATOR_TOPK) {
    order.resize(25);
    std::sort(order.begin(), order.end());
    return with(made(kind, {row}, positions(order)), params);
  }
  numbers y(row_length);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[order[i]];
  return with(made(kind, {row}, make_tensor(type, {1, row_length}, y)), params);
}

/// Of two different values, so that there is one right answer.
operator_question parted(std::int32_t type) {
  constexpr std::uint64_t place = row_length / 3;
  numbers x(row_length), y(row_length);
  for (std::uint64_t i = 0; i < row_length; ++i) {
    x[i] = i * 7 % 3 == 0 ? 0 : 1;
    y[i] = i < place ? 0 : 1;
  }
  return with(made(TUTTI_OPERATOR_PARTITION, {make_tensor(type, {1, row_length}, x)},
                   make_tensor(type, {1, row_length}, y)),
              tutti_partition_params{sizeof(tutti_partition_params), place});
}

operator_question search(std::int32_t type, bool right) {
  numbers x = integers(type, 100, 10, 30);
  std::sort(x.begin(), x.end());
  const numbers values = integers(type, 70, 11, 35);
  std::vector<std::size_t> found;
  for (const double v : values) {
    const auto at =
        right ? std::upper_bound(x.begin(), x.end(), v) : std::lower_bound(x.begin(), x.end(), v);
    found.push_back(static_cast<std::size_t>(at - x.begin()));
  }
  return with(
      made(TUTTI_OPERATOR_SEARCH,
           {make_tensor(type, {1, 100}, x), make_tensor(type, {1, 70}, values)}, positions(found)),
      tutti_search_params{sizeof(tutti_search_params), right ? 1u : 0u, 0});
}

operator_question count(std::int32_t type) {
  constexpr std::uint64_t bins = 13;
  numbers index(row_length), counts(bins);
  for (std::uint64_t i = 0; i < row_length; ++i) {
    const std::uint64_t number = i * i % 17;
    index[i] = static_cast<double>(number);
    if (number < bins) ++counts[number];
  }
  return made(TUTTI_OPERATOR_COUNT, {make_tensor(type, {row_length}, index)},
              make_tensor(TUTTI_I64, {bins}, counts));
}

// ---- Fourier transforms

/// From half a Hermitian sequence of 60 points, as the sums that they are: that goes through all
/// kernels. The first number is so large that no result is near 0.
operator_question fourier(std::int32_t type) {
  constexpr std::uint64_t lines = 3, length = 60, half = length / 2 + 1;
  numbers x = whole_numbers(lines * half, 12, -9, 9), y(lines * length);
  for (std::uint64_t o = 0; o < lines; ++o) {
    x[o * half] = 1000;
    for (std::uint64_t k = 0; k < length; ++k)
      for (std::uint64_t n = 0; n < length; ++n)
        y[o * length + k] += x[o * half + std::min(n, length - n)] *
                             std::cos(2 * std::numbers::pi * static_cast<double>(k * n % length) /
                                      static_cast<double>(length));
  }
  const std::int32_t real = type == TUTTI_C128 ? TUTTI_F64 : TUTTI_F32;
  return with(made(TUTTI_OPERATOR_FFT, {make_tensor(type, {lines, half, 1}, x)},
                   make_tensor(real, {lines, length, 1}, y), type == TUTTI_C128 ? 1e-13 : 1e-5),
              tutti_fft_params{sizeof(tutti_fft_params), TUTTI_FFT_HERMITIAN, 0, length, 1});
}

// ---- sparse products

/// Rows of uneven lengths, some empty and one so long that all ways of sharing it out have to cut
/// it, whose columns are in no order.
operator_question sparse(std::int32_t type, bool by_vector, bool is_short) {
  constexpr std::uint64_t rows = 40, depth = 50;
  const std::uint64_t width = by_vector ? 1 : 21;
  numbers starts{0};
  for (std::uint64_t m = 0; m < rows; ++m)
    starts.push_back(starts.back() + static_cast<double>(m == 17 ? 1100 : m * m % 7));
  const auto count = static_cast<std::uint64_t>(starts.back());
  const numbers values = integers(type, count, 15, 3), b = integers(type, depth * width, 16, 9);
  const std::int32_t index = is_short ? TUTTI_I32 : TUTTI_I64;
  numbers y(rows * width);
  for (std::uint64_t m = 0, k = 0; m < rows; ++m)
    for (; static_cast<double>(k) < starts[m + 1]; ++k)
      for (std::uint64_t n = 0; n < width; ++n)
        y[m * width + n] += values[k] * b[k * 37 % depth * width + n];
  return made(TUTTI_OPERATOR_SPMM,
              {make_tensor(index, {rows + 1}, starts), index_of(count, 37, depth, is_short),
               make_tensor(type, {count}, values), make_tensor(type, {depth, width}, b)},
              make_tensor(type, {rows, width}, y));
}

/// Elements of a product of dense matrices, some of them asked for twice.
operator_question sampled(std::int32_t type, bool is_short) {
  constexpr std::uint64_t count = 700, rows = 40, depth = 50, width = 75;
  const numbers a = integers(type, rows * width, 20, 3), b = integers(type, depth * width, 21, 3);
  numbers y(count);
  for (std::uint64_t k = 0; k < count; ++k)
    for (std::uint64_t n = 0; n < width; ++n)
      y[k] += a[k * 17 % rows * width + n] * b[k * 37 % depth * width + n];
  return made(TUTTI_OPERATOR_SDDMM,
              {index_of(count, 17, rows, is_short), index_of(count, 37, depth, is_short),
               make_tensor(type, {rows, width}, a), make_tensor(type, {depth, width}, b)},
              make_tensor(type, {count}, y));
}

operator_question flags() {
  numbers sums(row_length), set;
  for (std::uint64_t i = 0; i < row_length; ++i) {
    if (i * 11 % 7 < 2) set.push_back(static_cast<double>(i));
    sums[i] = static_cast<double>(set.size());
  }
  const std::uint64_t found = set.size();
  return made(TUTTI_OPERATOR_SELECT, {make_tensor(TUTTI_I64, {row_length}, sums)},
              make_tensor(TUTTI_I64, {found}, set));
}

}  // namespace

std::optional<operator_question> question_of_operator(const kernel_family& f,
                                                      const tutti_operator_desc* use) {
  if (f.kind <= kernel_family::operators) return std::nullopt;
  const auto kind = static_cast<tutti_operator>(f.kind - kernel_family::operators);
  switch (kind) {
    case TUTTI_OPERATOR_MATMUL:
      return product(static_cast<product_variant>(f.variant), f.type, use);
    case TUTTI_OPERATOR_TAKE:
      return gather(f.type, f.variant != 0);
    case TUTTI_OPERATOR_SCATTER_ADD:
      return scatter(f.type, std::nullopt, f.variant != 0);
    case TUTTI_OPERATOR_SCATTER:
      return scatter(f.type, static_cast<tutti_scatter>(f.variant / 2), f.variant % 2 != 0);
    case TUTTI_OPERATOR_SCAN:
      return scan_question(static_cast<tutti_scan>(f.variant / 2), f.type, f.variant % 2 != 0);
    case TUTTI_OPERATOR_SORT:
    case TUTTI_OPERATOR_ARGSORT:
    case TUTTI_OPERATOR_TOPK:
      return ordered(kind, f.type, f.variant != 0);
    case TUTTI_OPERATOR_SEARCH:
      return search(f.type, f.variant != 0);
    case TUTTI_OPERATOR_COUNT:
      return count(f.type);
    case TUTTI_OPERATOR_SELECT:
      return flags();
    case TUTTI_OPERATOR_PARTITION:
      return parted(f.type);
    case TUTTI_OPERATOR_CONVOLUTION:
      return convolution_question(f.type, f.variant != 0, use);
    case TUTTI_OPERATOR_FFT:
      return fourier(f.type);
    case TUTTI_OPERATOR_SPMM:
      return sparse(f.type, f.variant >= 2, f.variant % 2 != 0);
    case TUTTI_OPERATOR_SDDMM:
      return sampled(f.type, f.variant != 0);
    default:  // linear algebra, which is a library's of the host or plain loops
      break;
  }
  return std::nullopt;
}

}  // namespace tutti::detail
