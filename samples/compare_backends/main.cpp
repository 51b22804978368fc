// SPDX-License-Identifier: Apache-2.0
//
// The same five jobs on every device: time of the first call and of later ones, and the difference
// of the results from those of the reference plugin.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/facts.hpp"
#include "common/numbers.hpp"
#include "common/text_table.hpp"

using tutti::array;
using list = std::vector<array>;

struct job {
  std::string name;
  std::vector<tutti::shape> inputs;  // uniform numbers in [-1, 1), the same bits everywhere
  std::function<array(const list&)> f;
};

std::vector<job> jobs_of(std::int64_t size) {
  const std::int64_t n = 32 * size, many = n * n;
  return {
      {"product", {{n, n}, {n, n}}, [](const list& x) { return matmul(x[0], x[1]); }},
      {"elementwise",
       {{many}, {many}},
       [](const list& x) { return tanh(x[0] * x[1] + 0.5) * exp(-square(x[0])) + x[1]; }},
      {"reduction", {{n, n}}, [](const list& x) { return sum(square(x[0]), 1); }},
      {"convolution",
       {{1, 8, n, n}, {8, 8, 3, 3}},
       [](const list& x) { return conv2d(x[0], x[1], {.padding = 1}); }},
      {"sort", {{many}}, [](const list& x) { return sort(x[0]); }},
  };
}

list inputs_of(const job& j, std::uint64_t seed, const tutti::device& on) {
  list out;
  for (const tutti::shape& s : j.inputs) {
    out.push_back(tutti::random::uniform({seed++}, s, -1, 1, tutti::dtype::f32, on));
  }
  eval(out);
  synchronize(on);
  return out;
}

struct outcome {
  double first = NAN, later = NAN, difference = NAN;  // seconds, and relative to the largest value
  std::string failure{};
};

double seconds_of(const job& j, const list& inputs, array& result) {
  const samples::stopwatch watch;
  result = j.f(inputs);
  result.wait();
  return watch.seconds();
}

/// After the first call, repeats it for `budget` seconds; the median counts.
outcome try_job(const job& j, const tutti::device& on, std::uint64_t seed, double budget,
                const array& expected) {
  outcome out;
  try {
    const list inputs = inputs_of(j, seed, on);
    array result;
    out.first = seconds_of(j, inputs, result);
    std::vector<double> times;
    for (const samples::stopwatch watch; times.size() < 3 || watch.seconds() < budget;) {
      times.push_back(seconds_of(j, inputs, result));
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    out.later = times[times.size() / 2];
    const array off = max(abs(result.to(expected.device()) - expected)) / max(abs(expected));
    out.difference = off.item();
    if (!std::isfinite(out.difference)) throw tutti::value_error("a result is NaN or infinite");
  } catch (const tutti::error& e) {
    out.failure = e.what();
  }
  return out;
}

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }

void run(std::int64_t size, double budget, const std::vector<tutti::device>& devices,
         const samples::common_options& o) {
  const tutti::device reference("reference");
  samples::facts facts;
  std::vector<std::vector<std::string>> table = {
      {"job", "device", "first ms", "later ms", "difference"}};
  double worst = 0;
  std::string failures;
  for (const job& j : jobs_of(size)) {
    const array expected = j.f(inputs_of(j, o.seed, reference));
    for (const tutti::device& d : devices) {
      const outcome out = try_job(j, d, o.seed, budget, expected);
      facts.list(j.name + " " + d.name(), {out.first, out.later, out.difference});
      table.push_back({j.name, d.name(), milliseconds(out.first), milliseconds(out.later),
                       out.failure.empty() ? fmt::format("{:.1e}", out.difference) : "failed"});
      worst = std::fmax(worst, out.difference);
      if (!out.failure.empty())
        failures += fmt::format("{} on {}: {}\n", j.name, d.name(), out.failure);
    }
  }
  for (const tutti::device& d : devices) {
    facts.add(d.name(), d.properties().description, d.name() + " is {}");
  }
  facts.say(samples::text_table(table));
  facts.add("largest_difference", worst,
            "largest difference, relative to the largest value: {:.1e}");
  facts.print(std::cout, o.json);
  if (!failures.empty()) throw tutti::value_error(failures);
}

int main(int argc, char** argv) {
  CLI::App app("Runs the same jobs on every device, and compares times and results.",
               "compare_backends");
  samples::common_options o(app, "random seed for the inputs");
  o.with_json();
  std::int64_t size = 16;
  double budget = 0.3;
  samples::count_option(app, "--size", size, 1, 64,
                        "problem size; matrices have 32 times as many rows");
  samples::number_option(app, "--seconds", budget, 0, 60, "time for the later calls of each job");
  return samples::run(app, argc, argv, [&] {
    const char* named = std::getenv("TUTTI_DEVICE");
    if (app.count("--device") > 0) {
      run(size, budget, {o.device()}, o);
    } else if (named != nullptr && *named != '\0') {
      run(size, budget, tutti::devices(), o);
    } else {
      run(size, budget, tutti::all_devices(), o);
    }
  });
}
