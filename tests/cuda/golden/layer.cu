// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
TUTTI_FUNCTION float tutti_tanh_f32(float x) { return tanhf(x); }
typedef struct {
  int word[17];
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
  for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < units; n += (long long)gridDim.x * blockDim.x) {
    const int linear = (int)n;
    int rest0 = linear;
    const int c1 = rest0 % n1;
    rest0 /= n1;
    const int c0 = rest0;
    const float v0 = in0[in0_offset + c0 * in0_stride0 + c1 * in0_stride1];
    const float v1 = in1[in1_offset + c0 * in1_stride0 + c1 * in1_stride1];
    const float v3 = v0 * v2;
    const float v4 = v3 + v1;
    const float v5 = tutti_tanh_f32(v4);
    out0[out0_offset + c0 * out0_stride0 + c1 * out0_stride1] = v5;
  }
}
