// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
TUTTI_FUNCTION int tutti_quotient_i32(int n, int multiplier, int shift) {
  return (int)((__umulhi((unsigned)n, (unsigned)multiplier) + (unsigned)n) >> shift);
}
typedef struct {
  int word[15];
} tutti_geometry;

extern "C" __global__ __launch_bounds__(256) void tutti_main(
    unsigned int* out0,
    const unsigned long long v0,
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
  for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < units; n += (long long)gridDim.x * blockDim.x) {
    const int vector = (int)n;
    const int line = tutti_quotient_i32(vector, segments_multiplier, segments_shift);
    const int c0 = line;
    const int start = (vector - line * segments) * 4;
    const int count = n1 - start < 4 ? (int)(n1 - start) : 4;
    const int c1 = start;
    const int out0_at = out0_offset + c0 * out0_stride0 + c1 * out0_stride1;
    union { uint4 whole; unsigned int element[4]; } out0_vector;
    #pragma unroll 4
    for (int k = 0; k < 4; ++k) {
      const long long v1 = (long long)(line * n1 + start + k);
      const unsigned int v2 = tutti_philox(v1, v0);
      out0_vector.element[k] = v2;
    }
    if ((count == 4) & (((unsigned long long)(out0 + out0_at) & (sizeof(uint4) - 1)) == 0)) {
      *((uint4*)(out0 + out0_at)) = out0_vector.whole;
    } else {
      #pragma unroll 4
      for (int k = 0; k < 4; ++k) {
        if (k < count) ((unsigned int*)out0)[out0_at + k] = out0_vector.element[k];
      }
    }
  }
}
