// SPDX-License-Identifier: Apache-2.0
//
// The gradients for which a node is recorded. Each call of a transform has a trace; results
// computed from its variables belong to it, in any thread, until the transform returns or throws.
#pragma once

#include <atomic>
#include <boost/container/small_vector.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <mutex>
#include <vector>

#include "tutti/array.hpp"

namespace tutti::graph {

class gradient_trace;
using trace_ref = boost::intrusive_ptr<gradient_trace>;

/// The trace of one transform, or, from join(), those of several: transforms nest, and threads
/// share arrays while each is inside of its own. A trace that has ended stays inactive. Any thread
/// may call any of these functions.
class gradient_trace : public boost::intrusive_ref_counter<gradient_trace> {
 public:
  using running = boost::container::small_vector<gradient_trace*, 4>;

  gradient_trace() = default;

  /// The innermost transform that this thread is in; `outer` are the others, from the inside.
  static gradient_trace*& of_thread();
  gradient_trace* outer = nullptr;
  /// Ranks between which this thread has exchanged values in a function with a custom gradient.
  static int& ranks_of_thread();

  /// The active ones of a and b, either of which may be null; null if none is active.
  static trace_ref join(const trace_ref& a, const trace_ref& b);

  bool is_running() const {
    if (parts_.empty()) return !ended_.load(std::memory_order_acquire);
    for (const trace_ref& part : parts_)
      if (part->is_running()) return true;
    return false;
  }
  /// Whether `one`, the trace of one transform, is among these.
  bool includes(const gradient_trace& one) const;
  /// Appends the active traces of one transform each that `out` lacks.
  void add_running(running& out);

  /// Makes the end of the trace drop n's inputs: those of a view, which only gradients need, or of
  /// an evaluated node. Does not keep n alive. False if no trace is active any more: the caller
  /// then drops the inputs.
  bool keep_inputs(node& n);
  /// Reverts that, for a node that is being destroyed.
  void forget(const node& n) noexcept;

  /// Adds a custom_rule whose backward function exchanges values between ranks. All ranks add
  /// theirs in the same order, and run them in the reverse order, also those without cotangents.
  void add_exchange(const detail::node_ref& rule);
  const std::vector<detail::node_ref>& exchanges() const { return exchanges_; }
  /// Ranks of the job that takes part in the function; 1: this process alone.
  int ranks() const;

  /// Ends the trace of one transform. Nodes that no other active trace needs drop their inputs;
  /// pending ones do so when they are evaluated.
  void end();

 private:
  using list = std::vector<trace_ref>;

  explicit gradient_trace(list parts) : parts_(std::move(parts)) {}
  std::vector<detail::node_ref> take_kept();

  const list parts_;  // empty: the trace of one transform, for which the other members are used
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::vector<node*> kept_;  // by node::kept_at
  std::vector<detail::node_ref> exchanges_;
};

}  // namespace tutti::graph
