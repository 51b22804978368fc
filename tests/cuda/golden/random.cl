// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
static inline int tutti_quotient_i32(int n, int multiplier, int shift) {
  return (int)((mul_hi((uint)n, (uint)multiplier) + (uint)n) >> shift);
}
#pragma OPENCL FP_CONTRACT OFF
typedef struct {
  int word[15];
} tutti_geometry;

__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void tutti_main(
    global uint* out0,
    const ulong v0,
    const tutti_geometry g) {
  const int n0 = g.word[0];
  const int n1 = g.word[1];
  const int out0_offset = g.word[2];
  const int out0_stride0 = g.word[3];
  const int out0_stride1 = g.word[4];
  const int kept = g.word[5];
  const int parts = g.word[6];
  const int segment = g.word[7];
  const int segments = g.word[8];
  const int units = g.word[9];
  const int steps = g.word[10];
  const int n1_multiplier = g.word[11];
  const int n1_shift = g.word[12];
  const int segments_multiplier = g.word[13];
  const int segments_shift = g.word[14];
  for (long n = get_global_id(0); n < units; n += get_global_size(0)) {
    const int vector = (int)n;
    const int line = tutti_quotient_i32(vector, segments_multiplier, segments_shift);
    const int c0 = line;
    const int start = (vector - line * segments) * 4;
    const int count = n1 - start < 4 ? (int)(n1 - start) : 4;
    const int c1 = start;
    const int out0_at = out0_offset + c0 * out0_stride0 + c1 * out0_stride1;
    union { uint4 whole; uint element[4]; } out0_vector;
    __attribute__((opencl_unroll_hint(4)))
    for (int k = 0; k < 4; ++k) {
      const long v1 = (long)(line * n1 + start + k);
      const uint v2 = tutti_philox(v1, v0);
      out0_vector.element[k] = v2;
    }
    if ((count == 4) & (((ulong)(out0 + out0_at) & (sizeof(uint4) - 1)) == 0)) {
      *((global uint4*)(out0 + out0_at)) = out0_vector.whole;
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        if (k < count) ((global uint*)out0)[out0_at + k] = out0_vector.element[k];
      }
    }
  }
}
