// SPDX-License-Identifier: Apache-2.0
//
// Poisson's equation -(u_xx + u_yy) = f on the unit square, u = 0 on its border, by five-point
// differences and conjugate gradients, with and without a preconditioner. The exact solution is
// known, so the error can be computed: it decreases with the square of the mesh width.
#include <fmt/format.h>

#include <iostream>
#include <tutti/data.hpp>
#include <tutti/report.hpp>
#include <tutti/sparse.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/facts.hpp"
#include "common/numbers.hpp"

using tutti::array;
namespace sparse = tutti::sparse;

/// The matrix of -(u_xx + u_yy), times the square of the mesh width, on n x n inner points.
sparse::matrix five_point(std::int64_t n, tutti::dtype type, const tutti::device& on) {
  std::vector<std::int64_t> starts = {0}, columns;
  std::vector<double> values;
  const auto add = [&](bool there, std::int64_t column, double value) {
    if (!there) return;
    columns.push_back(column);
    values.push_back(value);
  };
  for (std::int64_t i = 0; i < n * n; ++i) {
    const std::int64_t row = i / n, column = i % n;
    add(row > 0, i - n, -1);
    add(column > 0, i - 1, -1);
    add(true, i, 4);
    add(column < n - 1, i + 1, -1);
    add(row < n - 1, i + n, -1);
    starts.push_back(static_cast<std::int64_t>(columns.size()));
  }
  return sparse::csr({n * n, n * n}, array::from(starts, on), array::from(columns, on),
                     array::from(values, on).astype(type));
}

struct problem {
  sparse::matrix a;
  array b, solution;
};

/// The problem with the solution u = x (1 - x) e^x y (1 - y) e^-y.
problem poisson(std::int64_t n, tutti::dtype type, const tutti::device& on) {
  const double h = 1 / static_cast<double>(n + 1);
  const array x = arange(1, n + 1, type, on) * h, y = x.reshape({-1, 1});
  const array ax = x * (1 - x) * exp(x), by = y * (1 - y) * exp(-y);
  const array ax2 = -x * (x + 3) * exp(x), by2 = (1 - y) * (y - 4) * exp(-y);  // second derivatives
  return {five_point(n, type, on), (h * h * -(ax2 * by + ax * by2)).flatten(), (ax * by).flatten()};
}

struct solved {
  double error, seconds;
  std::int64_t iterations;
  tutti::report::series residuals;
};

solved solve(const problem& p, const std::string& name, double tolerance) {
  solved out = {};
  out.residuals.name = name;
  const double size = norm(p.b).item();
  const samples::stopwatch watch;
  sparse::solver_options options;
  options.rtol = tolerance;
  if (name == "ilu0") options.preconditioner = sparse::ilu0(p.a);
  if (name == "jacobi") options.preconditioner = sparse::jacobi(p.a);
  options.callback = [&](const sparse::solver_progress& now) {
    out.residuals.x.push_back(static_cast<double>(now.iteration));
    out.residuals.y.push_back(now.residual / size);
    return true;
  };
  const sparse::solver_result result = cg(p.a, p.b, options);
  out.seconds = watch.seconds();
  if (!result.converged) {
    throw tutti::value_error(fmt::format("no solution to {} after {} iterations: residual {:.1e}",
                                         tolerance, result.iterations, result.residual / size));
  }
  out.iterations = result.iterations;
  out.error = max(abs(result.x - p.solution)).item();
  return out;
}

void run(std::int64_t points, double tolerance, const std::string& preconditioner,
         const samples::common_options& o) {
  samples::make_folder(o.out);
  const tutti::device device = o.device();
  const tutti::dtype type = samples::widest_float(device);
  const problem fine = poisson(2 * points + 1, type, device);  // half the mesh width
  const solved coarse = solve(poisson(points, type, device), preconditioner, tolerance);
  const solved with = solve(fine, preconditioner, tolerance),
               plain = solve(fine, "none", tolerance);
  const auto plot = o.out / "residuals.svg";
  tutti::io::write_file(plot, tutti::report::line_plot(std::vector{plain.residuals, with.residuals},
                                                       {.title = "Conjugate gradients",
                                                        .x_label = "iteration",
                                                        .y_label = "residual, relative",
                                                        .log_y = true}));
  samples::facts facts;
  facts.add("device", device.name(), "device {}");
  facts.add("type", std::string(name(type)), "dtype {}");
  facts.add("unknowns", fine.b.size(), "unknowns: {}");
  facts.add("nonzeros", fine.a.nnz(), "nonzeros: {}");
  facts.add("iterations", with.iterations, "iterations with " + preconditioner + ": {}");
  facts.add("plain_iterations", plain.iterations, "iterations without: {}");
  facts.add("seconds", with.seconds, "seconds with " + preconditioner + ": {:.3f}");
  facts.add("plain_seconds", plain.seconds, "seconds without: {:.3f}");
  facts.add("coarse_error", coarse.error, "largest error of the coarse grid: {:.3e}");
  facts.add("error", with.error, "largest error of the fine grid: {:.3e}");
  facts.add("order", std::log2(coarse.error / with.error),
            "order of the error in the mesh width: {:.3f}");
  facts.add("plot", plot.string(), "residuals: {}");
  facts.print(std::cout, o.json);
}

int main(int argc, char** argv) {
  CLI::App app("Solves Poisson's equation with conjugate gradients.", "conjugate_gradient");
  samples::common_options o(app);
  o.with_out("conjugate_gradient-results").with_json();
  std::int64_t points = 127;
  double tolerance = 1e-9;
  std::string preconditioner = "ilu0";
  samples::count_option(app, "--points", points, 2, 1024,
                        "inner points per side of the coarse grid");
  samples::number_option(app, "--tolerance", tolerance, 1e-13, 0.1,
                         "relative tolerance of the residual");
  samples::choice_option(app, "--preconditioner", preconditioner, {"jacobi", "ilu0"},
                         "incomplete LU factors, or the diagonal");
  return samples::run(app, argc, argv, [&] { run(points, tolerance, preconditioner, o); });
}
