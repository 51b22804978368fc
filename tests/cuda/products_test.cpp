// SPDX-License-Identifier: Apache-2.0
//
// Which products cuBLASLt is asked for, and how: row-major views with transposes, leading
// dimensions, batches and broadcasts come out as a plain loop says, with and without a bias and
// relu.
#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>

#include "plugin.hpp"
#include "verify/operator_claims.hpp"

using namespace tutti::test;

namespace {

cublaslt_calls last() { return CALL(emulator_cublaslt)(); }
int launches() { return CALL(emulator_count)("cuLaunchKernel"); }

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

// Out, a, b and a workspace in one buffer, in parts of this many elements.
struct problem : open_device {
  std::vector<float> host = std::vector<float>(4 * part);
  tutti_buffer* memory = buffer(host.size() * sizeof(float));
  problem() {
    for (size_t n = 0; n < host.size(); ++n) host[n] = static_cast<float>(n * 37 % 101) - 50;
    good(plugin().transfer->write(stream, memory, 0, host.data(), host.size() * sizeof(float), 1,
                                  nullptr));
  }
  ~problem() {
    (void)take(plugin().stream->synchronize(stream));
    plugin().memory->release(memory);
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
                      const tutti_matmul_params& params) {
    const tutti_operator_desc d = describe(views, params);
    tutti_plan* plan = nullptr;
    good(plugin().op->create(device, &d, &plan));
    return plan;
  }

  void launch(tutti_plan* plan, const tutti_matmul_params& params) {
    tutti_range operands[4];
    for (uint64_t n = 0; n < 3; ++n) operands[n] = {memory, n * part * sizeof(float)};
    operands[3] = {memory, bias_at * sizeof(float)};
    tutti_operator_launch l{};
    l.struct_size = sizeof l;
    l.operand_size = sizeof operands[0];
    l.operand_count = params.has_bias != 0 ? 4 : 3;
    l.operands = operands;
    good(plugin().op->workspace(plan, &l.workspace_bytes));
    l.workspace = {memory, 3 * part * sizeof(float)};
    good(plugin().op->launch(stream, plan, &l, nullptr));
  }

  void launch(const std::array<tutti_view_desc, 4>& views, const tutti_matmul_params& params) {
    tutti_plan* plan = prepare(views, params);
    launch(plan, params);
    plugin().op->release(plan);
  }

  void check(const shape& s, const tutti_matmul_params& params) {
    std::vector<float> out(s.batches * s.m * s.n);
    good(plugin().transfer->read(stream, memory, 0, out.data(), out.size() * sizeof(float), 1,
                                 nullptr));
    const float *a = host.data() + part, *b = host.data() + 2 * part;
    for (uint64_t batch = 0; batch < s.batches; ++batch) {
      for (uint64_t i = 0; i < s.m; ++i) {
        for (uint64_t j = 0; j < s.n; ++j) {
          float sum = 0;
          for (uint64_t k = 0; k < s.k; ++k) {
            sum += a[batch * s.a[0] + i * s.a[1] + k * s.a[2]] *
                   b[batch * s.b[0] + k * s.b[1] + j * s.b[2]];
          }
          if (params.has_bias != 0) sum += host[bias_at + j];
          if (params.activation == TUTTI_ACTIVATION_RELU) sum = std::max(sum, 0.0f);
          BOOST_TEST(out[(batch * s.m + i) * s.n + j] == sum,
                     s.what << ": [" << batch << "," << i << "," << j << "]");
        }
      }
    }
  }
};

}  // namespace

// Without TF32, unless TUTTI_MATMUL_PRECISION asks for it.
BOOST_AUTO_TEST_CASE(every_shape_and_epilogue) {
  const bool fast = std::getenv("TUTTI_MATMUL_PRECISION") != nullptr;
  const bool keeps_nan = std::getenv("TUTTI_EMULATOR_RELU") == nullptr;
  problem p;
  for (const int32_t activation : {TUTTI_ACTIVATION_NONE, TUTTI_ACTIVATION_RELU}) {
    for (const uint32_t bias : {0u, 1u}) {
      const tutti_matmul_params params = {sizeof params, activation, bias};
      for (const shape& s : shapes) {
        const auto views = p.views(s, TUTTI_F32);
        const bool taken = keeps_nan || activation == TUTTI_ACTIVATION_NONE || !s.served;
        BOOST_TEST(p.supports(views, params) == taken, s.what);
        if (!taken) continue;
        const int products = last().products, launched = launches();
        tutti_plan* const plan = p.prepare(views, params);
        p.launch(plan, params);
        // The algorithm of a shape, and of addresses so aligned, is asked for once.
        const int heuristics = last().heuristics;
        p.launch(plan, params);
        BOOST_TEST(last().heuristics == heuristics, s.what);
        BOOST_TEST(last().products - products == (s.served ? 2 : 0), s.what);
        BOOST_TEST(launches() - launched == (s.served ? 0 : 2), s.what);
        const int wanted = fast ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
        if (s.served) BOOST_TEST(last().compute_type == wanted, s.what);
        p.check(s, params);
        plugin().op->release(plan);
      }
    }
  }
}

// Parts of sums are not rounded to 16 bits.
BOOST_AUTO_TEST_CASE(reductions_of_long_sums) {
  problem p;
  for (const int32_t dtype : {TUTTI_F32, TUTTI_F16, TUTTI_BF16}) {
    plugin().op->release(p.prepare(p.views(shapes[0], dtype), plain));
    BOOST_TEST(last().reductions == (dtype == TUTTI_F32 ? CUBLASLT_REDUCTION_SCHEME_MASK
                                                        : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  }
}

// Whatever its strides and epilogue, a small product is one launch of the plugin's kernel.
BOOST_AUTO_TEST_CASE(small) {
  problem p;
  const tutti_matmul_params params = {sizeof params, TUTTI_ACTIVATION_RELU, 1};
  const int products = last().products;
  for (const shape& s : {shape{"small", 1, 20, 96, 40, {0, 96, 1}, {0, 40, 1}, false},
                         shape{"many", 6, 13, 5, 31, {0, 5, 1}, {0, 1, 5}, false}}) {
    CALL(emulator_notes)();
    p.launch(p.views(s, TUTTI_F32), params);
    const std::string notes = CALL(emulator_notes)();
    BOOST_TEST(notes.rfind("tutti_matmul_small ", 0) == 0u, notes);
    BOOST_TEST(notes.find('\n') == notes.size() - 1, notes);
    p.check(s, params);
  }
  BOOST_TEST(last().products == products);
}

BOOST_AUTO_TEST_CASE(epilogues_that_no_one_knows) {
  problem p;
  auto views = p.views(shapes[0], TUTTI_F32);
  BOOST_TEST(!p.supports(views, {sizeof(tutti_matmul_params), 77, 0}));
  const tutti_matmul_params biased = {sizeof biased, TUTTI_ACTIVATION_NONE, 1};
  views[3].stride[1] = 5;
  BOOST_TEST(!p.supports(views, biased));
  views[3].extent[1] = 7;
  const tutti_operator_desc d = problem::describe(views, biased);
  int32_t support = TUTTI_SUPPORT_NO;
  const outcome result = take(plugin().op->supports(p.device, &d, &support, nullptr));
  BOOST_TEST(result.code == TUTTI_ERROR_INVALID_ARGUMENT);
  BOOST_TEST(result.message.find("[1,7,5]") != std::string::npos, result.message);
}
