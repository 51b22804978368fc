// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
static inline long tutti_quotient_i64(long n, long multiplier, long shift) {
  return (long)((mul_hi((ulong)n, (ulong)multiplier) + (ulong)n) >> shift);
}
#pragma OPENCL FP_CONTRACT OFF
typedef struct {
  long word[25];
} tutti_geometry;

__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void tutti_main(
    global const float* in0,
    global const float* in1,
    global float* out0,
    const float v2,
    const tutti_geometry g) {
  const long n0 = g.word[0];
  const long n1 = g.word[1];
  const long n2 = g.word[2];
  const long in0_offset = g.word[3];
  const long in0_stride0 = g.word[4];
  const long in0_stride1 = g.word[5];
  const long in0_stride2 = g.word[6];
  const long in1_offset = g.word[7];
  const long in1_stride0 = g.word[8];
  const long in1_stride1 = g.word[9];
  const long in1_stride2 = g.word[10];
  const long out0_offset = g.word[11];
  const long out0_stride0 = g.word[12];
  const long out0_stride1 = g.word[13];
  const long out0_stride2 = g.word[14];
  const long kept = g.word[15];
  const long parts = g.word[16];
  const long segment = g.word[17];
  const long segments = g.word[18];
  const long units = g.word[19];
  const long steps = g.word[20];
  const long n1_multiplier = g.word[21];
  const long n1_shift = g.word[22];
  const long n2_multiplier = g.word[23];
  const long n2_shift = g.word[24];
  for (long n = get_global_id(0); n < units; n += get_global_size(0)) {
    const long linear = (long)n;
    long rest0 = linear;
    const long over2 = tutti_quotient_i64(rest0, n2_multiplier, n2_shift);
    const long c2 = rest0 - over2 * n2;
    rest0 = over2;
    const long over1 = tutti_quotient_i64(rest0, n1_multiplier, n1_shift);
    const long c1 = rest0 - over1 * n1;
    rest0 = over1;
    const long c0 = rest0;
    const float v0 = in0[in0_offset + c0 * in0_stride0 + c1 * in0_stride1 + c2 * in0_stride2];
    const float v1 = in1[in1_offset + c0 * in1_stride0 + c1 * in1_stride1 + c2 * in1_stride2];
    const float v3 = v0 + v1;
    const float v4 = v3 * v2;
    out0[out0_offset + c0 * out0_stride0 + c1 * out0_stride1 + c2 * out0_stride2] = v4;
  }
}
