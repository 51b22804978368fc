// SPDX-License-Identifier: Apache-2.0
// Fourier transforms in device memory. Complex numbers are pairs in arrays of T. A transform is a
// chain of launches: tutti_fft_load if the input is not a plain complex array of the transform's
// length, tutti_fft_pass for each factor of the length (Stockham's autosort, with results in
// order), tutti_fft_store likewise. The inverse transform exchanges real and imaginary parts at
// both ends. Lengths with large primes are convolutions with a chirp (Bluestein 1970). CPUs use
// fft_cpu.cl instead of passes. GPUs build tutti_fft_pass for each factor, RADIX: its loops are
// unrolled, and its numbers stay in registers.

#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF  // the same bits on the host (docs/host-engine.md)
#endif

// As sdk::fft_shape. Offsets count elements of T; those of tables, in the plan's constants.
typedef struct {
  long outer, length, inner;  // of intermediate arrays: [outer, length, inner] complex numbers
  long points;                // of the transform: `length` except for convolutions
  long lines;                 // along the axis of the input of load and the output of store
  long radix, done;           // of a pass: its factor, and the product of the previous ones
  long to, from;              // offsets
  long roots, chirp, spectrum;
  int roots_bits, chirp_bits;
  int mode, exchanged, chirped;
  T scale;
} tutti_fft_shape;

// Modes of tutti_fft_load: complex numbers, real numbers, half a Hermitian sequence, the product
// with the spectrum of the chirp. Modes of tutti_fft_store: complex numbers or their real parts.
#define MODE_COMPLEX 0
#define MODE_REAL 1
#define MODE_HERMITIAN 2
#define MODE_SPECTRUM 3

typedef struct {
  T re, im;
} tutti_complex;

INLINE tutti_complex complex_of(T re, T im) {
  tutti_complex z;
  z.re = re;
  z.im = im;
  return z;
}

// A number whose imaginary part is the next T. GPUs load it in one aligned access.
#if GROUP != 1
#if IS_F64
#define PAIR double2
#else
#define PAIR float2
#endif
INLINE tutti_complex pair_at(GLOBAL const T* p) {
  const PAIR z = *(GLOBAL const PAIR*)p;
  return complex_of(z.x, z.y);
}
#else
INLINE tutti_complex pair_at(GLOBAL const T* p) { return complex_of(p[0], p[1]); }
#endif
INLINE void put_pair(tutti_complex z, GLOBAL T* p) {
  p[0] = z.re;
  p[1] = z.im;
}

INLINE tutti_complex exchanged(tutti_complex z) { return complex_of(z.im, z.re); }
INLINE tutti_complex scaled(tutti_complex z, T by) { return complex_of(z.re * by, z.im * by); }
INLINE tutti_complex plus(tutti_complex a, tutti_complex b) {
  return complex_of(a.re + b.re, a.im + b.im);
}
INLINE tutti_complex minus(tutti_complex a, tutti_complex b) {
  return complex_of(a.re - b.re, a.im - b.im);
}
INLINE tutti_complex times(tutti_complex a, tutti_complex b) {
  return complex_of(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
INLINE tutti_complex times_minus_i(tutti_complex a) { return complex_of(a.im, -a.re); }

// exp(-2 pi i index / count) from a table of one level, or of two: 2^bits fine, then coarse steps.
INLINE tutti_complex root_of(GLOBAL const T* table, long at, int bits, long index) {
  if (bits == 0) return pair_at(table + at + 2 * index);
  const long fine = at + 2 * (index & ((1L << bits) - 1));
  const long coarse = at + (2L << bits) + 2 * (index >> bits);
  return times(pair_at(table + coarse), pair_at(table + fine));
}

INLINE tutti_complex chirp_at(GLOBAL const T* table, const tutti_fft_shape* g, long n) {
  return root_of(table, g->chirp, g->chirp_bits, n * n % (2 * g->points));
}

// The number at position `n` along the axis of the input; 0 beyond its end.
INLINE tutti_complex number_at(GLOBAL const T* x, const tutti_fft_shape* g, long o, long n,
                               long i) {
  const int hermitian = g->mode == MODE_HERMITIAN, mirrored = hermitian && 2 * n > g->points;
  const long k = mirrored ? g->points - n : n;
  if (k >= g->lines) return complex_of(0, 0);
  const long at = (o * g->lines + k) * g->inner + i;
  if (g->mode == MODE_REAL) return complex_of(x[g->from + at], 0);
  tutti_complex z = pair_at(x + g->from + 2 * at);
  if (hermitian && (k == 0 || 2 * k == g->points)) z.im = 0;
  if (mirrored) z.im = -z.im;
  return z;
}

#if WANTS(tutti_fft_load) && !defined(RADIX)
KERNEL void tutti_fft_load(GLOBAL T* to, GLOBAL const T* x, GLOBAL const T* table,
                           const tutti_fft_shape g) {
  EACH_UNIT(u, g.outer * g.length * g.inner) {
    const long line = u / g.inner, i = u - line * g.inner;
    const long o = line / g.length, n = line - o * g.length;
    tutti_complex z = complex_of(0, 0);
    if (g.mode == MODE_SPECTRUM) {
      z = times(pair_at(x + g.from + 2 * u), pair_at(table + g.spectrum + 2 * n));
    } else if (n < g.points) {
      z = number_at(x, &g, o, n, i);
    }
    if (g.exchanged) z = exchanged(z);
    if (g.chirped && n < g.points) z = times(z, chirp_at(table, &g, n));
    put_pair(z, to + g.to + 2 * u);
  }
}
#endif

#if WANTS(tutti_fft_store) && !defined(RADIX)
// Convolutions leave the parts exchanged.
KERNEL void tutti_fft_store(GLOBAL T* to, GLOBAL const T* x, GLOBAL const T* table,
                            const tutti_fft_shape g) {
  EACH_UNIT(u, g.outer * g.lines * g.inner) {
    const long line = u / g.inner, i = u - line * g.inner;
    const long o = line / g.lines, n = line - o * g.lines;
    const long at = g.from + 2 * ((o * g.length + n) * g.inner + i);
    tutti_complex z = pair_at(x + at);
    if (g.chirped) z = times(exchanged(z), chirp_at(table, &g, n));
    if (g.exchanged) z = exchanged(z);
    if (g.mode == MODE_REAL)
      to[g.to + u] = z.re * g.scale;
    else
      put_pair(scaled(z, g.scale), to + g.to + 2 * u);
  }
}
#endif

#if WANTS(tutti_fft_pass) && (GROUP == 1 || defined(RADIX))

#define LARGEST_RADIX 13
#ifdef RADIX
#define RADIX_OF(g) RADIX
#define UNROLLED _Pragma("unroll")
#else
#define RADIX_OF(g) (int)(g)->radix
#define UNROLLED
#endif
#if IS_F64
#define SQRT_HALF 0.70710678118654752440
#else
#define SQRT_HALF 0.70710678118654752440f
#endif

INLINE void transform2(tutti_complex* a) {
  const tutti_complex b = a[0];
  a[0] = plus(b, a[1]);
  a[1] = minus(b, a[1]);
}

INLINE void transform4(tutti_complex* a) {
  const tutti_complex b0 = plus(a[0], a[2]), b1 = minus(a[0], a[2]);
  const tutti_complex b2 = plus(a[1], a[3]), b3 = times_minus_i(minus(a[1], a[3]));
  a[0] = plus(b0, b2);
  a[1] = plus(b1, b3);
  a[2] = minus(b0, b2);
  a[3] = minus(b1, b3);
}

INLINE void transform8(tutti_complex* a) {
  const T h = SQRT_HALF;
  tutti_complex even[4], odd[4];
  for (int k = 0; k < 4; ++k) {
    even[k] = a[2 * k];
    odd[k] = a[2 * k + 1];
  }
  transform4(even);
  transform4(odd);
  odd[1] = complex_of(h * (odd[1].re + odd[1].im), h * (odd[1].im - odd[1].re));
  odd[2] = times_minus_i(odd[2]);
  odd[3] = complex_of(h * (odd[3].im - odd[3].re), -h * (odd[3].re + odd[3].im));
  for (int k = 0; k < 4; ++k) {
    a[k] = plus(even[k], odd[k]);
    a[k + 4] = minus(even[k], odd[k]);
  }
}

// Any odd radix: first the sums and differences of a[j] and a[radix - j].
INLINE void transform_odd(tutti_complex* a, GLOBAL const T* table, const tutti_fft_shape* g) {
  const int radix = RADIX_OF(g);
  const long step = g->length / radix;
  tutti_complex out[LARGEST_RADIX];
  tutti_complex all = a[0];
  UNROLLED
  for (int j = 1; 2 * j < radix; ++j) {
    const tutti_complex sum = plus(a[j], a[radix - j]), difference = minus(a[j], a[radix - j]);
    a[j] = sum;
    a[radix - j] = difference;
    all = plus(all, sum);
  }
  out[0] = all;
  UNROLLED
  for (int k = 1; 2 * k < radix; ++k) {
    tutti_complex even = a[0], odd = complex_of(0, 0);
    UNROLLED
    for (int j = 1; 2 * j < radix; ++j) {
      const tutti_complex w = root_of(table, g->roots, g->roots_bits, j * k % radix * step);
      even = plus(even, complex_of(w.re * a[j].re, w.re * a[j].im));
      odd = plus(odd, complex_of(w.im * a[radix - j].re, w.im * a[radix - j].im));
    }
    out[k] = complex_of(even.re - odd.im, even.im + odd.re);
    out[radix - k] = complex_of(even.re + odd.im, even.im - odd.re);
  }
  UNROLLED
  for (int k = 0; k < radix; ++k) a[k] = out[k];
}

KERNEL void tutti_fft_pass(GLOBAL T* to, GLOBAL const T* x, GLOBAL const T* table,
                           const tutti_fft_shape g) {
  const int radix = RADIX_OF(&g);
  const long width = g.length / radix * g.inner, step = g.done * g.inner;
  EACH_UNIT(u, g.outer * width) {
    const long o = u / width, j = u - o * width, p = j / step, q = j - p * step;
    tutti_complex a[LARGEST_RADIX];
    const long start = g.from + 2 * (o * g.length * g.inner + j);
    UNROLLED
    for (int k = 0; k < radix; ++k) {
      const tutti_complex z = pair_at(x + start + 2 * k * width);
      a[k] = g.exchanged ? exchanged(z) : z;
    }
    if (RADIX_OF(&g) == 8)
      transform8(a);
    else if (RADIX_OF(&g) == 4)
      transform4(a);
    else if (RADIX_OF(&g) == 2)
      transform2(a);
    else
      transform_odd(a, table, &g);
    const long end = g.to + 2 * (o * g.length * g.inner + step * radix * p + q);
    UNROLLED
    for (int k = 0; k < radix; ++k) {
      tutti_complex z = a[k];
      if (p > 0 && k > 0) z = times(z, root_of(table, g.roots, g.roots_bits, p * k * g.done));
      z = scaled(z, g.scale);
      put_pair(g.exchanged ? exchanged(z) : z, to + end + 2 * k * step);
    }
  }
}
#endif
