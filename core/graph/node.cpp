// SPDX-License-Identifier: Apache-2.0
//
// Reference counting and layouts of graph nodes.
#include "graph/node.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/collective.hpp"

namespace tutti::graph {

node::~node() {
  if (kept_at.load(std::memory_order_acquire) != not_kept) trace->forget(*this);
  if (const auto* mine = std::get_if<result_params>(&record)) mine->of->forget(mine->index);
  if (storage != nullptr) storage->release();
}

void destroy(node* n) { delete n; }

namespace {

constexpr std::size_t block_bytes = std::max(sizeof(node), sizeof(view_params));
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
constexpr int most_blocks = 0;  // they watch freed memory
#else
constexpr int most_blocks = 4096;
#endif

struct free_block {
  free_block* next;
};
struct block_list {
  free_block* first = nullptr;
  int room = most_blocks;
  bool ends_with_thread = false;
};
thread_local constinit block_list free_blocks;

// Static arrays are destroyed after it, so their nodes find no room.
struct at_thread_end {
  ~at_thread_end() {
    free_blocks.room = 0;
    while (free_blocks.first != nullptr)
      ::operator delete(std::exchange(free_blocks.first, free_blocks.first->next));
  }
};

void free_at_thread_end() { thread_local const at_thread_end end; }

}  // namespace

void* reused_memory::operator new(std::size_t) {
  block_list& mine = free_blocks;
  if (mine.first == nullptr) return ::operator new(block_bytes);
  ++mine.room;
  return std::exchange(mine.first, mine.first->next);
}

void reused_memory::operator delete(void* memory) noexcept {
  block_list& mine = free_blocks;
  if (mine.room == 0) return ::operator delete(memory);
  if (!std::exchange(mine.ends_with_thread, true)) free_at_thread_end();
  --mine.room;
  mine.first = new (memory) free_block{mine.first};
}

void retain(node* n) { n->references.fetch_add(1, std::memory_order_relaxed); }

bool try_retain(node* n) {
  std::uint32_t count = n->references.load(std::memory_order_relaxed);
  while (count != 0)
    if (n->references.compare_exchange_weak(count, count + 1, std::memory_order_relaxed))
      return true;
  return false;
}

void release(node* n) noexcept {
  // Nobody else can take a reference to a node that has only this one, unless a call or a trace
  // knows it. A load is several times cheaper than a subtraction.
  const bool is_only = n->kind != kind::result && n->trace == nullptr &&
                       n->references.load(std::memory_order_acquire) == 1;
  if (!is_only && n->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // Destroying a node drops its inputs, which calls this function again: a list instead of
  // recursion, so that a chain of any length fits the stack. Static arrays are destroyed after all
  // thread-local objects with destructors.
  thread_local constinit node* dead = nullptr;
  thread_local constinit bool draining = false;
  n->next_dead = dead;
  dead = n;
  if (draining) return;
  draining = true;
  while (dead != nullptr) {
    node* const next = dead;
    dead = next->next_dead;
    destroy(next);
  }
  draining = false;
}

bool same_bits(const constant_value& a, const constant_value& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

const char* opcode_name(std::uint16_t opcode) {
  switch (opcode) {
#define TUTTI_OP(id, name, ...) \
  case id:                      \
    return #name;
#include "tutti/op_table.def"
#undef TUTTI_OP
    default:
      return "unknown";
  }
}

shape contiguous_strides(const shape& extents) {
  shape strides = extents;
  std::int64_t step = 1;
  for (int i = extents.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= extents[i];
  }
  return strides;
}

bool is_contiguous(const shape& extents, const shape& strides) {
  std::int64_t step = 1;
  for (int i = extents.rank() - 1; i >= 0; --i) {
    if (extents[i] != 1 && strides[i] != step) return false;
    step *= extents[i];
  }
  return true;
}

layout layout_of(const node& n) {
  return n.is_view() ? n.view().where : layout{0, contiguous_strides(n.extents)};
}

}  // namespace tutti::graph

namespace tutti::detail {

node_ref::node_ref(const node_ref& other) : node_(other.node_) {
  if (node_ != nullptr) graph::retain(node_);
}

void node_ref::release() noexcept { graph::release(node_); }

}  // namespace tutti::detail
