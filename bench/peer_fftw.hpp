// SPDX-License-Identifier: Apache-2.0
//
// FFTW with measured plans on two threads, the usual choice for Fourier transforms in C++.
#pragma once

#include <complex>
#include <memory>
#include <vector>

namespace tutti::bench::peer {

/// Forward transforms of `lines` arrays with these extents (one or two), out of place.
class fourier {
 public:
  fourier(std::vector<int> extents, int lines);
  ~fourier();
  fourier(const fourier&) = delete;
  fourier& operator=(const fourier&) = delete;
  void set(const std::vector<std::complex<float>>& x);
  void run();
  std::vector<std::complex<float>> result() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tutti::bench::peer
