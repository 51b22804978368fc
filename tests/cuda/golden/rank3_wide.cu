// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
TUTTI_FUNCTION long long tutti_quotient_i64(long long n, long long multiplier, long long shift) {
  typedef unsigned long long wide;
  return (long long)((__umul64hi((wide)n, (wide)multiplier) + (wide)n) >> shift);
}
typedef struct {
  long long word[25];
} tutti_geometry;

extern "C" __global__ __launch_bounds__(256) void tutti_main(
    const float* in0,
    const float* in1,
    float* out0,
    const float v2,
    const tutti_geometry g) {
  const long long n0 = g.word[0];
  const long long n1 = g.word[1];
  const long long n2 = g.word[2];
  const long long in0_offset = g.word[3];
  const long long in0_stride0 = g.word[4];
  const long long in0_stride1 = g.word[5];
  const long long in0_stride2 = g.word[6];
  const long long in1_offset = g.word[7];
  const long long in1_stride0 = g.word[8];
  const long long in1_stride1 = g.word[9];
  const long long in1_stride2 = g.word[10];
  const long long out0_offset = g.word[11];
  const long long out0_stride0 = g.word[12];
  const long long out0_stride1 = g.word[13];
  const long long out0_stride2 = g.word[14];
  const long long kept = g.word[15];
  const long long parts = g.word[16];
  const long long segment = g.word[17];
  const long long segments = g.word[18];
  const long long units = g.word[19];
  const long long steps = g.word[20];
  const long long n1_multiplier = g.word[21];
  const long long n1_shift = g.word[22];
  const long long n2_multiplier = g.word[23];
  const long long n2_shift = g.word[24];
  for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < units; n += (long long)gridDim.x * blockDim.x) {
    const long long linear = (long long)n;
    long long rest0 = linear;
    const long long over2 = tutti_quotient_i64(rest0, n2_multiplier, n2_shift);
    const long long c2 = rest0 - over2 * n2;
    rest0 = over2;
    const long long over1 = tutti_quotient_i64(rest0, n1_multiplier, n1_shift);
    const long long c1 = rest0 - over1 * n1;
    rest0 = over1;
    const long long c0 = rest0;
    const float v0 = in0[in0_offset + c0 * in0_stride0 + c1 * in0_stride1 + c2 * in0_stride2];
    const float v1 = in1[in1_offset + c0 * in1_stride0 + c1 * in1_stride1 + c2 * in1_stride2];
    const float v3 = v0 + v1;
    const float v4 = v3 * v2;
    out0[out0_offset + c0 * out0_stride0 + c1 * out0_stride1 + c2 * out0_stride2] = v4;
  }
}
