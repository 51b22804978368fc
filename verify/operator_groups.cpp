// SPDX-License-Identifier: Apache-2.0
//
// The matrix product with odd sizes, transposes, batches and offsets. The oracle multiplies in long
// double and bounds the error by the sum of magnitudes.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "harness.hpp"
#include "oracle.hpp"
#include "views.hpp"

namespace tutti::conformance {
namespace {

struct product_case {
  uint64_t batch, m, n, k;
  bool transpose_a = false, transpose_b = false, share_a = false, share_b = false;
  uint64_t pad = 0;  // elements between the rows of a and b
  bool bias = false, relu = false;
};

// A [batch, rows, columns] view of a buffer with guards; `shared` has batch stride 0.
view_spec matrix(uint8_t dtype, uint64_t batch, uint64_t rows, uint64_t columns, bool transposed,
                 bool shared, uint64_t pad) {
  const uint64_t line = (transposed ? rows : columns) + pad;
  const uint64_t lines = transposed ? columns : rows;
  view_spec v;
  v.extent = {batch, rows, columns};
  v.data.offset = 7;
  v.data.data = image(dtype, (shared ? 1 : batch) * line * lines + 14);
  v.data.stride = {shared ? 0 : static_cast<int64_t>(line * lines),
                   transposed ? 1 : static_cast<int64_t>(line),
                   transposed ? static_cast<int64_t>(line) : 1};
  return v;
}

std::string case_text(const product_case& c) {
  return list_text({c.batch, c.m, c.k}) + (c.transpose_a ? "^T" : "") +
         (c.share_a ? " shared" : "") + " x " + list_text({c.batch, c.k, c.n}) +
         (c.transpose_b ? "^T" : "") + (c.share_b ? " shared" : "") + (c.pad > 0 ? " padded" : "") +
         (c.bias ? " + bias" : "") + (c.relu ? ", relu" : "");
}

// The factors of a product, each sum's terms one after the other.
struct factor {
  std::vector<uint64_t> bits;
  std::vector<long double> reals;  // of floating dtypes

  // The lines of `v` are its rows, or its columns.
  factor(const view_spec& v, bool rows) {
    const uint8_t dtype = sdk::register_dtype(v.data.data.dtype);
    const uint64_t lines = v.extent[rows ? 1 : 2], terms = v.extent[rows ? 2 : 1];
    for (uint64_t b = 0; b < v.extent[0]; ++b)
      for (uint64_t line = 0; line < lines; ++line)
        for (uint64_t k = 0; k < terms; ++k)
          bits.push_back(v.data.data.get(rows ? at(v, b, line, k) : at(v, b, k, line)));
    if (!sdk::is_floating(dtype)) return;
    reals.reserve(bits.size());
    for (const uint64_t x : bits) reals.push_back(real_of(dtype, x));
  }
};

void judge_element(const product_case& c, const std::vector<view_spec>& v, const factor& left,
                   const factor& right, uint64_t b, uint64_t i, uint64_t j) {
  const uint8_t stored = v[0].data.data.dtype, dtype = sdk::register_dtype(stored);
  const bool floating = sdk::is_floating(dtype);
  const uint64_t row = (b * c.m + i) * c.k, column = (b * c.n + j) * c.k;
  long double sum = 0, magnitude = 0;
  uint64_t wrapped = 0;
  if (floating) {
    for (uint64_t k = 0; k < c.k; ++k) {
      const long double product = left.reals[row + k] * right.reals[column + k];
      sum += product;
      magnitude += std::fabs(product);
    }
  } else {
    for (uint64_t k = 0; k < c.k; ++k) wrapped += left.bits[row + k] * right.bits[column + k];
  }
  if (c.bias) {
    const uint64_t bias = v[3].data.data.get(at(v[3], b, i, j));
    wrapped += bias;
    if (floating) sum += real_of(dtype, bias), magnitude += std::fabs(real_of(dtype, bias));
  }
  if (c.relu && sum < 0) sum = 0;
  const uint64_t got = v[0].data.data.get(at(v[0], b, i, j));
  bool good = false;
  if (!floating) {
    good = got == from_storage(dtype, wrapped);
  } else {
    const long double x = real_of(dtype, got);
    const long double epsilon = dtype == TUTTI_F32 ? 0x1p-23L : 0x1p-52L;
    long double bound = epsilon * magnitude * std::max<long double>(2, std::sqrt(c.k));
    if (stored == TUTTI_F16) bound += 0x1p-11L * std::fabs(sum) + 0x1p-24L;
    if (stored == TUTTI_BF16) bound += 0x1p-8L * std::fabs(sum);
    good = std::isnan(sum) ? std::isnan(x)
                           : x == sum || (std::isfinite(bound) && std::fabs(x - sum) <= bound);
  }
  const uint64_t want = floating ? bits_of(dtype, sum) : from_storage(dtype, wrapped);
  if (!good)
    fail("{}: element {} is {}, expected {}", case_text(c), list_text({b, i, j}),
         value_text(dtype, got), value_text(dtype, want));
}

// One value for each column of the product.
view_spec bias_row(uint8_t dtype, const product_case& c, generator& random) {
  view_spec v;
  v.extent = {c.batch, c.m, c.n};
  v.data.offset = 5;
  v.data.data = image(dtype, c.n + 10);
  v.data.stride = {0, 0, 1};
  fill(v, -50, 50, random);
  return v;
}

// `poison` puts a NaN and an infinity into a.
void check_product(session& s, uint8_t dtype, const product_case& c, bool poison) {
  generator random(s.seed + c.m * 7 + c.n * 3 + c.k);
  std::vector<view_spec> v = {matrix(dtype, c.batch, c.m, c.n, false, false, 0),
                              matrix(dtype, c.batch, c.m, c.k, c.transpose_a, c.share_a, c.pad),
                              matrix(dtype, c.batch, c.k, c.n, c.transpose_b, c.share_b, c.pad)};
  fill(v[1], -10, 10, random);
  fill(v[2], -10, 10, random);
  if (c.bias) v.push_back(bias_row(dtype, c, random));
  if (poison && c.k > 0) {
    v[1].data.data.set(at(v[1], 0, c.m / 2, c.k - 1), bits_of(dtype, std::nan("")));
    v[1].data.data.set(at(v[1], 0, c.m - 1, 0), bits_of(dtype, INFINITY));
  }
  const image before = v[0].data.data;
  const tutti_matmul_params params = {
      sizeof params, c.relu ? TUTTI_ACTIVATION_RELU : TUTTI_ACTIVATION_NONE, c.bias ? 1u : 0u};
  launch_operator(s, TUTTI_OPERATOR_MATMUL, v, c.bias || c.relu ? &params : nullptr);
  check_guards(v[0], before);
  // All of a small product, a sample of a large one.
  const factor left(v[1], true), right(v[2], false);
  const uint64_t elements = c.batch * c.m * c.n, judged = std::min<uint64_t>(elements, 20000);
  for (uint64_t e = 0; e < judged; ++e) {
    const uint64_t index = judged == elements ? e : random() % elements;
    judge_element(c, v, left, right, index / (c.m * c.n), index / c.n % c.m, index % c.n);
  }
}

void check_sizes(session& s, uint8_t dtype) {
  for (const uint64_t m : {1, 2, 7, 8, 31, 65, 129}) {
    for (const uint64_t n : {1, 5, 16, 33, 65, 130}) {
      for (const uint64_t k : {1, 3, 17, 64, 257}) {
        const product_case c{1, m, n, k};
        if ((m + n + k) % 3 == 0 || m * n * k < 5000) check_product(s, dtype, c, false);
      }
    }
  }
  for (const product_case& c : {product_case{1, 300, 257, 511}, product_case{1, 1, 1000, 333},
                                product_case{1, 1000, 1, 333}, product_case{1, 3, 3, 10007}}) {
    check_product(s, dtype, c, false);
  }
}

void check_views(session& s, uint8_t dtype) {
  for (const uint64_t size : {9, 64, 131}) {
    for (int flags = 0; flags < 4; ++flags) {
      const bool ta = (flags & 1) != 0, tb = (flags & 2) != 0;
      check_product(s, dtype, {1, size, size + 6, size + 1, ta, tb}, false);
      check_product(s, dtype, {1, size, size + 6, size + 1, ta, tb, false, false, 5}, false);
      check_product(s, dtype, {3, size, 17, 33, ta, tb}, false);
      check_product(s, dtype, {3, 17, size, 33, ta, tb, true, false}, false);
      check_product(s, dtype, {3, 17, size, 33, ta, tb, false, true}, false);
      check_product(s, dtype, {2, 5, 6, size, ta, tb, true, true, 3}, false);
    }
  }
  check_product(s, dtype, {50, 4, 3, 5}, false);
}

void check_poison(session& s, uint8_t dtype) {
  for (const uint64_t size : {3, 40, 150}) {
    check_product(s, dtype, {1, size, size, size}, true);
    check_product(s, dtype, {2, size, size + 1, size, true, true}, true);
  }
}

// Complex numbers of two f32 each, the real part first.
void check_complex(session& s) {
  generator random(s.seed);
  const product_case c{2, 17, 9, 33};
  std::vector<view_spec> v = {matrix(TUTTI_C64, c.batch, c.m, c.n, false, false, 0),
                              matrix(TUTTI_C64, c.batch, c.m, c.k, false, false, 0),
                              matrix(TUTTI_C64, c.batch, c.k, c.n, true, false, 3)};
  using number = std::complex<float>;
  for (view_spec* from : {&v[1], &v[2]}) {
    for (uint64_t i = 0; i < from->data.data.size(); ++i) {
      const auto part = [&] { return static_cast<float>(random() % 2001) / 100 - 10; };
      const number x(part(), part());
      std::memcpy(&from->data.data.bytes[i * sizeof x], &x, sizeof x);
    }
  }
  launch_operator(s, TUTTI_OPERATOR_MATMUL, v);
  const auto value = [](const view_spec& from, uint64_t b, uint64_t i, uint64_t j) {
    number x;
    std::memcpy(&x, &from.data.data.bytes[at(from, b, i, j) * sizeof x], sizeof x);
    return std::complex<double>(x);
  };
  for (uint64_t e = 0; e < c.batch * c.m * c.n; ++e) {
    const uint64_t b = e / (c.m * c.n), i = e / c.n % c.m, j = e % c.n;
    std::complex<double> sum = 0;
    for (uint64_t k = 0; k < c.k; ++k) sum += value(v[1], b, i, k) * value(v[2], b, k, j);
    if (!(std::abs(value(v[0], b, i, j) - sum) <= 1e-2))
      fail("{} of c64: element {} is wrong", case_text(c), list_text({b, i, j}));
  }
}

// Bias and relu for every implementation of products: tiles, few rows, few columns, long sums.
void check_epilogue(session& s, uint8_t dtype, bool relu) {
  const uint64_t sizes[][3] = {{1, 1, 1},     {3, 5, 2},       {17, 33, 65},   {64, 128, 64},
                               {1, 300, 70},  {300, 1, 70},    {5, 1000, 40},  {1000, 5, 40},
                               {3, 3, 10007}, {130, 129, 600}, {513, 260, 40}, {2, 2, 0}};
  for (const auto& [m, n, k] : sizes) {
    for (const bool bias : {true, false}) {
      if (!bias && !relu) continue;
      check_product(s, dtype, {1, m, n, k, false, false, false, false, 0, bias, relu}, false);
      if (m * n * k > 200000) continue;
      check_product(s, dtype, {1, m, n, k, true, true, false, false, 3, bias, relu}, false);
      check_product(s, dtype, {3, m, n, k, false, true, false, true, 0, bias, relu}, false);
      check_product(s, dtype, {3, m, n, k, true, false, true, false, 0, bias, relu}, false);
    }
  }
}

void check_epilogue_poison(session& s, uint8_t dtype) {
  for (const uint64_t size : {3, 40, 150}) {
    check_product(s, dtype, {1, size, size, size, false, false, false, false, 0, true, true}, true);
    check_product(s, dtype, {2, size, size, size, true, true, false, false, 0, false, true}, true);
  }
}

// Shapes that do not match are refused with a message, not run.
void check_mismatch(session& s) {
  std::vector<view_spec> v = {matrix(TUTTI_F32, 1, 3, 6, false, false, 0),
                              matrix(TUTTI_F32, 1, 3, 4, false, false, 0),
                              matrix(TUTTI_F32, 1, 5, 6, false, false, 0)};
  bool refused = false;
  try {
    launch_operator(s, TUTTI_OPERATOR_MATMUL, v);
  } catch (const std::exception&) {
    refused = true;
  }
  require(refused, "a product of [3,4] and [5,6] was accepted");
}

}  // namespace

void add_operator_groups(groups& all, const session& s) {
  for (uint8_t dtype = TUTTI_I8; dtype <= TUTTI_F64; ++dtype) {
    const uint8_t type = sdk::register_dtype(dtype);
    if (!s.stores(dtype) || !s.computes(type)) continue;
    const std::string name = sdk::dtype_name(dtype);
    all.push_back({"matmul/" + name + "/sizes", [dtype](session& t) { check_sizes(t, dtype); }});
    all.push_back({"matmul/" + name + "/views", [dtype](session& t) { check_views(t, dtype); }});
    if (sdk::is_floating(type) || dtype == TUTTI_I32) {
      all.push_back(
          {"matmul/" + name + "/bias", [dtype](session& t) { check_epilogue(t, dtype, false); }});
    }
    if (sdk::is_floating(type)) {
      all.push_back({"matmul/" + name + "/nan", [dtype](session& t) { check_poison(t, dtype); }});
      all.push_back(
          {"matmul/" + name + "/relu", [dtype](session& t) { check_epilogue(t, dtype, true); }});
      all.push_back({"matmul/" + name + "/relu_nan",
                     [dtype](session& t) { check_epilogue_poison(t, dtype); }});
    }
  }
  all.push_back({"matmul/c64", check_complex});
  all.push_back({"matmul/mismatch", check_mismatch});
}

}  // namespace tutti::conformance
