// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms of many lines, of an image and of one long line of prime length, compared with
// FFTW with measured plans if it was found.
#include <cmath>
#include <complex>
#include <memory>

#include "harness.hpp"
#include "operands.hpp"
#include "tutti/array.hpp"
#include "tutti/fft.hpp"
#ifdef TUTTI_BENCH_FFTW
#include "peer_fftw.hpp"
#endif

namespace tutti::bench {
namespace {

// Transforms of `lines` arrays with these extents.
struct fourier_case {
  std::vector<int> extents;
  int lines;
  double of_peer;  // the expected ratio
};

std::vector<std::complex<float>> numbers(std::size_t count) {
  const std::vector<float> parts = operand<float>(2 * count, 8);
  std::vector<std::complex<float>> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = {parts[2 * i], parts[2 * i + 1]};
  return all;
}

#ifdef TUTTI_BENCH_FFTW
// Real and imaginary parts, divided by the root of the length: near 1.
std::vector<double> parts_of(const std::vector<std::complex<float>>& all, double length) {
  std::vector<double> parts;
  for (const auto& z : all) {
    parts.push_back(z.real() / std::sqrt(length));
    parts.push_back(z.imag() / std::sqrt(length));
  }
  return parts;
}
#endif

std::size_t points_of(const fourier_case& of) {
  std::size_t points = 1;
  for (const int n : of.extents) points *= static_cast<std::size_t>(n);
  return points;
}

workload transforms(const fourier_case& of) {
  struct data {
    array x, y;
#ifdef TUTTI_BENCH_FFTW
    std::unique_ptr<peer::fourier> fftw;
#endif
  };
  auto d = std::make_shared<data>();
  const std::size_t points = points_of(of);
  const auto all = numbers(points * static_cast<std::size_t>(of.lines));
  shape extents{of.lines};
  for (const int n : of.extents) extents.push_back(n);
  d->x = array::from(all, extents).wait();
  const bool is_image = of.extents.size() == 2;
  workload work;
  work.ours = [d, is_image] { d->y = (is_image ? fft::fft2(d->x) : fft::fft(d->x)).wait(); };
#ifdef TUTTI_BENCH_FFTW
  d->fftw = std::make_unique<peer::fourier>(of.extents, of.lines);
  d->fftw->set(all);
  work.peer = [d] { d->fftw->run(); };
  work.check = [d, points] {
    const auto length = static_cast<double>(points);
    return compare(parts_of(d->y.to_vector<std::complex<float>>(), length),
                   parts_of(d->fftw->result(), length), 1e-5);
  };
#endif
  return work;
}

}  // namespace

void add_fft_cases(std::vector<bench_case>& cases) {
  for (const fourier_case& of : {fourier_case{{4096}, 1024, 1}, fourier_case{{2048, 2048}, 1, 1},
                                 fourier_case{{1000003}, 1, 0.5}}) {
    bench_case c;
    c.name = fmt::format("fft c64 {}", of.lines > 1 ? fmt::format("{}x{}", of.lines, of.extents[0])
                                       : of.extents.size() == 2
                                           ? fmt::format("{}x{} 2d", of.extents[0], of.extents[1])
                                           : fmt::format("{}", of.extents[0]));
    c.unit = "GFLOP/s";
    const auto points = static_cast<double>(points_of(of));
    c.amount = 5 * points * of.lines * std::log2(points);
#ifdef TUTTI_BENCH_FFTW
    c.peer = "FFTW";
    c.at_least_of_peer = of.of_peer;
#else
    c.peer = "FFTW is not here";
#endif
    c.make = [of] { return transforms(of); };
    cases.push_back(std::move(c));
  }
}

}  // namespace tutti::bench
