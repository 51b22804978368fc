// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
typedef struct {
  int word[14];
} tutti_geometry;

extern "C" __global__ __launch_bounds__(256) void tutti_main(
    const int* in0,
    int* out0,
    const tutti_geometry g,
    unsigned char* workspace, const unsigned long long partial_offset, const unsigned long long partial_at_offset) {
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
  int* partial = (int*)(workspace + partial_offset);
  const long long columns = parts == 1 ? (long long)units : units / parts;
  for (long long unit = (long long)blockIdx.x * blockDim.x + threadIdx.x; unit < units; unit += (long long)gridDim.x * blockDim.x) {
    const int part = (int)(parts == 1 ? (long long)0 : unit / columns);
    const int column = (int)(unit - part * columns);
    const int line = 0;
    const int start = column * 4;
    const int count = n0 - start < 4 ? (int)(n0 - start) : 4;
    int totals[4];
    #pragma unroll 4
    for (int k = 0; k < 4; ++k) {
      totals[k] = (-2147483647 - 1);
    }
    const long long end = parts == 1 ? (long long)steps : (long long)steps * (part + 1) / parts;
    const long long begin = parts == 1 ? (long long)0 : (long long)steps * part / parts;
    for (long long n = begin; n < end; n += 4) {
      const int left = (int)(end - n);
      int counts[4];
      int in0_at[4];
      bool in0_whole = true;
      union { uint4 whole; int element[4]; } in0_vector[4];
      #pragma unroll 4
      for (int r = 0; r < 4; ++r) {
        const bool is_there = r * 1 < left;
        const int step = (int)n + (is_there ? r * 1 : 0);
        const int c1 = step;
        const int c0 = start;
        counts[r] = is_there ? count : 0;
        in0_at[r] = in0_offset + c0 * in0_stride0 + c1 * in0_stride1;
        in0_whole = in0_whole & (count == 4) & (((unsigned long long)(in0 + in0_at[r]) & (sizeof(uint4) - 1)) == 0);
      }
      if (in0_whole) {
        #pragma unroll 4
        for (int r = 0; r < 4; ++r) {
          if (counts[r] > 0) {
            in0_vector[r].whole = *((const uint4*)(in0 + in0_at[r]));
          }
        }
      } else {
        #pragma unroll 4
        for (int r = 0; r < 4; ++r) {
          #pragma unroll 4
          for (int k = 0; k < 4; ++k) {
            in0_vector[r].element[k] = k < counts[r] ? (((const int*)in0) + in0_at[r])[k] : 0;
          }
        }
      }
      #pragma unroll 4
      for (int r = 0; r < 4; ++r) {
        if (counts[r] > 0) {
          #pragma unroll 4
          for (int k = 0; k < 4; ++k) {
            int total = totals[k];
            const int v0 = in0_vector[r].element[k];
            total = total > v0 ? total : v0;
            totals[k] = total;
          }
        }
      }
    }
    #pragma unroll 4
    for (int k = 0; k < 4; ++k) {
      if (k < count) {
        const int c0 = start + k;
        const int total = totals[k];
        if (parts > 1) {
          partial[part * kept + line * n0 + c0] = total;
        } else {
          out0[out0_offset + c0 * out0_stride0] = total;
        }
      }
    }
  }
}

extern "C" __global__ __launch_bounds__(256) void tutti_finish(
    int* out0,
    const tutti_geometry g,
    unsigned char* workspace, const unsigned long long partial_offset, const unsigned long long partial_at_offset) {
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
  int* partial = (int*)(workspace + partial_offset);
  __shared__ int tree[256];
  const int local_index = (int)threadIdx.x;
  int slots = 1;
  while (slots < kept && slots < 256 && (slots < 32 || 256 / slots > parts)) slots *= 2;
  const int lanes = 256 / slots;
  const int lane = local_index / slots;
  for (long long first = (long long)blockIdx.x * slots; first < kept; first += (long long)gridDim.x * slots) {
    const bool is_point = first + local_index % slots < kept;
    const int k = is_point ? (int)first + local_index % slots : 0;
    const int begin = is_point ? lane : parts;
    int total = (-2147483647 - 1);
    for (int p = begin; p < parts; p += lanes) {
      total = total > partial[p * kept + k] ? total : partial[p * kept + k];
    }
    tree[local_index] = total;
    __syncthreads();
    for (int w = lanes / 2; w > 0; w /= 2) {
      if (lane < w) {
        tree[local_index] = tree[local_index] > tree[local_index + w * slots] ? tree[local_index] : tree[local_index + w * slots];
      }
      __syncthreads();
    }
    if (lane == 0 && is_point) {
      const int c0 = k;
      total = tree[local_index];
      out0[out0_offset + c0 * out0_stride0] = total;
    }
    __syncthreads();
  }
}
