// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
#pragma OPENCL FP_CONTRACT OFF
typedef struct {
  int word[14];
} tutti_geometry;

__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void tutti_main(
    global const uchar* in0,
    global uchar* out0,
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
  global uchar* partial = (global uchar*)(workspace + partial_offset);
  local uchar tree[128];
  const int local_index = get_local_id(0);
  const int lanes = (int)segment;
  const int lane = local_index & (lanes - 1);
  const int slots = 128 / lanes;
  const int slot = local_index / lanes;
  for (long base = (long)get_group_id(0) * slots; base < units; base += (long)get_num_groups(0) * slots) {
    const long unit = base + slot;
    const int kept_index = (int)(parts == 1 ? unit : unit / parts);
    const int part = (int)(unit - (long)kept_index * parts);
    const int c0 = kept_index;
    uchar total = 0;
    if (unit < units) {
      const long end = parts == 1 ? (long)steps : (long)steps * (part + 1) / parts;
      const long begin = parts == 1 ? (long)0 : (long)steps * part / parts;
      for (long n = begin + lane; n < end; n += 4 * lanes) {
        const int left = (int)(end - n);
        int counts[4];
        int in0_at[4];
        bool in0_whole = true;
        union { uint4 whole; uchar element[16]; } in0_vector[4];
        __attribute__((opencl_unroll_hint(4)))
        for (int r = 0; r < 4; ++r) {
          const bool is_there = r * lanes < left;
          const int step = (int)n + (is_there ? r * lanes : 0);
          const int line = 0;
          const int start = step * 16;
          const int count = n1 - start < 16 ? (int)(n1 - start) : 16;
          const int c1 = start;
          counts[r] = is_there ? count : 0;
          in0_at[r] = in0_offset + c0 * in0_stride0 + c1 * in0_stride1;
          in0_whole = in0_whole & (count == 16) & (((ulong)(in0 + in0_at[r]) & (sizeof(uint4) - 1)) == 0);
        }
        if (in0_whole) {
          __attribute__((opencl_unroll_hint(4)))
          for (int r = 0; r < 4; ++r) {
            if (counts[r] > 0) {
              in0_vector[r].whole = *((global const uint4*)(in0 + in0_at[r]));
            }
          }
        } else {
          __attribute__((opencl_unroll_hint(4)))
          for (int r = 0; r < 4; ++r) {
            __attribute__((opencl_unroll_hint(16)))
            for (int k = 0; k < 16; ++k) {
              in0_vector[r].element[k] = k < counts[r] ? (((global const uchar*)in0) + in0_at[r])[k] : 0;
            }
          }
        }
        __attribute__((opencl_unroll_hint(4)))
        for (int r = 0; r < 4; ++r) {
          __attribute__((opencl_unroll_hint(16)))
          for (int k = 0; k < 16; ++k) {
            if (k < counts[r]) {
              const bool v0 = in0_vector[r].element[k] != 0;
              total = (total | v0);
            }
          }
        }
      }
    }
    tree[local_index] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int w = lanes / 2; w > 0; w /= 2) {
      if (lane < w) {
        tree[local_index] = (tree[local_index] | tree[local_index + w]);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0 && unit < units) {
      total = tree[local_index];
      if (parts > 1) {
        partial[part * kept + kept_index] = total;
      } else {
        out0[out0_offset + c0 * out0_stride0] = total;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void tutti_finish(
    global uchar* out0,
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
  global uchar* partial = (global uchar*)(workspace + partial_offset);
  local uchar tree[128];
  const int local_index = get_local_id(0);
  int slots = 1;
  while (slots < kept && slots < 128 && (slots < 32 || 128 / slots > parts)) slots *= 2;
  const int lanes = 128 / slots;
  const int lane = local_index / slots;
  for (long first = (long)get_group_id(0) * slots; first < kept; first += (long)get_num_groups(0) * slots) {
    const bool is_point = first + local_index % slots < kept;
    const int k = is_point ? (int)first + local_index % slots : 0;
    const int begin = is_point ? lane : parts;
    uchar total = 0;
    for (int p = begin; p < parts; p += lanes) {
      total = (total | partial[p * kept + k]);
    }
    tree[local_index] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int w = lanes / 2; w > 0; w /= 2) {
      if (lane < w) {
        tree[local_index] = (tree[local_index] | tree[local_index + w * slots]);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0 && is_point) {
      const int c0 = k;
      total = tree[local_index];
      out0[out0_offset + c0 * out0_stride0] = total;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
