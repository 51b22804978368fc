// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
static inline float tutti_exp_f32(float x) { return exp(x); }
#pragma OPENCL FP_CONTRACT OFF
typedef struct {
  int word[23];
} tutti_geometry;

__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void tutti_main(
    global const half* in0,
    global ushort* out0,
    const uchar s1,
    const tutti_geometry g,
    global uchar* workspace, const ulong partial_offset, const ulong partial_at_offset) {
  const int n0 = g.word[0];
  const int n1 = g.word[1];
  const int n2 = g.word[2];
  const int n3 = g.word[3];
  const int n4 = g.word[4];
  const int in0_offset = g.word[5];
  const int in0_stride0 = g.word[6];
  const int in0_stride1 = g.word[7];
  const int in0_stride2 = g.word[8];
  const int in0_stride3 = g.word[9];
  const int in0_stride4 = g.word[10];
  const int out0_offset = g.word[11];
  const int out0_stride0 = g.word[12];
  const int out0_stride1 = g.word[13];
  const int kept = g.word[17];
  const int parts = g.word[18];
  const int segment = g.word[19];
  const int segments = g.word[20];
  const int units = g.word[21];
  const int steps = g.word[22];
  const bool v1 = s1 != 0;
  global float* partial = (global float*)(workspace + partial_offset);
  for (long unit = get_global_id(0); unit < units; unit += get_global_size(0)) {
    const int part = (int)(unit / kept);
    const int kept_index = (int)(unit % kept);
    int rest0 = kept_index;
    const int c1 = rest0 % n1;
    rest0 /= n1;
    const int c0 = rest0;
    float total = 0;
    float lost = 0;
    const long end = (long)steps * (part + 1) / parts;
    for (long n = (long)steps * part / parts; n < end; ++n) {
      const int step = (int)n;
      int rest2 = step;
      const int c4 = rest2 % n4;
      rest2 /= n4;
      const int c3 = rest2 % n3;
      rest2 /= n3;
      const int c2 = rest2;
      const float v0 = vload_half(in0_offset + c0 * in0_stride0 + c1 * in0_stride1 + c2 * in0_stride2 + c3 * in0_stride3 + c4 * in0_stride4, in0);
      const float v2 = tutti_exp_f32(v0);
      const float v3 = v1 ? v2 : v0;
      {
        const float corrected = v3 - lost;
        const float sum = total + corrected;
        lost = sum - sum == 0 ? (sum - total) - corrected : 0;
        total = sum;
      }
    }
    if (parts > 1) {
      partial[part * kept + kept_index] = total;
    } else {
      out0[out0_offset + c0 * out0_stride0 + c1 * out0_stride1] = tutti_to_bf16(total);
    }
  }
}

__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void tutti_finish(
    global ushort* out0,
    const tutti_geometry g,
    global uchar* workspace, const ulong partial_offset, const ulong partial_at_offset) {
  const int n0 = g.word[0];
  const int n1 = g.word[1];
  const int n2 = g.word[2];
  const int n3 = g.word[3];
  const int n4 = g.word[4];
  const int out0_offset = g.word[11];
  const int out0_stride0 = g.word[12];
  const int out0_stride1 = g.word[13];
  const int kept = g.word[17];
  const int parts = g.word[18];
  const int segment = g.word[19];
  const int segments = g.word[20];
  const int units = g.word[21];
  const int steps = g.word[22];
  global float* partial = (global float*)(workspace + partial_offset);
  for (long wide_k = get_global_id(0); wide_k < kept; wide_k += get_global_size(0)) {
    const int k = (int)wide_k;
    int rest0 = k;
    const int c1 = rest0 % n1;
    rest0 /= n1;
    const int c0 = rest0;
    float total = 0;
    float lost = 0;
    for (int p = 0; p < parts; ++p) {
      {
        const float corrected = partial[p * kept + k] - lost;
        const float sum = total + corrected;
        lost = sum - sum == 0 ? (sum - total) - corrected : 0;
        total = sum;
      }
    }
    out0[out0_offset + c0 * out0_stride0 + c1 * out0_stride1] = tutti_to_bf16(total);
  }
}
