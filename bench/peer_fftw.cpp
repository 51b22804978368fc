// SPDX-License-Identifier: Apache-2.0
#include "peer_fftw.hpp"

#include <fftw3.h>

#include <algorithm>
#include <cstddef>

namespace tutti::bench::peer {

struct fourier::state {
  std::size_t size;
  fftwf_complex *in, *out;
  fftwf_plan plan;
};

fourier::fourier(std::vector<int> extents, int lines) : state_(std::make_unique<state>()) {
  constexpr int threads = 2;
  static const bool ready = fftwf_init_threads() != 0;
  if (ready) fftwf_plan_with_nthreads(threads);
  int each = 1;
  for (const int n : extents) each *= n;
  state& s = *state_;
  s.size = static_cast<std::size_t>(each) * static_cast<std::size_t>(lines);
  s.in = fftwf_alloc_complex(s.size);
  s.out = fftwf_alloc_complex(s.size);
  s.plan =
      fftwf_plan_many_dft(static_cast<int>(extents.size()), extents.data(), lines, s.in, nullptr, 1,
                          each, s.out, nullptr, 1, each, FFTW_FORWARD, FFTW_MEASURE);
}

fourier::~fourier() {
  fftwf_destroy_plan(state_->plan);
  fftwf_free(state_->in);
  fftwf_free(state_->out);
}

void fourier::set(const std::vector<std::complex<float>>& x) {
  for (std::size_t i = 0; i < state_->size; ++i) {
    state_->in[i][0] = x[i].real();
    state_->in[i][1] = x[i].imag();
  }
}

void fourier::run() { fftwf_execute(state_->plan); }

std::vector<std::complex<float>> fourier::result() const {
  std::vector<std::complex<float>> all(state_->size);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {state_->out[i][0], state_->out[i][1]};
  return all;
}

}  // namespace tutti::bench::peer
