// SPDX-License-Identifier: Apache-2.0
//
// Random programs by loops on the host, with bounds of the errors that a device may make.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "expression.hpp"

namespace tutti_test {
namespace {

using complex = std::complex<double>;
using tutti::dtype;

// A value and how far it may be off.
struct element {
  complex value;
  double bound = 0;
  double real() const { return value.real(); }
};

std::size_t index_of(const tutti::shape& extents, const position& i) {
  std::int64_t place = 0;
  for (int d = 0; d < extents.rank(); ++d) place = place * extents[d] + i[std::size_t(d)];
  return static_cast<std::size_t>(place);
}

element at(const host_array& a, const position& i) {
  const std::size_t place = index_of(a.extents, i);
  return {a.values.at(place), a.bounds.at(place)};
}

element broadcast_at(const host_array& a, const position& i) {
  const auto shift = i.size() - static_cast<std::size_t>(a.extents.rank());
  position own;
  for (int k = 0; k < a.extents.rank(); ++k)
    own.push_back(a.extents[k] == 1 ? 0 : i[shift + static_cast<std::size_t>(k)]);
  return at(a, own);
}

// Half the distance of numbers around 1.
double unit(dtype type) {
  switch (tutti::real_dtype(type)) {
    case dtype::f64:
      return 0x1p-53;
    case dtype::f16:
      return 0x1p-11;
    case dtype::bf16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

// What the few instructions of a step may add, their own ulps included, and what denormals lose.
element rounded(complex value, double bound, dtypes types) {
  return {value, bound + unit(types.real) * (6 * std::abs(value) + 4) + 0x1p-25 * unit(types.real)};
}

// ---- integers: 64 bits hold every result before it wraps

double remainder_97(std::int64_t v, dtypes types) {
  const int lost = 64 - 8 * static_cast<int>(tutti::size_of(types.integer));
  if (!is_signed(types))
    return static_cast<double>((static_cast<std::uint64_t>(v) << lost >> lost) % 97);
  const std::int64_t wrapped =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(v) << lost) >> lost;
  return static_cast<double>((wrapped % 97 + 97) % 97 - 48);
}

// Of a sum, which is made in i64 or u64.
double wide_remainder_97(std::int64_t v, dtypes types) {
  return remainder_97(v, {types.real, is_signed(types) ? dtype::i64 : dtype::u64});
}

double integer_unary(int choice, double v, dtypes types) {
  switch (choice % 4) {
    case 0:
      return is_signed(types) ? -v : remainder_97(-static_cast<std::int64_t>(v), types);
    case 1:
      return std::fabs(v);
    case 2:
      return std::fmax(v, 0);
    default:
      return std::fmin(v, 7);
  }
}

double integer_binary(int choice, double x, double y, dtypes types) {
  const auto v = static_cast<std::int64_t>(x), w = static_cast<std::int64_t>(y);
  switch (choice) {
    case 0:
      return remainder_97(v + w, types);
    case 1:
      return remainder_97(v - w, types);
    case 2:
      return remainder_97(v * w, types);
    case 3:
      return std::fmin(x, y);
    default:
      return std::fmax(x, y);
  }
}

// ---- reals and complex numbers

element real_unary(int choice, element e, dtypes types) {
  const double v = e.real(), b = e.bound;
  const auto make = [&](double value, double slope) { return rounded(value, slope * b, types); };
  switch (choice) {
    case 0:
      return make(std::tanh(v), 1);
    case 1:
      return make(std::sin(v), 1);
    case 2:
      return make(std::cos(v), 1);
    case 3:
      return make(std::exp(-std::fabs(v)), 1);
    case 4:
      return make(std::sqrt(std::fabs(v) + 0.25), 1);
    case 5:
      return {-v, b};
    case 6:
      return {std::fabs(v), b};
    case 7:
      return make(1 / (1 + std::exp(-v)), 0.25);
    case 8:
      return make((complex(v, -0.5) * complex(v, 1)).real() / 5, (2 * std::fabs(v) + b) / 5);
    case 9:
      return make(std::abs(complex(v, 1)) / 2, 0.5);
    default:
      return make(std::exp(complex(-std::fabs(v), v)).imag(), 1.5);
  }
}

element float_binary(int choice, element x, element y, dtypes types) {
  const double sizes = std::abs(x.value) * y.bound + std::abs(y.value) * x.bound;
  switch (choice) {
    case 0:
      return rounded((x.value + y.value) / 2.0, (x.bound + y.bound) / 2, types);
    case 1:
      return rounded((x.value - y.value) / 2.0, (x.bound + y.bound) / 2, types);
    case 2:
      return rounded(x.value * y.value / 4.0, (sizes + x.bound * y.bound) / 4, types);
    case 3:
      return {std::fmin(x.real(), y.real()), std::fmax(x.bound, y.bound)};
    default:
      return {std::fmax(x.real(), y.real()), std::fmax(x.bound, y.bound)};
  }
}

double truth_binary(int choice, double x, double y) {
  const bool all[] = {x != 0 && y != 0, x != 0 || y != 0, x != y};
  return all[choice % 3] ? 1 : 0;
}

double compared(int choice, double x, double y) {
  const bool all[] = {x < y, x == y, x != y, x >= y};
  return all[choice % 4] ? 1 : 0;
}

// ---- steps that look at several elements

// What adding up `count` numbers of these absolute values in any order may lose.
double lost_in_sum(double absolute, double count, dtypes types) {
  return absolute * count * (types.real == dtype::f64 ? 0x1p-53 : 0x1p-24);
}

element reduced(const step& s, const std::vector<element>& all, dtypes types) {
  complex sum = 0;
  double low = HUGE_VAL, high = -HUGE_VAL, errors = 0, worst = 0, absolute = 0;
  for (const element& e : all) {
    sum += e.value;
    absolute += std::abs(e.value);
    errors += e.bound;
    worst = std::fmax(worst, e.bound);
    low = std::fmin(low, e.real());
    high = std::fmax(high, e.real());
  }
  const double count = static_cast<double>(all.size());
  if (s.kind == value_kind::truth) return {s.choice % 2 == 0 ? low : high};
  if (s.choice == 1 && s.kind != value_kind::complex) return {low, worst};
  if (s.choice == 2 && s.kind != value_kind::complex) return {high, worst};
  if (s.kind == value_kind::integer)
    return {wide_remainder_97(static_cast<std::int64_t>(sum.real()), types)};
  return rounded(sum / count, (errors + lost_in_sum(absolute, count, types)) / count, types);
}

// The elements of a row along an axis, one for each step along it.
std::vector<element> row_of(const host_array& a, position i, int axis) {
  std::vector<element> out;
  for (auto& k = i[static_cast<std::size_t>(axis)] = 0; k < a.extents[axis]; ++k)
    out.push_back(at(a, i));
  return out;
}

element scanned(const step& s, const host_array& from, const position& i, dtypes types) {
  const int axis = static_cast<int>(s.numbers[0]);
  std::vector<element> row = row_of(from, i, axis);
  const double extent = static_cast<double>(row.size());
  row.resize(static_cast<std::size_t>(i[static_cast<std::size_t>(axis)]) + 1);
  if (s.choice != 0) return reduced(s, row, types);
  complex sum = 0;
  double errors = 0, absolute = 0;
  for (const element& e : row) sum += e.value, errors += e.bound, absolute += std::abs(e.value);
  if (s.kind == value_kind::integer)
    return {wide_remainder_97(static_cast<std::int64_t>(sum.real()), types)};
  return rounded(sum / extent, (errors + lost_in_sum(absolute, extent, types)) / extent, types);
}

element sorted(const step& s, const host_array& from, const position& i, dtypes types) {
  const int axis = static_cast<int>(s.numbers[0]);
  const std::vector<element> row = row_of(from, i, axis);
  std::vector<std::size_t> order(row.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    return s.choice == 1 ? row[y].real() < row[x].real() : row[x].real() < row[y].real();
  });
  const std::size_t found = order[static_cast<std::size_t>(i[static_cast<std::size_t>(axis)])];
  if (s.what == operation::argsort)
    return {static_cast<double>(found % 97) - (is_signed(types) ? 48 : 0)};
  double worst = 0;  // an element may take its neighbour's place
  for (const element& e : row) worst = std::fmax(worst, e.bound);
  return {row[found].value, worst};
}

element reduced_at(const step& s, const host_array& from, const position& kept, dtypes types) {
  std::vector<element> all;
  tabulate(from.extents, [&](const position& i) {
    std::size_t k = 0;
    for (int d = 0; d < from.extents.rank(); ++d) {
      if (std::find(s.numbers.begin(), s.numbers.end(), d) != s.numbers.end()) continue;
      if (i[static_cast<std::size_t>(d)] != kept[k++]) return 0;
    }
    all.push_back(at(from, i));
    return 0;
  });
  return reduced(s, all, types);
}

element product_at(const host_array& a, const host_array& b, const position& i, dtypes types) {
  element sum;
  double absolute = 0;
  const std::int64_t inner = a.extents[1];
  for (std::int64_t k = 0; k < inner; ++k) {
    const element x = at(a, {i[0], k}), y = at(b, {k, i[1]});
    sum.value += x.value * y.value;
    absolute += std::abs(x.value * y.value);
    sum.bound += std::abs(x.value) * y.bound + std::abs(y.value) * x.bound + x.bound * y.bound;
  }
  const double scale = 4 * static_cast<double>(inner);
  sum.bound += lost_in_sum(2 * absolute, static_cast<double>(inner), types);
  return rounded(sum.value / scale, sum.bound / scale, types);
}

element unary_at(const step& s, element e, dtypes types) {
  switch (s.kind) {
    case value_kind::integer:
      return {integer_unary(s.choice, e.real(), types)};
    case value_kind::truth:
      return {e.real() == 0 ? 1.0 : 0.0};
    case value_kind::complex:
      return {s.choice % 2 == 0 ? -e.value : std::conj(e.value), e.bound};
    default:
      return real_unary(s.choice, e, types);
  }
}

element binary_at(const step& s, element x, element y, dtypes types) {
  if (s.kind == value_kind::integer) return {integer_binary(s.choice, x.real(), y.real(), types)};
  if (s.kind == value_kind::truth) return {truth_binary(s.choice, x.real(), y.real())};
  return float_binary(s.kind == value_kind::complex ? s.choice % 3 : s.choice, x, y, types);
}

// Where an element of a step that only moves them comes from.
element moved_at(const step& s, const host_array& a, const host_array* second, position i) {
  switch (s.what) {
    case operation::transpose: {
      position j = i;
      for (int d = 0; d < s.numbers.rank(); ++d)
        j[static_cast<std::size_t>(s.numbers[d])] = i[static_cast<std::size_t>(d)];
      return at(a, j);
    }
    case operation::slice: {
      auto& place = i[static_cast<std::size_t>(s.numbers[0])];
      place = s.numbers[1] + place * s.numbers[2];
      return at(a, i);
    }
    case operation::concatenate: {
      auto& place = i[static_cast<std::size_t>(s.choice)];
      const std::int64_t first = a.extents[s.choice];
      if (place < first) return at(a, i);
      place -= first;
      return at(*second, i);
    }
    default: {  // take
      const std::int64_t place = s.numbers[static_cast<int>(i[0])];
      i[0] = place < 0 ? place + a.extents[0] : place;
      return at(a, i);
    }
  }
}

element element_at(const step& s, const std::vector<host_array>& done, const position& i,
                   dtypes types) {
  const auto from = [&](std::size_t k) -> const host_array& {
    return done[static_cast<std::size_t>(s.from[k])];
  };
  switch (s.what) {
    case operation::unary:
      return unary_at(s, at(from(0), i), types);
    case operation::binary:
      return binary_at(s, broadcast_at(from(0), i), broadcast_at(from(1), i), types);
    case operation::compare:
      return {compared(s.choice, broadcast_at(from(0), i).real(), broadcast_at(from(1), i).real())};
    case operation::where:
      return broadcast_at(broadcast_at(from(0), i).real() != 0 ? from(1) : from(2), i);
    case operation::broadcast:
      return broadcast_at(from(0), i);
    case operation::reduce:
      return reduced_at(s, from(0), i, types);
    case operation::scan:
      return scanned(s, from(0), i, types);
    case operation::sort:
    case operation::argsort:
      return sorted(s, from(0), i, types);
    case operation::product:
      return product_at(from(0), from(1), i, types);
    case operation::to_real:
      return rounded(at(from(0), i).value / 97.0, 0, types);
    case operation::to_integer:
      return at(from(0), i);
    case operation::to_complex: {
      const element x = broadcast_at(from(0), i), y = broadcast_at(from(1), i);
      return {complex(x.real(), y.real()), x.bound + y.bound};
    }
    case operation::part: {
      const element z = at(from(0), i);
      if (s.choice == 2) return rounded(std::abs(z.value) / 2, z.bound / 2, types);
      return rounded(s.choice == 0 ? z.real() : z.value.imag(), z.bound, types);
    }
    default:
      return moved_at(s, from(0), s.from.size() > 1 ? &from(1) : nullptr, i);
  }
}

host_array input_values(const step& s, dtypes types) {
  host_array out{s.shape, {}, {}};
  const bool pairs = s.kind == value_kind::complex;
  const double shift = s.kind == value_kind::integer && !is_signed(types) ? 48 : 0;
  for (std::size_t i = 0; i < s.values.values.size(); i += pairs ? 2 : 1) {
    const double v = s.values.values[i] + shift;
    out.values.emplace_back(v, pairs ? s.values.values[i + 1] : 0.0);
    const bool rounds = pairs || s.kind == value_kind::real;
    out.bounds.push_back(rounds ? unit(types.real) * std::abs(out.values.back()) : 0);
  }
  return out;
}

}  // namespace

std::vector<host_array> on_host(const program& steps, dtypes types) {
  std::vector<host_array> done;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    const step& s = steps[n];
    host_array out{s.shape, {}, {}};
    if (s.what == operation::input) {
      out = input_values(s, types);
    } else if (s.what == operation::reshape) {
      out = done[static_cast<std::size_t>(s.from[0])];
      out.extents = s.shape;
    } else {
      tabulate(s.shape, [&](const position& i) {
        const element e = element_at(s, done, i, types);
        out.values.push_back(e.value);
        out.bounds.push_back(e.bound);
        return 0;
      });
    }
    done.push_back(std::move(out));
  }
  return done;
}

std::optional<std::string> difference(const host_array& got, const host_array& expected) {
  if (got.extents != expected.extents)
    return "got shape " + got.extents.str() + ", expected " + expected.extents.str();
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    const double error = std::abs(got.values[i] - expected.values[i]);
    if (error <= expected.bounds[i]) continue;
    std::ostringstream text;
    text.precision(17);
    text << "[" << i << "] got " << got.values[i] << ", expected " << expected.values[i]
         << " to within " << expected.bounds[i];
    return text.str();
  }
  return std::nullopt;
}

}  // namespace tutti_test
