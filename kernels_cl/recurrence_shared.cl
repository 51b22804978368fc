// SPDX-License-Identifier: Apache-2.0
// Linear recurrences of first order: out[n] = a[n] out[n-1] + x[n] along the second of three axes,
// and out[0] = x[0]. Built for T (complex numbers, IS_COMPLEX, are pairs). An item computes `chunk`
// places of one line, or on CPUs of `tile` neighbouring lines, at most WIDEST. Lines that are
// divided into chunks take three steps: each chunk is reduced to one a and one x
// (tutti_recurrence_chunks); these form shorter lines, whose recurrence is computed the same way;
// its results carry over into the chunks (G. E. Blelloch, "Prefix sums and their applications",
// 1990).

// Units for cpu: real complex

#include "numbers_shared.cl"

typedef struct {
  long outer, length, inner;
  long chunk, chunks, tile, tiles;
  long out_offset, a_offset, x_offset, carries_offset;
  int reverse;
  int is_reduced;  // the lines are those of chunks
} tutti_recurrence_shape;

#if GROUP == 1
#define WIDEST 256
#else
#define WIDEST 1
#endif

// A zero that is carried stays 0 even if the product of a chunk has overflowed. (Where a itself is
// not finite, the sum of the chunk is NaN.)
INLINE number next(number a, number before, number x, int is_reduced) {
#if IS_COMPLEX
  const int is_zero = before.x == 0 && before.y == 0;
#else
  const int is_zero = before == 0;
#endif
  return is_reduced && is_zero ? x : plus(times(a, before), x);
}

// The part of a unit of work: chunk, line and first element.
#define FIND_PART                                                             \
  const long tile = u % g.tiles, chunk = u / g.tiles % g.chunks;              \
  const long outer = u / g.tiles / g.chunks, first = tile * g.tile;           \
  const long begin = chunk * g.chunk, end = least(begin + g.chunk, g.length); \
  const int width = (int)least(g.tile, g.inner - first);
#define AT(n) ((outer * g.length + (g.reverse ? g.length - 1 - (n) : (n))) * g.inner + first)

#if WANTS(tutti_recurrence_chunks)
KERNEL void tutti_recurrence_chunks(GLOBAL number* products_of_all, GLOBAL const number* a_of_all,
                                    GLOBAL const number* x_of_all, GLOBAL number* sums_of_all,
                                    const tutti_recurrence_shape g) {
  GLOBAL number* products = products_of_all + g.out_offset;
  GLOBAL number* sums = sums_of_all + g.carries_offset;
  GLOBAL const number* a = a_of_all + g.a_offset;
  GLOBAL const number* x = x_of_all + g.x_offset;
  EACH_UNIT(u, g.outer * g.chunks * g.tiles) {
    FIND_PART
    for (int i = 0; i < width; ++i) {
      number product = a[AT(begin) + i], sum = x[AT(begin) + i];
      if (!g.is_reduced && chunk > 0) sum = plus(sum, times(product, no_number()));
      for (long n = begin + 1; n < end; ++n) {
        const number factor = a[AT(n) + i];
        product = times(factor, product);
        sum = next(factor, sum, x[AT(n) + i], g.is_reduced);
      }
      const long to = (outer * g.chunks + chunk) * g.inner + first + i;
      products[to] = product;
      sums[to] = sum;
    }
  }
}
#endif

#if WANTS(tutti_recurrence)

// `width` neighbouring lines at once.
INLINE void advance(GLOBAL number* out, GLOBAL const number* a, GLOBAL const number* x,
                    GLOBAL const number* carries, long begin, long end, long step, int width,
                    int is_reduced) {
  number value[WIDEST];
  for (int i = 0; i < width; ++i)
    value[i] = begin > 0 ? next(a[i], carries[i], x[i], is_reduced) : x[i];
  for (int i = 0; i < width; ++i) out[i] = value[i];
  for (long n = begin + 1; n < end; ++n) {
    a += step;
    x += step;
    out += step;
#if GROUP == 1
    VECTOR_LOOP
#endif
    for (int i = 0; i < width; ++i) {
      value[i] = next(a[i], value[i], x[i], is_reduced);
      out[i] = value[i];
    }
  }
}

KERNEL void tutti_recurrence(GLOBAL number* out_of_all, GLOBAL const number* a_of_all,
                             GLOBAL const number* x_of_all, GLOBAL const number* carries_of_all,
                             const tutti_recurrence_shape g) {
  GLOBAL number* out = out_of_all + g.out_offset;
  GLOBAL const number* a = a_of_all + g.a_offset;
  GLOBAL const number* x = x_of_all + g.x_offset;
  const long step = g.reverse ? -g.inner : g.inner;
  EACH_UNIT(u, g.outer * g.chunks * g.tiles) {
    FIND_PART
    // Chunk 0 carries nothing over, and reads none.
    GLOBAL const number* carries = carries_of_all + g.carries_offset +
                                   (outer * g.chunks + most(chunk - 1, 0)) * g.inner + first;
    const long at = AT(begin);
    if (WIDEST == 1 || width == 1)  // in a register
      advance(out + at, a + at, x + at, carries, begin, end, step, 1, g.is_reduced);
    else
      advance(out + at, a + at, x + at, carries, begin, end, step, width, g.is_reduced);
  }
}
#endif
