// SPDX-License-Identifier: Apache-2.0
//
// Lists the pending nodes below roots, ordered and without duplicates.
#include <bit>
#include <functional>

#include "fusion/plan.hpp"

namespace tutti::fusion {
namespace {

bool is_pending(const node& n) { return !n.is_ready() && !n.is_constant(); }

std::size_t mix(std::size_t seed, std::size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2));
}

std::size_t hash_shape(std::size_t seed, const shape& s) {
  for (std::int64_t v : s) seed = mix(seed, static_cast<std::size_t>(v));
  return mix(seed, static_cast<std::size_t>(s.rank()));
}

// Two inputs are the same value if their bases are, and if they show the same elements.
const void* identity(const plan& p, const node& input) {
  const node& base = graph::base_of(input);
  return base.mark >= 0 ? p.canonical(base) : &base;
}

bool same_constant(const node& a, const node& b) {
  return a.is_constant() && b.is_constant() && a.type == b.type && a.weak == b.weak &&
         a.extents == b.extents && same_bits(a.value(), b.value());
}

bool same_input(const plan& p, const node& a, const node& b) {
  if (&a == &b || same_constant(a, b)) return true;
  if (a.is_constant() || b.is_constant() || identity(p, a) != identity(p, b)) return false;
  const graph::layout x = layout_of(a), y = layout_of(b);
  return a.extents == b.extents && x.offset == y.offset && x.strides == y.strides;
}

std::size_t hash_of(const plan& p, const node& n) {
  const bool elementwise = n.kind == graph::kind::elementwise;
  std::size_t h = mix(static_cast<std::size_t>(n.kind), elementwise ? n.opcode() : 0);
  h = mix(h, static_cast<std::size_t>(n.type));
  h = hash_shape(h, n.extents);
  for (const auto& input : n.inputs) {
    if (input->is_constant()) {
      h = mix(h, std::bit_cast<std::uint64_t>(input->value().real));
      h = mix(h, std::bit_cast<std::uint64_t>(input->value().imaginary));
    } else {
      h = mix(h, std::hash<const void*>()(identity(p, *input)));
      h = mix(h, static_cast<std::size_t>(layout_of(*input).offset));
    }
  }
  return h;
}

bool same_parameters(const node& a, const node& b) {
  if (a.kind != b.kind || a.type != b.type || a.device != b.device || !(a.extents == b.extents) ||
      a.inputs.size() != b.inputs.size())
    return false;
  // Label and time limit do not affect a value. Regions of slice_update are compared by address:
  // different ones are rare, and not worth comparing.
  if (a.kind == graph::kind::transfer) return true;
  if (a.kind == graph::kind::call) return a.call().what == b.call().what;
  if (a.kind == graph::kind::operation) return a.operation() == b.operation();
  return a.record == b.record;
}

// Results of a call follow it in the plan. One call replaces two if it has all results that are
// needed of the other.
bool has_all_results(const plan& p, const node& wanted, const node& computed) {
  const auto each = [&](const node& call, auto&& f) {
    for (auto i = static_cast<std::size_t>(call.mark) + 1;
         i < p.nodes.size() && p.nodes[i]->kind == graph::kind::result &&
         p.nodes[i]->inputs[0].get() == &call;
         ++i)
      f(p.nodes[i]->result().index);
  };
  std::uint64_t missing = 0;
  each(wanted, [&](std::size_t index) { missing |= std::uint64_t{1} << index; });
  each(computed, [&](std::size_t index) { missing &= ~(std::uint64_t{1} << index); });
  return missing == 0;
}

bool same_value(const plan& p, const node& a, const node& b) {
  if (!same_parameters(a, b)) return false;
  for (std::size_t i = 0; i < a.inputs.size(); ++i)
    if (!same_input(p, *a.inputs[i], *b.inputs[i])) return false;
  return a.kind != graph::kind::call || has_all_results(p, a, b);
}

// Traverses the graph from the roots. Removes its marks unless it completes.
class collector {
 public:
  collector(plan& p, const device_claim& claim) : plan_(p), claim_(claim) {}
  collector(collector&&) = delete;
  ~collector() {
    if (is_done_) return;
    for (const visit& v : stack_) v.n->mark = -1;
    release_marks(plan_);
    plan_ = {};
  }

  /// Returns false if a device was refused.
  bool add(const node& root) {
    if (!is_pending(graph::base_of(root))) return true;
    if (!enter(root)) return false;
    while (!stack_.empty()) {
      visit& top = stack_.back();
      if (top.next_input < top.n->inputs.size()) {
        if (!enter(*top.n->inputs[top.next_input++])) return false;
        continue;
      }
      node& done = *top.n;
      if (done.mark < 0) {  // else a result, which was added with its call
        // Computed once before without being stored: from now on it is stored.
        append(done, done.times_inlined > 0);
        if (done.kind == graph::kind::call) append_results(done);
      }
      stack_.pop_back();
    }
    return true;
  }

  void finish(std::span<const node* const> roots) {
    for (const node* root : roots) {
      const node& base = graph::base_of(*root);
      if (is_pending(base)) plan_.stored[static_cast<std::size_t>(base.mark)] = 1;
    }
    plan_.same_as = plan_.nodes;
    is_done_ = true;
  }

 private:
  void append(node& n, bool stored) {
    plan_.nodes.push_back(&n);
    n.mark = static_cast<std::int32_t>(plan_.nodes.size() - 1);
    plan_.stored.push_back(stored);
  }

  // All results that are alive: nothing of the call can be computed later.
  void append_results(const node& call) {
    for (graph::node_ref& result : call.call().results->alive()) {
      if (!result || result->is_ready()) continue;
      append(*result, true);
      plan_.held.push_back(std::move(result));
    }
  }

  struct visit {
    node* n;
    std::size_t next_input;
  };
  static constexpr std::int32_t on_stack = -2;

  bool enter(const node& input) {
    node* n = const_cast<node*>(&graph::base_of(input));
    if (n->is_constant()) return true;
    // Also if it is ready: its copy requires its device for work after it.
    if (n->device != claimed_) {
      if (!claim_(*n->device)) return false;
      claimed_ = n->device;
    }
    if (n->mark != -1 || n->is_ready()) return true;
    stack_.push_back({n, 0});
    n->mark = on_stack;
    return true;
  }

  plan& plan_;
  const device_claim& claim_;
  const graph::opened_device* claimed_ = nullptr;  // the last one
  plan_list<visit> stack_;
  bool is_done_ = false;
};

}  // namespace

bool collect(plan& p, std::span<const node* const> roots, const device_claim& claim) {
  collector walk(p, claim);
  for (const node* root : roots)
    if (!walk.add(*root)) return false;
  walk.finish(roots);
  return true;
}

void release_marks(const plan& p) noexcept {
  for (node* n : p.nodes) n->mark = -1;
}

void merge_duplicates(plan& p) {
  if (p.nodes.size() < 2) return;
  // A hash table with open addressing, at most half full; small ones need no allocation.
  struct seen_node {
    std::size_t hash;
    node* n;
  };
  const std::size_t places = std::bit_ceil(2 * p.nodes.size());
  const int unused_bits = std::countl_zero(places) + 1;
  boost::container::small_vector<seen_node, 64> seen(places, seen_node{0, nullptr});
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    node* n = p.nodes[i];
    const std::size_t hash = hash_of(p, *n);
    std::size_t at = (hash * 0x9e3779b97f4a7c15u) >> unused_bits;
    for (; seen[at].n != nullptr; at = (at + 1) & (places - 1))
      if (seen[at].hash == hash && same_value(p, *n, *seen[at].n)) break;
    if (node* const first = seen[at].n; first != nullptr) {
      p.same_as[i] = first;
      p.stored[static_cast<std::size_t>(first->mark)] |= p.stored[i];
    } else {
      seen[at] = {hash, n};
    }
  }
}

}  // namespace tutti::fusion
