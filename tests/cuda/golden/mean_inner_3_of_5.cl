// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
static inline float tutti_exp_f32(float x) { return exp(x); }
static inline int tutti_quotient_i32(int n, int multiplier, int shift) {
  return (int)((mul_hi((uint)n, (uint)multiplier) + (uint)n) >> shift);
}
#pragma OPENCL FP_CONTRACT OFF
typedef struct {
  int word[29];
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
  const int n1_multiplier = g.word[23];
  const int n1_shift = g.word[24];
  const int n3_multiplier = g.word[25];
  const int n3_shift = g.word[26];
  const int n4_multiplier = g.word[27];
  const int n4_shift = g.word[28];
  const bool v1 = s1 != 0;
  global float* partial = (global float*)(workspace + partial_offset);
  local float tree[128];
  const int local_index = get_local_id(0);
  const int lanes = (int)segment;
  const int lane = local_index & (lanes - 1);
  const int slots = 128 / lanes;
  const int slot = local_index / lanes;
  for (long base = (long)get_group_id(0) * slots; base < units; base += (long)get_num_groups(0) * slots) {
    const long unit = base + slot;
    const int kept_index = (int)(parts == 1 ? unit : unit / parts);
    const int part = (int)(unit - (long)kept_index * parts);
    int rest0 = kept_index;
    const int over1 = tutti_quotient_i32(rest0, n1_multiplier, n1_shift);
    const int c1 = rest0 - over1 * n1;
    rest0 = over1;
    const int c0 = rest0;
    float total = 0;
    float lost = 0;
    if (unit < units) {
      const long end = parts == 1 ? (long)steps : (long)steps * (part + 1) / parts;
      const long begin = parts == 1 ? (long)0 : (long)steps * part / parts;
      for (long n = begin + lane; n < end; n += 1 * lanes) {
        const int step = (int)n;
        int rest2 = step;
        const int over4 = tutti_quotient_i32(rest2, n4_multiplier, n4_shift);
        const int c4 = rest2 - over4 * n4;
        rest2 = over4;
        const int over3 = tutti_quotient_i32(rest2, n3_multiplier, n3_shift);
        const int c3 = rest2 - over3 * n3;
        rest2 = over3;
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
    }
    tree[local_index] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int w = lanes / 2; w > 0; w /= 2) {
      if (lane < w) {
        tree[local_index] = tree[local_index] + tree[local_index + w];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0 && unit < units) {
      total = tree[local_index];
      if (parts > 1) {
        partial[part * kept + kept_index] = total;
      } else {
        out0[out0_offset + c0 * out0_stride0 + c1 * out0_stride1] = tutti_to_bf16(total);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
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
  const int n1_multiplier = g.word[23];
  const int n1_shift = g.word[24];
  const int n3_multiplier = g.word[25];
  const int n3_shift = g.word[26];
  const int n4_multiplier = g.word[27];
  const int n4_shift = g.word[28];
  global float* partial = (global float*)(workspace + partial_offset);
  local float tree[128];
  const int local_index = get_local_id(0);
  int slots = 1;
  while (slots < kept && slots < 128 && (slots < 32 || 128 / slots > parts)) slots *= 2;
  const int lanes = 128 / slots;
  const int lane = local_index / slots;
  for (long first = (long)get_group_id(0) * slots; first < kept; first += (long)get_num_groups(0) * slots) {
    const bool is_point = first + local_index % slots < kept;
    const int k = is_point ? (int)first + local_index % slots : 0;
    const int begin = is_point ? lane : parts;
    float total = 0;
    float lost = 0;
    for (int p = begin; p < parts; p += lanes) {
      {
        const float corrected = partial[p * kept + k] - lost;
        const float sum = total + corrected;
        lost = sum - sum == 0 ? (sum - total) - corrected : 0;
        total = sum;
      }
    }
    tree[local_index] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int w = lanes / 2; w > 0; w /= 2) {
      if (lane < w) {
        tree[local_index] = tree[local_index] + tree[local_index + w * slots];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0 && is_point) {
      int rest0 = k;
      const int over1 = tutti_quotient_i32(rest0, n1_multiplier, n1_shift);
      const int c1 = rest0 - over1 * n1;
      rest0 = over1;
      const int c0 = rest0;
      total = tree[local_index];
      out0[out0_offset + c0 * out0_stride0 + c1 * out0_stride1] = tutti_to_bf16(total);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
