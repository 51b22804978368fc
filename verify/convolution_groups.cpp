// SPDX-License-Identifier: Apache-2.0
//
// Convolution over random shapes, strides, dilations and orders of axes, compared with its
// definition in long double. The error is bounded by the sum of magnitudes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness.hpp"
#include "oracle.hpp"

namespace tutti::conformance {
namespace {

constexpr int rank = 6;

struct convolution_case {
  std::vector<uint64_t> out, x, w;
  tutti_convolution_params params{};
};

uint64_t draw(generator& random, uint64_t low, uint64_t high) {
  return low + random() % (high - low + 1);
}

// Half of the time many taps and few positions, as in gradients of weights.
convolution_case drawn_case(generator& random, bool large) {
  const uint64_t n = draw(random, 1, 3), g = draw(random, 1, 2);
  const uint64_t o = random() % 3 == 0 ? draw(random, 5, 37) : draw(random, 1, 4);
  const uint64_t c = draw(random, 1, large ? 9 : 4);
  convolution_case made{{n, g, o}, {n, g, c}, {g, o, c}};
  tutti_convolution_params& p = made.params;
  p.struct_size = sizeof p;
  const bool swapped = random() % 2 == 0;
  for (int axis = 0; axis < 3; ++axis) {
    const uint64_t most = axis == 0 ? 2 : large ? 35 : 7;
    uint64_t places = draw(random, 1, most), taps = draw(random, 1, axis == 0 ? 2 : 3);
    if (swapped) std::swap(places, taps);
    made.out.push_back(places);
    made.w.push_back(taps);
    made.x.push_back(draw(random, 1, most + 3));
    p.stride[axis] = static_cast<int64_t>(draw(random, 1, 3));
    p.dilation[axis] = static_cast<int64_t>(draw(random, 1, 3));
    p.input_dilation[axis] = random() % 3 == 0 ? static_cast<int64_t>(draw(random, 2, 3)) : 1;
    p.padding[axis] = static_cast<int64_t>(draw(random, 0, 3)) - 1;
  }
  p.flipped = random() % 2;
  p.activation = random() % 2 == 0 ? TUTTI_ACTIVATION_RELU : TUTTI_ACTIVATION_NONE;
  p.has_bias = random() % 2;
  return made;
}

// With guards, the axes in any order in memory, possibly with gaps.
view_spec view_of(uint8_t dtype, const std::vector<uint64_t>& extents, generator& random) {
  view_spec v;
  v.extent = extents;
  v.data.offset = 5;
  std::vector<size_t> order(extents.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (random() % 2 == 0) std::shuffle(order.begin(), order.end(), random);
  v.data.stride.fill(0);
  uint64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    v.data.stride[order[i]] = static_cast<int64_t>(step);
    step *= extents[order[i]] + (random() % 4 == 0 ? 1 : 0);
  }
  v.data.data = image(dtype, step + 10);
  for (uint64_t i = 0; i < v.data.data.size(); ++i)
    v.data.data.set(i, random_value(dtype, -8, 8, random));
  return v;
}

using position = std::array<int64_t, rank>;

uint64_t place_of(const view_spec& v, const position& at) {
  int64_t place = static_cast<int64_t>(v.data.offset);
  for (size_t d = 0; d < v.extent.size(); ++d) place += at[d] * v.data.stride[d];
  return static_cast<uint64_t>(place);
}

long double element(const view_spec& v, const position& at) {
  const uint8_t dtype = v.data.data.dtype;
  return real_of(sdk::register_dtype(dtype), v.data.data.get(place_of(v, at)));
}

int64_t extent_of(const view_spec& v, int axis) {
  return static_cast<int64_t>(v.extent[static_cast<size_t>(axis)]);
}

// The element of x for a tap, or -1.
int64_t met(const tutti_convolution_params& p, int axis, int64_t place, int64_t tap,
            int64_t extent) {
  const int64_t q = place * p.stride[axis] + tap * p.dilation[axis] - p.padding[axis];
  if (q < 0 || q % p.input_dilation[axis] != 0) return -1;
  return q / p.input_dilation[axis] < extent ? q / p.input_dilation[axis] : -1;
}

struct sums {
  long double sum = 0, magnitude = 0;
  int64_t terms = 0;
};

sums expected(const std::vector<view_spec>& v, const tutti_convolution_params& p,
              const position& at) {
  const view_spec &x = v[1], &w = v[2];
  sums s;
  position tap{};
  for (tap[2] = 0; tap[2] < extent_of(w, 2); ++tap[2])
    for (tap[3] = 0; tap[3] < extent_of(w, 3); ++tap[3])
      for (tap[4] = 0; tap[4] < extent_of(w, 4); ++tap[4])
        for (tap[5] = 0; tap[5] < extent_of(w, 5); ++tap[5]) {
          position in = {at[0], at[1], tap[2], 0, 0, 0};
          position of = {at[1], at[2], tap[2], 0, 0, 0};
          bool inside = true;
          for (int axis = 0; axis < 3; ++axis) {
            const auto d = static_cast<size_t>(axis) + 3;
            in[d] = met(p, axis, at[d], tap[d], extent_of(x, axis + 3));
            inside = inside && in[d] >= 0;
            of[d] = p.flipped != 0 ? extent_of(w, axis + 3) - 1 - tap[d] : tap[d];
          }
          if (!inside) continue;
          const long double product = element(x, in) * element(w, of);
          s.sum += product;
          s.magnitude += std::fabs(product);
          ++s.terms;
        }
  if (p.has_bias != 0) {
    const long double bias = element(v[3], {at[1], at[2], 0, 0, 0, 0});
    s.sum += bias;
    s.magnitude += std::fabs(bias);
  }
  if (p.activation == TUTTI_ACTIVATION_RELU && s.sum < 0) s.sum = 0;
  return s;
}

void check_case(session& s, uint8_t dtype, const convolution_case& c, generator& random) {
  std::vector<view_spec> v = {view_of(dtype, c.out, random), view_of(dtype, c.x, random),
                              view_of(dtype, c.w, random)};
  if (c.params.has_bias != 0) v.push_back(view_of(dtype, {c.w[0], c.w[1]}, random));
  const image before = v[0].data.data;
  launch_operator(s, TUTTI_OPERATOR_CONVOLUTION, v, &c.params);
  std::vector<bool> written(before.size(), false);
  const uint8_t type = sdk::register_dtype(dtype);
  const long double epsilon = type == TUTTI_F32 ? 0x1p-23L : 0x1p-52L;
  position at{};
  const uint64_t count =
      std::accumulate(c.out.begin(), c.out.end(), uint64_t{1}, std::multiplies<>());
  for (uint64_t e = 0; e < count; ++e) {
    uint64_t rest = e;
    for (size_t d = rank; d-- > 0; rest /= c.out[d]) at[d] = static_cast<int64_t>(rest % c.out[d]);
    written[place_of(v[0], at)] = true;
    const sums want = expected(v, c.params, at);
    const long double got = element(v[0], at);
    long double bound = epsilon * want.magnitude *
                        std::max<long double>(2, std::sqrt(static_cast<long double>(want.terms)));
    bound += type == TUTTI_F32 ? 0x1p-126L : 0x1p-1022L;  // denormal numbers may become 0
    if (dtype == TUTTI_F16) bound += 0x1p-11L * std::fabs(want.sum) + 0x1p-24L;
    if (dtype == TUTTI_BF16) bound += 0x1p-8L * std::fabs(want.sum);
    if (!(std::fabs(got - want.sum) <= bound))
      fail("{} with {} to {}: element {} is {}, expected {}", list_text(c.x), list_text(c.w),
           list_text(c.out), e, value_text(type, bits_of(type, got)),
           value_text(type, bits_of(type, want.sum)));
  }
  for (uint64_t i = 0; i < before.size(); ++i)
    if (!(written[i] || v[0].data.data.get(i) == before.get(i)))
      fail("{}: element {} of the buffer, which is not of the result, has changed",
           list_text(c.out), i);
}

void check_shapes(session& s, uint8_t dtype) {
  generator random(s.seed);
  for (int n = 0; n < 40; ++n) check_case(s, dtype, drawn_case(random, n % 10 == 9), random);
}

}  // namespace

void add_convolution_groups(groups& all, const session& s) {
  for (const uint8_t dtype : {TUTTI_F16, TUTTI_BF16, TUTTI_F32, TUTTI_F64}) {
    if (!s.stores(dtype) || !s.computes(sdk::register_dtype(dtype))) continue;
    all.push_back({std::string("convolution/") + sdk::dtype_name(dtype),
                   [dtype](session& t) { check_shapes(t, dtype); }});
  }
}

}  // namespace tutti::conformance
