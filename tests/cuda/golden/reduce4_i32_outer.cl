// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
#pragma OPENCL FP_CONTRACT OFF
typedef struct {
  int word[14];
} tutti_geometry;

__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void tutti_main(
    global const int* in0,
    global int* out0,
    const tutti_geometry g,
    global uchar* workspace, const ulong partial_offset, const ulong partial_at_offset) {
  const int n0 = g.word[0];
  const int n1 = g.word[1];
  const int in0_offset = g.word[2];
  const int in0_stride0 = g.word[3];
  const int in0_stride1 = g.word[4];
  const int out0_offset = g.word[5];
  const int out0_stride0 = g.word[6];
  const int kept = g.word[8];
  const int parts = g.word[9];
  const int segment = g.word[10];
  const int segments = g.word[11];
  const int units = g.word[12];
  const int steps = g.word[13];
  global int* partial = (global int*)(workspace + partial_offset);
  for (long unit = get_global_id(0); unit < units; unit += get_global_size(0)) {
    const int part = (int)(unit / kept);
    const int kept_index = (int)(unit % kept);
    const int c0 = kept_index;
    int total = (-2147483647 - 1);
    const long end = (long)steps * (part + 1) / parts;
    for (long n = (long)steps * part / parts; n < end; ++n) {
      const int step = (int)n;
      const int c1 = step;
      const int v0 = in0[in0_offset + c0 * in0_stride0 + c1 * in0_stride1];
      total = total > v0 ? total : v0;
    }
    if (parts > 1) {
      partial[part * kept + kept_index] = total;
    } else {
      out0[out0_offset + c0 * out0_stride0] = total;
    }
  }
}

__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void tutti_finish(
    global int* out0,
    const tutti_geometry g,
    global uchar* workspace, const ulong partial_offset, const ulong partial_at_offset) {
  const int n0 = g.word[0];
  const int n1 = g.word[1];
  const int out0_offset = g.word[5];
  const int out0_stride0 = g.word[6];
  const int kept = g.word[8];
  const int parts = g.word[9];
  const int segment = g.word[10];
  const int segments = g.word[11];
  const int units = g.word[12];
  const int steps = g.word[13];
  global int* partial = (global int*)(workspace + partial_offset);
  for (long wide_k = get_global_id(0); wide_k < kept; wide_k += get_global_size(0)) {
    const int k = (int)wide_k;
    const int c0 = k;
    int total = (-2147483647 - 1);
    for (int p = 0; p < parts; ++p) {
      total = total > partial[p * kept + k] ? total : partial[p * kept + k];
    }
    out0[out0_offset + c0 * out0_stride0] = total;
  }
}
