// SPDX-License-Identifier: Apache-2.0
#include "op/signal/recurrences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "op/signal/windows.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/movement.hpp"

namespace tutti::op {

namespace {

constexpr std::int64_t block_length = 64;

// Row-major, on the host.
struct host_matrix {
  std::int64_t rows, columns;
  std::vector<double> values;
  host_matrix(std::int64_t m, std::int64_t n)
      : rows(m),
        columns(n),
        values(detail::host_vector<double>(
            "lfilter", static_cast<std::uint64_t>(graph::extent_product(m, n, "lfilter")))) {}
  double& at(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
  double at(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
};

host_matrix identity_matrix(std::int64_t n) {
  host_matrix m(n, n);
  for (std::int64_t i = 0; i < n; ++i) m.at(i, i) = 1;
  return m;
}

host_matrix product_of(const host_matrix& a, const host_matrix& b) {
  host_matrix c(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.columns; ++k)
      for (std::int64_t j = 0; j < b.columns; ++j) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}

// The samples and the state behind a block from those before it, from the right.
struct block_matrices {
  host_matrix outputs_of_samples, outputs_of_state, state_of_samples, state_of_state;
};

block_matrices block_of(const linear_filter& filter, std::int64_t length) {
  const std::int64_t order = filter.order;
  block_matrices m{{length, length}, {order, length}, {length, order}, {order, order}};
  const auto states = static_cast<std::size_t>(order);
  std::vector<double> state(states);
  for (std::int64_t n = 0; n < length; ++n) {
    const double y = filter.step(n == 0 ? 1 : 0, state);
    for (std::int64_t i = 0; i + n < length; ++i) m.outputs_of_samples.at(i, i + n) = y;
    for (std::int64_t q = 0; q < order; ++q)
      m.state_of_samples.at(length - 1 - n, q) = state[static_cast<std::size_t>(q)];
  }
  for (std::int64_t p = 0; p < order; ++p) {
    std::fill(state.begin(), state.end(), 0);
    state[static_cast<std::size_t>(p)] = 1;
    for (std::int64_t n = 0; n < length; ++n) m.outputs_of_state.at(p, n) = filter.step(0, state);
    for (std::int64_t q = 0; q < order; ++q)
      m.state_of_state.at(p, q) = state[static_cast<std::size_t>(q)];
  }
  return m;
}

class recurrence {
 public:
  recurrence(const array& like, std::string_view op) : like_(like), op_(op) {}

  array upload(const host_matrix& m) const {
    for (const double value : m.values)
      if (!std::isfinite(value))
        throw value_error(fmt::format("{}: the response of an unstable filter overflows", op_));
    return host_numbers(like_.device(), m.values, {m.rows, m.columns}, real_dtype(like_.dtype()),
                        op_);
  }

  // Of s[k + 1] = s[k] p + c[k], s[0] = first, for c [rows, count, order]: all s[k], k < count.
  array states(const array& c, const host_matrix& p, const array& first) const {
    const std::int64_t rows = c.dim(0), count = c.dim(1), order = p.rows;
    const std::int64_t group = std::min(count, std::clamp<std::int64_t>(128 / order, 2, 32));
    const std::int64_t groups = (count - 1) / group + 1;
    std::vector<host_matrix> powers = {identity_matrix(order)};
    while (static_cast<std::int64_t>(powers.size()) <= group)
      powers.push_back(product_of(powers.back(), p));
    host_matrix within(group * order, group * order), onwards(group * order, order),
        from_first(order, group * order);
    for (std::int64_t i = 0; i < group; ++i) {
      for (std::int64_t j = i + 1; j < group; ++j)
        place(within, i * order, j * order, powers[static_cast<std::size_t>(j - 1 - i)]);
      place(onwards, i * order, 0, powers[static_cast<std::size_t>(group - 1 - i)]);
      place(from_first, 0, i * order, powers[static_cast<std::size_t>(i)]);
    }
    const array padded = pad(c, {{0, 0}, {0, groups * group - count}, {0, 0}});
    const array joined = reshape(padded, {rows, groups, group * order});
    const array start = groups == 1 ? reshape(first, {rows, 1, order})
                                    : states(matmul(joined, upload(onwards)), powers.back(), first);
    const array all = matmul(joined, upload(within)) + matmul(start, upload(from_first));
    return reshape(all, {rows, groups * group, order})({slice{}, slice{0, count, 1}});
  }

 private:
  static void place(host_matrix& to, std::int64_t row, std::int64_t column,
                    const host_matrix& part) {
    for (std::int64_t i = 0; i < part.rows; ++i)
      for (std::int64_t j = 0; j < part.columns; ++j) to.at(row + i, column + j) = part.at(i, j);
  }

  const array& like_;
  std::string_view op_;
};

}  // namespace

filtered_lines run_filter(const linear_filter& filter, const array& x, const array& state,
                          std::string_view op) {
  const std::int64_t rows = x.dim(0), length = x.dim(1), order = filter.order;
  const std::int64_t blocks = length / block_length, whole = blocks * block_length;
  const recurrence r(x, op);
  array before = state;
  std::vector<array> parts;
  const auto outputs = [&](const array& samples, const array& from, const block_matrices& m) {
    const array own = matmul(samples, r.upload(m.outputs_of_samples));
    return order == 0 ? own : own + matmul(from, r.upload(m.outputs_of_state));
  };
  if (blocks > 0) {
    const block_matrices m = block_of(filter, block_length);
    const array samples = reshape(x({slice{}, slice{0, whole, 1}}), {rows, blocks, block_length});
    array from = state;
    if (order > 0) {
      // One more, for the state behind the last block.
      const array changes =
          pad(matmul(samples, r.upload(m.state_of_samples)), {{0, 0}, {0, 1}, {0, 0}});
      const array all = r.states(changes, m.state_of_state, state);
      from = all({slice{}, slice{0, blocks, 1}});
      before = reshape(all({slice{}, slice{blocks, blocks + 1, 1}}), {rows, order});
    }
    parts.push_back(reshape(outputs(samples, from, m), {rows, whole}));
  }
  if (whole < length) {
    const block_matrices m = block_of(filter, length - whole);
    const array samples = x({slice{}, slice{whole, length, 1}});
    parts.push_back(outputs(samples, before, m));
    if (order > 0)
      before = matmul(samples, r.upload(m.state_of_samples)) +
               matmul(before, r.upload(m.state_of_state));
  }
  return {parts.size() == 1 ? parts[0] : concatenate(parts, 1), before};
}

}  // namespace tutti::op
