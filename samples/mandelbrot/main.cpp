// SPDX-License-Identifier: Apache-2.0
//
// The Mandelbrot set as array operations: blocks of iterations, each one fused program, and a
// smooth colouring by escape time.
#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <iostream>
#include <tutti/data.hpp>
#include <tutti/image.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/facts.hpp"
#include "common/numbers.hpp"

using tutti::array;

constexpr int block = 16;          // iterations per program
constexpr double escaped = 65536;  // squared radius; a large one makes colours smooth

struct region {
  double x = -0.75, y = 0, width = 3.5;
  std::int64_t columns = 1024, rows = 768, iterations = 512;
};

struct orbits {
  array x, y, steps;  // the last points, or the first outside, and the number of steps
};

/// Iterates z = z^2 + c from 0 until |z|^2 passes `escaped`.
orbits iterate(const array& cx, const array& cy, std::int64_t iterations) {
  orbits o = {cx, cy, ones_like(cx)};
  tutti::eval({o.x, o.y, o.steps});
  for (std::int64_t done = 1; done < iterations; done += block) {
    for (std::int64_t i = done; i < std::min(done + block, iterations); ++i) {
      const array xx = square(o.x), yy = square(o.y), inside = xx + yy <= escaped;
      const array next = xx - yy + cx;
      o.y = where(inside, 2 * o.x * o.y + cy, o.y);
      o.x = where(inside, next, o.x);
      o.steps += inside.astype(o.steps.dtype());
    }
    tutti::eval({o.x, o.y, o.steps});
  }
  return o;
}

array is_inside(const orbits& o) { return square(o.x) + square(o.y) <= escaped; }

/// Black inside, outside a hue that depends on the logarithm of the steps.
array colours(const orbits& o) {
  const array inside = is_inside(o);
  const array size = where(inside, escaped, square(o.x) + square(o.y)).astype(o.x.dtype());
  const array smooth = o.steps + 1 - log2(log2(size) / 2);
  const array turn = log(maximum(smooth, 1)) * 1.5;
  const array dark = where(inside, 0.0, 1.0).astype(o.x.dtype());
  const auto channel = [&](double phase) { return dark * (0.5 - 0.5 * cos(turn + phase)); };
  return tutti::image::to_u8(tutti::stack({channel(1.2), channel(0.6), channel(0)}, -1));
}

/// Steps of one point, computed with std::complex.
double steps_of(std::complex<double> c, std::int64_t iterations) {
  std::complex<double> z = c;
  std::int64_t n = 1;
  while (n < iterations && std::norm(z) <= escaped) {
    z = z * z + c;
    ++n;
  }
  return static_cast<double>(n);
}

/// The number of known points whose steps differ from those of std::complex.
std::int64_t wrong_points(tutti::dtype type, const tutti::device& on, std::int64_t iterations) {
  const std::vector<double> x = {0, -1, -1.75, -0.5, 0.5, 1, -2.1, 0, 0.3};
  const std::vector<double> y = {0, 0, 0, 0.5, 0, 0, 0, 2, 0.8};
  const array found =
      iterate(array::from(x, on).astype(type), array::from(y, on).astype(type), iterations).steps;
  const auto steps = samples::values_of(found);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    wrong += steps[i] != steps_of({x[i], y[i]}, iterations);
  return wrong;
}

void run(const region& r, bool f64, const samples::common_options& o) {
  samples::make_folder(o.out);
  const tutti::device device = o.device();
  const tutti::dtype type = f64 ? tutti::dtype::f64 : tutti::dtype::f32;
  const double pixel = r.width / static_cast<double>(r.columns);
  const auto from_middle = [&](std::int64_t n) {
    return (arange(0, n, type, device) - (static_cast<double>(n) - 1) / 2) * pixel;
  };
  const tutti::shape extents = {r.rows, r.columns};
  const array cx = contiguous(broadcast_to(from_middle(r.columns) + r.x, extents));
  const array cy = contiguous(broadcast_to(r.y - from_middle(r.rows).reshape({-1, 1}), extents));
  tutti::eval({cx, cy});
  iterate(cx, cy, block + 1).steps.wait();  // compiles
  const samples::stopwatch watch;
  const orbits found = iterate(cx, cy, r.iterations);
  found.steps.wait();
  const double seconds = watch.seconds();
  const auto path = o.out / "mandelbrot.png";
  tutti::image::write_image(path, colours(found));

  const auto pixels = static_cast<double>(found.steps.size());
  const double steps = sum(found.steps.astype(samples::widest_float(device))).item();
  const double inside = sum(is_inside(found)).item();
  samples::facts facts;
  facts.add("device", device.name(), "device {}");
  facts.say(
      fmt::format("{} x {} pixels, at most {} iterations\n", r.columns, r.rows, r.iterations));
  facts.add("pixels_per_second", pixels / seconds, "pixels/s: {:.3g}");
  facts.add("iterations_per_second", pixels * static_cast<double>(r.iterations) / seconds,
            "iterations/s: {:.3g}, since those outside are computed too");
  facts.add("useful_share", steps / pixels / static_cast<double>(r.iterations),
            "share of them before pixels were outside: {:.3f}");
  facts.add("inside", inside / pixels, "inside: {:.4f} of the pixels");
  facts.add("wrong_points", wrong_points(type, device, r.iterations),
            "known points that are wrong: {}");
  if (r.y == 0) {
    const double mirrored = sum(found.steps != flip(found.steps, 0)).item();
    facts.add("not_symmetric", mirrored, "pixels that differ from their mirror image: {}");
  }
  const double half = r.width / 2, high = pixel * static_cast<double>(r.rows) / 2;
  if (r.x - half <= -2 && r.x + half >= 0.48 && r.y - high <= -1.13 && r.y + high >= 1.13) {
    facts.add("area", inside * pixel * pixel, "area of the set: {:.4f} (known: 1.5066)");
  }
  facts.add("picture", path.string(), "picture: {}");
  facts.print(std::cout, o.json);
}

int main(int argc, char** argv) {
  CLI::App app("Draws a section of the Mandelbrot set.", "mandelbrot");
  samples::common_options o(app);
  o.with_out("mandelbrot-results").with_json();
  region r;
  bool f64 = false;
  samples::number_option(app, "--x", r.x, -10, 10, "centre of the image, real part");
  samples::number_option(app, "--y", r.y, -10, 10, "centre of the image, imaginary part");
  samples::number_option(app, "--width", r.width, 1e-13, 20,
                         "width of the image in the complex plane");
  samples::count_option(app, "--columns", r.columns, 1, 8192, "columns of pixels");
  samples::count_option(app, "--rows", r.rows, 1, 8192, "rows of pixels");
  samples::count_option(app, "--iterations", r.iterations, 1, 1000000,
                        "maximum number of iterations");
  app.add_flag("--f64", f64, "compute in f64 instead of f32, for deep zooms");
  return samples::run(app, argc, argv, [&] { run(r, f64, o); });
}
