// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
typedef struct {
  int word[11];
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
  for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < units; n += (long long)gridDim.x * blockDim.x) {
    const int linear = (int)n;
    int rest0 = linear;
    const int c1 = rest0 % n1;
    rest0 /= n1;
    const int c0 = rest0;
    const long long v1 = (long long)(linear);
    const unsigned int v2 = tutti_philox(v1, v0);
    out0[out0_offset + c0 * out0_stride0 + c1 * out0_stride1] = v2;
  }
}
