// SPDX-License-Identifier: Apache-2.0
//
// Products handed to cuBLASLt, over a stub of it that multiplies by the definition: row-major
// views with transposes, leading dimensions, batches and broadcasts come out as a plain loop says.
#include <cublasLt.h>

#include <array>
#include <boost/test/unit_test.hpp>

#include "plugin.hpp"

struct stub_cublaslt_state {
  int compute_type, heuristics, products;
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

const shape shapes[] = {
    {"plain", 1, 3, 4, 5, {0, 4, 1}, {0, 5, 1}, true},
    {"a transposed", 1, 3, 4, 5, {0, 1, 3}, {0, 5, 1}, true},
    {"b transposed", 1, 3, 4, 5, {0, 4, 1}, {0, 1, 4}, true},
    {"both transposed", 2, 3, 4, 5, {12, 1, 3}, {20, 1, 4}, true},
    {"rows apart", 2, 3, 4, 5, {40, 9, 1}, {60, 11, 1}, true},
    {"b for all batches", 3, 3, 4, 5, {12, 4, 1}, {0, 5, 1}, true},
    {"one row", 1, 1, 4, 5, {0, 4, 1}, {0, 5, 1}, true},
    {"one column", 1, 3, 4, 1, {0, 4, 1}, {0, 1, 1}, true},
    {"column of a wider matrix", 1, 3, 4, 1, {0, 4, 1}, {0, 7, 1}, true},
    {"inner dimension 1", 2, 3, 1, 5, {3, 1, 1}, {5, 5, 1}, true},
    {"rows repeated", 1, 3, 4, 5, {0, 0, 1}, {0, 5, 1}, false},
};

// Allocates a, b, out and a workspace in one buffer of 1024 elements each.
template <typename T>
struct problem {
  tutti_device* device = nullptr;
  tutti_stream* stream = nullptr;
  tutti_buffer* memory = nullptr;
  std::vector<T> host = std::vector<T>(4096);
  problem() {
    good(plugin().device->open(0, &device));
    good(plugin().stream->create(device, 0, &stream));
    good(plugin().memory->allocate(device, host.size() * sizeof(T), &memory));
    for (size_t n = 0; n < host.size(); ++n) host[n] = static_cast<T>(n * 37 % 101) - 50;
    good(plugin().transfer->write(stream, memory, 0, host.data(), host.size() * sizeof(T), 1,
                                  nullptr));
  }
  ~problem() {
    plugin().memory->release(memory);
    plugin().stream->release(stream);
    plugin().device->release(device);
  }

  std::array<tutti_view, 3> views(const shape& s, int32_t dtype) const {
    std::array<tutti_view, 3> v{};
    const uint64_t extents[3][3] = {
        {s.batches, s.m, s.n}, {s.batches, s.m, s.k}, {s.batches, s.k, s.n}};
    const int64_t out[3] = {static_cast<int64_t>(s.m * s.n), static_cast<int64_t>(s.n), 1};
    const int64_t* strides[3] = {out, s.a, s.b};
    for (int n = 0; n < 3; ++n) {
      v[n].buffer = memory;
      v[n].offset = static_cast<uint64_t>(n) * 1024 * sizeof(T);
      v[n].dtype = dtype;
      v[n].rank = 3;
      for (int d = 0; d < 3; ++d) v[n].extent[d] = extents[n][d], v[n].stride[d] = strides[n][d];
    }
    return v;
  }

  void launch(const std::array<tutti_view, 3>& views) {
    tutti_operator_launch l{};
    l.struct_size = sizeof l;
    l.kind = TUTTI_OPERATOR_MATMUL;
    l.view_count = 3;
    l.views = views.data();
    good(plugin().op->workspace(device, &l, &l.workspace_bytes));
    l.workspace = memory;
    l.workspace_offset = 3072 * sizeof(T);
    good(plugin().op->launch(stream, &l, nullptr));
  }

  void check(const shape& s) {
    std::vector<T> out(s.batches * s.m * s.n);
    good(
        plugin().transfer->read(stream, memory, 0, out.data(), out.size() * sizeof(T), 1, nullptr));
    const T *a = host.data() + 1024, *b = host.data() + 2048;
    for (uint64_t batch = 0; batch < s.batches; ++batch) {
      for (uint64_t i = 0; i < s.m; ++i) {
        for (uint64_t j = 0; j < s.n; ++j) {
          T sum = 0;
          for (uint64_t k = 0; k < s.k; ++k) {
            sum += a[batch * s.a[0] + i * s.a[1] + k * s.a[2]] *
                   b[batch * s.b[0] + k * s.b[1] + j * s.b[2]];
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
    p.launch(views);
    BOOST_TEST(last().products - products == (s.served ? 1 : 0), s.what);
    BOOST_TEST(STUB_CALL(stub_count)().launches - launches == (s.served ? 0 : 1), s.what);
    if (!s.served) continue;
    BOOST_TEST(last().compute_type == compute_type);
    p.check(s);
    // The algorithm of a shape is asked for once.
    const int heuristics = last().heuristics;
    p.launch(views);
    BOOST_TEST(last().heuristics == heuristics, s.what);
  }
}

}  // namespace

// Without TF32, unless TUTTI_MATMUL_PRECISION asks for it.
BOOST_AUTO_TEST_CASE(f32) {
  const bool fast = std::getenv("TUTTI_MATMUL_PRECISION") != nullptr;
  check_all<float>(TUTTI_F32, fast ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F);
}

BOOST_AUTO_TEST_CASE(f64) { check_all<double>(TUTTI_F64, CUBLAS_COMPUTE_64F); }
