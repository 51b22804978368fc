// SPDX-License-Identifier: Apache-2.0
//
// Pipelines over the ranks of a job, and the messages between ranks that have gradients, against
// the same computation on one device.
#include "thread_job.hpp"
#include "tutti/nn.hpp"
#include "tutti/nn/pipeline.hpp"
#include "tutti_test/arrays.hpp"

namespace {

using namespace tutti;

using arrays = std::vector<array>;

/// Different numbers, the same on all ranks.
array values_of(const shape& extents, double phase) {
  return sin(arange(extents.size(), dtype::f64) * 1.3 + phase).reshape(extents);
}

void require_same(const array& got, const array& expected, const std::string& what) {
  require(got.shape() == expected.shape(), what + ": " + got.shape().str());
  const double off = max(abs(got.to(default_device()) - expected)).item<double>();
  require(off < 1e-13, what + " differs by " + std::to_string(off * 1e13) + " times 1e-13");
}

/// One device a rank, and two on the first or on the last one where there is another one.
std::vector<device_group> pipeline_groups(const job& j) {
  const std::vector<device> one{default_device()};
  if (default_device().name() == "reference:0") return {device_group(one, j)};
  const std::vector<device> two{default_device(), device("reference")};
  return {device_group(one, j), device_group(j.rank() == 0 ? two : one, j),
          device_group(j.rank() == j.size() - 1 ? two : one, j)};
}

/// Stage i has its own width of output; stage 1 has no parameters and halves the columns.
array stage_of(std::size_t i, const arrays& p, const array& x) {
  if (i == 1) return x(slice{}, slice{0, x.dim(1) / 2});
  return tanh(matmul(x, p[0]) + p[1]);
}

arrays start_of(std::size_t i) {
  const auto in = static_cast<std::int64_t>(i < 2 ? 3 : 2 + i % 3);
  const auto out = static_cast<std::int64_t>(i == 0 ? 8 : 2 + (i + 1) % 3);
  const double phase = static_cast<double>(i);
  if (i == 1) return {};
  return {values_of({i == 2 ? 4 : in, out}, phase), values_of({out}, phase + 0.5)};
}

/// A network of `count` stages on one device.
array of_all_stages(const std::vector<arrays>& parameters, array x) {
  for (std::size_t i = 0; i < parameters.size(); ++i) x = stage_of(i, parameters[i], x);
  return x;
}

/// The stages of this rank.
struct own_stages {
  explicit own_stages(const device_group& group) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      const std::size_t number = group.first() + i;
      stages.push_back(
          [number](const arrays& p, const array& x) { return stage_of(number, p, x); });
      parameters.emplace_back();
      for (const array& a : start_of(number)) parameters.back().push_back(a.to(group[i]));
    }
  }
  std::vector<nn::pipeline::stage> stages;
  std::vector<arrays> parameters;
};

/// Loss, output and parameters after steps of gradient descent, all on one device.
struct alone {
  alone(std::size_t stages, const array& x, int steps) {
    for (std::size_t i = 0; i < stages; ++i) parameters.push_back(start_of(i));
    output = of_all_stages(parameters, x);
    target = values_of(output.shape(), 7);
    arrays flat;
    for (const arrays& p : parameters) flat.insert(flat.end(), p.begin(), p.end());
    const auto by_stage = [&](const arrays& p) {
      std::vector<arrays> out;
      auto next = p.begin();
      for (const arrays& own : parameters) {
        out.emplace_back(next, next + static_cast<std::ptrdiff_t>(own.size()));
        next += static_cast<std::ptrdiff_t>(own.size());
      }
      return out;
    };
    for (int step = 0; step < steps; ++step) {
      const auto [value, found] = value_and_grad(
          [&](const arrays& p) { return nn::mse(of_all_stages(by_stage(p), x), target); })(flat);
      losses.push_back(value);
      for (std::size_t i = 0; i < flat.size(); ++i) flat[i] = flat[i] - found[i] * 0.3;
      eval(flat);
    }
    parameters = by_stage(flat);
  }
  array output, target;
  arrays losses;
  std::vector<arrays> parameters;
};

}  // namespace

BOOST_AUTO_TEST_CASE(stages_on_ranks_train_to_the_weights_of_one_process) {
  on_ranks([](const job& j) {
    const array x = values_of({7, 3}, 3);
    for (const device_group& group : pipeline_groups(j)) {
      const alone expected(group.total(), x, 5);
      for (const std::int64_t micro_batches : {1, 3, 9}) {  // of 7; 3, 2, 2; 1 row
        own_stages own(group);
        const nn::pipeline network(own.stages, group, micro_batches);
        // Values of no interest where they are not used.
        const array in = group.first() == 0 ? x : zeros(x.shape(), dtype::f64);
        const bool is_last = group.first() + group.size() == group.total();
        const array target = is_last ? expected.target : zeros(expected.target.shape(), dtype::f64);
        const std::string what = group.names() + ", " + std::to_string(micro_batches);
        const array output = network(own.parameters, in);
        require(output.device() == group.members().back(), what + ": on the last member");
        require_same(output, expected.output, what + ": output");
        for (const array& loss : expected.losses) {
          const auto [value, gradients] =
              network.value_and_grad(nn::mse, own.parameters, in, target);
          require(value.device() == group.members().back(), what + ": loss on the last member");
          require_same(value, loss, what + ": loss");
          for (std::size_t i = 0; i < group.size(); ++i)
            for (std::size_t k = 0; k < gradients[i].size(); ++k) {
              require(gradients[i][k].device() == group[i], what + ": gradients on the member");
              own.parameters[i][k] = own.parameters[i][k] - gradients[i][k] * 0.3;
            }
        }
        for (std::size_t i = 0; i < group.size(); ++i)
          for (std::size_t k = 0; k < own.parameters[i].size(); ++k)
            require_same(own.parameters[i][k], expected.parameters[group.first() + i][k],
                         what + ": parameter " + std::to_string(k));
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(gradients_pass_through_the_output_of_a_pipeline) {
  on_ranks([](const job& j) {
    const device_group group(std::vector<device>{default_device()}, j);
    const own_stages own(group);
    const nn::pipeline network(own.stages, group, 2);
    const array x = values_of({5, 3}, 1);
    // Of the input of the first stage, which only its rank uses.
    const auto f = [](const array& y) { return sum(y * y * y); };
    const array found = grad([&](const array& in) { return f(network(own.parameters, in)); })(x);
    std::vector<arrays> all;
    for (std::size_t i = 0; i < group.total(); ++i) all.push_back(start_of(i));
    const array expected = grad([&](const array& in) { return f(of_all_stages(all, in)); })(x);
    require_same(found, j.rank() == 0 ? expected : zeros(x.shape(), dtype::f64), "of x");
  });
}

BOOST_AUTO_TEST_CASE(ranks_that_divide_a_batch_differently_are_named) {
  on_ranks([](const job& j) {
    if (j.size() == 1) return;
    const device_group group(std::vector<device>{default_device()}, j);
    const own_stages own(group);
    const array x = values_of({6, 3}, 1);
    const nn::pipeline network(own.stages, group, 2);
    const auto rows = [&] { network(own.parameters, j.rank() == 1 ? x(slice{0, 5}) : x); };
    require(message_of<value_error>(rows) ==
                "pipeline: 6 rows in 2 micro-batches on rank 0, but 5 rows in 2 micro-batches on "
                "rank 1",
            message_of<value_error>(rows));
    const nn::pipeline other(own.stages, group, 2 + j.rank());
    const std::string text = message_of<value_error>([&] { other(own.parameters, x); });
    require(text.find("but 6 rows in 3 micro-batches on rank 1") != std::string::npos, text);
    // The job goes on.
    require(network(own.parameters, x).dim(0) == 6, "the output");
  });
}

BOOST_AUTO_TEST_CASE(an_error_in_a_stage_ends_all_ranks) {
  if (job().size() > 1) return;  // threads, as without mpirun
  for (const int size : {2, 3}) {
    const int failing = size - 2;
    std::vector<std::string> texts(static_cast<std::size_t>(size));
    run_ranks(
        size,
        [&](const job& j) {
          const device_group group(std::vector<device>{default_device()}, j);
          own_stages own(group);
          if (j.rank() == failing)
            own.stages[0] = [](const arrays&, const array&) -> array {
              throw shape_error("of a stage");
            };
          const nn::pipeline network(own.stages, group, 3);
          const array x = values_of({6, 3}, 1);
          texts[static_cast<std::size_t>(j.rank())] = message_of<error>([&] {
            if (size == 2)
              network(own.parameters, x);
            else
              network.value_and_grad(nn::mse, own.parameters, x, x);
          });
        },
        1);
    const std::string named = "rank " + std::to_string(failing) + " did not come";
    for (int r = 0; r < size; ++r) {
      const std::string& text = texts[static_cast<std::size_t>(r)];
      const bool is_told = text.find(r == failing ? "of a stage" : named) != std::string::npos;
      BOOST_TEST(is_told, "rank " << r << ": " << text);
    }
  }
}

BOOST_AUTO_TEST_CASE(messages_between_ranks_have_gradients) {
  on_ranks([](const job& j) {
    const int next = (j.rank() + 1) % j.size(), before = (j.rank() + j.size() - 1) % j.size();
    // The sum over the ranks of x(r)^2 x(r - 1): the mean of what they return.
    const array x = values_of({4}, j.rank());
    const auto f = [&](const array& a) {
      return sum(a * a * j.exchange({a}, {next}, {before})[0]) * static_cast<double>(j.size());
    };
    const array low = values_of({4}, before), high = values_of({4}, next);
    require_same(grad(f)(x), j.size() == 1 ? x * x * 3 : x * low * 2 + high * high, "the gradient");
  });
}
