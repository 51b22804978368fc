// SPDX-License-Identifier: Apache-2.0
//
// The operator group: matrix product, take and scatters as nested loops.
#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "reference/objects.hpp"
#include "sdk/host_types.hpp"
#include "sdk/ordering.hpp"
#include "sdk/owned_launch.hpp"
#include "sdk/validate.hpp"
#include "sdk/validate_operator.hpp"
#include "semantics/host_math.hpp"

namespace tutti::reference {
namespace {

using sdk::stored;
using sdk::with_stored_type;

using sdk::deref;
using sdk::guarded;
using sdk::throw_invalid;

// Element access of a rank 3 view (rank 1: the first index only).
template <typename S>
class accessor {
 public:
  explicit accessor(const tutti_view& view)
      : base_(view.buffer->data + view.offset), stride_(view.stride) {}

  auto get(uint64_t i, uint64_t j, uint64_t k) const { return S::load(at(i, j, k)); }
  auto get(uint64_t i) const { return S::load(base_ + signed_index(i) * stride_[0] * S::bytes); }
  void set(uint64_t i, uint64_t j, uint64_t k, typename S::value value) const {
    S::store(at(i, j, k), value);
  }

 private:
  static int64_t signed_index(uint64_t i) { return static_cast<int64_t>(i); }
  std::byte* at(uint64_t i, uint64_t j, uint64_t k) const {
    return base_ + (signed_index(i) * stride_[0] + signed_index(j) * stride_[1] +
                    signed_index(k) * stride_[2]) *
                       S::bytes;
  }

  std::byte* base_;
  const int64_t* stride_;
};

template <typename T>
struct sum_type {
  using type = std::conditional_t<std::is_floating_point_v<T>, double, T>;
};
template <typename T>
struct sum_type<std::complex<T>> {
  using type = std::complex<double>;
};

// sum + a * b
template <typename T>
T multiply_add(T a, T b, T sum) {
  if constexpr (std::is_integral_v<T>) {
    return host::add<T>(sum, host::multiply<T>(a, b));
  } else {
    return sum + a * b;
  }
}

// Floats are summed in double, integers wrap. A row of the result at a time, so that b is read
// along its rows.
template <typename S>
void matmul(const tutti_operator_launch& launch) {
  using T = typename S::value;
  using total = typename sum_type<T>::type;
  const tutti_view &out_view = launch.views[0], &a_view = launch.views[1];
  const accessor<S> out(out_view), a(a_view), b(launch.views[2]);
  const tutti_matmul_params params = sdk::matmul_params(launch);
  const accessor<S> bias(launch.views[params.has_bias != 0 ? 3 : 0]);
  const uint64_t rows = out_view.extent[1], columns = out_view.extent[2];
  std::vector<total> sums(columns);
  for (uint64_t batch = 0; batch < out_view.extent[0]; ++batch) {
    for (uint64_t row = 0; row < rows; ++row) {
      std::fill(sums.begin(), sums.end(), total(0));
      for (uint64_t k = 0; k < a_view.extent[2]; ++k) {
        const total left = a.get(batch, row, k);
        for (uint64_t column = 0; column < columns; ++column) {
          sums[column] = multiply_add<total>(left, b.get(batch, k, column), sums[column]);
        }
      }
      for (uint64_t column = 0; column < columns; ++column) {
        total value = sums[column];
        if (params.has_bias != 0)
          value = multiply_add<total>(bias.get(batch, row, column), total(1), value);
        if constexpr (std::is_floating_point_v<T>) {
          if (params.activation == TUTTI_ACTIVATION_RELU) value = host::maximum<total>(value, 0);
        }
        out.set(batch, row, column, static_cast<T>(value));
      }
    }
  }
}

// Indices as row numbers, clamped to [0, rows).
std::vector<uint64_t> row_numbers(const tutti_view& index, uint64_t rows) {
  std::vector<uint64_t> result(index.extent[0]);
  for (uint64_t i = 0; i < result.size(); ++i) {
    const int64_t row = index.dtype == TUTTI_I32 ? accessor<stored<int32_t>>(index).get(i)
                                                 : accessor<stored<int64_t>>(index).get(i);
    result[i] = static_cast<uint64_t>(std::clamp<int64_t>(row, 0, static_cast<int64_t>(rows) - 1));
  }
  return result;
}

template <typename S>
void take(const tutti_view& out_view, const tutti_view& x_view, const tutti_view& index) {
  const accessor<S> out(out_view), x(x_view);
  const std::vector<uint64_t> row = row_numbers(index, x_view.extent[1]);
  for (uint64_t o = 0; o < out_view.extent[0]; ++o) {
    for (uint64_t i = 0; i < out_view.extent[1]; ++i) {
      for (uint64_t n = 0; n < out_view.extent[2]; ++n) out.set(o, i, n, x.get(o, row[i], n));
    }
  }
}

template <typename S, typename F>
void scatter(const tutti_operator_launch& launch, const F& combined) {
  const tutti_view& out_view = launch.views[0];
  const accessor<S> out(out_view), updates(launch.views[1]);
  const std::vector<uint64_t> row = row_numbers(launch.views[2], out_view.extent[1]);
  for (uint64_t o = 0; o < out_view.extent[0]; ++o) {
    for (uint64_t i = 0; i < row.size(); ++i) {
      for (uint64_t n = 0; n < out_view.extent[2]; ++n) {
        out.set(o, row[i], n, combined(out.get(o, row[i], n), updates.get(o, i, n)));
      }
    }
  }
}

template <typename S>
void scatter(const tutti_operator_launch& launch) {
  using T = typename S::value;
  const sdk::combination how = sdk::combination_of(launch);
  if (how == sdk::combination::set) return scatter<S>(launch, [](T, T b) { return b; });
  if constexpr (!std::is_same_v<T, bool>) {
    if (how == sdk::combination::add)
      return scatter<S>(launch, [](T a, T b) { return host::add(a, b); });
    if (how == sdk::combination::multiply)
      return scatter<S>(launch, [](T a, T b) { return host::multiply(a, b); });
  }
  if constexpr (!std::is_same_v<T, bool> && !host::Complex<T>) {
    if (how == sdk::combination::min)
      return scatter<S>(launch, [](T a, T b) { return host::minimum(a, b); });
    return scatter<S>(launch, [](T a, T b) { return host::maximum(a, b); });
  }
}

// ---- checks

const char* operator_name(int32_t kind) {
  switch (kind) {
    case TUTTI_OPERATOR_MATMUL:
      return "matmul";
    case TUTTI_OPERATOR_TAKE:
      return "take";
    case TUTTI_OPERATOR_SCATTER_ADD:
      return "scatter_add";
    case TUTTI_OPERATOR_SCATTER:
      return "scatter";
    default:
      return nullptr;
  }
}

std::string extents(const tutti_view& view) {
  std::string text = "[";
  for (uint32_t d = 0; d < view.rank; ++d) {
    if (d > 0) text += ',';
    text += std::to_string(view.extent[d]);
  }
  return text + "]";
}

void check_rank(const std::string& name, const tutti_view& view, int index, uint32_t rank) {
  if (view.rank == rank) return;
  throw_invalid(name + ": view " + std::to_string(index) + " has rank " +
                std::to_string(view.rank) + ", expected " + std::to_string(rank));
}

void check_equal(const std::string& name, const char* what, uint64_t a, uint64_t b,
                 const tutti_view* views) {
  if (a == b) return;
  throw_invalid(name + ": " + what + " differ: " + std::to_string(a) + " and " + std::to_string(b) +
                " in " + extents(views[0]) + ", " + extents(views[1]) + ", " + extents(views[2]));
}

void check_shapes(const std::string& name, int32_t kind, const tutti_view* v) {
  check_rank(name, v[0], 0, 3);
  check_rank(name, v[1], 1, 3);
  check_rank(name, v[2], 2, kind == TUTTI_OPERATOR_MATMUL ? 3 : 1);
  check_equal(name, "dtypes of views 0 and 1", static_cast<uint64_t>(v[0].dtype),
              static_cast<uint64_t>(v[1].dtype), v);
  check_equal(name, "outer extents", v[0].extent[0], v[1].extent[0], v);
  if (kind == TUTTI_OPERATOR_MATMUL) {
    check_equal(name, "dtypes of views 0 and 2", static_cast<uint64_t>(v[0].dtype),
                static_cast<uint64_t>(v[2].dtype), v);
    check_equal(name, "batch extents", v[0].extent[0], v[2].extent[0], v);
    check_equal(name, "rows", v[0].extent[1], v[1].extent[1], v);
    check_equal(name, "columns", v[0].extent[2], v[2].extent[2], v);
    check_equal(name, "inner extents", v[1].extent[2], v[2].extent[1], v);
    return;
  }
  const bool taking = kind == TUTTI_OPERATOR_TAKE;
  const tutti_view& chosen = taking ? v[0] : v[1];  // the view with a row per index
  const tutti_view& table = taking ? v[1] : v[0];
  check_equal(name, "inner extents", v[0].extent[2], v[1].extent[2], v);
  check_equal(name, "rows and indices", chosen.extent[1], v[2].extent[0], v);
  if (v[2].dtype != TUTTI_I32 && v[2].dtype != TUTTI_I64) {
    throw_invalid(name + ": indices are " + sdk::dtype_name(v[2].dtype) + ", expected i32 or i64");
  }
  if (table.extent[1] == 0 && v[2].extent[0] > 0) {
    throw_invalid(name + ": no rows to index in " + extents(table));
  }
}

// The launch with everything checked that does not need buffers' contents.
tutti_operator_launch checked(const tutti_operator_launch* given, bool shape_only) {
  const tutti_operator_launch mine = sdk::read_struct(given, "operator launch");
  if (sdk::is_ordering(mine.kind)) {
    if (shape_only) return sdk::checked_operator(given);
    return sdk::checked_operator(
        given, [](tutti_buffer* b, const char* what) { return deref(b, what).bytes; });
  }
  const char* name = operator_name(mine.kind);
  if (name == nullptr) sdk::throw_unsupported("operator " + std::to_string(mine.kind));
  const bool biased = mine.kind == TUTTI_OPERATOR_MATMUL && mine.view_count == 4;
  if ((mine.view_count != 3 && !biased) || mine.views == nullptr) {
    throw_invalid(std::string(name) + ": " + std::to_string(mine.view_count) +
                  " views, expected 3");
  }
  for (uint32_t i = 0; i < mine.view_count; ++i) {
    const std::string what = std::string(name) + ": view " + std::to_string(i);
    sdk::validate_view(mine.views[i], what, shape_only);
  }
  check_shapes(name, mine.kind, mine.views);
  if (mine.kind == TUTTI_OPERATOR_MATMUL) sdk::matmul_params(mine);
  if (mine.kind == TUTTI_OPERATOR_SCATTER) sdk::scatter_params(mine);
  return mine;
}

const char* reason_against(const tutti_operator_launch& launch) {
  if (sdk::is_ordering(launch.kind)) return nullptr;
  const int32_t dtype = launch.views[0].dtype;
  const bool complex = dtype == TUTTI_C64 || dtype == TUTTI_C128;
  if (launch.kind == TUTTI_OPERATOR_SCATTER) return sdk::against_scatter(launch, ~0u);
  if (complex && launch.kind != TUTTI_OPERATOR_MATMUL) return "complex numbers are not implemented";
  const bool copying = launch.kind == TUTTI_OPERATOR_TAKE;
  if (dtype == TUTTI_BOOL && !copying) return "sums of bool are not defined";
  return launch.kind == TUTTI_OPERATOR_MATMUL ? sdk::against_epilogue(launch) : nullptr;
}

void run(const tutti_operator_launch& launch) {
  const tutti_view* v = launch.views;
  for (uint32_t i = 0; i < launch.view_count; ++i) {
    const std::string what = operator_name(launch.kind) + std::string(": view ");
    sdk::validate_range(what + std::to_string(i), v[i].offset, sdk::dtype_size(v[i].dtype),
                        v[i].rank, v[i].extent, v[i].stride, v[i].buffer->bytes);
  }
  with_stored_type(static_cast<uint8_t>(v[0].dtype), [&](auto tag) {
    using S = typename decltype(tag)::type;
    if (launch.kind == TUTTI_OPERATOR_TAKE) return take<S>(v[0], v[1], v[2]);
    if (launch.kind != TUTTI_OPERATOR_MATMUL) return scatter<S>(launch);
    if constexpr (!std::is_same_v<typename S::value, bool>) matmul<S>(launch);
  });
}

tutti_status* supports(tutti_device* device, const tutti_operator_launch* launch, int32_t* support,
                       const char** reason) {
  return guarded([&] {
    deref(device, "device");
    deref(support, "support") = TUTTI_SUPPORT_NO;
    const tutti_operator_launch header = sdk::read_struct(launch, "operator launch");
    const char* against = sdk::operator_name(header.kind) == nullptr
                              ? "this operator is unknown to the plugin"
                              : reason_against(checked(launch, true));
    if (against == nullptr) *support = TUTTI_SUPPORT_YES;
    if (reason != nullptr) *reason = against != nullptr ? against : "";
  });
}

tutti_status* workspace(tutti_device* device, const tutti_operator_launch* launch,
                        uint64_t* bytes) {
  return guarded([&] {
    deref(device, "device");
    checked(launch, true);
    deref(bytes, "bytes") = 0;
  });
}

tutti_status* launch_operator(tutti_stream* stream, const tutti_operator_launch* launch,
                              tutti_event** event) {
  return guarded([&] {
    deref(stream, "stream");
    const tutti_operator_launch mine = checked(launch, false);
    if (const char* against = reason_against(mine)) {
      sdk::throw_unsupported(std::string(operator_name(mine.kind)) + ": " + against);
    }
    if (sdk::is_ordering(mine.kind))
      return enqueue(*stream, event,
                     [copy = sdk::owned_operator_launch(mine)] { order(copy.get()); });
    enqueue(*stream, event, [copy = sdk::owned_operator_launch(mine)] { run(copy.get()); });
  });
}

}  // namespace

const tutti_operator_api operator_api = {sizeof(tutti_operator_api), supports, workspace,
                                         launch_operator};

}  // namespace tutti::reference
