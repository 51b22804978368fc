// SPDX-License-Identifier: Apache-2.0
//
// The reductions, as simple as possible.
#include "sdk/host_layer/reducers.hpp"

#include <complex>
#include <limits>
#include <type_traits>

#include "sdk/host_types.hpp"
#include "semantics/host_math.hpp"

namespace tutti::sdk {
namespace {

// A kind has a start value and an operation. W is the type of the total.
template <typename T>
using wide = std::conditional_t<
    std::is_same_v<T, float>, double,
    std::conditional_t<std::is_same_v<T, std::complex<float>>, std::complex<double>, T>>;

template <typename T>
constexpr T lowest() {
  using limits = std::numeric_limits<T>;
  return limits::has_infinity ? -limits::infinity() : limits::lowest();
}
template <typename T>
constexpr T highest() {
  using limits = std::numeric_limits<T>;
  return limits::has_infinity ? limits::infinity() : limits::max();
}

template <typename T>
struct sum_kind {
  using total = wide<T>;
  static total start() { return 0; }
  static total join(total a, T b) { return host::add(a, total(b)); }
};
template <typename T>
struct prod_kind {
  using total = wide<T>;
  static total start() { return 1; }
  static total join(total a, T b) { return host::multiply(a, total(b)); }
};
template <typename T>
struct min_kind {
  using total = T;
  static total start() { return highest<T>(); }
  static total join(total a, T b) { return host::minimum(a, b); }
};
template <typename T>
struct max_kind {
  using total = T;
  static total start() { return lowest<T>(); }
  static total join(total a, T b) { return host::maximum(a, b); }
};
template <typename T>
struct any_kind {
  using total = bool;
  static total start() { return false; }
  static total join(total a, T b) { return a || b; }
};
template <typename T>
struct all_kind {
  using total = bool;
  static total start() { return true; }
  static total join(total a, T b) { return a && b; }
};

template <typename T, typename Kind>
class plain_reducer final : public reducer {
 public:
  void reset() override { total_ = Kind::start(); }
  void feed(const void* values, size_t begin, size_t end) override {
    const auto* lane = static_cast<const T*>(values);
    for (size_t i = begin; i < end; ++i) total_ = Kind::join(total_, lane[i]);
  }
  void finish(void* result) const override { *static_cast<T*>(result) = static_cast<T>(total_); }

 private:
  typename Kind::total total_ = Kind::start();
};

// The first of equal values, or the first NaN.
template <typename T, bool Largest>
class index_reducer final : public reducer {
 public:
  void reset() override { seen_ = best_index_ = 0; }
  void feed(const void* values, size_t begin, size_t end) override {
    const auto* lane = static_cast<const T*>(values);
    for (size_t i = begin; i < end; ++i, ++seen_) {
      if (seen_ > 0 && !better(lane[i])) continue;
      best_ = lane[i];
      best_index_ = seen_;
    }
  }
  void finish(void* result) const override { *static_cast<int64_t*>(result) = best_index_; }

 private:
  bool better(T value) const {
    if (host::isnan(best_)) return false;
    if (host::isnan(value)) return true;
    return Largest ? value > best_ : value < best_;
  }

  T best_{};
  int64_t best_index_ = 0;
  int64_t seen_ = 0;
};

template <typename T>
std::unique_ptr<reducer> make_typed(uint8_t reduction) {
  // clang-format off
  if constexpr (!host::Complex<T>) {
    switch (reduction) {
      case TUTTI_REDUCE_MIN: return std::make_unique<plain_reducer<T, min_kind<T>>>();
      case TUTTI_REDUCE_MAX: return std::make_unique<plain_reducer<T, max_kind<T>>>();
      case TUTTI_REDUCE_ARGMIN: return std::make_unique<index_reducer<T, false>>();
      case TUTTI_REDUCE_ARGMAX: return std::make_unique<index_reducer<T, true>>();
      default: break;
    }
  }
  if constexpr (std::is_same_v<T, bool>) {
    if (reduction == TUTTI_REDUCE_ANY) return std::make_unique<plain_reducer<T, any_kind<T>>>();
    if (reduction == TUTTI_REDUCE_ALL) return std::make_unique<plain_reducer<T, all_kind<T>>>();
  } else {
    if (reduction == TUTTI_REDUCE_SUM) return std::make_unique<plain_reducer<T, sum_kind<T>>>();
    if (reduction == TUTTI_REDUCE_PROD) return std::make_unique<plain_reducer<T, prod_kind<T>>>();
  }
  // clang-format on
  throw_invalid("reduction ", reduction, " is not defined for this dtype");
}

}  // namespace

std::unique_ptr<reducer> make_reducer(uint8_t reduction, uint8_t accumulator) {
  return with_register_type(
      accumulator, [&](auto tag) { return make_typed<typename decltype(tag)::type>(reduction); });
}

}  // namespace tutti::sdk
