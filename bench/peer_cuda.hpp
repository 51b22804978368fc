// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's own libraries on a GPU, loaded at run time: products of cuBLASLt, device copies, empty
// launches. Without them cuda_present() is false.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tutti::bench::peer {

/// Whether the driver and cuBLASLt can be loaded and the driver has device `index`.
bool cuda_present(unsigned index);

/// c = a b, all n x n, row-major: f32, TF32, or bf16 with sums in f32. run() waits for the result.
class cuda_product {
 public:
  enum class type { f32, tf32, bf16 };
  /// Throws std::runtime_error naming the call that failed. `a` and `b` are n * n f32.
  cuda_product(int n, type kind, const float* a, const float* b);
  ~cuda_product();
  void run();
  /// The first row of c.
  std::vector<float> first_row() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Copies `bytes` within the device, and waits.
class cuda_copy {
 public:
  explicit cuda_copy(std::uint64_t bytes);
  ~cuda_copy();
  void run();

 private:
  std::uint64_t from_ = 0, to_ = 0, bytes_;
};

}  // namespace tutti::bench::peer
