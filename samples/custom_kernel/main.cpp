// SPDX-License-Identifier: Apache-2.0
//
// A custom kernel in OpenCL C, CUDA and C++, used like any other function: Kepler's equation E - e
// sin E = M, solved for E by Newton's method with as many steps as each element needs. Its gradient
// follows from the equation. Compared with library operations and finite differences.
#include <atomic>
#include <cmath>
#include <iostream>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/facts.hpp"
#include "common/numbers.hpp"
#include "custom_kernel/sources.hpp"

using tutti::array;
using list = std::vector<array>;

std::atomic<int> host_calls = 0;  // shows which source has run

template <class T>
void kepler_on_host(const tutti::kernel_host_call& call) {
  const auto m = call.input<T>(0), e = call.input<T>(1);
  const auto out = call.output<T>(0);
  const T least = call.scalar<T>(0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    T x = m[i] + e[i] * std::sin(m[i]), move = 1;
    for (int n = 0; n < 50 && std::abs(move) > least; ++n) {
      move = (x - e[i] * std::sin(x) - m[i]) / (1 - e[i] * std::cos(x));
      x -= move;
    }
    out[i] = x;
  }
  ++host_calls;
}

template <class T>
list launch_as(const std::string& real, T least, const list& p) {
  static const tutti::kernel kernel({.name = "kepler",
                                     .opencl = custom_kernel::opencl_source,
                                     .opencl_options = "-DREAL=" + real,
                                     .cuda = custom_kernel::cuda_source,
                                     .cuda_options = "-DREAL=" + real,
                                     .host = kepler_on_host<T>});
  return kernel(p, {.outputs = {{p[0].shape(), p[0].dtype()}}, .scalars = {least}});
}

list launch(const list& p) {
  return p[0].dtype() == tutti::dtype::f64 ? launch_as("double", 1e-9, p)
                                           : launch_as("float", 1e-4f, p);
}

/// The eccentric anomaly E for mean anomalies m and eccentricities e in [0, 1).
array kepler(const array& m, const array& e) {
  // From the equation, dE (1 - e cos E) = dM + sin E de.
  static const auto f = tutti::custom_vjp(launch, [](const list& p, const list& y, const list& g) {
    const array down = g[0] / (1 - p[1] * cos(y[0]));
    return list{down, down * sin(y[0])};
  });
  return f({m, e})[0];
}

/// The same with library operations: the same number of steps for all elements.
array composed(const array& m, const array& e, int steps) {
  array x = m + e * sin(m);
  for (int n = 0; n < steps; ++n) x -= (x - e * sin(x) - m) / (1 - e * cos(x));
  return x;
}

double largest(const array& a) { return max(abs(a)).item(); }

/// The rate of the fastest of five runs in elements per second, after one that compiles.
double best_rate(const std::function<array()>& work) {
  work().wait();
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const samples::stopwatch watch;
    const auto count = static_cast<double>(work().wait().size());
    best = std::max(best, count / watch.seconds());
  }
  return best;
}

void run(std::int64_t count, double eccentricity, const samples::common_options& o) {
  const tutti::device device = o.device();
  const tutti::dtype type = samples::widest_float(device);
  const double turn = 2 * std::acos(-1.0);
  const array m = tutti::random::uniform({o.seed}, {count}, 0, turn, type, device);
  const array e = tutti::random::uniform({o.seed + 1}, {count}, 0, eccentricity, type, device);
  tutti::eval({m, e});
  const array anomaly = kepler(m, e);
  const double residual = largest(anomaly - e * sin(anomaly) - m);

  const auto slopes =
      tutti::grad([](const list& p) { return sum(square(kepler(p[0], p[1]))); })({m, e});
  const double h = type == tutti::dtype::f64 ? 1e-5 : 1e-2;
  const auto difference = [&](const array& dm, const array& de) {
    const array up = kepler(m + dm, e + de), down = kepler(m - dm, e - de);
    return (square(up) - square(down)) / (2 * h);
  };
  const double off_m = largest((slopes[0] - difference(h, 0)) / (1 + abs(slopes[0])));
  const double off_e = largest((slopes[1] - difference(0, h)) / (1 + abs(slopes[1])));

  const std::string on_device = device.backend() == "cuda" ? "CUDA C++" : "OpenCL C";
  const std::string source = host_calls > 0 ? "C++ on the host" : on_device;
  samples::facts facts;
  facts.add("device", device.name(), "device {}");
  facts.add("source", source, "the kernel ran as: {}");
  facts.add("residual", residual, "E - e sin E - M is off by {:.1e} at most");
  facts.add("difference", largest(anomaly - composed(m, e, 10)),
            "from library operations it differs by {:.1e}");
  facts.add("gradient_m", off_m, "dE/dM from finite differences by {:.1e}, relative");
  facts.add("gradient_e", off_e, "dE/de from finite differences by {:.1e}, relative");
  facts.add("kernel_rate", best_rate([&] { return kepler(m, e); }),
            "elements/s by the kernel: {:.3g}");
  facts.add("composed_rate", best_rate([&] { return composed(m, e, 10); }),
            "elements/s by library operations, ten steps each: {:.3g}");
  facts.print(std::cout, o.json);
}

int main(int argc, char** argv) {
  CLI::App app("Solves Kepler's equation with a custom kernel.", "custom_kernel");
  samples::common_options o(app, "random seed for the orbits");
  o.with_json();
  std::int64_t count = 1 << 20;
  double eccentricity = 0.8;
  samples::count_option(app, "--count", count, 1, 1 << 26, "number of orbits");
  samples::number_option(app, "--eccentricity", eccentricity, 1e-6, 0.9, "largest eccentricity");
  return samples::run(app, argc, argv, [&] { run(count, eccentricity, o); });
}
