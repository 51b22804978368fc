// SPDX-License-Identifier: Apache-2.0
//
// The columns `kinds` and `result` of op_table.def as rules for C++ types: the types for which a
// row's host expression may be instantiated, and its result type.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tutti::host {

enum class row_kind : std::uint8_t {
  NUMERIC,
  REAL,
  FLOATING,
  REAL_FLOATING,
  INTEGRAL,
  LOGICAL,
  ANY,
  IR
};
enum class row_result : std::uint8_t { SAME, BOOL, REAL_OF, COMPLEX_OF };

template <typename T>
concept Integer = std::is_integral_v<T>;
template <typename T>
concept Real = std::is_floating_point_v<T>;
template <typename T>
concept Complex = requires {
  typename T::value_type;
}
&&std::same_as<T, std::complex<typename T::value_type>>;

/// Whether operands of type T are allowed; rows of kind IR have separate rules.
template <typename T>
constexpr bool takes(row_kind kind) {
  constexpr bool boolean = std::is_same_v<T, bool>;
  switch (kind) {
    case row_kind::NUMERIC:
      return !boolean;
    case row_kind::REAL:
      return !boolean && !Complex<T>;
    case row_kind::FLOATING:
      return Real<T> || Complex<T>;
    case row_kind::REAL_FLOATING:
      return Real<T>;
    case row_kind::INTEGRAL:
      return Integer<T>;
    case row_kind::LOGICAL:
      return boolean;
    case row_kind::ANY:
      return true;
    case row_kind::IR:
      return false;
  }
  return false;
}

template <typename T>
struct real_of {
  using type = T;
};
template <Complex T>
struct real_of<T> {
  using type = typename T::value_type;
};
template <typename T>
using real_of_t = typename real_of<T>::type;

template <typename T>
struct complex_of {
  using type = T;
};
template <Real T>
struct complex_of<T> {
  using type = std::complex<T>;
};

/// The result type of a row for operands of type T.
template <row_result R, typename T>
using row_result_t =
    std::conditional_t<R == row_result::BOOL, bool,
                       std::conditional_t<R == row_result::REAL_OF, real_of_t<T>,
                                          std::conditional_t<R == row_result::COMPLEX_OF,
                                                             typename complex_of<T>::type, T>>>;

}  // namespace tutti::host
