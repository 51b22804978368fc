// SPDX-License-Identifier: Apache-2.0
//
// The backward pass: nodes of a trace in topological order, cotangents summed node by node.
#include "autograd/backward.hpp"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "autograd/gradients.hpp"
#include "op/operands.hpp"

namespace tutti::autograd {
namespace {

constexpr std::ptrdiff_t inactive = -1;

bool crosses_ranks(const graph::node& n) {
  return n.kind == graph::kind::custom_rule && n.custom_rule().ranks > 1;
}

// Nodes between variables and results, inputs first, and the position of each. Nodes outside of the
// trace are not followed, because they need not keep their inputs.
class tape {
 public:
  tape(array_list results, array_list variables, const graph::gradient_trace& trace)
      : trace_(trace) {
    for (const array& v : variables) variables_.insert(v.node().get());
    // First, so that they are in the order in which they were made, which all ranks share: each
    // depends on earlier ones only.
    for (const detail::node_ref& rule : trace.exchanges()) visit(rule);
    for (const array& r : results) visit(r.node());
  }

  std::ptrdiff_t place(const graph::node* n) const {
    const auto found = places_.find(n);
    return found == places_.end() ? inactive : found->second;
  }
  bool is_variable(const graph::node* n) const { return variables_.contains(n); }
  std::vector<detail::node_ref> order;

 private:
  struct frame {
    detail::node_ref node;
    std::size_t next = 0;
    bool active = false;
  };

  // A node is active if it depends on a variable; others need no cotangent.
  void visit(const detail::node_ref& root) {
    if (places_.contains(root.get())) return;
    std::vector<frame> stack;
    enter(root, stack);
    while (!stack.empty()) {
      frame& top = stack.back();
      const bool leaf = is_variable(top.node.get()) || !is_ours(*top.node);
      if (!leaf && top.next < top.node->inputs.size()) {
        const detail::node_ref below = top.node->inputs[top.next++];
        const auto known = places_.find(below.get());
        if (known == places_.end())
          enter(below, stack);
        else
          top.active |= known->second != inactive;
        continue;
      }
      const bool active = top.active || is_variable(top.node.get()) || crosses_ranks(*top.node);
      if (active) {
        places_[top.node.get()] = static_cast<std::ptrdiff_t>(order.size());
        order.push_back(std::move(top.node));
      }
      stack.pop_back();
      if (active && !stack.empty()) stack.back().active = true;
    }
  }

  bool is_ours(const graph::node& n) const {
    return n.trace != nullptr && n.trace->includes(trace_);
  }

  void enter(const detail::node_ref& n, std::vector<frame>& stack) {
    places_.emplace(n.get(), inactive);
    stack.push_back({n});
  }

  const graph::gradient_trace& trace_;
  std::unordered_set<const graph::node*> variables_;
  std::unordered_map<const graph::node*, std::ptrdiff_t> places_;
};

// Cotangents of the values of each custom_rule, collected until all their readers were visited.
class gathered_cotangents {
 public:
  void add(const graph::node& result, const array& g) {
    const graph::node& rule = *result.inputs[0];
    std::vector<array>& all = of_[&rule];
    all.resize(rule.custom_rule().values.size());
    array& total = all[static_cast<std::size_t>(result.view().arguments[0])];
    total = total.valid() ? total + g : g;
  }
  /// Nothing if no value has one.
  std::vector<array> take(const graph::node& rule) { return std::exchange(of_[&rule], {}); }

 private:
  std::unordered_map<const graph::node*, std::vector<array>> of_;
};

bool is_custom_result(const graph::node& n) {
  return n.is_view() && n.view().op == graph::view_op::custom_result;
}

// 1, plus one for each other transform, of any thread, that may differentiate the cotangents of
// `variables` again: they depend on what the results and their cotangents depend on.
int order_of(array_list results, array_list cotangents, graph::gradient_trace& trace) {
  graph::gradient_trace::running running = {&trace};
  for (const array_list all : {results, cotangents})
    for (const array& a : all)
      if (a.node()->trace != nullptr) a.node()->trace->add_running(running);
  return static_cast<int>(running.size());
}

}  // namespace

std::vector<array> backward(array_list results, array_list cotangents, array_list variables,
                            graph::gradient_trace& trace) {
  const int order = order_of(results, cotangents, trace);
  tape recorded(results, variables, trace);
  std::vector<array> sums(recorded.order.size());
  gathered_cotangents gathered;
  const auto accumulate = [&](const graph::node* n, const array& g) {
    const std::ptrdiff_t place = recorded.place(n);
    if (place == inactive || op::is_known_zero(g)) return;
    array& total = sums[static_cast<std::size_t>(place)];
    total = total.valid() ? total + g : g;
  };
  for (std::size_t i = 0; i < results.size(); ++i)
    accumulate(results[i].node().get(), cotangents[i]);

  for (std::size_t i = recorded.order.size(); i-- > 0;) {
    const detail::node_ref& n = recorded.order[i];
    if (recorded.is_variable(n.get())) continue;
    std::vector<array> found;
    if (n->kind == graph::kind::custom_rule) {
      std::vector<array> of_values = gathered.take(*n);
      if (crosses_ranks(*n)) of_values.resize(n->custom_rule().values.size());
      if (!of_values.empty() || crosses_ranks(*n)) found = custom_cotangents(n, of_values, order);
    } else if (sums[i].valid()) {
      const array g = std::exchange(sums[i], array());
      if (is_custom_result(*n))
        gathered.add(*n, g);
      else
        found = input_cotangents(array(n), g, order);
    }
    for (std::size_t k = 0; k < found.size(); ++k)
      if (found[k].valid()) accumulate(n->inputs[k].get(), found[k]);
  }

  std::vector<array> out;
  for (const array& v : variables) {
    const std::ptrdiff_t place = recorded.place(v.node().get());
    const bool reached = place != inactive && sums[static_cast<std::size_t>(place)].valid();
    out.push_back(reached ? sums[static_cast<std::size_t>(place)] : zeros_like(v));
  }
  return out;
}

}  // namespace tutti::autograd
