// SPDX-License-Identifier: Apache-2.0
//
// Functions with custom gradients: what they record, and their part of the backward pass.
#include <algorithm>
#include <utility>

#include "autograd/gradients.hpp"
#include "op/operands.hpp"
#include "tutti/error.hpp"
#include "tutti/grad.hpp"

namespace tutti {
namespace {

constexpr const char* op_name = "custom_vjp";

std::vector<array> without_history(const std::vector<array>& given) {
  std::vector<array> out;
  for (const array& a : given) out.push_back(graph::detach(a));
  return out;
}

// Values for which a rule can be recorded.
void check_values(const std::vector<array>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (graph::get(values[i], op_name).is_traced())
      base::fail<value_error>(
          "{}: value {} depends on an array that is being differentiated and is no argument; pass "
          "it as one, or stop_gradient() it",
          op_name, i);
  }
}

std::vector<array> call(const vector_function& forward, const backward_function& backward,
                        const std::vector<array>& arguments) {
  bool traced = false;
  for (const array& a : arguments) traced |= graph::get(a, op_name).is_traced();
  if (!traced) return forward(arguments);
  int& ranks = graph::gradient_trace::ranks_of_thread();
  const int before = std::exchange(ranks, 1);
  std::vector<array> values = forward(without_history(arguments));
  check_values(values);
  for (array& value : values) value = op::cast(value, op::type_of(value, op_name), op_name);
  const std::size_t count = values.size();
  const detail::node_ref rule = graph::custom_rule(arguments, {backward, std::move(values), ranks});
  ranks = std::max(ranks, before);
  std::vector<array> results;
  for (std::size_t i = 0; i < count; ++i) results.push_back(graph::custom_result(rule, i));
  return results;
}

}  // namespace

vector_function custom_vjp(vector_function forward, backward_function backward) {
  if (!forward || !backward)
    base::fail<value_error>("{}: the {} function is empty", op_name,
                            (forward ? "backward" : "forward"));
  return [forward = std::move(forward), backward = std::move(backward)](
             const std::vector<array>& arguments) { return call(forward, backward, arguments); };
}

namespace autograd {

std::vector<array> custom_cotangents(const detail::node_ref& rule,
                                     const std::vector<array>& cotangents, int order) {
  std::vector<array> arguments, values, of_values;
  for (const detail::node_ref& n : rule->inputs) arguments.emplace_back(n);
  for (std::size_t i = 0; i < cotangents.size(); ++i) {
    values.push_back(graph::custom_result(rule, i));
    of_values.push_back(cotangents[i].valid() ? cotangents[i] : zeros_like(values[i]));
  }
  // If there is no further differentiation, no history is kept, and kernels may be used.
  const bool last = order == 1;
  const std::vector<array> found =
      last ? rule->custom_rule().backward(without_history(arguments), without_history(values),
                                          without_history(of_values))
           : rule->custom_rule().backward(arguments, values, of_values);
  if (found.size() != arguments.size())
    base::fail<value_error>("{}: the backward function returned {} cotangents for {} arguments",
                            op_name, found.size(), arguments.size());
  std::vector<array> out(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const array& a = arguments[i];
    if (!found[i].valid() || !(is_floating(a.dtype()) || is_complex(a.dtype()))) continue;
    if (found[i].shape() != a.shape())
      base::fail<shape_error>("{}: cotangent {} has shape {}, its argument {}", op_name, i,
                              found[i].shape(), a.shape());
    out[i] = op::cast(found[i], a.dtype(), op_name);
  }
  return out;
}

}  // namespace autograd
}  // namespace tutti
