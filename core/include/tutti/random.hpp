// SPDX-License-Identifier: Apache-2.0
//
// Random numbers from explicit keys: the same key gives the same numbers on every device.
// Philox4x32-10 (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
#pragma once

#include <cstdint>
#include <vector>

#include "tutti/array.hpp"

namespace tutti::random {

/// A stream of random numbers. Use each key once; split() gives independent ones.
struct key {
  std::uint64_t value = 0;
};

/// `count` keys derived from `from` by Philox.
TUTTI_API std::vector<key> split(key from, int count = 2);
/// Entry `index` of split(), without computing the others: the key of a step or an example. Throws
/// value_error for a negative index.
TUTTI_API key fold_in(key from, std::int64_t index);

/// Uniform 32-bit integers (u32), the same bits on every device: element i, in row-major order, is
/// word i of the key's stream, that is word i mod 4 of Philox block i / 4.
TUTTI_API array bits(key from, const shape& shape, const device& on = default_device());
/// Uniform in [low, high), the same bits on every device. Element i is low + (high - low) * u,
/// where u is k random bits divided by 2^k: in f32 the upper 24 of word i (f16: 11, bf16: 8), in
/// f64 the upper 27 of word 2i above the upper 26 of word 2i + 1. Throws value_error unless low <
/// high, both finite, and dtype_error for a dtype that is not floating.
TUTTI_API array uniform(key from, const shape& shape, double low = 0, double high = 1,
                        dtype type = dtype::f32, const device& on = default_device());
/// Normal (Box and Muller, 1958); equal across devices to a few ulp. Element i is
/// sqrt(-2 log u) cos(2 pi v), times the deviation, plus the mean. In f32, f16 and bf16, u is (the
/// upper 24 bits of word 2i, plus 1) / 2^24 and v the upper 24 bits of word 2i + 1, / 2^24; in f64
/// both have 53 bits, from words 4i, 4i + 1 and 4i + 2, 4i + 3.
TUTTI_API array normal(key from, const shape& shape, double mean = 0, double deviation = 1,
                       dtype type = dtype::f32, const device& on = default_device());
/// A random permutation of 0 ... n-1, made on the host (Fisher and Yates; Philox bits).
TUTTI_API std::vector<std::int64_t> permutation(key from, std::int64_t n);

/// Integers in [low, high), the same on every device. Element i is low + floor(x r / 2^b), r = high
/// - low, where x are the b = 64 bits of words 2i and 2i + 1 (the first is the lower), or for r >
/// 2^32 the b = 128 bits of words 4i ... 4i + 3 (D. Lemire, "Fast random integer generation in an
/// interval", TOMACS 2019, without the rejection): probabilities differ by at most one part in
/// 2^32. Throws value_error unless low < high, or if `type` cannot represent them, and dtype_error
/// for a dtype that is not an integer.
TUTTI_API array integers(key from, const shape& shape, std::int64_t low, std::int64_t high,
                         dtype type = dtype::i32, const device& on = default_device());
/// True with the given probability, rounded to a multiple of 2^-32; the same on every device.
/// Element i uses word i. Throws value_error for a probability outside [0, 1].
TUTTI_API array bernoulli(key from, const shape& shape, double probability = 0.5,
                          const device& on = default_device());
/// Standard normal numbers truncated to [low, high], times the deviation, plus the mean: by the
/// inverse of the normal distribution (M. J. Wichura, algorithm AS 241, Applied Statistics 37,
/// 1988). Bounds may be infinite. Throws value_error unless low < high, the interval has a
/// probability above 1e-30, mean and deviation are finite, and deviation >= 0.
TUTTI_API array truncated_normal(key from, const shape& shape, double low = -2, double high = 2,
                                 double mean = 0, double deviation = 1, dtype type = dtype::f32,
                                 const device& on = default_device());
/// An index along `axis`, which is removed, with probability softmax(logits): the largest of
/// logits + Gumbel noise (from 23 bits per element, so the noise is in [-2.9, 16.7]). i64. Throws
/// value_error if the axis is empty. For several draws, broadcast the logits.
TUTTI_API array categorical(key from, const array& logits, integer axis = -1);
/// a with its rows along `axis` in the order of permutation().
TUTTI_API array shuffle(key from, const array& a, integer axis = 0);

}  // namespace tutti::random
