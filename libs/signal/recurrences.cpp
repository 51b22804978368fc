// SPDX-License-Identifier: Apache-2.0
#include "signal/recurrences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "signal/windows.hpp"
#include "tutti/movement.hpp"

namespace tutti::op {

namespace {

constexpr std::int64_t block_length = 64;

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
  const filter_blocks of(filter);
  const state_basis basis = of.basis();
  const array first = order > 0 ? matmul(state, r.upload(basis.inwards)) : state;
  array before = first;
  std::vector<array> parts;
  const auto outputs = [&](const array& samples, const array& from, const block_matrices& m) {
    const array own = matmul(samples, r.upload(m.outputs_of_samples));
    return order == 0 ? own : own + matmul(from, r.upload(m.outputs_of_state));
  };
  if (blocks > 0) {
    const block_matrices m = of.of_length(block_length);
    const array samples = reshape(x({slice{}, slice{0, whole, 1}}), {rows, blocks, block_length});
    array from = first;
    if (order > 0) {
      // One more, for the state after the last block.
      const array changes =
          pad(matmul(samples, r.upload(m.state_of_samples)), {{0, 0}, {0, 1}, {0, 0}});
      const array all = r.states(changes, m.state_of_state, first);
      from = all({slice{}, slice{0, blocks, 1}});
      before = reshape(all({slice{}, slice{blocks, blocks + 1, 1}}), {rows, order});
    }
    parts.push_back(reshape(outputs(samples, from, m), {rows, whole}));
  }
  if (whole < length) {
    const block_matrices m = of.of_length(length - whole);
    const array samples = x({slice{}, slice{whole, length, 1}});
    parts.push_back(outputs(samples, before, m));
    if (order > 0)
      before = matmul(samples, r.upload(m.state_of_samples)) +
               matmul(before, r.upload(m.state_of_state));
  }
  if (order > 0) before = matmul(before, r.upload(basis.outwards));
  return {parts.size() == 1 ? parts[0] : concatenate(parts, 1), before};
}

}  // namespace tutti::op
