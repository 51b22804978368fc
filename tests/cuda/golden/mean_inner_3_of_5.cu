// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
TUTTI_FUNCTION float tutti_exp_f32(float x) { return expf(x); }
TUTTI_FUNCTION int tutti_quotient_i32(int n, int multiplier, int shift) {
  return (int)((__umulhi((unsigned)n, (unsigned)multiplier) + (unsigned)n) >> shift);
}
typedef struct {
  int word[29];
} tutti_geometry;

extern "C" __global__ __launch_bounds__(256) void tutti_main(
    const unsigned short* in0,
    unsigned short* out0,
    const unsigned char s1,
    const tutti_geometry g,
    unsigned char* workspace, const unsigned long long partial_offset, const unsigned long long partial_at_offset) {
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
  float* partial = (float*)(workspace + partial_offset);
  __shared__ float tree[256];
  const int local_index = (int)threadIdx.x;
  const int lanes = (int)segment;
  const int lane = local_index & (lanes - 1);
  const int slots = 256 / lanes;
  const int slot = local_index / lanes;
  for (long long base = (long long)blockIdx.x * slots; base < units; base += (long long)gridDim.x * slots) {
    const long long unit = base + slot;
    const int kept_index = (int)(parts == 1 ? unit : unit / parts);
    const int part = (int)(unit - (long long)kept_index * parts);
    int rest0 = kept_index;
    const int over1 = tutti_quotient_i32(rest0, n1_multiplier, n1_shift);
    const int c1 = rest0 - over1 * n1;
    rest0 = over1;
    const int c0 = rest0;
    float total = 0;
    float lost = 0;
    if (unit < units) {
      const long long end = parts == 1 ? (long long)steps : (long long)steps * (part + 1) / parts;
      const long long begin = parts == 1 ? (long long)0 : (long long)steps * part / parts;
      for (long long n = begin + lane; n < end; n += 1 * lanes) {
        const int step = (int)n;
        int rest2 = step;
        const int over4 = tutti_quotient_i32(rest2, n4_multiplier, n4_shift);
        const int c4 = rest2 - over4 * n4;
        rest2 = over4;
        const int over3 = tutti_quotient_i32(rest2, n3_multiplier, n3_shift);
        const int c3 = rest2 - over3 * n3;
        rest2 = over3;
        const int c2 = rest2;
        const float v0 = tutti_load_f16(in0[in0_offset + c0 * in0_stride0 + c1 * in0_stride1 + c2 * in0_stride2 + c3 * in0_stride3 + c4 * in0_stride4]);
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
    if (lanes > 32) {
      tree[local_index] = total;
      __syncthreads();
      for (int w = lanes / 2; w > 16; w /= 2) {
        if (lane < w) {
          tree[local_index] = tree[local_index] + tree[local_index + w];
        }
        __syncthreads();
      }
      total = tree[local_index];
    }
    for (int w = lanes > 32 ? 16 : lanes / 2; w > 0; w /= 2) {
      const float other = tutti_shuffle(total, w);
      total = total + other;
    }
    if (lane == 0 && unit < units) {
      if (parts > 1) {
        partial[part * kept + kept_index] = total;
      } else {
        out0[out0_offset + c0 * out0_stride0 + c1 * out0_stride1] = tutti_to_bf16(total);
      }
    }
    if (lanes > 32) __syncthreads();
  }
}

extern "C" __global__ __launch_bounds__(256) void tutti_finish(
    unsigned short* out0,
    const tutti_geometry g,
    unsigned char* workspace, const unsigned long long partial_offset, const unsigned long long partial_at_offset) {
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
  float* partial = (float*)(workspace + partial_offset);
  __shared__ float tree[256];
  const int local_index = (int)threadIdx.x;
  int slots = 1;
  while (slots < kept && slots < 256 && (slots < 32 || 256 / slots > parts)) slots *= 2;
  const int lanes = 256 / slots;
  const int lane = local_index / slots;
  for (long long first = (long long)blockIdx.x * slots; first < kept; first += (long long)gridDim.x * slots) {
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
    __syncthreads();
    for (int w = lanes / 2; w > 0; w /= 2) {
      if (lane < w) {
        tree[local_index] = tree[local_index] + tree[local_index + w * slots];
      }
      __syncthreads();
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
    __syncthreads();
  }
}
