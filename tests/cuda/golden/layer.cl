// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
static inline int tutti_quotient_i32(int n, int multiplier, int shift) {
  return (int)((mul_hi((uint)n, (uint)multiplier) + (uint)n) >> shift);
}
static inline float tutti_tanh_f32(float x) { return tanh(x); }
#pragma OPENCL FP_CONTRACT OFF
typedef struct {
  int word[21];
} tutti_geometry;

__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void tutti_main(
    global const float* in0,
    global const float* in1,
    global float* out0,
    const float v2,
    const tutti_geometry g) {
  const int n0 = g.word[0];
  const int n1 = g.word[1];
  const int in0_offset = g.word[2];
  const int in0_stride0 = g.word[3];
  const int in0_stride1 = g.word[4];
  const int in1_offset = g.word[5];
  const int in1_stride0 = g.word[6];
  const int in1_stride1 = g.word[7];
  const int out0_offset = g.word[8];
  const int out0_stride0 = g.word[9];
  const int out0_stride1 = g.word[10];
  const int kept = g.word[11];
  const int parts = g.word[12];
  const int segment = g.word[13];
  const int segments = g.word[14];
  const int units = g.word[15];
  const int steps = g.word[16];
  const int n1_multiplier = g.word[17];
  const int n1_shift = g.word[18];
  const int segments_multiplier = g.word[19];
  const int segments_shift = g.word[20];
  for (long n = get_global_id(0); n < units; n += get_global_size(0)) {
    const int vector = (int)n;
    const int line = tutti_quotient_i32(vector, segments_multiplier, segments_shift);
    const int c0 = line;
    const int start = (vector - line * segments) * 4;
    const int count = n1 - start < 4 ? (int)(n1 - start) : 4;
    const int c1 = start;
    const int in0_at = in0_offset + c0 * in0_stride0 + c1 * in0_stride1;
    union { uint4 whole; float element[4]; } in0_vector;
    if ((count == 4) & (((ulong)(in0 + in0_at) & (sizeof(uint4) - 1)) == 0)) {
      in0_vector.whole = *((global const uint4*)(in0 + in0_at));
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        in0_vector.element[k] = k < count ? (((global const float*)in0) + in0_at)[k] : 0;
      }
    }
    const int in1_at = in1_offset + c0 * in1_stride0 + c1 * in1_stride1;
    union { uint4 whole; float element[4]; } in1_vector;
    if ((count == 4) & (((ulong)(in1 + in1_at) & (sizeof(uint4) - 1)) == 0)) {
      in1_vector.whole = *((global const uint4*)(in1 + in1_at));
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        in1_vector.element[k] = k < count ? (((global const float*)in1) + in1_at)[k] : 0;
      }
    }
    const int out0_at = out0_offset + c0 * out0_stride0 + c1 * out0_stride1;
    union { uint4 whole; float element[4]; } out0_vector;
    __attribute__((opencl_unroll_hint(4)))
    for (int k = 0; k < 4; ++k) {
      const float v0 = in0_vector.element[k];
      const float v1 = in1_vector.element[k];
      const float v3 = v0 * v2;
      const float v4 = v3 + v1;
      const float v5 = tutti_tanh_f32(v4);
      out0_vector.element[k] = v5;
    }
    if ((count == 4) & (((ulong)(out0 + out0_at) & (sizeof(uint4) - 1)) == 0)) {
      *((global uint4*)(out0 + out0_at)) = out0_vector.whole;
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        if (k < count) ((global float*)out0)[out0_at + k] = out0_vector.element[k];
      }
    }
  }
}
