// SPDX-License-Identifier: Apache-2.0
#include "denormals.hpp"

#include <cmath>
#include <limits>

#include "oracle.hpp"

namespace tutti::conformance {
namespace {

bool ask(session& s, uint8_t dtype) {
  const long double least = least_normal(dtype);
  const long double rows[2][2] = {{least, 0.5L}, {least / 4, 8}};
  const extents extent = {2};
  std::vector<operand> inputs = {packed(dtype, extent), packed(dtype, extent)};
  for (uint64_t i = 0; i < 2; ++i)
    for (uint64_t k = 0; k < 2; ++k)
      inputs[k].data.set(inputs[k].offset + i, bits_of(dtype, rows[i][k]));
  program_spec spec;
  spec.label = "denormals";
  spec.input(dtype);
  spec.input(dtype);
  spec.output(spec.op(TUTTI_OP_multiply, dtype, {0, 1}), dtype);
  std::vector<operand> outputs = {packed(dtype, extent)};
  launch(s, spec, extent, inputs, {}, outputs);
  bool flushed_any = false;
  for (uint64_t i = 0; i < 2; ++i) {
    const uint64_t got = outputs[0].data.get(outputs[0].offset + i);
    const uint64_t want = bits_of(dtype, rows[i][0] * rows[i][1]);
    if (!(got == want || real_of(dtype, got) == 0))
      fail("a product with denormals is {}, expected {} or 0", value_text(dtype, got),
           value_text(dtype, want));
    flushed_any = flushed_any || got != want;
  }
  return flushed_any;
}

}  // namespace

long double least_normal(uint8_t dtype) {
  return dtype == TUTTI_F32 ? std::numeric_limits<float>::min()
                            : std::numeric_limits<double>::min();
}

bool is_denormal(uint8_t dtype, uint64_t bits) {
  const long double value = real_of(dtype, bits);
  return value != 0 && std::fabs(value) < least_normal(dtype);
}

uint64_t flushed(uint8_t dtype, uint64_t bits) {
  if (!is_denormal(dtype, bits)) return bits;
  return bits_of(dtype, std::signbit(real_of(dtype, bits)) ? -0.0L : 0.0L);
}

bool flushes(session& s, uint8_t dtype) {
  std::optional<bool>& known = s.flushes_denormals[dtype];
  if (!known) known = ask(s, dtype);
  return *known;
}

}  // namespace tutti::conformance
