// SPDX-License-Identifier: Apache-2.0
//
// The heat equation on an insulated plate, by explicit finite differences. Checks that heat is
// conserved, and that a cosine mode decays by a known factor per step.
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <tutti/data.hpp>
#include <tutti/image.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/facts.hpp"
#include "common/numbers.hpp"

using tutti::array;

const double pi = std::acos(-1.0);

struct plate {
  std::int64_t cells = 256, steps = 2000;
  double side = 0.1;             // m
  double diffusivity = 1.11e-4;  // m^2/s, copper
  double time_step = 0;          // s; 0: 0.8 of the longest stable one
  double cell() const { return side / static_cast<double>(cells); }
};

/// Cell centres along one side, in units of the side.
array centres(const plate& p, tutti::dtype type, const tutti::device& on) {
  return (arange(0, p.cells, type, on) + 0.5) / static_cast<double>(p.cells);
}

/// A plate of 20 degrees with three hot spots and a cold one.
array start(const plate& p, tutti::dtype type, const tutti::device& on) {
  const array x = centres(p, type, on), y = x.reshape({-1, 1});
  const auto spot = [&](double x0, double y0, double radius, double degrees) {
    return where(square(x - x0) + square(y - y0) < radius * radius, degrees, 0.0).astype(type);
  };
  return 20 + spot(0.25, 0.3, 0.12, 80) + spot(0.7, 0.25, 0.08, 60) + spot(0.6, 0.7, 0.15, 50) +
         spot(0.2, 0.75, 0.1, -20);
}

/// One step. The outer neighbour of a border cell is the cell itself: no flow across the border.
array step(const array& u, double ratio) {
  const array v = pad(u, {{1, 1}, {1, 1}}, tutti::pad_mode::edge);
  const tutti::slice before{0, -2}, inner{1, -1}, after{2, {}};
  return u +
         ratio * (v(before, inner) + v(after, inner) + v(inner, before) + v(inner, after) - 4 * u);
}

/// The amplitude in u of the mode cos(pi x) cos(pi y), which decays exactly in both equations.
double amplitude(const plate& p, const array& u) {
  const array wave = cos(pi * centres(p, u.dtype(), u.device()));
  return 4 * mean(u * wave * wave.reshape({-1, 1})).item();
}

/// Black, red, yellow, white from `low` to `high` degrees.
array colours(const array& u, double low, double high) {
  const array t = (u - low) * (3 / (high - low));
  return tutti::image::to_u8(tutti::stack({t, t - 1, t - 2}, -1));
}

void run(plate p, bool f64, const samples::common_options& o) {
  const double longest = p.cell() * p.cell() / (4 * p.diffusivity);
  if (p.time_step == 0) p.time_step = 0.8 * longest;
  if (p.time_step > longest) {
    throw tutti::value_error(
        fmt::format("a time step of {} s is unstable, the longest for this plate is {:.4g} s",
                    p.time_step, longest));
  }
  samples::make_folder(o.out);
  const tutti::device device = o.device();
  array u = start(p, f64 ? tutti::dtype::f64 : tutti::dtype::f32, device);
  const tutti::dtype wide = samples::widest_float(device);
  const auto picture = [&](const char* name) {
    const auto path = o.out / name;
    tutti::image::write_image(path, colours(u, 0, 100));
    return path.string();
  };
  const auto heat = [&] { return sum(u.astype(wide)).item(); };
  const std::string before = picture("start.png");
  const double first_heat = heat(), first = amplitude(p, u);

  const double ratio = p.time_step * p.diffusivity / (p.cell() * p.cell());
  step(u, ratio).wait();  // compiles
  const samples::stopwatch watch;
  for (std::int64_t i = 0; i < p.steps; ++i) {
    u = step(u, ratio);
    u.eval();
  }
  u.wait();
  const double seconds = watch.seconds(), steps = static_cast<double>(p.steps);

  const double measured = amplitude(p, u) / first;
  const double wave = std::sin(pi / (2 * static_cast<double>(p.cells)));
  const double discrete = std::pow(1 - 8 * ratio * wave * wave, steps);
  const double k = pi / p.side, span = steps * p.time_step;
  const double continuous = std::exp(-2 * k * k * p.diffusivity * span);
  samples::facts facts;
  facts.add("device", device.name(), "device {}");
  facts.say(fmt::format("{0} x {0} cells, {1} steps of {2:.3g} s: {3:.3g} s of the plate's time\n",
                        p.cells, p.steps, p.time_step, span));
  facts.add("seconds", seconds);
  facts.add("steps_per_second", steps / seconds, "steps/s: {:.0f}");
  facts.add("gigabytes_per_second", 2e-9 * steps / seconds * static_cast<double>(u.nbytes()),
            "read and written once a step: {:.2f} GB/s");
  facts.add("heat_drift", std::abs(heat() / first_heat - 1), "heat, relative drift: {:.1e}");
  facts.add("lowest", min(u).item());
  facts.add("highest", max(u).item(), "warmest cell: {:.2f} degrees");
  facts.add("decay", measured, "the slowest mode has decayed by {:.8f}");
  facts.add("discrete_decay", discrete, "  of the difference equation: {:.8f}");
  facts.add("continuous_decay", continuous, "  of the heat equation:       {:.8f}");
  facts.add("discrete_error", std::abs(measured / discrete - 1), "  error to the first:  {:.1e}");
  facts.add("continuous_error", std::abs(measured / continuous - 1),
            "  error to the second: {:.1e}");
  facts.add("start", before, "pictures: {}");
  facts.add("end", picture("end.png"), "          {}");
  facts.print(std::cout, o.json);
}

int main(int argc, char** argv) {
  CLI::App app("Simulates heat conduction in an insulated plate.", "heat");
  samples::common_options o(app);
  o.with_out("heat-results").with_json();
  plate p;
  bool f64 = false;
  samples::count_option(app, "--cells", p.cells, 2, 8192, "number of cells along each side");
  samples::count_option(app, "--steps", p.steps, 1, 10000000, "number of time steps");
  samples::number_option(app, "--side", p.side, 1e-3, 1e3, "side length of the plate in m");
  samples::number_option(app, "--diffusivity", p.diffusivity, 1e-9, 1,
                         "thermal diffusivity in m^2/s");
  app.add_option("--time-step", p.time_step,
                 "time step in s (default: 0.8 of the longest stable one)")
      ->check(samples::within(1e-12, 1e12));
  app.add_flag("--f64", f64, "compute in f64 instead of f32");
  return samples::run(app, argc, argv, [&] { run(p, f64, o); });
}
