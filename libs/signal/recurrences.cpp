// SPDX-License-Identifier: Apache-2.0
#include "signal/recurrences.hpp"

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "base/fail.hpp"
#include "signal/windows.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/movement.hpp"

namespace tutti::op {

namespace {

/// Row-major.
template <class T>
struct matrix_of {
  std::int64_t rows, columns;
  std::vector<T> values;

  matrix_of(std::int64_t m, std::int64_t n)
      : rows(m),
        columns(n),
        values(detail::host_vector<T>(
            "lfilter", static_cast<std::uint64_t>(graph::extent_product(m, n, "lfilter")))) {}
  T& at(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
  const T& at(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
};

using host_matrix = matrix_of<double>;
using long_matrix = matrix_of<long double>;

template <class T>
matrix_of<T> identity_matrix(std::int64_t n) {
  matrix_of<T> m(n, n);
  for (std::int64_t i = 0; i < n; ++i) m.at(i, i) = 1;
  return m;
}

template <class T>
matrix_of<T> operator*(const matrix_of<T>& a, const matrix_of<T>& b) {
  matrix_of<T> c(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.columns; ++k) {
      const T& left = a.at(i, k);
      if (left == 0) continue;
      for (std::int64_t j = 0; j < b.columns; ++j) c.at(i, j) += left * b.at(k, j);
    }
  return c;
}

host_matrix product_of(const host_matrix& a, const host_matrix& b) {
  host_matrix c(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < b.columns; ++j) {
      long double sum = 0;
      for (std::int64_t k = 0; k < a.columns; ++k)
        sum += static_cast<long double>(a.at(i, k)) * b.at(k, j);
      c.at(i, j) = static_cast<double>(sum);
    }
  return c;
}

/// The outputs y of a block and the state s' after it, from its samples x and the state s before: y
/// = x H + s O, s' = x K + s P.
struct block_matrices {
  host_matrix outputs_of_samples, outputs_of_state, state_of_samples, state_of_state;
};

/// Conversion of states for blocks: z = s inwards, s = z outwards.
struct state_basis {
  host_matrix inwards, outwards;
};

using boost::multiprecision::cpp_bin_float_100;
// Covariances of direct forms have condition numbers of 10^30 and more.
using exact =
    boost::multiprecision::number<cpp_bin_float_100::backend_type, boost::multiprecision::et_off>;

using exact_matrix = matrix_of<exact>;

// s' = x b + s a, y = x d + s c: one step of a filter.
struct one_step {
  exact_matrix a, b, c;
  exact d;
};

constexpr std::int64_t most_states = 48;
constexpr std::size_t most_remembered = 32;

exact_matrix transposed(const exact_matrix& a) {
  exact_matrix t(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) t.at(j, i) = a.at(i, j);
  return t;
}

exact largest(const exact_matrix& a) {
  exact most = 0;
  for (const exact& v : a.values) most = std::max<exact>(most, abs(v));
  return most;
}

template <class T>
matrix_of<T> rounded(const exact_matrix& a) {
  matrix_of<T> m(a.rows, a.columns);
  for (std::size_t i = 0; i < a.values.size(); ++i) m.values[i] = a.values[i].convert_to<T>();
  return m;
}

// The same: d and b, then each row of c and a.
std::vector<double> flattened(const linear_filter& filter) {
  const auto order = static_cast<std::size_t>(filter.order);
  std::vector<double> step, state(order);
  for (std::size_t p = 0; p <= order; ++p) {
    std::fill(state.begin(), state.end(), 0);
    if (p > 0) state[p - 1] = 1;
    step.push_back(filter.step(p == 0 ? 1 : 0, state));
    step.insert(step.end(), state.begin(), state.end());
  }
  return step;
}

one_step step_of(const std::vector<double>& flat, std::int64_t order) {
  one_step s{{order, order}, {1, order}, {order, 1}, flat[0]};
  const auto given = [&](std::int64_t p, std::int64_t q) {
    return flat[static_cast<std::size_t>(p * (order + 1) + q)];
  };
  for (std::int64_t q = 0; q < order; ++q) s.b.at(0, q) = given(0, 1 + q);
  for (std::int64_t p = 0; p < order; ++p) {
    s.c.at(p, 0) = given(p + 1, 0);
    for (std::int64_t q = 0; q < order; ++q) s.a.at(p, q) = given(p + 1, 1 + q);
  }
  return s;
}

// The sum of a^T^k q a^k over all k, where it is finite: Smith's doubling.
std::optional<exact_matrix> covariance(exact_matrix a, exact_matrix q) {
  constexpr int most_doublings = 45;  // a memory of 2^45 samples is considered infinite
  const exact vanished = ldexp(exact(1), -270), diverged = ldexp(exact(1), 700);
  for (int i = 0; i < most_doublings; ++i) {
    const exact_matrix more = transposed(a) * (q * a);
    for (std::size_t k = 0; k < q.values.size(); ++k) q.values[k] += more.values[k];
    a = a * a;
    const exact size = largest(a);
    if (size < vanished) return q;
    if (size > diverged) break;
  }
  return std::nullopt;
}

// u, upper triangular, with u^T u = w.
std::optional<exact_matrix> cholesky(const exact_matrix& w) {
  const std::int64_t n = w.rows;
  exact_matrix u(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    exact rest = w.at(i, i);
    for (std::int64_t k = 0; k < i; ++k) rest -= u.at(k, i) * u.at(k, i);
    if (!(rest > 0)) return std::nullopt;
    u.at(i, i) = sqrt(rest);
    for (std::int64_t j = i + 1; j < n; ++j) {
      exact value = w.at(i, j);
      for (std::int64_t k = 0; k < i; ++k) value -= u.at(k, i) * u.at(k, j);
      u.at(i, j) = value / u.at(i, i);
    }
  }
  return u;
}

exact_matrix inverse_of_upper(const exact_matrix& u) {
  const std::int64_t n = u.rows;
  exact_matrix v(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j + 1; i-- > 0;) {
      exact value = i == j ? 1 : 0;
      for (std::int64_t k = i + 1; k <= j; ++k) value -= u.at(i, k) * v.at(k, j);
      v.at(i, j) = value / u.at(i, i);
    }
  return v;
}

// By running the filter.
block_matrices block_as_it_is(const linear_filter& filter, std::int64_t length) {
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

// In the input-normal basis, for which the precision of a long double suffices.
struct realization {
  long_matrix a, b, c;
  long double d;
  state_basis basis;
};

std::shared_ptr<const realization> input_normal(const std::vector<double>& step,
                                                std::int64_t order) {
  const one_step s = step_of(step, order);
  // Every state has a little noise of its own: some filters do not reach all of their states.
  const exact scale = largest(s.b);
  exact_matrix noise = transposed(s.b) * s.b;
  const exact own = scale > 0 ? exact(ldexp(exact(scale * scale), -133)) : exact(1);
  for (std::int64_t i = 0; i < noise.rows; ++i) noise.at(i, i) += own;
  const std::optional<exact_matrix> w = covariance(s.a, noise);
  const std::optional<exact_matrix> u = w ? cholesky(*w) : std::nullopt;
  if (!u) return nullptr;
  const exact_matrix v = inverse_of_upper(*u);
  return std::make_shared<realization>(realization{rounded<long double>(*u * s.a * v),
                                                   rounded<long double>(s.b * v),
                                                   rounded<long double>(*u * s.c),
                                                   s.d.convert_to<long double>(),
                                                   {rounded<double>(v), rounded<double>(*u)}});
}

// Signals that are given in parts request the same filter repeatedly.
std::shared_ptr<const realization> remembered(const linear_filter& filter) {
  struct entry {
    std::vector<double> step;
    std::shared_ptr<const realization> result;
  };
  static std::mutex mutex;
  static auto& known = *new std::deque<entry>;  // used by threads that outlive main()
  const std::vector<double> step = flattened(filter);
  {
    const std::lock_guard lock(mutex);
    for (const entry& e : known)
      if (e.step == step) return e.result;
  }
  std::shared_ptr<const realization> made = input_normal(step, filter.order);
  const std::lock_guard lock(mutex);
  if (known.size() == most_remembered) known.pop_front();
  known.push_back({step, made});
  return made;
}

/// The blocks of a filter, in a basis of states in which P does not enlarge any state. In the basis
/// of the direct form, powers of P have large elements that cancel, and rounding moves poles
/// outside of the unit circle. Here the states for white noise have the identity as covariance
/// (input-normal form: Mullis and Roberts, "Synthesis of minimum roundoff noise fixed-point digital
/// filters", 1976). Filters that are not stable, and those with more than 48 states, keep their
/// basis.
class filter_blocks {
 public:
  explicit filter_blocks(const linear_filter& filter) : filter_(filter) {
    if (filter.order > 0 && filter.order <= most_states) normal_ = remembered(filter);
  }

  block_matrices of_length(std::int64_t length) const {
    if (!normal_) return block_as_it_is(filter_, length);
    const std::int64_t order = filter_.order;
    block_matrices m{{length, length}, {order, length}, {length, order}, {order, order}};
    long_matrix state = normal_->b, seen = normal_->c;  // b a^n, a^n c
    for (std::int64_t n = 0; n < length; ++n) {
      const long double response = n == 0 ? normal_->d : (normal_->b * seen).at(0, 0);
      for (std::int64_t i = 0; i + n < length; ++i)
        m.outputs_of_samples.at(i, i + n) = static_cast<double>(response);
      if (n > 0) {
        seen = normal_->a * seen;
        state = state * normal_->a;
      }
      for (std::int64_t q = 0; q < order; ++q) {
        m.outputs_of_state.at(q, n) = static_cast<double>(seen.at(q, 0));
        m.state_of_samples.at(length - 1 - n, q) = static_cast<double>(state.at(0, q));
      }
    }
    long_matrix power = normal_->a, result = identity_matrix<long double>(order);
    for (std::int64_t n = length; n > 0; n /= 2) {
      if (n % 2 == 1) result = result * power;
      if (n > 1) power = power * power;
    }
    for (std::size_t i = 0; i < result.values.size(); ++i)
      m.state_of_state.values[i] = static_cast<double>(result.values[i]);
    return m;
  }

  state_basis basis() const {
    if (!normal_)
      return {identity_matrix<double>(filter_.order), identity_matrix<double>(filter_.order)};
    return normal_->basis;
  }

 private:
  const linear_filter& filter_;
  std::shared_ptr<const realization> normal_;  // null for the basis of `filter_`
};

constexpr std::int64_t block_length = 64;

class recurrence {
 public:
  recurrence(const array& like, std::string_view op) : like_(like), op_(op) {}

  array upload(const host_matrix& m) const {
    for (const double value : m.values)
      if (!std::isfinite(value))
        base::fail<value_error>("{}: the response of an unstable filter overflows", op_);
    return host_numbers(like_.device(), m.values, {m.rows, m.columns}, real_dtype(like_.dtype()),
                        op_);
  }

  // Of s[k + 1] = s[k] p + c[k], s[0] = first, for c [rows, count, order]: all s[k], k < count.
  array states(const array& c, const host_matrix& p, const array& first) const {
    const std::int64_t rows = c.dim(0), count = c.dim(1), order = p.rows;
    const std::int64_t group = std::min(count, std::clamp<std::int64_t>(128 / order, 2, 32));
    const std::int64_t groups = (count - 1) / group + 1;
    std::vector<host_matrix> powers = {identity_matrix<double>(order)};
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
