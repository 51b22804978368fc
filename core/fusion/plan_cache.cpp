// SPDX-License-Identifier: Apache-2.0
#include "fusion/plan_cache.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::fusion {
namespace {

using words = std::vector<std::uint64_t>;

constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr std::size_t most_words_of_one = std::size_t{1} << 18;  // of a plan

// Numbers different pairs of words from 1. A few are found by a linear search.
class numbering {
 public:
  std::uint64_t of(std::uint64_t a, std::uint64_t b) {
    if (table_.empty()) {
      for (std::uint64_t n = 0; n < count_; ++n)
        if (few_[n].a == a && few_[n].b == b) return n + 1;
      if (count_ < most_of_few) {
        few_[count_] = {a, b, count_ + 1};
        return ++count_;
      }
      table_.resize(4 * most_of_few);
      for (const entry& e : few_) place_of(e.a, e.b) = e;
    }
    if (2 * count_ >= table_.size()) enlarge();
    entry& e = place_of(a, b);
    if (e.number == 0) e = {a, b, ++count_};
    return e.number;
  }

 private:
  static constexpr std::size_t most_of_few = 8;
  struct entry {
    std::uint64_t a, b, number;
  };

  entry& place_of(std::uint64_t a, std::uint64_t b) {
    const std::size_t last = table_.size() - 1;
    std::size_t at = ((a ^ b * 31) * 0x9e3779b97f4a7c15u) >> 32 & last;
    while (table_[at].number != 0 && (table_[at].a != a || table_[at].b != b)) at = (at + 1) & last;
    return table_[at];
  }
  void enlarge() {
    const auto old = std::exchange(table_, std::vector<entry>(4 * table_.size()));
    for (const entry& e : old)
      if (e.number != 0) place_of(e.a, e.b) = e;
  }

  entry few_[most_of_few];
  std::vector<entry> table_;
  std::uint64_t count_ = 0;
};

// The structure of a plan, as far as it has been collected.
class structure {
 public:
  structure(const plan& p, words& out) : p_(p), out_(out) {}

  /// The written words; none for a plan whose groups are not kept.
  std::span<const std::uint64_t> write() {
    for (std::size_t i = 0; i < p_.nodes.size(); ++i)
      if (!add(*p_.nodes[i], p_.stored[i] != 0)) return {};
    return {out_.data(), size()};
  }

 private:
  enum tag : std::uint64_t { constant = 1, pending, ready };

  std::size_t size() const { return static_cast<std::size_t>(at_ - out_.data()); }
  // Makes room for that many words.
  void expect(std::size_t count) {
    const std::size_t used = size();
    if (out_.size() - used < count) out_.resize(std::max(2 * out_.size(), used + count));
    at_ = out_.data() + used;
  }
  template <class T>
  void put(T value) {
    *at_++ = static_cast<std::uint64_t>(value);
  }
  void put(const shape& list) {
    for (const std::int64_t v : list) put(v);
  }
  // Small numbers, the last of them in the lowest byte, and a larger one.
  template <class... Small>
  void put_all(std::uint64_t large, Small... small) {
    std::uint64_t word = large;
    ((word = word << 8 | static_cast<std::uint8_t>(small)), ...);
    put(word);
  }

  bool add(const node& n, bool stored) {
    expect(most_words);
    put_all(n.inputs.size(), n.kind, n.type, n.extents.rank(), stored);
    put(n.references.load(std::memory_order_relaxed));
    put(reinterpret_cast<std::uintptr_t>(n.device));
    put(n.extents);
    if (!add_parameters(n)) return false;
    for (const auto& input : n.inputs) {
      add_input(*input);
      if (size() > most_words_of_one) return false;
    }
    return true;
  }

  bool add_parameters(const node& n) {
    switch (n.kind) {
      case graph::kind::elementwise:
        put(n.opcode());
        return true;
      case graph::kind::reduce:
        put_all(n.reduction().reduction, n.reduction().axes, n.reduction().accumulator);
        return true;
      case graph::kind::operation:
        add_operator(n.operation());
        return true;
      case graph::kind::call:
        add_operator(n.call().what);
        return true;
      case graph::kind::result:
        put(n.result().index);
        return true;
      case graph::kind::concatenate:  // its axis follows from the extents
      case graph::kind::slice_update:
      case graph::kind::transfer:
        return true;
      default:
        return false;
    }
  }

  void add_operator(const graph::operator_params& what) {
    put_all(what.bytes().size(), what.number(), what.channels_last);
    const std::size_t count = (what.bytes().size() + 7) / 8;
    if (count == 0) return;
    at_[count - 1] = 0;
    std::memcpy(at_, what.bytes().data(), what.bytes().size());
    at_ += count;
  }

  void add_input(const node& n) {
    expect(most_words);
    const node& base = graph::base_of(n);
    if (n.is_constant())
      add_constant(n);
    else if (base.mark >= 0)
      add_pending(n, base);
    else
      add_ready(n, base);
  }

  void add_constant(const node& n) {
    put_all(constants_.of(n.value().real.u64, 0), n.type, n.weak, is_zero(n), n.extents.rank(),
            constant);
    if (is_complex(n.type)) put(constants_.of(n.value().imaginary.u64, 0));
    put(n.extents);
  }

  void add_pending(const node& n, const node& base) {
    put_all(static_cast<std::uint64_t>(base.mark), n.type, n.is_view(), n.extents.rank(), pending);
    if (!n.is_view()) return;
    put(n.extents);
    put(n.view().where.offset);
    put(n.view().where.strides);
    // Who refers to the views between them.
    for (const node* v = &n; v->is_view();) {
      expect(3);
      const node* const next = v->inputs.empty() ? nullptr : v->inputs[0].get();
      put_all(v->references.load(std::memory_order_relaxed), next == &base);
      if (next == nullptr) break;
      v = next;
    }
    put(0);  // the end
  }

  void add_ready(const node& n, const node& base) {
    const std::int64_t offset = n.is_view() ? n.view().where.offset : 0;
    const auto memory = inputs_.of(reinterpret_cast<std::uintptr_t>(base.storage),
                                   static_cast<std::uint64_t>(base.storage_offset + offset));
    put_all(memory, n.type, base.type, n.is_view(), n.extents.rank(), ready);
    put(reinterpret_cast<std::uintptr_t>(base.device));
    put(n.extents);
    if (n.is_view()) put(n.view().where.strides);
  }

  // Those of a node, or of an input, besides the views below it.
  static constexpr std::size_t most_words = 32 + host::most_params / 8;

  const plan& p_;
  words& out_;
  std::uint64_t* at_ = out_.data();  // a pointer, which no word that is written can change
  numbering constants_, inputs_;     // equal ones have one number
};

// Groups as numbers: nodes are named by their places in the plan.
class group_writer {
 public:
  explicit group_writer(const plan& p) : p_(p) {}

  std::vector<std::int32_t> write() {
    for (std::size_t i = 0; i < p_.nodes.size(); ++i) {
      put(p_.same_as[i]->mark);
      put(p_.stored[i]);
    }
    put(p_.epilogues.size());
    for (const epilogue& e : p_.epilogues) {
      put_nodes(e.members);
      put(e.activation);
      put_bias(e);
    }
    put(p_.groups.size());
    for (const group& g : p_.groups) {
      put_nodes(g.members);
      put_nodes(g.outputs);
      put(g.fused);
      put(g.reduction != nullptr);
      put(g.epilogue != nullptr ? g.epilogue - p_.epilogues.data() : -1);
    }
    return std::move(out_);
  }

 private:
  template <class T>
  void put(T value) {
    out_.push_back(static_cast<std::int32_t>(value));
  }
  template <class List>
  void put_nodes(const List& list) {
    put(list.size());
    for (const node* n : list) put(n->mark);
  }
  // As the input of a member, or -1.
  void put_bias(const epilogue& e) {
    for (const node* m : e.members)
      for (std::size_t i = 0; e.bias != nullptr && i < m->inputs.size(); ++i)
        if (m->inputs[i].get() == e.bias) return put(m->mark), put(i);
    put(-1);
  }

  const plan& p_;
  std::vector<std::int32_t> out_;
};

class group_reader {
 public:
  group_reader(plan& p, const std::vector<std::int32_t>& from) : p_(p), next_(from.data()) {}

  void read() {
    for (std::size_t i = 0; i < p_.nodes.size(); ++i) {
      p_.same_as[i] = take_node();
      p_.stored[i] = static_cast<char>(take());
    }
    p_.epilogues.resize(static_cast<std::size_t>(take()));
    for (epilogue& e : p_.epilogues) {
      take_nodes(e.members);
      e.activation = static_cast<tutti_activation>(take());
      if (const std::int32_t member = take(); member >= 0)
        e.bias = p_.nodes[static_cast<std::size_t>(member)]
                     ->inputs[static_cast<std::size_t>(take())]
                     .get();
    }
    p_.groups.resize(static_cast<std::size_t>(take()));
    for (group& g : p_.groups) {
      take_nodes(g.members);
      take_nodes(g.outputs);
      g.fused = take() != 0;
      g.reduction = take() != 0 ? g.members.back() : nullptr;
      const std::int32_t e = take();
      g.epilogue = e >= 0 ? &p_.epilogues[static_cast<std::size_t>(e)] : nullptr;
    }
  }

 private:
  std::int32_t take() { return *next_++; }
  node* take_node() { return p_.nodes[static_cast<std::size_t>(take())]; }
  template <class List>
  void take_nodes(List& list) {
    list.resize(static_cast<std::size_t>(take()));
    for (node*& n : list) n = take_node();
  }

  plan& p_;
  const std::int32_t* next_;
};

}  // namespace

std::size_t plan_cache::hash::operator()(key k) const noexcept {
  // In four parts, because one multiplication waits for the one before it.
  constexpr std::size_t parts = 4;
  std::size_t h[parts] = {1, 2, 3, 4}, i = 0;
  const auto add = [](std::size_t& to, std::uint64_t word) {
    to = (to ^ word) * 0x9e3779b97f4a7c15u;
    to ^= to >> 32;
  };
  for (; i + parts <= k.size(); i += parts)
    for (std::size_t n = 0; n < parts; ++n) add(h[n], k[i + n]);
  for (; i < k.size(); ++i) add(h[0], k[i]);
  for (std::size_t n = 1; n < parts; ++n) add(h[0], h[n]);
  return h[0];
}

bool plan_cache::equal::operator()(key a, key b) const noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool plan_cache::recall(plan& p) {
  key_ = structure(p, words_).write();
  const auto found = key_.empty() ? known_.end() : known_.find(key_);
  if (found == known_.end()) return false;
  group_reader(p, found->second.numbers).read();
  keep_programs(found->second, p);
  return true;
}

void plan_cache::keep_programs(known_groups& groups, plan& p) {
  if (groups.programs.empty()) {
    const std::size_t bytes = p.groups.size() * sizeof(kept_program);
    if (bytes_ + bytes > most_bytes) return;
    std::vector<std::unique_ptr<kept_program>> all;
    for (const group& g : p.groups)
      all.push_back(g.fused ? std::make_unique<kept_program>() : nullptr);
    groups.programs = std::move(all);
    bytes_ += bytes;
  }
  for (std::size_t i = 0; i < p.groups.size(); ++i) p.groups[i].kept = groups.programs[i].get();
}

void plan_cache::keep(const plan& p) {
  if (key_.empty()) return;
  std::vector<std::int32_t> numbers = group_writer(p).write();
  const std::size_t bytes = key_.size() * sizeof key_[0] + numbers.size() * sizeof numbers[0] + 128;
  if (bytes_ + bytes > most_bytes) {
    known_.clear();
    bytes_ = 0;
  }
  bytes_ += bytes;
  known_.emplace(words(key_.begin(), key_.end()), known_groups{std::move(numbers), {}});
}

}  // namespace tutti::fusion
