// SPDX-License-Identifier: Apache-2.0
//
// Data for tests of plans: operands, their memory on the device and the expected results. Values
// are small integers, so that there is one correct result.
#pragma once

#include <algorithm>
#include <vector>

#include "harness.hpp"

namespace tutti::conformance {

using floats = std::vector<float>;
using indices = std::vector<int64_t>;

// Input and expected output of one launch. Trials of one kind differ only in their values.
struct trial {
  int32_t kind;
  const void* params;
  std::vector<view_spec> views;                // shapes only
  std::vector<std::vector<std::byte>> memory;  // of each view, contiguous
  std::vector<std::byte> want;                 // of the output

  template <typename T>
  void add(uint8_t dtype, const extents& extent, const std::vector<T>& values) {
    view_spec v;
    v.extent = extent;
    v.data.data.dtype = dtype;
    v.data.stride = row_major(extent);
    views.push_back(v);
    memory.push_back(bytes(values));
  }
  template <typename T>
  static std::vector<std::byte> bytes(const std::vector<T>& values) {
    const auto* from = reinterpret_cast<const std::byte*>(values.data());
    return {from, from + values.size() * sizeof(T)};
  }
};

// [1,40,7] at 60 indices; [1,65,70] x [1,70,130]; 100000 sums, which devices cut, with workspace;
// the order of 6000.
trial gather(uint64_t seed);
trial product(uint64_t seed);
trial running_sum(uint64_t seed);
trial permutation(uint64_t seed);

// A plan for trials of this kind; throws `skipped` if the device does not support it.
handle<tutti_plan> prepare(session& s, const trial& t);

// A trial's memory on the device, each operand `skip` elements into its buffer.
class placement {
 public:
  placement(session& s, const trial& t, tutti_plan* plan, uint64_t skip) : s_(s), t_(t) {
    for (size_t n = 0; n < t.views.size(); ++n) {
      const uint64_t offset = skip * sdk::dtype_size(t.views[n].data.data.dtype);
      buffers_.push_back(s.allocate(t.memory[n].size() + offset));
      operands_.push_back({buffers_.back().get(), offset});
      s.write(buffers_[n].get(), offset, t.memory[n].data(), t.memory[n].size());
    }
    launch_ = launch_of(operands_);
    check(s.api->op->workspace(plan, &launch_.workspace_bytes), "operator workspace");
    if (launch_.workspace_bytes == 0) return;
    launch_.workspace.offset = skip > 0 ? s.properties.alignment : 0;
    workspace_ = s.allocate(launch_.workspace_bytes + launch_.workspace.offset);
    launch_.workspace.buffer = workspace_.get();
  }

  void enqueue(tutti_stream* stream, tutti_plan* plan) const {
    check(s_.api->op->launch(stream, plan, &launch_, nullptr), "operator launch");
  }
  // Once the work is done.
  void judge(tutti_stream* stream, const char* what) const {
    std::vector<std::byte> got(t_.want.size());
    s_.read(operands_[0].buffer, operands_[0].offset, got.data(), got.size(), stream);
    const auto where = std::mismatch(got.begin(), got.end(), t_.want.begin());
    if (where.first != got.end())
      fail("{}: wrong from byte {} of {} on", what, where.first - got.begin(), got.size());
  }
  std::vector<tutti_range>& operands() { return operands_; }
  const tutti_operator_launch& launch() const { return launch_; }

 private:
  session& s_;
  const trial& t_;
  std::vector<handle<tutti_buffer>> buffers_;
  handle<tutti_buffer> workspace_;
  std::vector<tutti_range> operands_;
  tutti_operator_launch launch_{};
};

}  // namespace tutti::conformance
