// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
#pragma OPENCL FP_CONTRACT OFF
typedef struct {
  int word[17];
} tutti_geometry;

__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void tutti_main(
    global const half* in0,
    global const ushort* in1,
    global half* out0,
    global ushort* out1,
    global float* out2,
    const tutti_geometry g) {
  const int n0 = g.word[0];
  const int in0_offset = g.word[1];
  const int in0_stride0 = g.word[2];
  const int in1_offset = g.word[3];
  const int in1_stride0 = g.word[4];
  const int out0_offset = g.word[5];
  const int out0_stride0 = g.word[6];
  const int out1_offset = g.word[7];
  const int out1_stride0 = g.word[8];
  const int out2_offset = g.word[9];
  const int out2_stride0 = g.word[10];
  const int kept = g.word[11];
  const int parts = g.word[12];
  const int segment = g.word[13];
  const int segments = g.word[14];
  const int units = g.word[15];
  const int steps = g.word[16];
  for (long n = get_global_id(0); n < units; n += get_global_size(0)) {
    const int linear = (int)n;
    const int c0 = linear;
    const float v0 = vload_half(in0_offset + c0 * in0_stride0, in0);
    const float v1 = tutti_load_bf16(in1[in1_offset + c0 * in1_stride0]);
    const float v2 = v0 + v1;
    vstore_half_rte(v2, out0_offset + c0 * out0_stride0, out0);
    out1[out1_offset + c0 * out1_stride0] = tutti_to_bf16(v2);
    out2[out2_offset + c0 * out2_stride0] = v2;
  }
}
