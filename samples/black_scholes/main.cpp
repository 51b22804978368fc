// SPDX-License-Identifier: Apache-2.0
//
// Prices a European call and put (F. Black, M. Scholes, 1973): by the formula, by its gradients,
// and by a Monte Carlo simulation whose gradients are the greeks; on one device or on all of them.
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
using list = std::vector<array>;

constexpr int blocks = 256;  // of paths; their means give the standard error
const std::vector<std::string> names = {"call", "call delta", "call vega", "call rho", "call theta",
                                        "put",  "put delta",  "put vega",  "put rho",  "put theta"};

struct contract {
  double spot = 100, strike = 105, volatility = 0.2, rate = 0.03, years = 1;
  std::int64_t paths = 1 << 23;  // simulated paths
};

/// Spot, volatility, rate, years.
list parameters(const contract& c, tutti::dtype type, const tutti::device& on) {
  return unstack(array::from({c.spot, c.volatility, c.rate, c.years}, on).astype(type));
}

/// Call and put by the formula.
list formula(const list& p, double strike) {
  const auto below = [](const array& x) { return erfc(x * -std::sqrt(0.5)) / 2; };
  const array width = p[1] * sqrt(p[3]), discounted = exp(-p[2] * p[3]) * strike;
  const array d1 = (log(p[0] / strike) + p[2] * p[3]) / width + width / 2, d2 = d1 - width;
  return {p[0] * below(d1) - discounted * below(d2), discounted * below(-d2) - p[0] * below(-d1)};
}

/// Call and put as means over paths that end at the normal numbers z and -z.
list simulation(const list& p, double strike, const array& z) {
  const array drift = (p[2] - square(p[1]) / 2) * p[3], wander = p[1] * sqrt(p[3]) * z;
  const array up = p[0] * exp(drift + wander), down = p[0] * exp(drift - wander);
  const array half = exp(-p[2] * p[3]) / 2;
  return {half * mean(maximum(up - strike, 0) + maximum(down - strike, 0)),
          half * mean(maximum(strike - up, 0) + maximum(strike - down, 0))};
}

/// Values and greeks in the order of `names`.
array with_greeks(const std::function<list(const list&)>& prices, const list& p) {
  list out;
  for (const std::size_t which : {0u, 1u}) {
    const auto [value, slope] =
        tutti::value_and_grad([&](const list& q) { return prices(q)[which]; })(p);
    out.insert(out.end(), {value, slope[0], slope[1], slope[2], -slope[3]});
  }
  return stack(out);
}

/// Values and greeks by their own formulas, on the host.
std::vector<double> by_hand(const contract& c) {
  const double root = std::sqrt(c.years), width = c.volatility * root;
  const double d1 = (std::log(c.spot / c.strike) + c.rate * c.years) / width + width / 2;
  const auto below = [](double x) { return std::erfc(-x * std::sqrt(0.5)) / 2; };
  const double vega = c.spot * root * std::exp(-d1 * d1 / 2) / std::sqrt(2 * std::acos(-1.0));
  const double discounted = c.strike * std::exp(-c.rate * c.years);
  const double decay = -vega * c.volatility / (2 * c.years);
  const double in = discounted * below(d1 - width), out = discounted * below(width - d1);
  return {c.spot * below(d1) - in,   below(d1),   vega, in * c.years,   decay - c.rate * in,
          out - c.spot * below(-d1), -below(-d1), vega, -out * c.years, decay + c.rate * out};
}

/// Draws error and standard error of the call's means over the first 1, 2, ... blocks.
void draw(const array& calls, const array& exact, double paths, const std::string& path) {
  const array count = arange(1, blocks + 1, calls.dtype(), calls.device());
  const array running = cumsum(calls) / count;
  const array variance = cumsum(square(calls - exact)) / count - square(running - exact);
  const auto x = samples::values_of(log10(count * (paths / blocks)));
  const std::vector<tutti::report::series> lines = {
      {"error", x, samples::values_of(log10(abs(running - exact)))},
      {"standard error", x, samples::values_of(log10(sqrt(variance / maximum(count - 1, 1))))}};
  const tutti::report::plot_options labels = {
      .title = "Call: error by paths", .x_label = "log10 of paths", .y_label = "log10 of error"};
  tutti::io::write_file(path, tutti::report::line_plot(lines, labels));
}

void run(const contract& c, const samples::common_options& o) {
  const tutti::device_group group = o.group().value_or(tutti::device_group({o.device()}));
  const tutti::dtype f32 = tutti::dtype::f32, wide = samples::widest_float(group[0]);
  const std::string plot = (o.out / "convergence.svg").string();
  if (o.leads()) samples::make_folder(o.out);
  const std::int64_t pairs = (c.paths + 2 * blocks - 1) / (2 * blocks);
  const auto all = static_cast<double>(2 * pairs * blocks);
  const auto keys = tutti::random::split({o.seed}, blocks);
  const auto block = [&](std::int64_t i, const tutti::device& on) {
    const array z = tutti::random::normal(keys.at(std::size_t(i)), {pairs}, 0, 1, f32, on);
    return with_greeks([&](const list& p) { return simulation(p, c.strike, z); },
                       parameters(c, f32, on));
  };
  for (const tutti::device& d : group) block(0, d).wait();  // compiles
  std::vector<float> means(blocks * names.size());
  const auto compute = [&](const tutti::chunk& part) {
    list out;
    for (auto i = part.begin; i < part.end; ++i) out.push_back(block(i, part.device).eval());
    return out;
  };
  const auto collect = [&](const tutti::chunk& part, const tutti::chunk_results& r) {
    auto at = means.begin() + part.begin * std::ssize(names);
    for (std::size_t i = 0; i < r.size(); ++i)
      at = std::copy_n(r.values<float>(i).begin(), names.size(), at);
  };
  const auto report = tutti::parallel_for(group, {0, blocks}, compute, collect);
  if (!o.leads()) return;
  const array exact = array::from(by_hand(c), group[0]).astype(wide);
  const auto known = [&](const list& p) { return formula(p, c.strike); };
  const array slopes = with_greeks(known, parameters(c, wide, group[0]));
  const array found = array::from(means, {blocks, std::ssize(names)}, group[0]).astype(wide);
  const array average = mean(found, 0), error = stddev(found, 0, 1) / std::sqrt(double{blocks});
  draw(found(tutti::all(), 0), exact[0], all, plot);
  samples::facts facts;
  facts.add("devices", group.names(), "devices: {}");
  facts.add("paths", 2 * pairs * blocks, "paths: {}");
  facts.table("values", {"", "formula", "gradient", "simulation", "standard error"}, names,
              samples::values_of(tutti::stack({exact, slopes, average, error}, 1)));
  facts.add("gradient_error", max(abs(slopes - exact) / maximum(abs(exact), 1)).item(),
            "gradients differ from the formulas by {:.1e} at most");
  facts.add("sigmas", max(abs(average - exact) / maximum(error, 1e-30)).item(),
            "the simulation is off by {:.1f} standard errors at most");
  facts.say(to_string(report));
  facts.list("makespan_and_bound", {report.makespan, report.lower_bound});
  facts.add("rate", all / report.makespan, "paths/s, greeks included: {:.3g}");
  facts.add("plot", plot, "convergence: {}");
  facts.print(std::cout, o.json);
}

int main(int argc, char** argv) {
  CLI::App app("Prices options by formula, gradients and simulation.", "black_scholes");
  samples::common_options o(app, "random seed for the paths");
  o.with_out("black_scholes-results").with_parallel().with_json();
  contract c;
  samples::number_option(app, "--spot", c.spot, 1e-3, 1e6, "current price of the share");
  samples::number_option(app, "--strike", c.strike, 1e-3, 1e6, "strike price");
  samples::number_option(app, "--volatility", c.volatility, 1e-3, 5, "volatility per year");
  samples::number_option(app, "--rate", c.rate, -1, 1, "interest rate per year");
  samples::number_option(app, "--years", c.years, 1e-3, 50, "years until expiry");
  samples::count_option(app, "--paths", c.paths, 512, 1 << 30, "number of paths, blocks of 512");
  return samples::run(app, argc, argv, [&] { run(c, o); });
}
