// SPDX-License-Identifier: Apache-2.0
//
// Products and convolutions that add a bias and apply relu before they store their result. Only
// nodes that cannot be read later are included: a product that is not stored would have to be
// computed again.
#include <algorithm>

#include "fusion/plan.hpp"
#include "graph/fold.hpp"

namespace tutti::fusion {
namespace {

bool has_epilogues(const node& n) {
  return n.is(TUTTI_OPERATOR_MATMUL) || n.is(TUTTI_OPERATOR_CONVOLUTION);
}

class finder {
 public:
  finder(plan& p, const std::function<bool(const epilogue&)>& supported)
      : p_(p), supported_(supported), readers_(p.nodes.size(), {nullptr, 0}) {
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      if (p.same_as[i] != p.nodes[i]) {
        // The duplicate needs the value as well.
        readers_[static_cast<std::size_t>(p.same_as[i]->mark)].count += 2;
        continue;
      }
      for (const auto& input : p.nodes[i]->inputs) {
        const node& base = graph::base_of(*input);
        if (base.mark < 0) continue;
        reader& r = readers_[static_cast<std::size_t>(p.canonical(base)->mark)];
        r = {p.nodes[i], r.count + 1};
      }
    }
  }

  void run() {
    for (node* n : p_.nodes)
      if (has_epilogues(*n) && p_.canonical(*n) == n) consider(n);
  }

 private:
  struct reader {
    node* last;
    int count;
  };

  void consider(node* product) {
    epilogue all;
    all.members.push_back(product);
    epilogue best;
    for (node* next = product; (next = successor(*next)) != nullptr;) {
      if (!take(all, *next)) break;
      if (is_worth_storing(*next) && supported_(all)) best = all;
    }
    if (best.members.size() > 1) p_.epilogues.push_back(std::move(best));
  }

  // The only reader of n, if n itself need not be kept.
  node* successor(const node& n) const {
    const auto i = static_cast<std::size_t>(n.mark);
    const reader& r = readers_[i];
    if (p_.stored[i] != 0 || r.count != 1 || r.last->kind != graph::kind::elementwise)
      return nullptr;
    for (const auto& input : r.last->inputs)
      if (&graph::base_of(*input) == &n && is_private(*input, n)) return r.last;
    return nullptr;
  }

  // Whether `input` shows all of n in its order, and only its reader refers to either of them.
  static bool is_private(const node& input, const node& n) {
    const graph::layout where = layout_of(input);
    if (input.elements != n.elements || where.offset != 0 ||
        !graph::is_contiguous(input.extents, where.strides))
      return false;
    std::uint32_t references = &input == &n ? 1 : 0;
    for (const node* v = &input; v != nullptr && v->is_view();) {
      if (v->references.load() != 1) return false;
      ++references;
      const node* next = v->inputs.empty() ? nullptr : v->inputs[0].get();
      if (next == &n) ++references;
      v = next;
    }
    return n.references.load() == references;
  }

  // Adds `next`, which reads the last member, to e.
  static bool take(epilogue& e, node& next) {
    const node& product = *e.members.front();
    if (next.type != product.type || !is_floating(next.type) || next.device != product.device ||
        next.elements != product.elements || e.activation != TUTTI_ACTIVATION_NONE)
      return false;
    if (next.inputs.size() != 2) return false;
    const bool first = &graph::base_of(*next.inputs[0]) == e.members.back();
    const node& value = *next.inputs[first ? 0 : 1];
    if (!(value.extents == next.extents)) return false;
    const node& other = *next.inputs[first ? 1 : 0];
    if (next.opcode() == TUTTI_OP_maximum && is_zero(other)) {
      e.activation = TUTTI_ACTIVATION_RELU;
    } else if (next.opcode() == TUTTI_OP_add && e.bias == nullptr &&
               is_bias(other, next, product)) {
      e.bias = &other;
    } else {
      return false;
    }
    e.members.push_back(&next);
    return true;
  }

  static bool is_bias(const node& n, const node& sum, const node& product) {
    if (product.is(TUTTI_OPERATOR_MATMUL)) return is_row(n, sum, product);
    // The extents of groups and of their channels are adjacent.
    const shape& to = product.extents;
    const int last = sum.extents.rank() - 1;
    if (product.operation().channels_last) return is_along(n, sum, last, to[4] * to[5]);
    return last > 0 && sum.extents[0] == to[0] && is_along(n, sum, 1, to[1] * to[2]);
  }

  // One value for each of `count` channels, which are this axis of the sum.
  static bool is_along(const node& n, const node& sum, int axis, std::int64_t count) {
    const int own = axis - (sum.extents.rank() - n.extents.rank());
    return own >= 0 && !n.is_constant() && n.elements == count && sum.extents[axis] == count &&
           n.extents[own] == count && layout_of(n).strides[own] >= 0;
  }

  // One value for each column of the product.
  static bool is_row(const node& n, const node& sum, const node& product) {
    const std::int64_t columns = product.extents[2];
    return !n.is_constant() && n.elements == columns && !n.extents.empty() &&
           n.extents.back() == columns && sum.extents.back() == columns &&
           (columns == 1 || layout_of(n).strides.back() == 1);
  }

  // A value that a program reads in place is computed there; including it would not save a launch.
  bool is_worth_storing(const node& n) const {
    const auto i = static_cast<std::size_t>(n.mark);
    const reader& r = readers_[i];
    if (p_.stored[i] != 0 || r.count != 1) return true;
    if (r.last->kind != graph::kind::elementwise && r.last->kind != graph::kind::reduce)
      return true;
    const shape& space =
        r.last->kind == graph::kind::reduce ? r.last->inputs[0]->extents : r.last->extents;
    return !(space == n.extents);
  }

  plan& p_;
  const std::function<bool(const epilogue&)>& supported_;
  std::vector<reader> readers_;
};

}  // namespace

bool is_zero(const node& n) {
  return n.is_constant() && !n.weak && !is_complex(n.type) &&
         graph::scalar_to_double(n.type, n.value().real) == 0;
}

void find_epilogues(plan& p, const std::function<bool(const epilogue&)>& supported) {
  const auto is_product = [](const node* n) { return has_epilogues(*n); };
  if (std::any_of(p.nodes.begin(), p.nodes.end(), is_product)) finder(p, supported).run();
}

}  // namespace tutti::fusion
