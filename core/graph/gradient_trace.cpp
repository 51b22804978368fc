// SPDX-License-Identifier: Apache-2.0
//
// Traces of transforms: the nodes that belong to them, and what these nodes drop at the end.
#include "graph/gradient_trace.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "graph/build.hpp"
#include "graph/node.hpp"

namespace tutti::graph {
namespace {

bool runs(const trace_ref& t) { return t != nullptr && t->is_running(); }

}  // namespace

trace_ref gradient_trace::join(const trace_ref& a, const trace_ref& b) {
  if (!runs(b)) return runs(a) ? a : trace_ref();
  if (a == b || !runs(a)) return b;
  running of_a;
  a->add_running(of_a);
  running both = of_a;
  b->add_running(both);
  if (both.size() == of_a.size()) return a;
  const bool b_has_all =
      std::all_of(of_a.begin(), of_a.end(), [&](gradient_trace* t) { return b->includes(*t); });
  if (b_has_all) return b;
  list parts;
  for (gradient_trace* t : both) parts.emplace_back(t);
  return new gradient_trace(std::move(parts));
}

bool gradient_trace::includes(const gradient_trace& one) const {
  if (this == &one) return true;
  return std::any_of(parts_.begin(), parts_.end(),
                     [&](const trace_ref& part) { return part.get() == &one; });
}

void gradient_trace::add_running(running& out) {
  if (!parts_.empty()) {
    for (const trace_ref& part : parts_) part->add_running(out);
  } else if (is_running() && std::find(out.begin(), out.end(), this) == out.end()) {
    out.push_back(this);
  }
}

bool gradient_trace::keep_inputs(node& n) {
  for (const trace_ref& part : parts_)
    if (part->keep_inputs(n)) return true;
  if (!parts_.empty()) return false;
  const std::lock_guard lock(mutex_);
  if (ended_.load(std::memory_order_relaxed)) return false;
  kept_.push_back(&n);
  n.kept_at.store(static_cast<std::uint32_t>(kept_.size() - 1), std::memory_order_relaxed);
  return true;
}

void gradient_trace::forget(const node& n) noexcept {
  for (const trace_ref& part : parts_) part->forget(n);
  if (!parts_.empty()) return;
  const std::lock_guard lock(mutex_);
  // Another part may have it, or end() was first.
  const std::size_t place = n.kept_at.load(std::memory_order_relaxed);
  if (place >= kept_.size() || kept_[place] != &n) return;
  kept_[place] = kept_.back();
  kept_[place]->kept_at.store(static_cast<std::uint32_t>(place), std::memory_order_relaxed);
  kept_.pop_back();
}

gradient_trace*& gradient_trace::of_thread() {
  static thread_local gradient_trace* innermost = nullptr;
  return innermost;
}

int& gradient_trace::ranks_of_thread() {
  static thread_local int ranks = 1;
  return ranks;
}

void gradient_trace::add_exchange(const detail::node_ref& rule) {
  running all;
  add_running(all);
  for (gradient_trace* one : all) one->exchanges_.push_back(rule);
}

int gradient_trace::ranks() const {
  return exchanges_.empty() ? 1 : exchanges_.front()->custom_rule().ranks;
}

// The kept nodes that are still referenced; nodes being destroyed need nothing.
std::vector<detail::node_ref> gradient_trace::take_kept() {
  std::vector<detail::node_ref> out;
  const std::lock_guard lock(mutex_);
  ended_.store(true, std::memory_order_release);
  out.reserve(kept_.size());
  for (node* n : kept_) {
    if (try_retain(n)) out.emplace_back(n);
    n->kept_at.store(node::not_kept, std::memory_order_release);  // after this it may be freed
  }
  kept_.clear();
  return out;
}

void gradient_trace::end() {
  const std::vector<detail::node_ref> rules = std::exchange(exchanges_, {});
  std::vector<detail::node_ref> kept = take_kept();
  // Inputs that another transform also needs are now kept by that transform.
  std::erase_if(kept, [](const detail::node_ref& n) { return n->trace->keep_inputs(*n); });
  std::vector<const opened_device*> devices;
  for (const detail::node_ref& n : kept)
    if (std::find(devices.begin(), devices.end(), n->device) == devices.end())
      devices.push_back(n->device);
  std::vector<detail::node_ref> dropped;  // freed when no device is held
  for (const opened_device* device : devices) {
    without_evaluations(*device, [&] {
      for (const detail::node_ref& n : kept) {
        if (n->device != device) continue;
        dropped.reserve(dropped.size() + n->inputs.size());
        std::move(n->inputs.begin(), n->inputs.end(), std::back_inserter(dropped));
        n->inputs.clear();
      }
    });
  }
}

}  // namespace tutti::graph
