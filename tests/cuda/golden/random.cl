// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
#pragma OPENCL FP_CONTRACT OFF
typedef struct {
  int word[11];
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
  for (long n = get_global_id(0); n < units; n += get_global_size(0)) {
    const int linear = (int)n;
    int rest0 = linear;
    const int c1 = rest0 % n1;
    rest0 /= n1;
    const int c0 = rest0;
    const long v1 = (long)(linear);
    const uint v2 = tutti_philox(v1, v0);
    out0[out0_offset + c0 * out0_stride0 + c1 * out0_stride1] = v2;
  }
}
