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
/// A random order of 0 ... n-1, made on the host (Fisher and Yates; Philox bits).
TUTTI_API std::vector<std::int64_t> permutation(key from, std::int64_t n);

}  // namespace tutti::random
