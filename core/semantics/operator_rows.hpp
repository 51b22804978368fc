// SPDX-License-Identifier: Apache-2.0
//
// The rows of operator.def as values: inputs and outputs of operators, for checks of descriptions
// and for creating them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::host {

/// The dtype of a view, by that of the elements.
enum class view_dtype : std::uint8_t { element, i64, index, real, complex, any };

/// A view of a row: "starts[M+1] index".
struct view_row {
  std::string_view name;
  view_dtype dtype = view_dtype::element;
  bool is_optional = false;
  std::uint8_t rank = 0;
  std::array<char, TUTTI_MAX_RANK> letter{};         // of each extent
  std::array<std::uint8_t, TUTTI_MAX_RANK> added{};  // added to the extent of the letter: 0 or 1
};

struct operator_row {
  std::int32_t number;  // tutti_operator
  const char* name;
  std::uint32_t dtypes;  // of the elements: a TUTTI_DTYPE_BIT set
  bool is_contiguous;
  std::string_view text;  // of the views
  std::string_view flops;
  std::uint64_t params_size, known_params;  // bytes; of these, the known ones. 0: none
  std::uint32_t outputs = 0, count = 0;     // of `views`
  std::array<view_row, 5> views{};          // outputs first
};

namespace rows {

constexpr std::uint32_t of(int first, int last) {
  return 2 * TUTTI_DTYPE_BIT(last) - TUTTI_DTYPE_BIT(first);
}
inline constexpr std::uint32_t HALVES = of(TUTTI_F16, TUTTI_BF16),
                               FLOATS = of(TUTTI_F16, TUTTI_F64),
                               FLOATING = of(TUTTI_F16, TUTTI_C128), REAL = of(TUTTI_I8, TUTTI_F64),
                               ORDERED = of(TUTTI_BOOL, TUTTI_F64),
                               NUMERIC = of(TUTTI_I8, TUTTI_C128), ANY = of(TUTTI_BOOL, TUTTI_C128),
                               INDICES = TUTTI_DTYPE_BIT(TUTTI_I32) | TUTTI_DTYPE_BIT(TUTTI_I64);
enum layout { STRIDED, CONTIGUOUS };

constexpr view_dtype dtype_of(std::string_view word) {
  if (word.empty()) return view_dtype::element;
  if (word == "i64") return view_dtype::i64;
  if (word == "index") return view_dtype::index;
  if (word == "real") return view_dtype::real;
  if (word == "complex") return view_dtype::complex;
  if (word == "any") return view_dtype::any;
  throw "operator.def: an unknown word behind the extents of a view";
}

constexpr view_row view_of(std::string_view text) {
  view_row v;
  const std::size_t open = text.find('['), close = text.find(']');
  v.name = text.substr(0, open);
  v.is_optional = v.name.ends_with('?');
  if (v.is_optional) v.name.remove_suffix(1);
  for (const char c : text.substr(open + 1, close - open - 1)) {
    if (c >= 'A' && c <= 'Z') v.letter[v.rank++] = c;
    if (c == '1') v.added[v.rank - 1] = 1;
  }
  const std::string_view behind = text.substr(close + 1);
  v.dtype = dtype_of(behind.starts_with(' ') ? behind.substr(1) : behind);
  return v;
}

constexpr operator_row with_views(operator_row row) {
  for (std::string_view rest = row.text;;) {
    const std::size_t end = rest.find_first_of(",=", rest.find(']'));
    std::string_view view = rest.substr(0, end);
    if (view.ends_with(' ')) view.remove_suffix(1);
    row.views[row.count++] = view_of(view);
    if (end == std::string_view::npos) return row;
    if (rest[end] == '=') row.outputs = row.count;
    rest.remove_prefix(end + 2);
  }
}

#define TUTTI_PARAMS(type, last) sizeof(type), offsetof(type, last) + sizeof(type::last)
#define TUTTI_NO_PARAMS 0, 0
#define TUTTI_OPERATOR(number, NAME, name, dtypes, layout, views, flops, ...) \
  with_views({number, #name, dtypes, layout == CONTIGUOUS, views, flops, __VA_ARGS__}),
inline constexpr operator_row all[] = {
#include "tutti/operator.def"
};
#undef TUTTI_OPERATOR
#undef TUTTI_NO_PARAMS
#undef TUTTI_PARAMS

}  // namespace rows

inline constexpr const auto& operator_rows = rows::all;

/// Bytes of the largest parameters.
inline constexpr std::size_t most_params = [] {
  std::size_t most = sizeof(std::uint64_t);
  for (const operator_row& row : operator_rows) most = std::max<std::size_t>(most, row.params_size);
  return most;
}();

namespace rows {
inline constexpr auto by_number = [] {
  std::array<const operator_row*, 128> found{};
  for (const operator_row& row : all) found[static_cast<std::size_t>(row.number)] = &row;
  return found;
}();
}  // namespace rows

/// Null for a number that this version does not know.
constexpr const operator_row* find_operator(std::int32_t number) {
  const auto at = static_cast<std::size_t>(number);
  return at < rows::by_number.size() ? rows::by_number[at] : nullptr;
}

inline constexpr std::int32_t real_part_of(std::int32_t dtype) {
  return dtype == TUTTI_C64 ? TUTTI_F32 : dtype == TUTTI_C128 ? TUTTI_F64 : dtype;
}
inline constexpr std::int32_t complex_of_parts(std::int32_t dtype) {
  return dtype == TUTTI_F32 ? TUTTI_C64 : dtype == TUTTI_F64 ? TUTTI_C128 : dtype;
}

/// The views of a description with these numbers of outputs and inputs: all of each side, or those
/// that are not optional. Empty if neither matches.
struct present_views {
  std::array<const view_row*, 5> views{};
  std::uint32_t count = 0;
};
constexpr present_views views_present(const operator_row& row, std::uint32_t outputs,
                                      std::uint32_t inputs) {
  present_views found;
  const auto add = [&](std::uint32_t begin, std::uint32_t end, std::uint32_t wanted) {
    std::uint32_t added = 0;
    for (std::uint32_t n = begin; n < end; ++n) {
      if (row.views[n].is_optional && wanted != end - begin) continue;
      if (added++ < wanted) found.views[found.count++] = &row.views[n];
    }
    return added == wanted;
  };
  if (!add(0, row.outputs, outputs) || !add(row.outputs, row.count, inputs)) return {};
  return found;
}

/// Contiguous views of a row for elements of `dtype`, outputs first, without optional ones.
/// `extent_of` returns the extent of a letter.
template <class ExtentOf>
std::vector<tutti_view_desc> least_views(const operator_row& row, std::int32_t dtype,
                                         const ExtentOf& extent_of) {
  std::vector<tutti_view_desc> views;
  for (std::uint32_t n = 0; n < row.count; ++n) {
    const view_row& is = row.views[n];
    if (is.is_optional) continue;
    const bool whole = is.dtype == view_dtype::i64 || is.dtype == view_dtype::index;
    const bool complex =
        is.dtype == view_dtype::complex || (is.dtype == view_dtype::any && n < row.outputs);
    tutti_view_desc& v = views.emplace_back();
    v.dtype = whole                          ? std::int32_t{TUTTI_I64}
              : complex                      ? complex_of_parts(dtype)
              : is.dtype == view_dtype::real ? real_part_of(dtype)
                                             : dtype;
    v.rank = is.rank;
    std::int64_t step = 1;
    for (std::uint32_t d = v.rank; d-- > 0; step *= static_cast<std::int64_t>(v.extent[d])) {
      v.extent[d] = extent_of(is.letter[d]) + is.added[d];
      v.stride[d] = step;
    }
  }
  return views;
}

/// Extents by their letters.
class bound_extents {
 public:
  /// Takes the extents of a view; false if its rank or an extent contradicts the row.
  constexpr bool bind(const view_row& view, std::uint32_t rank, const std::uint64_t* extent) {
    if (rank != view.rank) return false;
    for (std::uint32_t d = 0; d < rank; ++d) {
      if (extent[d] < view.added[d]) return false;
      const std::uint64_t value = extent[d] - view.added[d];
      const std::size_t at = static_cast<std::size_t>(view.letter[d] - 'A');
      if (is_known_[at] && value_[at] != value) return false;
      is_known_[at] = true;
      value_[at] = value;
    }
    return true;
  }
  /// A product of digits and letters, separated by spaces; 0 for none.
  constexpr std::uint64_t product(std::string_view text) const {
    std::uint64_t result = text.empty() ? 0 : 1;
    for (const char c : text) {
      if (c >= '0' && c <= '9') result *= static_cast<std::uint64_t>(c - '0');
      if (c >= 'A' && c <= 'Z') result *= value_[static_cast<std::size_t>(c - 'A')];
    }
    return result;
  }

 private:
  std::array<bool, 26> is_known_{};
  std::array<std::uint64_t, 26> value_{};
};

}  // namespace tutti::host
