// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
TUTTI_FUNCTION int tutti_quotient_i32(int n, int multiplier, int shift) {
  return (int)((__umulhi((unsigned)n, (unsigned)multiplier) + (unsigned)n) >> shift);
}
TUTTI_FUNCTION float tutti_tanh_f32(float x) { return tanhf(x); }
typedef struct {
  int word[21];
} tutti_geometry;

extern "C" __global__ __launch_bounds__(256) void tutti_main(
    const float* in0,
    const float* in1,
    float* out0,
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
  for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < units; n += (long long)gridDim.x * blockDim.x) {
    const int vector = (int)n;
    const int line = tutti_quotient_i32(vector, segments_multiplier, segments_shift);
    const int c0 = line;
    const int start = (vector - line * segments) * 4;
    const int count = n1 - start < 4 ? (int)(n1 - start) : 4;
    const int c1 = start;
    const int in0_at = in0_offset + c0 * in0_stride0 + c1 * in0_stride1;
    union { uint4 whole; float element[4]; } in0_vector;
    if ((count == 4) & (((unsigned long long)(in0 + in0_at) & (sizeof(uint4) - 1)) == 0)) {
      in0_vector.whole = *((const uint4*)(in0 + in0_at));
    } else {
      #pragma unroll 4
      for (int k = 0; k < 4; ++k) {
        in0_vector.element[k] = k < count ? (((const float*)in0) + in0_at)[k] : 0;
      }
    }
    const int in1_at = in1_offset + c0 * in1_stride0 + c1 * in1_stride1;
    union { uint4 whole; float element[4]; } in1_vector;
    if ((count == 4) & (((unsigned long long)(in1 + in1_at) & (sizeof(uint4) - 1)) == 0)) {
      in1_vector.whole = *((const uint4*)(in1 + in1_at));
    } else {
      #pragma unroll 4
      for (int k = 0; k < 4; ++k) {
        in1_vector.element[k] = k < count ? (((const float*)in1) + in1_at)[k] : 0;
      }
    }
    const int out0_at = out0_offset + c0 * out0_stride0 + c1 * out0_stride1;
    union { uint4 whole; float element[4]; } out0_vector;
    #pragma unroll 4
    for (int k = 0; k < 4; ++k) {
      const float v0 = in0_vector.element[k];
      const float v1 = in1_vector.element[k];
      const float v3 = v0 * v2;
      const float v4 = v3 + v1;
      const float v5 = tutti_tanh_f32(v4);
      out0_vector.element[k] = v5;
    }
    if ((count == 4) & (((unsigned long long)(out0 + out0_at) & (sizeof(uint4) - 1)) == 0)) {
      *((uint4*)(out0 + out0_at)) = out0_vector.whole;
    } else {
      #pragma unroll 4
      for (int k = 0; k < 4; ++k) {
        if (k < count) ((float*)out0)[out0_at + k] = out0_vector.element[k];
      }
    }
  }
}
