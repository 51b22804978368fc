// SPDX-License-Identifier: Apache-2.0
//
// Matrix product as nested loops, and the memory of a launch.
#include "sdk/host_layer/host_operator.hpp"

#include <algorithm>
#include <complex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sdk/host_layer/view_elements.hpp"
#include "sdk/host_types.hpp"
#include "sdk/status.hpp"
#include "sdk/validate_operator.hpp"
#include "semantics/host_math.hpp"

namespace tutti::sdk {
namespace {

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

// Floats are summed in double, integers wrap. Computes one row of the result at a time, so that b
// is read along its rows.
template <typename S>
class product {
  using T = typename S::value;
  using total = typename sum_type<T>::type;

 public:
  explicit product(const host_call& launch)
      : params_(matmul_params(*launch.what)),
        depth_(launch.views[1].extent[2]),
        columns_(launch.views[0].extent[2]),
        out_(launch.views[0]),
        a_(launch.views[1]),
        b_(launch.views[2]),
        bias_(launch.views[params_.has_bias != 0 ? 3 : 0]) {}

  void row(uint64_t batch, uint64_t row, std::vector<total>& sums) const {
    sums.assign(columns_, total(0));
    for (uint64_t k = 0; k < depth_; ++k) {
      const total left = a_.get(batch, row, k);
      for (uint64_t column = 0; column < columns_; ++column) {
        sums[column] = multiply_add<total>(left, b_.get(batch, k, column), sums[column]);
      }
    }
    for (uint64_t column = 0; column < columns_; ++column) {
      total value = sums[column];
      if (params_.has_bias != 0)
        value = multiply_add<total>(bias_.get(batch, row, column), total(1), value);
      if constexpr (std::is_floating_point_v<T>) {
        if (params_.activation == TUTTI_ACTIVATION_RELU) value = host::maximum<total>(value, 0);
      }
      out_.set(batch, row, column, static_cast<T>(value));
    }
  }

  static void run(const host_call& launch) {
    const product all(launch);
    const uint64_t batches = launch.views[0].extent[0], rows = launch.views[0].extent[1];
    const uint64_t steps = all.depth_ > 0 ? all.columns_ * all.depth_ : all.columns_;
    share_rows(launch, batches * rows, steps, [&](uint64_t begin, uint64_t end) {
      std::vector<total> sums;
      for (uint64_t n = begin; n < end; ++n) all.row(n / rows, n % rows, sums);
    });
  }

 private:
  tutti_matmul_params params_;
  uint64_t depth_, columns_;
  accessor<S> out_, a_, b_, bias_;
};

void run_on_host(const host_call& launch) {
  switch (launch.what->kind) {
#define TUTTI_OPERATOR(number, NAME, name, ...) \
  case TUTTI_OPERATOR_##NAME:                   \
    return name##_on_host(launch);
#include "tutti/operator.def"
#undef TUTTI_OPERATOR
  }
}

}  // namespace

void matmul_on_host(const host_call& launch) {
  with_stored_type(static_cast<uint8_t>(launch.views[0].dtype), [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<typename S::value, bool>) product<S>::run(launch);
  });
}

const char* against_on_host(const operator_call& launch) {
  if (launch.kind == TUTTI_OPERATOR_SCATTER) return against_scatter(launch, ~0u);
  return launch.kind == TUTTI_OPERATOR_MATMUL ? against_epilogue(launch) : nullptr;
}

std::shared_ptr<const owned_operator> read_for_host(const tutti_operator_desc* desc,
                                                    const char*& against) {
  auto what = std::make_shared<owned_operator>(desc, against);
  if (against != nullptr) return nullptr;
  check_operator(what->call());
  against = against_on_host(what->call());
  return against == nullptr ? what : nullptr;
}

void share_rows(const host_call& call, uint64_t items, uint64_t steps,
                const thread_team::range& body) {
  constexpr uint64_t steps_of_a_piece = 16384;
  call.team->split(items, steps_of_a_piece / std::max<uint64_t>(steps, 1), body);
}

host_operator::host_operator(std::shared_ptr<const owned_operator> what,
                             const operator_memory& memory, find_memory find)
    : what_(std::move(what)) {
  const operator_call call = what_->call();
  for (uint32_t n = 0; n < call.view_count; ++n) {
    const tutti_range& given = memory.operands[n];
    places_[n] = {find(deref(given.buffer, operator_name(call.kind))), given.offset};
  }
}

std::array<host_view, most_operands> host_operator::checked_views() const {
  const operator_call call = what_->call();
  std::array<host_view, most_operands> views{};
  for (uint32_t n = 0; n < call.view_count; ++n) {
    const tutti_view& v = call.views[n];
    check_operand(call, n, places_[n].offset, places_[n].memory.bytes);
    views[n] = {places_[n].memory.data + places_[n].offset, v.dtype, v.rank, v.extent, v.stride};
  }
  return views;
}

void host_operator::run(thread_team& team) const {
  const auto views = checked_views();
  const operator_call call = what_->call();
  run_on_host({&call, views.data(), &team});
}

std::array<std::byte*, most_operands> host_operator::addresses() const {
  std::array<std::byte*, most_operands> at{};
  const auto views = checked_views();
  for (size_t n = 0; n < at.size(); ++n) at[n] = views[n].data;
  return at;
}

}  // namespace tutti::sdk
