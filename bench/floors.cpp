// SPDX-License-Identifier: Apache-2.0
//
// Uses GCC's vector types, which compile to the widest vectors of the machine; non-temporal stores
// are only available as x86 intrinsics.
#include "floors.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <vector>

#include "team.hpp"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tutti::bench {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif
using vector_f32 = float __attribute__((vector_size(vector_bytes), may_alias));
using vector_f64 = double __attribute__((vector_size(vector_bytes), may_alias));
constexpr std::size_t lanes = vector_bytes / sizeof(float);
constexpr double least_seconds = 0.02;
constexpr std::size_t page = std::size_t{2} << 20;

void store_streaming(float* to, vector_f32 value) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, reinterpret_cast<__m512&>(value));
#elif defined(__AVX__)
  _mm256_stream_ps(to, reinterpret_cast<__m256&>(value));
#elif defined(__x86_64__)
  _mm_stream_ps(to, reinterpret_cast<__m128&>(value));
#else
  *reinterpret_cast<vector_f32*>(to) = value;
#endif
}

const vector_f32& at(const float* p) { return *reinterpret_cast<const vector_f32*>(p); }
vector_f32& at(float* p) { return *reinterpret_cast<vector_f32*>(p); }

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr int chains = 12;  // independent ones, enough to hide the latency of an addition
constexpr int fma_rounds = 8'000'000;

// 2 * chains operations per vector element and round.
template <class V, class T>
void fma_work(int rounds, T* sink) {
  V acc[chains];
  for (int i = 0; i < chains; ++i) acc[i] = V{} + static_cast<T>(0.1 * i);
  const V factor = V{} + static_cast<T>(0.999);
  const V term = V{} + static_cast<T>(1e-3);
  for (int round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) acc[i] = acc[i] * factor + term;
    asm volatile("");  // keeps the rounds apart
  }
  V total{};
  for (const V& value : acc) total += value;
  *sink = total[0];
}

template <class V, class T>
double fma_rate() {
  std::vector<T> sinks(cores() * 16);
  const auto pass = [&](int rounds) {
    parallel(cores(), 1, [&](unsigned thread, std::size_t, std::size_t) {
      fma_work<V, T>(rounds, &sinks[thread * 16]);
    });
  };
  pass(fma_rounds / 4);  // woken threads may share a core at first
  const auto start = std::chrono::steady_clock::now();
  pass(fma_rounds);
  const double per_thread = 2.0 * chains * fma_rounds * (sizeof(V) / sizeof(T));
  return per_thread * cores() / seconds_since(start) * 1e-9;
}

struct free_memory {
  void operator()(float* p) const { std::free(p); }
};
using memory = std::unique_ptr<float, free_memory>;

memory allocate(std::size_t count, float value) {
  memory p(static_cast<float*>(
      std::aligned_alloc(page, (count * sizeof(float) + page - 1) / page * page)));
  if (!p) throw std::bad_alloc();
  parallel(count, lanes, [&](unsigned, std::size_t begin, std::size_t end) {
    std::fill(p.get() + begin, p.get() + end, value);
  });
  return p;
}

void one_pass(floor_kind kind, std::size_t count, const float* a, const float* b, float* c) {
  const vector_f32 scale = vector_f32{} + 3.0f;
  std::vector<float> sinks(cores() * 16);
  parallel(count, 4 * lanes, [&](unsigned thread, std::size_t begin, std::size_t end) {
    if (kind == floor_kind::copy) {
      for (std::size_t i = begin; i < end; i += lanes) at(c + i) = at(a + i);
    } else if (kind == floor_kind::triad) {
      for (std::size_t i = begin; i < end; i += lanes) at(c + i) = at(a + i) + scale * at(b + i);
    } else if (kind == floor_kind::triad_nt) {
      for (std::size_t i = begin; i < end; i += lanes) {
        store_streaming(c + i, at(a + i) + scale * at(b + i));
      }
    } else {
      vector_f32 sum[4] = {};
      for (std::size_t i = begin; i < end; i += 4 * lanes) {
#pragma GCC unroll 4
        for (std::size_t k = 0; k < 4; ++k) sum[k] += at(a + i + k * lanes);
      }
      sinks[thread * 16] = (sum[0] + sum[1] + sum[2] + sum[3])[0];
    }
  });
  asm volatile("" : : "r"(sinks.data()) : "memory");
}

}  // namespace

struct floor_meter::arrays {
  std::size_t size;
  memory a = allocate(size, 1), b = allocate(size, 2), c = allocate(size, 3);
};

floor_meter::floor_meter() = default;
floor_meter::~floor_meter() = default;

std::string name(floor_kind kind) {
  constexpr const char* names[] = {"-",    "copy",    "triad",  "triad, non-temporal stores",
                                   "read", "f32 fma", "f64 fma"};
  return names[static_cast<int>(kind)];
}

std::string unit(floor_kind kind) {
  return kind == floor_kind::fma_f32 || kind == floor_kind::fma_f64 ? "GFLOP/s" : "GB/s";
}

double floor_meter::measure(floor_kind kind, std::size_t elements) {
  if (kind == floor_kind::fma_f32) return fma_rate<vector_f32, float>();
  if (kind == floor_kind::fma_f64) return fma_rate<vector_f64, double>();
  const std::size_t count = elements / (4 * lanes) * (4 * lanes);
  if (!arrays_ || arrays_->size < count) {
    arrays_.reset();
    arrays_ = std::make_unique<arrays>(count);
  }
  const float* a = arrays_->a.get();
  const float* b = arrays_->b.get();
  float* c = arrays_->c.get();
  const double touched = kind == floor_kind::read ? 1 : kind == floor_kind::copy ? 2 : 3;
  int passes = 0;
  double seconds = 0;
  one_pass(kind, count, a, b, c);  // warms the caches
  const auto start = std::chrono::steady_clock::now();
  while (seconds < least_seconds) {
    one_pass(kind, count, a, b, c);
    ++passes;
    seconds = seconds_since(start);
  }
  return passes * touched * static_cast<double>(count) * sizeof(float) / seconds * 1e-9;
}

}  // namespace tutti::bench
