// SPDX-License-Identifier: Apache-2.0
//
// Gradients of exchanges between ranks: each is a rule of all transforms that differentiate it on
// any rank, because the backward pass exchanges values again.
#include "graph/build.hpp"
#include "multi/job/job_state.hpp"
#include "multi/loop/gradients.hpp"

namespace tutti::multi {

std::vector<array> between_ranks(job_state& job, const std::vector<array>& arguments,
                                 const vector_function& forward,
                                 const backward_function& backward) {
  using graph::gradient_trace;
  // Bit i: arguments depend on variables of the i-th transform of this thread, on any rank. Parts
  // without elements do not.
  std::int64_t of_any = 0, bit = 1;
  if (gradient_trace* t = gradient_trace::of_thread()) {
    gradient_trace::ranks_of_thread() = job.size();
    array_record own{0, 1, {}};
    for (; t != nullptr; t = t->outer, bit *= 2)
      for (const array& a : arguments)
        if (a.node()->is_traced() && a.node()->trace->includes(*t)) own.extents[0] |= bit;
    for (const std::int64_t bits : job.agree("gradient", "", {&own, 1}, 0)) of_any |= bits;
  }
  if (of_any == 0) {
    for (const array& a : arguments)
      require_no_gradient(a, "job", "an array", "exchange it in the thread that differentiates it");
    return forward(arguments);
  }

  graph::trace_ref trace;
  bit = 1;
  for (gradient_trace* t = gradient_trace::of_thread(); t != nullptr; t = t->outer, bit *= 2)
    if ((of_any & bit) != 0) trace = gradient_trace::join(trace, t);
  std::vector<array> detached;
  for (const array& a : arguments) detached.push_back(graph::detach(a));
  std::vector<array> values = forward(detached);
  const std::size_t count = values.size();
  const auto rule = graph::custom_rule(arguments, {backward, std::move(values), job.size()}, trace);
  std::vector<array> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(graph::custom_result(rule, i));
  return out;
}

std::vector<array> exchange_messages(job_state& job, const std::vector<array>& sent,
                                     const std::vector<int>& to, const std::vector<int>& from,
                                     const std::vector<device>& on) {
  const auto forward = [&](const std::vector<array>& values) {
    return job.ending([&] {
      std::vector<array> out;
      for (std::size_t i = 0; i < to.size(); ++i) send_array(job, values[i], to[i], tag_of_groups);
      for (std::size_t i = 0; i < from.size(); ++i)
        out.push_back(receive_array(job, from[i], tag_of_groups, on[i]));
      return out;
    });
  };
  std::vector<device> origins;
  for (const array& a : sent) origins.push_back(a.device());
  return between_ranks(job, sent, forward,
                       [&job, to, from, origins](const auto&, const auto&, const auto& cotangents) {
                         return exchange_messages(job, cotangents, from, to, origins);
                       });
}

}  // namespace tutti::multi
