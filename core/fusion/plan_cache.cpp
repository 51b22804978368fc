// SPDX-License-Identifier: Apache-2.0
#include "fusion/plan_cache.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::fusion {
namespace {

using words = std::vector<std::uint64_t>;

constexpr std::size_t most_nodes = 4096;
constexpr std::size_t most_distinct = 256;  // constants, and inputs: they are searched
constexpr std::size_t most_bytes = std::size_t{16} << 20;

// The structure of a plan, as far as it has been collected.
class structure {
 public:
  structure(const plan& p, words& out) : p_(p), out_(out) {}

  /// False for a plan whose groups are not kept.
  bool write() {
    out_.clear();
    if (p_.nodes.size() > most_nodes) return false;
    for (std::size_t i = 0; i < p_.nodes.size(); ++i)
      if (!add(*p_.nodes[i], p_.stored[i] != 0)) return false;
    out_.resize(size_);
    return true;
  }

 private:
  enum tag : std::uint64_t { constant = 1, pending, ready };

  // Makes room for that many words.
  void expect(std::size_t count) {
    if (out_.size() - size_ < count) out_.resize(std::max(2 * out_.size(), size_ + count));
  }
  template <class T>
  void put(T value) {
    out_[size_++] = static_cast<std::uint64_t>(value);
  }
  void put(const shape& list) {
    for (const std::int64_t v : list) put(v);
  }
  // Small numbers, and a larger one.
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
    for (const auto& input : n.inputs)
      if (!add_input(*input)) return false;
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
    out_[size_ + count - 1] = 0;
    std::memcpy(out_.data() + size_, what.bytes().data(), what.bytes().size());
    size_ += count;
  }

  bool add_input(const node& n) {
    expect(most_words);
    if (n.is_constant()) {
      put_all(place_of(constants_, n.value()), constant, n.type, n.weak, is_zero(n),
              n.extents.rank());
      put(n.extents);
      return constants_.size() <= most_distinct;
    }
    const node& base = graph::base_of(n);
    if (base.mark >= 0) {
      put_all(static_cast<std::uint64_t>(base.mark), pending, n.type, n.is_view(),
              n.extents.rank());
      if (!n.is_view()) return true;
      put(n.extents);
      put(n.view().where.offset);
      put(n.view().where.strides);
      for (const node* v = &n; v != nullptr && v->is_view();
           v = v->inputs.empty() ? nullptr : v->inputs[0].get()) {
        expect(2);
        put(v->references.load(std::memory_order_relaxed));
      }
      put(0);  // the end
      return true;
    }
    const std::int64_t offset = n.is_view() ? n.view().where.offset : 0;
    put_all(place_of(inputs_, memory{base.storage, base.storage_offset + offset}), ready, n.type,
            base.type, n.is_view(), n.extents.rank());
    put(reinterpret_cast<std::uintptr_t>(base.device));
    put(n.extents);
    if (n.is_view()) put(n.view().where.strides);
    return inputs_.size() <= most_distinct;
  }

  template <class List, class T>
  static std::uint64_t place_of(List& list, const T& value) {
    const auto found = std::find(list.begin(), list.end(), value);
    const auto place = static_cast<std::uint64_t>(found - list.begin());
    if (found == list.end()) list.push_back(value);
    return place;
  }

  struct memory {
    const graph::storage* storage;
    std::int64_t offset;
    bool operator==(const memory&) const = default;
  };

  // Those of a node, or of an input, besides the views below it.
  static constexpr std::size_t most_words = 32 + host::most_params / 8;

  const plan& p_;
  words& out_;
  std::size_t size_ = 0;
  plan_list<graph::constant_value> constants_;
  plan_list<memory> inputs_;
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

std::size_t plan_cache::hash::operator()(const words& key) const noexcept {
  std::size_t h = key.size();
  for (const std::uint64_t word : key) {
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
  }
  return h;
}

bool plan_cache::recall(plan& p) {
  if (!structure(p, key_).write()) {
    key_.clear();
    return false;
  }
  const auto found = known_.find(key_);
  if (found == known_.end()) return false;
  group_reader(p, found->second).read();
  return true;
}

void plan_cache::keep(const plan& p) {
  if (key_.empty()) return;
  std::vector<std::int32_t> groups = group_writer(p).write();
  if (bytes_ > most_bytes) {
    known_.clear();
    bytes_ = 0;
  }
  bytes_ += key_.size() * sizeof key_[0] + groups.size() * sizeof groups[0] + 128;
  known_.emplace(key_, std::move(groups));
}

}  // namespace tutti::fusion
