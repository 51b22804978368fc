// SPDX-License-Identifier: Apache-2.0
//
// Elements and their comparison.
#include "plugin/proof/known_answer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>
#include <utility>

#include "semantics/host_half.hpp"
#include "tutti/dtype.hpp"

namespace tutti::detail {
namespace {

/// f(T{}) with the C++ type of the elements; 16-bit floats come as their bits' type.
template <class F>
void with_type(std::int32_t type, F&& f) {
  switch (type) {
    case TUTTI_I8:
      return f(std::int8_t{});
    case TUTTI_I16:
      return f(std::int16_t{});
    case TUTTI_I32:
      return f(std::int32_t{});
    case TUTTI_I64:
      return f(std::int64_t{});
    case TUTTI_BOOL:
    case TUTTI_U8:
      return f(std::uint8_t{});
    case TUTTI_U32:
      return f(std::uint32_t{});
    case TUTTI_U64:
      return f(std::uint64_t{});
    case TUTTI_F32:
    case TUTTI_C64:
      return f(float{});
    case TUTTI_F64:
    case TUTTI_C128:
      return f(double{});
    default:
      return f(std::uint16_t{});
  }
}

void encode(std::int32_t type, double value, char* to) {
  if (type == TUTTI_F16 || type == TUTTI_BF16) {
    const float narrowed = host::to_odd_float(value);
    const std::uint16_t bits =
        type == TUTTI_F16 ? host::float_to_half(narrowed) : host::float_to_bfloat16(narrowed);
    std::memcpy(to, &bits, sizeof bits);
    return;
  }
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    T converted{};
    if constexpr (std::is_floating_point_v<T>)
      converted = static_cast<T>(value);
    else
      converted = static_cast<T>(static_cast<std::int64_t>(value));
    std::memcpy(to, &converted, sizeof converted);
  });
}

bool is_right(const answer& known, const tensor& got, std::size_t i) {
  const std::size_t size = size_of(static_cast<dtype>(known.right.type));
  if (std::memcmp(&got.bytes[i * size], &known.right.bytes[i * size], size) == 0) return true;
  if (!is_floating(static_cast<dtype>(known.right.type))) return false;
  const double want = element(known.right, i), is = element(got, i);
  if (std::isnan(want)) return std::isnan(is);
  if (is == 0 && (want == 0 || (i < known.tiny.size() && known.tiny[i]))) return true;
  return std::fabs(is - want) <= known.tolerance * std::fabs(want);
}

/// Real and imaginary parts as elements of their own.
tensor parts_of(tensor t) {
  t.type = static_cast<std::int32_t>(real_dtype(static_cast<dtype>(t.type)));
  t.extents.push_back(2);
  return t;
}

std::string text_of(const tensor& t, std::size_t i) {
  if (t.type == TUTTI_I64 || t.type == TUTTI_U64) {
    std::int64_t value = 0;
    std::memcpy(&value, &t.bytes[i * sizeof value], sizeof value);
    return fmt::format("{}", value);
  }
  return fmt::format("{:.9g}", element(t, i));
}

}  // namespace

tensor make_tensor(std::int32_t type, std::vector<std::uint64_t> extents,
                   const std::vector<double>& values) {
  tensor t{type, std::move(extents), {}};
  const std::size_t size = size_of(static_cast<dtype>(type));
  t.bytes.resize(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) encode(type, values[i], &t.bytes[i * size]);
  return t;
}

tensor make_tensor(const std::vector<std::int64_t>& values) {
  tensor t{TUTTI_I64, {values.size()}, std::vector<char>(values.size() * sizeof(std::int64_t))};
  std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}

double element(const tensor& t, std::size_t i) {
  const char* const at = &t.bytes[i * size_of(static_cast<dtype>(t.type))];
  double value = 0;
  with_type(t.type, [&](auto stored) {
    std::memcpy(&stored, at, sizeof stored);
    if constexpr (std::is_same_v<decltype(stored), std::uint16_t>) {
      value = t.type == TUTTI_F16    ? double{host::half_to_float(stored)}
              : t.type == TUTTI_BF16 ? double{host::bfloat16_to_float(stored)}
                                     : static_cast<double>(stored);
    } else {
      value = static_cast<double>(stored);
    }
  });
  return value;
}

std::vector<double> whole_numbers(std::size_t n, std::uint32_t seed, int low, int high) {
  std::vector<double> v(n);
  const auto range = static_cast<std::uint32_t>(high - low + 1);
  for (double& x : v) {
    seed = seed * 1664525u + 1013904223u;  // Numerical Recipes' generator
    x = low + static_cast<int>((seed >> 16) % range);
  }
  return v;
}

std::string mistake(const answer& known, const tensor& got) {
  if (is_complex(static_cast<dtype>(known.right.type)))
    return mistake({parts_of(known.right), known.tolerance, {}}, parts_of(got));
  const std::size_t size = size_of(static_cast<dtype>(known.right.type));
  const std::size_t count = known.right.bytes.size() / size;
  if (got.bytes.size() != known.right.bytes.size())
    return fmt::format("{} bytes instead of {}", got.bytes.size(), known.right.bytes.size());
  for (std::size_t i = 0; i < count; ++i)
    if (!is_right(known, got, i))
      return fmt::format("{} instead of {} at {} of {}", text_of(got, i), text_of(known.right, i),
                         i, count);
  return {};
}

}  // namespace tutti::detail
