// SPDX-License-Identifier: Apache-2.0
//
// Random programs on the device; printing them.
#include "expression.hpp"

#include <cmath>

#include "tutti/sorting.hpp"

namespace tutti_test {
namespace {

using tutti::array;
using tutti::dtype;

array remainder_97(const array& v, dtypes types) { return is_signed(types) ? v % 97 - 48 : v % 97; }

array integer_unary(int choice, const array& v, dtypes types) {
  switch (choice % 4) {
    case 0:
      return is_signed(types) ? -v : remainder_97(-v, types);
    case 1:
      return tutti::abs(v);
    case 2:
      return tutti::maximum(v, 0);
    default:
      return tutti::minimum(v, 7);
  }
}

array real_unary(int choice, const array& v, dtypes types) {
  using namespace tutti;
  switch (choice) {
    case 0:
      return tanh(v);
    case 1:
      return sin(v);
    case 2:
      return cos(v);
    case 3:
      return exp(-abs(v));
    case 4:
      return sqrt(abs(v) + 0.25);
    case 5:
      return -v;
    case 6:
      return abs(v);
    case 7:
      return sigmoid(v);
    case 8:
      return (real(complex(v, -0.5) * complex(v, 1)) / 5).astype(types.real);
    case 9:
      return (abs(v + std::complex<double>(0, 1)) / 2).astype(types.real);
    default:
      return imag(exp(complex(-abs(v), v))).astype(types.real);
  }
}

array unary(const step& s, const array& v, dtypes types) {
  switch (s.kind) {
    case value_kind::integer:
      return integer_unary(s.choice, v, types);
    case value_kind::truth:
      return !v;
    case value_kind::complex:
      return s.choice % 2 == 0 ? -v : tutti::conj(v);
    default:
      return real_unary(s.choice, v, types);
  }
}

array binary(const step& s, const array& v, const array& w, dtypes types) {
  if (s.kind == value_kind::truth)
    return s.choice % 3 == 0   ? tutti::logical_and(v, w)
           : s.choice % 3 == 1 ? tutti::logical_or(v, w)
                               : tutti::logical_xor(v, w);
  const int choice = s.kind == value_kind::complex ? s.choice % 3 : s.choice;
  if (choice == 3) return tutti::minimum(v, w);
  if (choice == 4) return tutti::maximum(v, w);
  const array raw = choice == 0 ? v + w : choice == 1 ? v - w : v * w;
  if (s.kind == value_kind::integer) return remainder_97(raw, types);
  return choice == 2 ? raw / 4 : raw / 2;
}

array compare(int choice, const array& v, const array& w) {
  return choice % 4 == 0 ? v < w : choice % 4 == 1 ? v == w : choice % 4 == 2 ? v != w : v >= w;
}

array reduce(const step& s, const array& from, dtypes types) {
  const std::vector<std::int64_t> axes(s.numbers.begin(), s.numbers.end());
  if (s.kind == value_kind::truth)
    return s.choice % 2 == 0 ? tutti::all(from, axes) : tutti::any(from, axes);
  if (s.choice == 1 && s.kind != value_kind::complex) return tutti::min(from, axes);
  if (s.choice == 2 && s.kind != value_kind::complex) return tutti::max(from, axes);
  return s.kind == value_kind::integer
             ? remainder_97(tutti::sum(from, axes), types).astype(types.integer)
             : tutti::mean(from, axes);
}

array scan(const step& s, const array& from, dtypes types) {
  const std::int64_t axis = s.numbers[0];
  if (s.choice == 1) return tutti::cummin(from, axis);
  if (s.choice == 2) return tutti::cummax(from, axis);
  const array sums = tutti::cumsum(from, axis);
  return s.kind == value_kind::integer ? remainder_97(sums, types).astype(types.integer)
                                       : sums / static_cast<double>(from.dim(axis));
}

array input(const step& s, dtypes types) {
  switch (s.kind) {
    case value_kind::integer: {
      const array values = upload_as<std::int32_t>(s.values);
      return (is_signed(types) ? values : values + 48).astype(types.integer);
    }
    case value_kind::truth:
      return upload_as<std::uint8_t>(s.values).astype(dtype::boolean);
    case value_kind::complex: {
      std::vector<std::complex<double>> pairs;
      for (std::size_t i = 0; i < s.values.values.size(); i += 2)
        pairs.emplace_back(s.values.values[i], s.values.values[i + 1]);
      return array::from(pairs, s.shape).astype(tutti::complex_dtype(types.real));
    }
    default:
      return types.real == dtype::f64 ? upload_as<double>(s.values)
                                      : upload_as<float>(s.values).astype(types.real);
  }
}

array moved(const step& s, const array& from) {
  switch (s.what) {
    case operation::reshape:
      return from.reshape(s.shape);
    case operation::transpose:
      return from.transpose(s.numbers);
    case operation::slice: {
      std::vector<tutti::slice> slices(static_cast<std::size_t>(s.numbers[0] + 1));
      slices.back() = {s.numbers[1], {}, s.numbers[2]};
      return tutti::slice_view(from, slices);
    }
    case operation::broadcast:
      return tutti::broadcast_to(from, s.shape);
    default:
      return tutti::take(
          from, array::from(std::vector<std::int64_t>(s.numbers.begin(), s.numbers.end())));
  }
}

array part(const step& s, const array& z, dtypes types) {
  const array value = s.choice == 0 ? tutti::real(z) : s.choice == 1 ? tutti::imag(z) : abs(z) / 2;
  return value.astype(types.real);
}

array device_step(const step& s, const std::vector<array>& done, dtypes types) {
  const auto from = [&](std::size_t k) -> const array& {
    return done[static_cast<std::size_t>(s.from[k])];
  };
  switch (s.what) {
    case operation::input:
      return input(s, types);
    case operation::unary:
      return unary(s, from(0), types);
    case operation::binary:
      return binary(s, from(0), from(1), types);
    case operation::compare:
      return compare(s.choice, from(0), from(1));
    case operation::where:
      return tutti::where(from(0), from(1), from(2));
    case operation::reduce:
      return reduce(s, from(0), types);
    case operation::scan:
      return scan(s, from(0), types);
    case operation::sort:
      return tutti::sort(from(0), s.numbers[0], tutti::order(s.choice == 1));
    case operation::argsort: {
      const array found = tutti::argsort(from(0), s.numbers[0], tutti::order(s.choice == 1));
      return remainder_97(found, types).astype(types.integer);
    }
    case operation::concatenate:
      return tutti::concatenate({from(0), from(1)}, s.choice);
    case operation::product:
      return tutti::matmul(from(0), from(1)) / (4 * static_cast<double>(from(0).dim(1)));
    case operation::to_real:
      return from(0).astype(types.real) / 97;
    case operation::to_integer:
      return from(0).astype(types.integer);
    case operation::to_complex:
      return tutti::complex(from(0), from(1));
    case operation::part:
      return part(s, from(0), types);
    default:
      return moved(s, from(0));
  }
}

}  // namespace

std::vector<array> on_device(const program& steps, dtypes types, bool eager) {
  std::vector<array> done;
  for (const step& s : steps) {
    done.push_back(device_step(s, done, types));
    if (eager) done.back().wait();
  }
  return done;
}

std::optional<std::string> difference(const array& got, const host_array& expected) {
  host_array here{got.shape(), {}, {}};
  if (tutti::is_complex(got.dtype())) {
    const auto values = got.astype(dtype::c128).to_vector<std::complex<double>>();
    here.values.assign(values.begin(), values.end());
  } else {
    const dense values = read(got);
    here.values.assign(values.values.begin(), values.values.end());
  }
  return difference(here, expected);
}

const char* name(operation what) {
  static const char* const names[] = {
      "input",   "unary",     "binary",  "compare",    "where",      "reshape", "transpose",
      "slice",   "broadcast", "reduce",  "scan",       "sort",       "argsort", "concatenate",
      "product", "take",      "to_real", "to_integer", "to_complex", "part"};
  return names[static_cast<int>(what)];
}

std::ostream& operator<<(std::ostream& out, const program& steps) {
  static const char* const kinds[] = {"real", "integer", "truth", "complex"};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const step& s = steps[i];
    out << "  " << i << ": " << name(s.what) << " #" << s.choice << " (";
    for (int f : s.from) out << ' ' << f;
    out << " ) " << s.numbers.str() << " -> " << kinds[static_cast<int>(s.kind)] << ' '
        << s.shape.str();
    if (s.what == operation::input && s.values.values.size() <= 8)
      for (double v : s.values.values) out << ' ' << v;
    out << '\n';
  }
  return out;
}

}  // namespace tutti_test
