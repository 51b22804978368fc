// SPDX-License-Identifier: Apache-2.0
//
// Gravitating bodies: a star and a disc around it, all pairs, by leapfrog (velocity Verlet) with
// softening. Energy and momentum show the accuracy.
#include <cmath>
#include <iostream>
#include <tutti/data.hpp>
#include <tutti/report.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/facts.hpp"
#include "common/numbers.hpp"

using tutti::array;

struct settings {
  std::int64_t bodies = 1024, steps = 1000;
  double time_step = 0.005;              // an orbit at distance 1 takes 2 pi
  double softening = 0.02, disc = 0.05;  // disc: its mass relative to the star's
};

struct system_of_bodies {
  array mass;                              // [n]
  array position, velocity, acceleration;  // [3, n]
};

/// The differences of all pairs along one axis: [n, n].
array apart(const array& position, int axis) {
  return position[axis] - position[axis].reshape({-1, 1});
}

/// 1 / distance of all pairs, softened: [n, n].
array inverse_distance(const array& position, double softening) {
  array squares = softening * softening;
  for (const int axis : {0, 1, 2}) squares = squares + square(apart(position, axis));
  return rsqrt(squares);
}

array pull(const array& position, const array& mass, double softening) {
  const array inverse = inverse_distance(position, softening);
  const array weight = mass * inverse * inverse * inverse;
  std::vector<array> sums;
  for (const int axis : {0, 1, 2}) sums.push_back(sum(apart(position, axis) * weight, 1));
  return stack(sums);
}

/// Kinetic and potential energy.
double energy(const system_of_bodies& s, double softening) {
  const array inverse = inverse_distance(s.position, softening);
  const array itself = s.mass * s.mass / softening;  // the pairs include each body with itself
  const array potential = sum(s.mass.reshape({-1, 1}) * s.mass * inverse) - sum(itself);
  return (sum(s.mass * square(s.velocity)) / 2 - potential / 2).item();
}

double momentum(const system_of_bodies& s) { return norm(sum(s.mass * s.velocity, 1)).item(); }

/// A star in the centre, others on circular orbits at distances from 0.3 to 1.3, total momentum 0.
system_of_bodies start(const settings& how, tutti::random::key key, tutti::dtype type,
                       const tutti::device& on) {
  const auto keys = tutti::random::split(key, 3);
  const std::int64_t n = how.bodies - 1;
  const array angle = tutti::random::uniform(keys[0], {n}, 0, 2 * std::acos(-1.0), type, on);
  const array radius = tutti::random::uniform(keys[1], {n}, 0.3, 1.3, type, on);
  const array height = tutti::random::normal(keys[2], {n}, 0, 0.01, type, on);
  const array speed = rsqrt(radius), none = zeros_like(radius);
  const array star = zeros({3, 1}, type, on), one = ones({1}, type, on);
  system_of_bodies s;
  s.mass = tutti::concatenate({one, full({n}, how.disc / static_cast<double>(n), type, on)});
  const array x = cos(angle), y = sin(angle);
  s.position = tutti::concatenate({star, tutti::stack({radius * x, radius * y, height})}, 1);
  s.velocity = tutti::concatenate({star, tutti::stack({-speed * y, speed * x, none})}, 1);
  s.velocity -= sum(s.mass * s.velocity, {1, true}) / sum(s.mass);
  s.acceleration = pull(s.position, s.mass, how.softening);
  return s;
}

void advance(system_of_bodies& s, const settings& how) {
  const array half = s.velocity + s.acceleration * (how.time_step / 2);
  s.position += half * how.time_step;
  s.acceleration = pull(s.position, s.mass, how.softening);
  s.velocity = half + s.acceleration * (how.time_step / 2);
  tutti::eval({s.position, s.velocity, s.acceleration});
}

void run(const settings& how, bool f64, const samples::common_options& o) {
  samples::make_folder(o.out);
  const tutti::device device = o.device();
  const tutti::dtype type = f64 ? tutti::dtype::f64 : tutti::dtype::f32;
  system_of_bodies s = start(how, {o.seed}, type, device), trial = s;
  const double first_energy = energy(s, how.softening), first_momentum = momentum(s);
  std::vector<array> seen;
  advance(trial, how);  // compiles
  tutti::synchronize(device);
  const samples::stopwatch watch;
  for (std::int64_t i = 0; i < how.steps; ++i) {
    advance(s, how);
    if (i % (how.steps / 250 + 1) == 0) seen.push_back(s.position);
  }
  s.velocity.wait();
  const double seconds = watch.seconds();
  std::vector<tutti::report::series> tracks(std::min<std::size_t>(how.bodies, 6));
  for (const array& position : seen) {
    const auto at = samples::values_of(position({{0, 2}, {0, std::ssize(tracks)}}));
    for (std::size_t b = 0; b < tracks.size(); ++b) {
      tracks[b].name = b == 0 ? "star" : "body " + std::to_string(b);
      tracks[b].x.push_back(at[b]);
      tracks[b].y.push_back(at[tracks.size() + b]);
    }
  }
  const auto plot = o.out / "tracks.svg";
  const auto how_drawn =
      tutti::report::plot_options{.title = "Tracks of some bodies", .width = 560, .height = 560};
  tutti::io::write_file(plot, tutti::report::line_plot(tracks, how_drawn));
  const double steps = static_cast<double>(how.steps), n = static_cast<double>(how.bodies);
  samples::facts facts;
  facts.add("device", device.name(), "device {}");
  facts.add("bodies", how.bodies, "bodies: {}");
  facts.add("time", steps * how.time_step, "simulated: {:.4g} (an orbit at distance 1: 6.28)");
  facts.add("steps_per_second", steps / seconds, "steps/s: {:.1f}");
  facts.add("interactions_per_second", steps * n * n / seconds, "interactions/s: {:.3g}");
  facts.add("energy", first_energy, "energy at the start: {:.6f}");
  const double drift = energy(s, how.softening) / first_energy - 1;
  facts.add("energy_drift", drift, "  relative drift: {:.1e}");
  facts.add("momentum", first_momentum, "momentum at the start: {:.1e}");
  facts.add("end_momentum", momentum(s), "  at the end: {:.1e}");
  facts.add("plot", plot.string(), "tracks: {}");
  facts.print(std::cout, o.json);
}

int main(int argc, char** argv) {
  CLI::App app("Simulates gravitating bodies.", "nbody");
  samples::common_options o(app, "random seed for the initial positions");
  o.with_out("nbody-results").with_json();
  settings how;
  bool f64 = false;
  samples::count_option(app, "--bodies", how.bodies, 2, 16384,
                        "number of bodies, including the star");
  samples::count_option(app, "--steps", how.steps, 1, 10000000, "number of time steps");
  samples::number_option(app, "--time-step", how.time_step, 1e-6, 1,
                         "time step; an orbit at distance 1 takes 6.28");
  samples::number_option(app, "--softening", how.softening, 1e-4, 1,
                         "softening length of the attraction");
  samples::number_option(app, "--disc", how.disc, 0, 10, "mass of the disc relative to the star's");
  app.add_flag("--f64", f64, "compute in f64 instead of f32");
  return samples::run(app, argc, argv, [&] { run(how, f64, o); });
}
