// SPDX-License-Identifier: Apache-2.0
//
// value_and_grad, grad and vjp: record a function on new variables of a trace, run the backward
// pass, end the trace.
#include <numeric>
#include <utility>

#include "autograd/backward.hpp"
#include "op/operands.hpp"
#include "tutti/grad.hpp"
#include "tutti/movement.hpp"

namespace tutti {
namespace {

// The trace of one call of a transform, which ends with it, even if the function throws.
class recording {
 public:
  recording() { trace_->outer = std::exchange(graph::gradient_trace::of_thread(), trace_.get()); }
  ~recording() {
    graph::gradient_trace::of_thread() = trace_->outer;
    try {
      trace_->end();
    } catch (...) {
      // It has ended. Nodes that should have been dropped live as long as the nodes that refer to
      // them.
    }
  }
  recording(recording&&) = delete;
  const graph::trace_ref& trace() const { return trace_; }

 private:
  graph::trace_ref trace_{new graph::gradient_trace};
};

bool has_derivative(dtype type) { return is_floating(type) || is_complex(type); }

void require_function(bool is_there, std::string_view op) {
  if (!is_there) base::fail<value_error>("{}: the function is empty", op);
}

void require_floating(const array& a, const std::string& what, std::string_view op) {
  if (!has_derivative(graph::get(a, op).type))
    base::fail<dtype_error>("{}: {} must be floating, got {}", op, what, a.dtype());
}

// The positions of the arguments to differentiate: `argnums`, or all.
std::vector<std::size_t> positions(const std::vector<int>& argnums, std::size_t count,
                                   std::string_view op) {
  std::vector<std::size_t> out(argnums.size());
  if (argnums.empty()) {
    out.resize(count);
    std::iota(out.begin(), out.end(), std::size_t{0});
    return out;
  }
  for (std::size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] < 0 || static_cast<std::size_t>(argnums[i]) >= count)
      base::fail<index_error>("{}: argument number {} of {} arguments", op, argnums[i], count);
    out[i] = static_cast<std::size_t>(argnums[i]);
  }
  return out;
}

// Variables instead of the selected arguments; one variable for an argument that is named twice.
struct variables {
  std::vector<array> arguments;
  std::vector<array> chosen;
};

variables make_variables(const recording& scope, const std::vector<array>& given,
                         const std::vector<std::size_t>& which, std::string_view op) {
  variables out{given, {}};
  std::vector<bool> done(given.size(), false);
  for (std::size_t i : which) {
    if (!done[i]) {
      require_floating(given[i], "argument " + std::to_string(i), op);
      out.arguments[i] =
          graph::tracer(op::cast(given[i], op::type_of(given[i], op), op), scope.trace());
      done[i] = true;
    }
    out.chosen.push_back(out.arguments[i]);
  }
  return out;
}

array require_scalar(const array& value, std::string_view op) {
  if (graph::get(value, op).elements != 1)
    base::fail<shape_error>("{}: the function's value must have one element, got shape {}", op,
                            value.shape());
  if (!is_floating(value.dtype()))
    base::fail<dtype_error>("{}: the function's value must be floating, got {}{}", op,
                            value.dtype(),
                            (is_complex(value.dtype()) ? "; take a real part of it, or vjp" : ""));
  return op::cast(value, value.dtype(), op);
}

std::pair<array, std::vector<array>> differentiate(const function& f,
                                                   const std::vector<int>& argnums,
                                                   const std::vector<array>& arguments,
                                                   std::string_view op) {
  const recording scope;
  const variables v =
      make_variables(scope, arguments, positions(argnums, arguments.size(), op), op);
  const array value = require_scalar(f(v.arguments), op);
  // Over ranks: their mean, which counts a value that is the same on each rank once.
  const array cotangent = full_like(value, 1.0 / scope.trace()->ranks());
  return {value, autograd::backward({value}, {cotangent}, v.chosen, *scope.trace())};
}

std::vector<array> checked_cotangents(const std::vector<array>& values,
                                      const std::vector<array>& cotangents) {
  if (values.size() != cotangents.size())
    base::fail<value_error>("vjp: {} cotangents for {} values", cotangents.size(), values.size());
  std::vector<array> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (graph::get(cotangents[i], "vjp").extents != graph::get(values[i], "vjp").extents)
      base::fail<shape_error>("vjp: cotangent {} has shape {}, its value {}", i,
                              cotangents[i].shape(), values[i].shape());
    // A value that is not floating has no derivative.
    out.push_back(has_derivative(values[i].dtype())
                      ? op::cast(cotangents[i], values[i].dtype(), "vjp")
                      : zeros_like(values[i]));
  }
  return out;
}

}  // namespace

std::function<std::pair<array, std::vector<array>>(const std::vector<array>&)> value_and_grad(
    function f, std::vector<int> argnums) {
  require_function(f != nullptr, "value_and_grad");
  return [f = std::move(f), argnums = std::move(argnums)](const std::vector<array>& arguments) {
    return differentiate(f, argnums, arguments, "value_and_grad");
  };
}

vector_function grad(function f, std::vector<int> argnums) {
  require_function(f != nullptr, "grad");
  return [f = std::move(f), argnums = std::move(argnums)](const std::vector<array>& arguments) {
    return differentiate(f, argnums, arguments, "grad").second;
  };
}

std::pair<std::vector<array>, std::vector<array>> vjp(const vector_function& f,
                                                      const std::vector<array>& arguments,
                                                      const std::vector<array>& cotangents) {
  require_function(f != nullptr, "vjp");
  const recording scope;
  const variables v =
      make_variables(scope, arguments, positions({}, arguments.size(), "vjp"), "vjp");
  std::vector<array> values = f(v.arguments);
  const std::vector<array> seeds = checked_cotangents(values, cotangents);
  std::vector<array> gradients = autograd::backward(values, seeds, v.chosen, *scope.trace());
  return {std::move(values), std::move(gradients)};
}

}  // namespace tutti
