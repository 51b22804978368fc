// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
typedef struct {
  int word[13];
} tutti_geometry;

extern "C" __global__ __launch_bounds__(256) void tutti_main(
    const float* in0,
    const float* in1,
    float* out0,
    const float v2,
    const tutti_geometry g) {
  const int n0 = g.word[0];
  const int in0_offset = g.word[1];
  const int in0_stride0 = g.word[2];
  const int in1_offset = g.word[3];
  const int in1_stride0 = g.word[4];
  const int out0_offset = g.word[5];
  const int out0_stride0 = g.word[6];
  const int kept = g.word[7];
  const int parts = g.word[8];
  const int segment = g.word[9];
  const int segments = g.word[10];
  const int units = g.word[11];
  const int steps = g.word[12];
  for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < units; n += (long long)gridDim.x * blockDim.x) {
    const int linear = (int)n;
    const int c0 = linear;
    const float v0 = in0[in0_offset + c0 * in0_stride0];
    const float v1 = in1[in1_offset + c0 * in1_stride0];
    const float v3 = v0 + v1;
    const float v4 = v3 * v2;
    out0[out0_offset + c0 * out0_stride0] = v4;
  }
}
