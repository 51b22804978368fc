// SPDX-License-Identifier: Apache-2.0
//
// The operator group: matrix product, take and scatters as nested loops.
#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "reference/objects.hpp"
#include "sdk/host_types.hpp"
#include "sdk/ordering.hpp"
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
void matmul(const sdk::operator_call& launch) {
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
void scatter(const sdk::operator_call& launch, const F& combined) {
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
void scatter(const sdk::operator_call& launch) {
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

// ---- plans

const char* reason_against(const sdk::operator_call& launch) {
  if (sdk::is_ordering(launch.kind)) return nullptr;
  const int32_t dtype = launch.views[0].dtype;
  const bool complex = dtype == TUTTI_C64 || dtype == TUTTI_C128;
  if (launch.kind == TUTTI_OPERATOR_SCATTER) return sdk::against_scatter(launch, ~0u);
  if (complex && launch.kind != TUTTI_OPERATOR_MATMUL) return "complex numbers are not implemented";
  const bool copying = launch.kind == TUTTI_OPERATOR_TAKE;
  if (dtype == TUTTI_BOOL && !copying) return "sums of bool are not defined";
  return launch.kind == TUTTI_OPERATOR_MATMUL ? sdk::against_epilogue(launch) : nullptr;
}

void run(const sdk::operator_call& launch) {
  if (sdk::is_ordering(launch.kind)) return order(launch);
  const tutti_view* v = launch.views;
  with_stored_type(static_cast<uint8_t>(v[0].dtype), [&](auto tag) {
    using S = typename decltype(tag)::type;
    if (launch.kind == TUTTI_OPERATOR_TAKE) return take<S>(v[0], v[1], v[2]);
    if (launch.kind != TUTTI_OPERATOR_MATMUL) return scatter<S>(launch);
    if constexpr (!std::is_same_v<typename S::value, bool>) matmul<S>(launch);
  });
}

// Packed is the second factor of a product, with its columns one after the other: it is read like
// any other view then.
constexpr uint32_t packable = 2;
constexpr uint64_t packed_form = 1;

void lay_out_packed(sdk::owned_operator& what) {
  const tutti_view& b = what.call().views[packable];
  // Unsigned, since that of no batches may be beyond 63 bits.
  what.set_strides(packable, {static_cast<int64_t>(b.extent[1] * b.extent[2]), 1,
                              static_cast<int64_t>(b.extent[1])});
}

// The description, or the reason against it.
std::shared_ptr<const sdk::owned_operator> read_description(const tutti_operator_desc* desc,
                                                            const char*& against) {
  auto what = std::make_shared<sdk::owned_operator>(desc, against);
  if (against != nullptr) return nullptr;
  const sdk::operator_call call = what->call();
  for (uint32_t n = 0; n < call.view_count; ++n) {
    const bool can = call.kind == TUTTI_OPERATOR_MATMUL && n == packable;
    if (what->is_packed(n) && !can) against = "this operand is not packed";
  }
  sdk::check_operator(call);
  if (what->is_measured() && call.kind != TUTTI_OPERATOR_SELECT)
    against = "the extents of this operator's results do not depend on values";
  if (against == nullptr) against = reason_against(call);
  if (against != nullptr) return nullptr;
  if (what->is_packed(packable)) lay_out_packed(*what);
  return what;
}

// Views with the memory of one launch. Keeps the plan's description, so that the plan may go.
struct placed {
  std::shared_ptr<const sdk::owned_operator> what;
  std::array<tutti_view, sdk::most_operands> views;

  placed(std::shared_ptr<const sdk::owned_operator> described, const sdk::operator_memory& memory,
         uint32_t first)
      : what(std::move(described)) {
    const sdk::operator_call call = what->call();
    std::copy(call.views, call.views + call.view_count, views.begin());
    for (uint32_t n = first; n < call.view_count; ++n) {
      views[n].offset = memory.operands[n].offset;
      views[n].buffer = &deref(memory.operands[n].buffer, sdk::operator_name(call.kind));
    }
  }
  sdk::operator_call call() const {
    sdk::operator_call result = what->call();
    result.views = views.data();
    return result;
  }
  // On the stream: a launch beyond its buffers fails its event.
  void check(uint32_t first) const {
    const sdk::operator_call now = call();
    for (uint32_t n = first; n < now.view_count; ++n)
      sdk::check_operand(now, n, views[n].offset, views[n].buffer->bytes);
  }
};

template <typename S>
void copy_view(const tutti_view& from, const tutti_view& to) {
  const accessor<S> source(from), target(to);
  for (uint64_t i = 0; i < to.extent[0]; ++i)
    for (uint64_t j = 0; j < to.extent[1]; ++j)
      for (uint64_t k = 0; k < to.extent[2]; ++k) target.set(i, j, k, source.get(i, j, k));
}

}  // namespace
}  // namespace tutti::reference

struct tutti_plan {
  std::shared_ptr<const tutti::sdk::owned_operator> what;  // kept by launches in line
};

namespace tutti::reference {
namespace {

tutti_status* supports(tutti_device* device, const tutti_operator_desc* desc, int32_t* support,
                       const char** reason) {
  return guarded([&] {
    deref(device, "device");
    deref(support, "support") = TUTTI_SUPPORT_NO;
    const char* against = nullptr;
    if (read_description(desc, against)) *support = TUTTI_SUPPORT_YES;
    if (reason != nullptr) *reason = against != nullptr ? against : "";
  });
}

tutti_status* create(tutti_device* device, const tutti_operator_desc* desc, tutti_plan** plan) {
  return guarded([&] {
    deref(device, "device");
    deref(plan, "plan") = nullptr;
    const char* against = nullptr;
    auto what = read_description(desc, against);
    if (!what) sdk::throw_unsupported(against);
    *plan = new tutti_plan{std::move(what)};
  });
}

void release(tutti_plan* plan) { delete plan; }

tutti_status* workspace(tutti_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    deref(plan, "plan");
    deref(bytes, "bytes") = 0;
  });
}

tutti_status* launch_operator(tutti_stream* stream, tutti_plan* plan,
                              const tutti_operator_launch* given, tutti_event** event) {
  return guarded([&] {
    const auto what = deref(plan, "plan").what;
    if (what->is_measured())
      throw_invalid(std::string(sdk::operator_name(what->call().kind)) +
                    ": launched with extents that are unknown");
    placed work(what, sdk::read_launch(given, what->call()), 0);
    enqueue(deref(stream, "stream"), event, [work = std::move(work)] {
      work.check(0);
      run(work.call());
    });
  });
}

const tutti_view& packed_view(const tutti_plan& plan, uint32_t operand) {
  const sdk::operator_call call = plan.what->call();
  if (operand >= call.view_count || !plan.what->is_packed(operand)) {
    throw_invalid(std::string(sdk::operator_name(call.kind)) + ": operand " +
                  std::to_string(operand) + " of the plan is not packed");
  }
  return call.views[operand];
}

tutti_status* packed(tutti_plan* plan, uint32_t operand, uint64_t* bytes, uint64_t* form) {
  return guarded([&] {
    const tutti_view& v = packed_view(deref(plan, "plan"), operand);
    deref(bytes, "bytes") = v.extent[0] * v.extent[1] * v.extent[2] * sdk::dtype_size(v.dtype);
    deref(form, "form") = packed_form;
  });
}

tutti_status* pack(tutti_stream* stream, tutti_plan* plan, uint32_t operand, const tutti_view* from,
                   const tutti_range* to, tutti_event** event) {
  return guarded([&] {
    tutti_view target = packed_view(deref(plan, "plan"), operand);
    const tutti_view source = deref(from, "view to pack");
    target.buffer = deref(to, "packed operand").buffer;
    target.offset = to->offset;
    sdk::validate_view(source, "pack", false);
    sdk::validate_view(target, "pack", false);
    if (source.dtype != target.dtype || source.rank != target.rank ||
        !std::equal(source.extent, source.extent + source.rank, target.extent))
      throw_invalid("pack: the view has another dtype or shape than the plan's operand");
    enqueue(deref(stream, "stream"), event, [source, target] {
      for (const tutti_view* v : {&source, &target})
        sdk::validate_range("pack", v->offset, sdk::dtype_size(v->dtype), v->rank, v->extent,
                            v->stride, v->buffer->bytes);
      with_stored_type(static_cast<uint8_t>(target.dtype),
                       [&](auto tag) { copy_view<typename decltype(tag)::type>(source, target); });
    });
  });
}

tutti_status* measure(tutti_stream* stream, tutti_plan* plan, const tutti_operator_launch* given,
                      const tutti_range* to, tutti_event** event) {
  return guarded([&] {
    const auto what = deref(plan, "plan").what;
    const char* name = sdk::operator_name(what->call().kind);
    if (!what->is_measured())
      throw_invalid(std::string(name) + ": there is nothing to measure, the extents are known");
    placed work(what, sdk::read_launch(given, what->call()), 1);
    const tutti_range place = deref(to, "extents");
    deref(place.buffer, "buffer of the extents");
    enqueue(deref(stream, "stream"), event, [work = std::move(work), place] {
      work.check(1);
      const uint64_t extents[TUTTI_MAX_RANK] = {selected(work.call())};
      sdk::validate_span("extents", place.offset, sizeof extents, place.buffer->bytes);
      std::memcpy(place.buffer->data + place.offset, extents, sizeof extents);
    });
  });
}

}  // namespace

const tutti_operator_api operator_api = {sizeof(tutti_operator_api),
                                         supports,
                                         create,
                                         release,
                                         workspace,
                                         launch_operator,
                                         packed,
                                         pack,
                                         measure};

}  // namespace tutti::reference
