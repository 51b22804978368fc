// SPDX-License-Identifier: Apache-2.0
//
// Partition of a plan into kernels. Nodes are visited from the results backwards. An elementwise
// node joins the group of its consumers if it has the same iteration space and the device's limits
// hold: as an inner value if nothing else needs it, or as a further output if something does and no
// cycle between groups arises.
#include <algorithm>
#include <bit>

#include "fusion/plan.hpp"
#include "graph/fold.hpp"
#include "plugin/opened_device.hpp"

namespace tutti::fusion {
namespace {

constexpr std::size_t max_instructions = 256;  // keeps compile times near 0.1 s
constexpr std::size_t max_inputs = 24;
constexpr std::size_t max_outputs = 8;
constexpr int max_search = 256;  // groups searched for a cycle before a merge is given up

// A constant that a program takes as an argument.
struct scalar {
  dtype type;
  std::uint64_t bits;
  bool operator==(const scalar&) const = default;
};

struct draft {
  boost::container::small_vector<node*, 8> members;  // reverse dependency order
  boost::container::small_vector<node*, 8> leaves;   // inputs of the members from outside
  boost::container::small_vector<int, 4> successors;
  std::size_t instructions = 0;
  boost::container::small_vector<scalar, 8> scalars;  // distinct
  std::size_t outputs = 0;
  const node* reduction = nullptr;
  const fusion::epilogue* epilogue = nullptr;
  shape space;
  bool fused = false;
  bool offered = true;  // by the device; otherwise the group runs elsewhere, separately
};

// What an additional member adds to a group's program.
struct needs {
  boost::container::small_vector<node*, 3> leaves;
  boost::container::small_vector<scalar, 6> scalars;
  std::size_t instructions = 1;
};

constexpr std::size_t narrowing_instructions = 24;  // that lower() may emit for such a cast

class partitioner {
 public:
  explicit partitioner(plan& p) : p_(p), group_of_(p.nodes.size(), -1) {}

  void run() {
    find_consumers();
    for (std::size_t i = p_.nodes.size(); i-- > 0;)
      if (p_.same_as[i] == p_.nodes[i] && group_of_[i] == -1) place(p_.nodes[i]);
    emit();
  }

 private:
  int& group_of(const node& n) { return group_of_[static_cast<std::size_t>(n.mark)]; }
  bool is_stored(const node& n) const { return p_.stored[static_cast<std::size_t>(n.mark)] != 0; }

  // The canonical pending node an input refers to, or null.
  node* pending(const node& input) const {
    const node& base = graph::base_of(input);
    return base.mark >= 0 ? p_.canonical(base) : nullptr;
  }

  template <class F>
  void each_consumer(const node& n, F&& f) {
    const std::size_t i = static_cast<std::size_t>(n.mark);
    for (int k = first_[i]; k < first_[i + 1]; ++k) f(*edges_[static_cast<std::size_t>(k)]);
  }

  void find_consumers() {
    const std::size_t count = p_.nodes.size();
    first_.resize(count + 1, 0);
    const auto each_edge = [&](auto&& f) {
      for (std::size_t i = 0; i < count; ++i) {
        if (p_.same_as[i] != p_.nodes[i]) continue;
        for (const auto& input : p_.nodes[i]->inputs)
          if (node* producer = pending(*input)) f(*producer, p_.nodes[i], *input);
      }
    };
    each_edge([&](const node& producer, node*, const node& input) {
      ++first_[static_cast<std::size_t>(producer.mark) + 1];
      // Read at another position: it must be in memory.
      node* seen = look_through(input);
      if (seen->mark < 0 || p_.canonical(*seen) != &producer)
        p_.stored[static_cast<std::size_t>(producer.mark)] = 1;
    });
    for (std::size_t i = 0; i < count; ++i) first_[i + 1] += first_[i];
    edges_.resize(static_cast<std::size_t>(first_[count]));
    plan_list<int> next(first_.begin(), first_.end() - 1);
    each_edge([&](const node& producer, node* consumer, const node&) {
      edges_[static_cast<std::size_t>(next[static_cast<std::size_t>(producer.mark)]++)] = consumer;
    });
  }

  // The epilogue that ends with n, or null.
  const epilogue* epilogue_to(const node* n) const {
    for (const epilogue& e : p_.epilogues)
      if (e.members.back() == n) return &e;
    return nullptr;
  }

  // A product with its epilogue: only the last value is stored.
  void place_epilogue(const epilogue& e) {
    const int id = static_cast<int>(drafts_.size());
    draft& d = drafts_.emplace_back();
    d.epilogue = &e;
    d.outputs = 1;
    for (std::size_t i = e.members.size(); i-- > 0;) {
      node* m = e.members[i];
      p_.stored[static_cast<std::size_t>(m->mark)] = m == e.members.back() ? 1 : 0;
      add(id, m);
    }
    link(id, *e.members.back());
  }

  // A call with its results, which follow it: all their readers have their groups.
  void place_call(const node& result) {
    node* call = pending(*result.inputs[0]);
    const int id = static_cast<int>(drafts_.size());
    drafts_.emplace_back();
    auto last = static_cast<std::size_t>(call->mark);
    while (last + 1 < p_.nodes.size() && p_.nodes[last + 1]->kind == graph::kind::result &&
           p_.nodes[last + 1]->inputs[0].get() == call)
      ++last;
    for (std::size_t i = last; i > static_cast<std::size_t>(call->mark); --i) {
      add(id, p_.nodes[i]);
      ++drafts_.back().outputs;
    }
    add(id, call);
    for (std::size_t i = static_cast<std::size_t>(call->mark) + 1; i <= last; ++i)
      link(id, *p_.nodes[i]);
  }

  void place(node* n) {
    if (n->kind == graph::kind::result) return place_call(*n);
    if (const epilogue* e = epilogue_to(n)) return place_epilogue(*e);
    if (n->kind == graph::kind::elementwise && join(n)) return;
    const int id = static_cast<int>(drafts_.size());
    draft& d = drafts_.emplace_back();
    d.fused = n->kind == graph::kind::elementwise || n->kind == graph::kind::reduce;
    if (n->kind == graph::kind::reduce) {
      d.reduction = n;
      d.space = n->inputs[0]->extents;
    } else {
      d.space = n->extents;
    }
    d.offered = !d.fused || is_offered(*n);
    p_.stored[static_cast<std::size_t>(n->mark)] = 1;
    add(id, n);
    d.outputs = 1;
    link(id, *n);
  }

  bool join(node* n) {
    int candidates[4];
    int count = 0;
    bool all_in_one = true;
    int only = -1;
    each_consumer(*n, [&](const node& consumer) {
      const int g = group_of(consumer);
      if (only == -1) only = g;
      all_in_one &= g == only;
      if (count < 4 && std::find(candidates, candidates + count, g) == candidates + count)
        candidates[count++] = g;
    });
    if (only == -1) return false;
    if (all_in_one && !is_stored(*n)) {
      needs more;
      if (!accepts(only, *n, false, more)) return false;
      add(only, n, more);
      return true;
    }
    for (int i = 0; i < count; ++i) {
      const int g = candidates[i];
      needs more;
      if (!accepts(g, *n, true, more) || read_displaced(g, *n) || would_cycle(g, *n)) continue;
      p_.stored[static_cast<std::size_t>(n->mark)] = 1;
      add(g, n, more);
      ++drafts_[static_cast<std::size_t>(g)].outputs;
      link(g, *n);
      return true;
    }
    return false;
  }

  // Fills in what n adds, where the other conditions hold.
  bool accepts(int id, const node& n, bool as_output, needs& more) {
    const draft& d = drafts_[static_cast<std::size_t>(id)];
    if (!d.fused || !(d.space == n.extents) || n.device != d.members.front()->device) return false;
    if (d.offered != is_offered(n)) return false;
    if (is_half_cast(n)) return false;
    if (d.reduction != nullptr && (as_output || n.opcode() == TUTTI_OP_iota)) return false;
    more = needs_of(id, n);
    const std::size_t leaves = d.leaves.size() + more.leaves.size() - (is_leaf(d, n) ? 1 : 0);
    const std::size_t scalars = d.scalars.size() + more.scalars.size();
    const std::size_t outputs = d.outputs + (as_output ? 1 : 0);
    const tutti_device_properties& limits = n.device->limits;
    const auto within = [](std::size_t value, std::size_t ours, std::uint32_t theirs) {
      return value <= (theirs != 0 ? std::min<std::size_t>(ours, theirs) : ours);
    };
    const std::size_t rank = static_cast<std::size_t>(d.space.rank());
    const std::size_t bytes = 128 + (leaves + outputs) * (16 + 8 * rank) + 8 * rank + 8 * scalars;
    return within(leaves, max_inputs, limits.max_inputs) &&
           within(outputs, max_outputs, limits.max_outputs) &&
           within(d.instructions + more.instructions, max_instructions, limits.max_instructions) &&
           (limits.max_argument_bytes == 0 || bytes <= limits.max_argument_bytes);
  }

  // Whether a member of group g reads n at another position than its own: n is in memory only after
  // the group has run.
  bool read_displaced(int g, const node& n) {
    bool found = false;
    each_consumer(n, [&](const node& consumer) {
      if (group_of(consumer) != g) return;
      for (const auto& input : consumer.inputs) {
        const node* seen = look_through(*input);
        found |= pending(*input) == &n && (seen->mark < 0 || p_.canonical(*seen) != &n);
      }
    });
    return found;
  }

  // Whether n's device has the instruction, or the reduction, for n.
  static bool is_offered(const node& n) {
    const auto in_register = [](dtype type) {
      return static_cast<std::uint8_t>(graph::compute_dtype(type));
    };
    const plugins::offered_programs& programs = n.device->programs;
    if (n.kind == graph::kind::reduce) {
      const std::uint8_t accumulator = static_cast<std::uint8_t>(n.reduction().accumulator);
      return programs.reduces(n.reduction().reduction, accumulator);
    }
    boost::container::small_vector<std::uint8_t, 4> dtypes;
    dtypes.push_back(in_register(n.type));
    for (const auto& input : n.inputs) dtypes.push_back(in_register(input->type));
    if (n.opcode() == TUTTI_OP_cast && dtypes[0] == dtypes[1]) return true;  // no instruction
    return programs.has(n.opcode(), {dtypes.data(), dtypes.size()});
  }

  // A cast to half precision rounds; if it were fused into its reader, the rounding would be lost.
  static bool is_half_cast(const node& n) {
    return n.kind == graph::kind::elementwise && n.opcode() == TUTTI_OP_cast &&
           (n.type == dtype::f16 || n.type == dtype::bf16);
  }

  // Whether n as an output of group g would close a cycle: a path from another reader to g.
  bool would_cycle(int g, const node& n) {
    boost::container::small_vector<int, 16> work;
    ++stamp_;
    seen_.resize(drafts_.size(), 0);
    const auto push = [&](int id) {
      if (id == g || seen_[static_cast<std::size_t>(id)] == stamp_) return;
      seen_[static_cast<std::size_t>(id)] = stamp_;
      work.push_back(id);
    };
    each_consumer(n, [&](const node& consumer) { push(group_of(consumer)); });
    int looked_at = 0;
    while (!work.empty()) {
      if (++looked_at > max_search) return true;
      const int id = work.back();
      work.pop_back();
      for (int next : drafts_[static_cast<std::size_t>(id)].successors) {
        if (next == g) return true;
        push(next);
      }
    }
    return false;
  }

  static bool is_leaf(const draft& d, const node& n) {
    return std::find(d.leaves.begin(), d.leaves.end(), &n) != d.leaves.end();
  }

  // What n as a member adds to the group's program, as lower() will emit it.
  needs needs_of(int id, const node& n) {
    const draft& d = drafts_[static_cast<std::size_t>(id)];
    needs more;
    if (is_half_cast(n)) more.instructions = narrowing_instructions;
    const auto add_new = [](const auto& known, auto& added, const auto& value) {
      if (std::find(known.begin(), known.end(), value) == known.end() &&
          std::find(added.begin(), added.end(), value) == added.end())
        added.push_back(value);
    };
    for (const auto& input : n.inputs) {
      if (input->is_constant()) {
        const auto [real, imaginary] = input->value();
        const dtype part = real_dtype(input->type);
        add_new(d.scalars, more.scalars, scalar{part, std::bit_cast<std::uint64_t>(real)});
        if (is_complex(input->type)) {
          add_new(d.scalars, more.scalars, scalar{part, std::bit_cast<std::uint64_t>(imaginary)});
          ++more.instructions;  // combines the parts
        }
        continue;
      }
      node* leaf = look_through(*input);
      if (leaf->mark >= 0) leaf = p_.canonical(*leaf);
      if (leaf->mark < 0 || group_of(*leaf) != id) add_new(d.leaves, more.leaves, leaf);
    }
    return more;
  }

  void add(int id, node* n) { add(id, n, needs_of(id, *n)); }
  void add(int id, node* n, const needs& more) {
    draft& d = drafts_[static_cast<std::size_t>(id)];
    group_of(*n) = id;
    d.members.push_back(n);
    d.leaves.erase(std::remove(d.leaves.begin(), d.leaves.end(), n), d.leaves.end());
    d.leaves.insert(d.leaves.end(), more.leaves.begin(), more.leaves.end());
    d.scalars.insert(d.scalars.end(), more.scalars.begin(), more.scalars.end());
    d.instructions += more.instructions;
  }

  void link(int id, const node& n) {
    auto& successors = drafts_[static_cast<std::size_t>(id)].successors;
    each_consumer(n, [&](const node& consumer) {
      const int to = group_of(consumer);
      if (to != id && std::find(successors.begin(), successors.end(), to) == successors.end())
        successors.push_back(to);
    });
  }

  // Groups were found from the results backwards; execution order is a topological sort.
  void emit() {
    plan_list<int> waiting(drafts_.size(), 0);
    for (const draft& d : drafts_)
      for (int s : d.successors) ++waiting[static_cast<std::size_t>(s)];
    plan_list<int> runnable;
    for (std::size_t i = 0; i < drafts_.size(); ++i)
      if (waiting[i] == 0) runnable.push_back(static_cast<int>(i));
    p_.groups.reserve(drafts_.size());
    while (!runnable.empty()) {
      draft& d = drafts_[static_cast<std::size_t>(runnable.back())];
      runnable.pop_back();
      group& g = p_.groups.emplace_back();
      g.members.assign(d.members.rbegin(), d.members.rend());
      const auto is_before = [](const node* a, const node* b) { return a->mark < b->mark; };
      if (!std::is_sorted(g.members.begin(), g.members.end(), is_before))
        std::sort(g.members.begin(), g.members.end(), is_before);
      for (node* m : g.members)
        if (is_stored(*m)) g.outputs.push_back(m);
      g.reduction = d.reduction;
      g.epilogue = d.epilogue;
      g.fused = d.fused;
      for (int s : d.successors)
        if (--waiting[static_cast<std::size_t>(s)] == 0) runnable.push_back(s);
    }
  }

  plan& p_;
  plan_list<int> group_of_;
  plan_list<int> first_;  // consumers of node i: edges_[first_[i] .. first_[i + 1])
  plan_list<node*> edges_;
  std::vector<draft> drafts_;
  std::vector<int> seen_;
  int stamp_ = 0;
};

}  // namespace

void partition(plan& p) { partitioner(p).run(); }

}  // namespace tutti::fusion
