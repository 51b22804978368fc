// SPDX-License-Identifier: Apache-2.0
//
// Shapes and factors of Fourier transforms.
#include "sdk/fourier.hpp"

#include <algorithm>
#include <string>

#include "sdk/status.hpp"
#include "sdk/validate_operator.hpp"
#include "semantics/operator_rows.hpp"

namespace tutti::sdk {
namespace {

// The radices of a length without larger primes, in decreasing order except for powers of 2; empty
// if the length has larger primes.
std::vector<uint32_t> radices_of(uint64_t length) {
  std::vector<uint32_t> all;
  for (uint32_t odd = 3; odd <= largest_radix; odd += 2)
    for (; length % odd == 0; length /= odd) all.push_back(odd);
  std::reverse(all.begin(), all.end());
  int twos = 0;
  for (; length % 2 == 0; length /= 2) ++twos;
  if (length != 1) return {};
  // 16 is 4 * 4 rather than 8 * 2.
  for (; twos > 0;) {
    const int step = twos == 4 || twos == 2 ? 2 : std::min(twos, 3);
    all.push_back(1u << step);
    twos -= step;
  }
  return all;
}

}  // namespace

void check_fourier(const operator_call& call) {
  const tutti_view &out = call.views[0], &x = call.views[1];
  const tutti_fft_params p = fft_params(call);
  const int32_t real = host::real_part_of(x.dtype), complex = host::complex_of_parts(x.dtype);
  if ((x.dtype == real) != (p.fft == TUTTI_FFT_REAL))
    throw_unsupported("fft: not defined for these dtypes", shapes_of(call));
  require(out.dtype == (p.fft == TUTTI_FFT_HERMITIAN ? real : complex), call, "dtypes differ");
  const uint64_t points = p.fft == TUTTI_FFT_REAL ? p.length / 2 + 1 : p.length;
  require(out.extent[1] == points, call, "the length and the extent of the result differ");
}

tutti_fft_params fft_params(const operator_call& call) {
  const auto p = read_struct(static_cast<const tutti_fft_params*>(call.params), "fft parameters");
  if (p.fft < TUTTI_FFT_COMPLEX || p.fft > TUTTI_FFT_HERMITIAN)
    throw_unsupported("fft: kind ", p.fft, " is unknown");
  if (p.length < 1) throw_invalid("fft: a transform of 0 points");
  return p;
}

fourier_plan plan_fourier(uint64_t points) {
  fourier_plan plan{points, points, radices_of(points)};
  if (points == 1 || !plan.radices.empty()) return plan;
  // The smallest sufficient length of the form 2^k, 3 2^k, 5 2^k or 9 2^k.
  const uint64_t needed = 2 * points - 1;
  uint64_t best = UINT64_MAX;
  for (const uint64_t odd : {1, 3, 5, 9}) {
    uint64_t length = odd;
    while (length < needed) length *= 2;
    best = std::min(best, length);
  }
  plan.length = best;
  plan.radices = radices_of(best);
  return plan;
}

}  // namespace tutti::sdk
