// SPDX-License-Identifier: Apache-2.0
// Plans matrix products: maps shapes and strides to the kernels of matmul_cpu.cl or matmul_gpu.cl,
// their arguments, launch sizes and workspace. Pure functions on plain data; the caller owns the
// OpenCL objects and executes the launches in order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::sdk {

// Integers are identified by width: products wrap, so signed and unsigned share a program.
enum class MatmulElement : std::uint8_t { f32, f64, int8, int16, int32, int64 };

struct MatmulDevice {
  bool cpu = true;                         // CL_DEVICE_TYPE_CPU: the vector kernels
  int compute_units = 1;                   // CL_DEVICE_MAX_COMPUTE_UNITS
  int vector_bytes = 16;                   // 4 * CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT
  std::size_t max_work_group_size = 256;   // CL_DEVICE_MAX_WORK_GROUP_SIZE
  std::int64_t workspace_limit = 8 << 20;  // bytes; packed copies should stay in the cache
};

// Strides are in elements; a batch stride of 0 repeats one matrix. All strides are supported; they
// are fast if the row or the column stride is 1.
struct MatmulOperand {
  std::int64_t batch_stride = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 1;
};

// C[i, m, n] = sum over k of A[i, m, k] * B[i, k, n]. C is contiguous.
struct MatmulProblem {
  MatmulElement element = MatmulElement::f32;
  std::int64_t rows = 0, cols = 0, depth = 0, batches = 1;
  MatmulOperand a, b;
  // C = relu(A B + bias), both optional; bias has `cols` contiguous elements.
  bool has_bias = false, relu = false;

  bool has_epilogue() const { return has_bias || relu; }
};

// A plan is independent of memory: the first element of a buffer is an argument of kind `place`, to
// which a launch adds the operand's offset in its buffer.
struct MatmulArgument {
  enum class Kind : std::uint8_t { a, b, c, bias, workspace, integer, place };
  Kind kind = Kind::integer;
  std::int64_t value = 0;  // of an integer or a place; passed to the kernel as a 64-bit `long`
  Kind of = kind;          // of a place: the buffer
};

struct MatmulLaunch {
  const char* kernel = "";
  std::vector<MatmulArgument> arguments;
  unsigned dimensions = 1;
  std::array<std::size_t, 3> global{1, 1, 1};
  std::array<std::size_t, 3> local{1, 1, 1};
};

struct MatmulPlan {
  std::int64_t workspace_bytes = 0;  // one buffer, used until the last launch has ended
  std::vector<MatmulLaunch> launches;
  bool finished = false;  // the launches include the epilogue
};

// The build options of the kernels: depend on element, device and epilogue, not on the shape.
std::string matmul_options(const MatmulProblem& problem, const MatmulDevice& device);

// Empty if rows, cols or batches is 0. A depth of 0 writes zeros.
MatmulPlan plan_matmul(const MatmulProblem& problem, const MatmulDevice& device);

}  // namespace tutti::sdk
