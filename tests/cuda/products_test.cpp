// SPDX-License-Identifier: Apache-2.0
//
// Products handed to cuBLASLt, over a stub of it that multiplies by the definition: row-major
// views with transposes, leading dimensions, batches and broadcasts come out as a plain loop says,
// with and without a bias and relu.
#include <cublasLt.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <limits>

#include "plugin.hpp"
#include "verify/operator_claims.hpp"

struct stub_cublaslt_state {
  int compute_type, heuristics, products, reductions;
};

using namespace tutti::test;

namespace {

stub_cublaslt_state last() {
  static void* const library = dlopen(std::getenv("TUTTI_CUDA_CUBLASLT"), RTLD_NOW);
  return reinterpret_cast<stub_cublaslt_state (*)()>(dlsym(library, "stub_cublaslt_last"))();
}

struct shape {
  const char* what;
  uint64_t batches, m, k, n;
  int64_t a[3], b[3];  // strides
  bool served;
};

// Too deep, or too many, for the plugin's own kernel for small products.
constexpr int64_t depth = 600;

const shape shapes[] = {
    {"plain", 1, 3, depth, 5, {0, depth, 1}, {0, 5, 1}, true},
    {"a transposed", 1, 3, depth, 5, {0, 1, 3}, {0, 5, 1}, true},
    {"b transposed", 1, 3, depth, 5, {0, depth, 1}, {0, 1, depth}, true},
    {"both transposed", 2, 3, depth, 5, {3 * depth, 1, 3}, {5 * depth, 1, depth}, true},
    {"rows apart", 2, 3, depth, 5, {5 * depth, depth + 5, 1}, {11 * depth, 11, 1}, true},
    {"b for all batches", 3, 3, depth, 5, {3 * depth, depth, 1}, {0, 5, 1}, true},
    {"one row", 1, 1, depth, 5, {0, depth, 1}, {0, 5, 1}, true},
    {"one column", 1, 3, depth, 1, {0, depth, 1}, {0, 1, 1}, true},
    {"column of a wider matrix", 1, 3, depth, 1, {0, depth, 1}, {0, 7, 1}, true},
    {"inner dimension 1", 600, 3, 1, 5, {3, 1, 1}, {5, 5, 1}, true},
    {"rows repeated", 1, 3, depth, 5, {0, 0, 1}, {0, 5, 1}, false},
};

const tutti_matmul_params plain = {sizeof plain, TUTTI_ACTIVATION_NONE, 0};
constexpr uint64_t part = 1 << 14, bias_at = 3 * part - 100;  // elements

// Allocates out, a, b and a workspace in one buffer, in parts of this many elements.
template <typename T>
struct problem {
  tutti_device* device = nullptr;
  tutti_stream* stream = nullptr;
  tutti_buffer* memory = nullptr;
  std::vector<T> host = std::vector<T>(4 * part);
  problem() {
    good(plugin().device->open(0, &device));
    good(create_stream(device, 0, &stream));
    good(allocate(device, host.size() * sizeof(T), &memory));
    for (size_t n = 0; n < host.size(); ++n) {
      host[n] = static_cast<T>(static_cast<float>(n * 37 % 101) - 50);
      if constexpr (!std::is_floating_point_v<T>) host[n] *= T(1, 0.5f);
    }
    good(plugin().transfer->write(stream, memory, 0, host.data(), host.size() * sizeof(T), 1,
                                  nullptr));
  }
  ~problem() {
    plugin().memory->release(memory);
    plugin().stream->release(stream);
    plugin().device->release(device);
  }

  // out, a, b and a bias, which are read where `params` says so.
  std::array<tutti_view_desc, 4> views(const shape& s, int32_t dtype) const {
    std::array<tutti_view_desc, 4> v{};
    const uint64_t extents[3][3] = {
        {s.batches, s.m, s.n}, {s.batches, s.m, s.k}, {s.batches, s.k, s.n}};
    const int64_t out[3] = {static_cast<int64_t>(s.m * s.n), static_cast<int64_t>(s.n), 1};
    const int64_t* strides[3] = {out, s.a, s.b};
    for (int n = 0; n < 3; ++n) {
      v[n].dtype = dtype;
      v[n].rank = 3;
      for (int d = 0; d < 3; ++d) v[n].extent[d] = extents[n][d], v[n].stride[d] = strides[n][d];
    }
    v[3] = v[0];
    v[3].stride[0] = v[3].stride[1] = 0;
    return v;
  }

  static tutti_operator_desc describe(const std::array<tutti_view_desc, 4>& views,
                                      const tutti_matmul_params& params) {
    return tutti::conformance::describe(TUTTI_OPERATOR_MATMUL,
                                        {views.data(), params.has_bias != 0 ? 4u : 3u}, &params);
  }

  bool supports(const std::array<tutti_view_desc, 4>& views, const tutti_matmul_params& params) {
    const tutti_operator_desc d = describe(views, params);
    int32_t support = TUTTI_SUPPORT_NO;
    good(plugin().op->supports(device, &d, &support, nullptr));
    return support == TUTTI_SUPPORT_YES;
  }

  tutti_plan* prepare(const std::array<tutti_view_desc, 4>& views,
                      const tutti_matmul_params& params = plain) {
    const tutti_operator_desc d = describe(views, params);
    tutti_plan* plan = nullptr;
    good(plugin().op->create(device, &d, &plan));
    return plan;
  }

  void launch(tutti_plan* plan, uint32_t operand_count = 3) {
    tutti_range operands[4];
    for (uint64_t n = 0; n < 3; ++n) operands[n] = {memory, n * part * sizeof(T)};
    operands[3] = {memory, bias_at * sizeof(T)};
    tutti_operator_launch l{};
    l.struct_size = sizeof l;
    l.operand_size = sizeof operands[0];
    l.operand_count = operand_count;
    l.operands = operands;
    good(plugin().op->workspace(plan, &l.workspace_bytes));
    l.workspace = {memory, 3 * part * sizeof(T)};
    good(plugin().op->launch(stream, plan, &l, nullptr));
  }

  void launch(const std::array<tutti_view_desc, 4>& views, const tutti_matmul_params& params) {
    tutti_plan* plan = prepare(views, params);
    launch(plan, params.has_bias != 0 ? 4 : 3);
    plugin().op->release(plan);
  }

  void check(const shape& s, const tutti_matmul_params& params = plain) {
    std::vector<T> out(s.batches * s.m * s.n);
    good(
        plugin().transfer->read(stream, memory, 0, out.data(), out.size() * sizeof(T), 1, nullptr));
    const T *a = host.data() + part, *b = host.data() + 2 * part;
    for (uint64_t batch = 0; batch < s.batches; ++batch) {
      for (uint64_t i = 0; i < s.m; ++i) {
        for (uint64_t j = 0; j < s.n; ++j) {
          T sum = 0;
          for (uint64_t k = 0; k < s.k; ++k) {
            sum += a[batch * s.a[0] + i * s.a[1] + k * s.a[2]] *
                   b[batch * s.b[0] + k * s.b[1] + j * s.b[2]];
          }
          if (params.has_bias != 0) sum += host[bias_at + j];
          if constexpr (std::is_floating_point_v<T>) {
            if (params.activation == TUTTI_ACTIVATION_RELU) sum = std::max(sum, T(0));
          }
          BOOST_TEST(out[(batch * s.m + i) * s.n + j] == sum,
                     s.what << ": [" << batch << "," << i << "," << j << "]");
        }
      }
    }
  }
};

template <typename T>
void check_all(int32_t dtype, int compute_type) {
  problem<T> p;
  for (const shape& s : shapes) {
    const auto views = p.views(s, dtype);
    const int products = last().products, launches = STUB_CALL(stub_count)().launches;
    tutti_plan* const plan = p.prepare(views);
    p.launch(plan);
    // The algorithm of a shape, and of addresses so aligned, is asked for once.
    const int heuristics = last().heuristics;
    BOOST_TEST(last().products - products == (s.served ? 1 : 0), s.what);
    BOOST_TEST(STUB_CALL(stub_count)().launches - launches == (s.served ? 0 : 1), s.what);
    if (s.served) {
      BOOST_TEST(last().compute_type == compute_type);
      // Parts of sums are not rounded to 16 bits.
      const bool half = dtype == TUTTI_F16 || dtype == TUTTI_BF16;
      BOOST_TEST(last().reductions ==
                 (half ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_MASK));
      p.check(s);
      p.launch(plan);
      BOOST_TEST(last().products - products == 2, s.what);
    }
    BOOST_TEST(last().heuristics == heuristics, s.what);
    plugin().op->release(plan);
  }
}

}  // namespace

// Without TF32, unless TUTTI_MATMUL_PRECISION asks for it.
BOOST_AUTO_TEST_CASE(f32) {
  const bool fast = std::getenv("TUTTI_MATMUL_PRECISION") != nullptr;
  check_all<float>(TUTTI_F32, fast ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F);
}

// Whatever its dtype, strides and epilogue, a small product is one launch of the plugin's kernel.
BOOST_AUTO_TEST_CASE(small) {
  problem<float> p;
  shape s = {"small", 1, 64, 96, 288, {0, 96, 1}, {0, 288, 1}, false};
  const tutti_matmul_params params = {sizeof params, TUTTI_ACTIVATION_RELU, 1};
  const int products = last().products, launches = STUB_CALL(stub_count)().launches;
  p.launch(p.views(s, TUTTI_F32), params);
  BOOST_TEST(STUB_CALL(stub_launch)(launches) == std::string("tutti_matmul_small 36 1 512"));
  s = {"many", 20, 17, 5, 33, {0, 5, 1}, {0, 1, 5}, false};
  p.launch(p.views(s, TUTTI_F64), plain);
  BOOST_TEST(STUB_CALL(stub_launch)(launches + 1) == std::string("tutti_matmul_small 4 20 512"));
  BOOST_TEST(last().products == products);
}

namespace {

template <typename T>
void check_epilogues(int32_t dtype, bool keeps_nan) {
  problem<T> p;
  for (const int32_t activation : {TUTTI_ACTIVATION_NONE, TUTTI_ACTIVATION_RELU}) {
    for (const uint32_t bias : {0u, 1u}) {
      const tutti_matmul_params params = {sizeof params, activation, bias};
      for (const shape& s : shapes) {
        const auto views = p.views(s, dtype);
        const bool taken = keeps_nan || activation == TUTTI_ACTIVATION_NONE || !s.served;
        BOOST_TEST(p.supports(views, params) == taken, s.what);
        if (!taken) continue;
        const int products = last().products, launches = STUB_CALL(stub_count)().launches;
        p.launch(views, params);
        BOOST_TEST(last().products - products == (s.served ? 1 : 0), s.what);
        BOOST_TEST(STUB_CALL(stub_count)().launches - launches == (s.served ? 0 : 1), s.what);
        if (s.served) p.check(s, params);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(bias_and_relu) {
  const bool keeps_nan = std::getenv("TUTTI_STUB_RELU") == nullptr;
  check_epilogues<float>(TUTTI_F32, keeps_nan);
}

BOOST_AUTO_TEST_CASE(epilogues_that_no_one_knows) {
  problem<float> p;
  auto views = p.views(shapes[0], TUTTI_F32);
  BOOST_TEST(!p.supports(views, {sizeof(tutti_matmul_params), 77, 0}));
  const tutti_matmul_params biased = {sizeof biased, TUTTI_ACTIVATION_NONE, 1};
  views[3].stride[1] = 5;
  BOOST_TEST(!p.supports(views, biased));
  views[3].extent[1] = 7;
  const tutti_operator_desc d = problem<float>::describe(views, biased);
  int32_t support = TUTTI_SUPPORT_NO;
  const outcome result = take(plugin().op->supports(p.device, &d, &support, nullptr));
  BOOST_TEST(result.code == TUTTI_ERROR_INVALID_ARGUMENT);
  BOOST_TEST(result.message.find("[1,7,5]") != std::string::npos, result.message);
}
