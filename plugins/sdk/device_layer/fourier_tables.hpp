// SPDX-License-Identifier: Apache-2.0
//
// The tables of the Fourier transform kernels, kept in the constants of a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sdk/fourier.hpp"
#include "sdk/fourier_roots.hpp"

namespace tutti::sdk {

inline constexpr uint64_t longest_table = 1 << 14;  // of one level

// The tables of a plan: elements of T, real and imaginary parts alternating.
template <typename T>
class fft_tables {
 public:
  // Returns the offset of the table.
  template <typename Values>
  int64_t add(const Values& values) {
    const auto at = static_cast<int64_t>(all_.size());
    for (const auto& v : values) {
      all_.push_back(static_cast<T>(v.re));
      all_.push_back(static_cast<T>(v.im));
    }
    return at;
  }

  // exp(-2 pi i n / count): in one table, or in two levels with `bits` of the index in the first.
  int64_t add_roots(uint64_t count, int32_t& bits) {
    bits = 0;
    if (count > longest_table)
      while (uint64_t{1} << (2 * bits) < count) ++bits;
    std::vector<complex_number<long double>> roots;
    if (bits > 0)
      for (uint64_t i = 0; i < uint64_t{1} << bits; ++i) roots.push_back(unit_root(i, count));
    for (uint64_t i = 0; i << bits < count; ++i) roots.push_back(unit_root(i << bits, count));
    return add(roots);
  }

  // exp(-2 pi i n lane / count) for n < `numbers`: real parts of all lanes, then imaginary parts.
  int64_t add_lanes(uint64_t numbers, uint64_t count, uint64_t lanes) {
    const auto at = static_cast<int64_t>(all_.size());
    const unit_roots roots(count);
    for (uint64_t n = 0; n < numbers; ++n) {
      for (uint64_t lane = 0; lane < lanes; ++lane)
        all_.push_back(static_cast<T>(roots(n * lane % count).re));
      for (uint64_t lane = 0; lane < lanes; ++lane)
        all_.push_back(static_cast<T>(roots(n * lane % count).im));
    }
    return at;
  }

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(all_)); }

 private:
  std::vector<T> all_;
};

// The transform, of size `length`, of the chirp that lines are convolved with.
inline std::vector<complex_number<double>> chirp_spectrum(uint64_t points, uint64_t length) {
  std::vector<complex_number<double>> b(length);
  const auto chirp = chirp_of(points);
  for (uint64_t i = 0; i < points; ++i) {
    b[i] = {static_cast<double>(chirp[i].re), -static_cast<double>(chirp[i].im)};
    if (i > 0) b[length - i] = b[i];
  }
  host_transform<double>{length}(b);
  for (auto& value : b) {
    value.re /= static_cast<double>(length);
    value.im /= static_cast<double>(length);
  }
  return b;
}

}  // namespace tutti::sdk
