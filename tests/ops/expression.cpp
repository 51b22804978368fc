// SPDX-License-Identifier: Apache-2.0
//
// Random programs: running them on the host and on the device, printing them.
#include "expression.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

namespace tutti_test {
namespace {

using tutti::array;
using tutti::shape;

// ---- on the host

double unary(int choice, bool integer, double v) {
  if (integer) {
    const double all[] = {-v, std::fabs(v), std::fmax(v, 0), std::fmin(v, 7)};
    return all[choice % 4];
  }
  const double all[] = {std::tanh(v),
                        std::sin(v),
                        std::cos(v),
                        std::exp(-std::fabs(v)),
                        std::sqrt(std::fabs(v) + 0.25),
                        -v,
                        std::fabs(v),
                        1 / (1 + std::exp(-v)),
                        (std::complex<double>(v, -0.5) * std::complex<double>(v, 1)).real() / 5,
                        std::abs(std::complex<double>(v, 1)) / 2,
                        std::exp(std::complex<double>(-std::fabs(v), v)).imag()};
  return all[choice];
}

double remainder_97(double v) { return v - 97 * std::floor(v / 97) - 48; }

double binary(int choice, bool integer, double v, double w) {
  if (integer) {
    const double all[] = {remainder_97(v + w), remainder_97(v - w), remainder_97(v * w),
                          std::fmin(v, w), std::fmax(v, w)};
    return all[choice];
  }
  const double all[] = {(v + w) / 2, (v - w) / 2, v * w / 4, std::fmin(v, w), std::fmax(v, w)};
  return all[choice];
}

double broadcast_at(const dense& d, const position& i) {
  const auto shift = i.size() - static_cast<std::size_t>(d.extents.rank());
  position own;
  for (int k = 0; k < d.extents.rank(); ++k)
    own.push_back(d.extents[k] == 1 ? 0 : i[shift + static_cast<std::size_t>(k)]);
  return d.at(own);
}

double reduce_at(const step& s, const dense& from, const position& kept) {
  double sum = 0, low = HUGE_VAL, high = -HUGE_VAL;
  double count = 0;
  tabulate(from.extents, [&](const position& i) {
    std::size_t k = 0;
    for (int d = 0; d < from.extents.rank(); ++d) {
      if (std::find(s.numbers.begin(), s.numbers.end(), d) != s.numbers.end()) continue;
      if (i[static_cast<std::size_t>(d)] != kept[k++]) return 0;
    }
    const double v = from.at(i);
    sum += v;
    low = std::fmin(low, v);
    high = std::fmax(high, v);
    ++count;
    return 0;
  });
  const double middle = s.integer ? remainder_97(sum) : sum / count;
  return s.choice == 0 ? middle : s.choice == 1 ? low : high;
}

double value_at(const step& s, const std::vector<dense>& done, const position& i) {
  const auto from = [&](std::size_t k) -> const dense& {
    return done[static_cast<std::size_t>(s.from[k])];
  };
  position j = i;
  switch (s.what) {
    case operation::unary:
      return unary(s.choice, s.integer, from(0).at(i));
    case operation::binary:
      return binary(s.choice, s.integer, broadcast_at(from(0), i), broadcast_at(from(1), i));
    case operation::where_less:
      return broadcast_at(broadcast_at(from(0), i) < broadcast_at(from(1), i) ? from(2) : from(3),
                          i);
    case operation::transpose:
      for (int d = 0; d < s.numbers.rank(); ++d)
        j[static_cast<std::size_t>(s.numbers[d])] = i[static_cast<std::size_t>(d)];
      return from(0).at(j);
    case operation::slice: {
      auto& place = j[static_cast<std::size_t>(s.numbers[0])];
      place = s.numbers[1] + place * s.numbers[2];
      return from(0).at(j);
    }
    case operation::broadcast:
      return broadcast_at(from(0), i);
    case operation::reduce:
      return reduce_at(s, from(0), i);
    case operation::concatenate: {
      auto& place = j[static_cast<std::size_t>(s.choice)];
      const std::int64_t first = from(0).extents[s.choice];
      if (place < first) return from(0).at(j);
      place -= first;
      return from(1).at(j);
    }
    case operation::product: {
      double sum = 0;
      const std::int64_t inner = from(0).extents[1];
      for (std::int64_t k = 0; k < inner; ++k) sum += from(0).at({i[0], k}) * from(1).at({k, i[1]});
      return sum / (4 * static_cast<double>(inner));
    }
    case operation::take: {
      const std::int64_t place = s.numbers[static_cast<int>(i[0])];
      j[0] = place < 0 ? place + from(0).extents[0] : place;
      return from(0).at(j);
    }
    case operation::to_real:
      return from(0).at(i) / 97;
    default:
      throw std::logic_error("not an elementwise rule");
  }
}

// ---- on the device

array device_unary(int choice, bool integer, const array& v) {
  using namespace tutti;
  if (integer) {
    switch (choice % 4) {
      case 0:
        return -v;
      case 1:
        return abs(v);
      case 2:
        return maximum(v, 0);
      default:
        return minimum(v, 7);
    }
  }
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
      return real(complex(v, -0.5) * complex(v, 1)) / 5;
    case 9:
      return abs(v + std::complex<double>(0, 1)) / 2;
    default:
      return imag(exp(complex(-abs(v), v)));
  }
}

array device_binary(int choice, bool integer, const array& v, const array& w) {
  if (choice == 3) return tutti::minimum(v, w);
  if (choice == 4) return tutti::maximum(v, w);
  const array raw = choice == 0 ? v + w : choice == 1 ? v - w : v * w;
  if (integer) return raw % 97 - 48;
  return choice == 2 ? raw / 4 : raw / 2;
}

array device_reduce(const step& s, const array& from, dtypes types) {
  const std::vector<std::int64_t> axes(s.numbers.begin(), s.numbers.end());
  if (s.choice == 1) return tutti::min(from, axes);
  if (s.choice == 2) return tutti::max(from, axes);
  return s.integer ? tutti::astype(tutti::sum(from, axes) % 97 - 48, types.integer)
                   : tutti::mean(from, axes);
}

array device_step(const step& s, const std::vector<array>& done, dtypes types) {
  const auto from = [&](std::size_t k) -> const array& {
    return done[static_cast<std::size_t>(s.from[k])];
  };
  switch (s.what) {
    case operation::input:
      if (s.integer) return upload_as<std::int32_t>(s.values).astype(types.integer);
      return types.real == tutti::dtype::f64 ? upload_as<double>(s.values)
                                             : upload_as<float>(s.values);
    case operation::unary:
      return device_unary(s.choice, s.integer, from(0));
    case operation::binary:
      return device_binary(s.choice, s.integer, from(0), from(1));
    case operation::where_less:
      return tutti::where(from(0) < from(1), from(2), from(3));
    case operation::reshape:
      return from(0).reshape(s.shape);
    case operation::transpose:
      return from(0).transpose(s.numbers);
    case operation::slice: {
      std::vector<tutti::slice> slices(static_cast<std::size_t>(s.numbers[0] + 1));
      slices.back() = {s.numbers[1], {}, s.numbers[2]};
      return tutti::slice_view(from(0), slices);
    }
    case operation::broadcast:
      return tutti::broadcast_to(from(0), s.shape);
    case operation::reduce:
      return device_reduce(s, from(0), types);
    case operation::concatenate:
      return tutti::concatenate({from(0), from(1)}, s.choice);
    case operation::product:
      return tutti::matmul(from(0), from(1)) / (4 * static_cast<double>(from(0).dim(1)));
    case operation::take:
      return tutti::take(
          from(0), array::from(std::vector<std::int64_t>(s.numbers.begin(), s.numbers.end())));
    case operation::to_real:
      return from(0).astype(types.real) / 97;
  }
  throw std::logic_error("unknown operation");
}

}  // namespace

std::vector<dense> on_host(const program& steps) {
  std::vector<dense> done;
  for (const step& s : steps) {
    if (s.what == operation::input)
      done.push_back(s.values);
    else if (s.what == operation::reshape)
      done.push_back({s.shape, done[static_cast<std::size_t>(s.from[0])].values});
    else
      done.push_back(tabulate(s.shape, [&](const position& i) { return value_at(s, done, i); }));
  }
  return done;
}

std::vector<array> on_device(const program& steps, dtypes types, bool eager) {
  std::vector<array> done;
  for (const step& s : steps) {
    done.push_back(device_step(s, done, types));
    if (eager) done.back().wait();
  }
  return done;
}

std::ostream& operator<<(std::ostream& out, const program& steps) {
  static const char* const names[] = {
      "input",     "unary",  "binary",      "where_less", "reshape", "transpose", "slice",
      "broadcast", "reduce", "concatenate", "product",    "take",    "to_real"};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const step& s = steps[i];
    out << "  " << i << ": " << names[static_cast<int>(s.what)] << " #" << s.choice << " (";
    for (int f : s.from) out << ' ' << f;
    out << " ) " << s.numbers.str() << " -> " << s.shape.str() << (s.integer ? " integer\n" : "\n");
  }
  return out;
}

}  // namespace tutti_test
