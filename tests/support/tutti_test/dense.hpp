// SPDX-License-Identifier: Apache-2.0
//
// Host arrays of doubles and plain loops over them: what results on a device are compared with.
// Also the layouts in which the same values may reach an operation.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/ops.hpp"
#include "tutti_test/compare.hpp"
#include "tutti_test/random.hpp"

namespace tutti_test {

using position = std::vector<std::int64_t>;

/// Row-major values of an array, as doubles.
struct dense {
  tutti::shape extents;
  std::vector<double> values;

  double at(const position& i) const {
    std::int64_t place = 0;
    for (int d = 0; d < extents.rank(); ++d) place = place * extents[d] + i[std::size_t(d)];
    return values.at(static_cast<std::size_t>(place));
  }
};

/// An array of f's values at every index.
template <class F>
dense tabulate(const tutti::shape& extents, F&& f) {
  dense out{extents, {}};
  position i(static_cast<std::size_t>(extents.rank()), 0);
  for (std::int64_t n = extents.size(); n > 0; --n) {
    out.values.push_back(static_cast<double>(f(static_cast<const position&>(i))));
    for (std::size_t d = i.size(); d-- > 0;) {
      if (++i[d] < extents[static_cast<int>(d)]) break;
      i[d] = 0;
    }
  }
  return out;
}

template <class T>
std::vector<double> read_as(const tutti::array& a) {
  const std::vector<T> values = a.to_vector<T>();
  return {values.begin(), values.end()};
}

inline constexpr tutti::dtype all_dtypes[] = {
    tutti::dtype::boolean, tutti::dtype::i8,  tutti::dtype::i16,  tutti::dtype::i32,
    tutti::dtype::i64,     tutti::dtype::u8,  tutti::dtype::u16,  tutti::dtype::u32,
    tutti::dtype::u64,     tutti::dtype::f16, tutti::dtype::bf16, tutti::dtype::f32,
    tutti::dtype::f64,     tutti::dtype::c64, tutti::dtype::c128};

/// The elements of a, row-major.
inline std::string bytes_of(const tutti::array& a) {
  std::string bytes(a.nbytes(), '\0');
  a.copy_to(bytes.data(), bytes.size());
  return bytes;
}

/// The values of a, of any dtype that a double holds.
inline dense read(const tutti::array& a) {
  using tutti::dtype;
  switch (a.dtype()) {
    case dtype::boolean:
      return {a.shape(), read_as<std::uint8_t>(a.astype(dtype::u8))};
    case dtype::i8:
      return {a.shape(), read_as<std::int8_t>(a)};
    case dtype::i16:
      return {a.shape(), read_as<std::int16_t>(a)};
    case dtype::i32:
      return {a.shape(), read_as<std::int32_t>(a)};
    case dtype::i64:
      return {a.shape(), read_as<std::int64_t>(a)};
    case dtype::u8:
      return {a.shape(), read_as<std::uint8_t>(a)};
    case dtype::u16:
      return {a.shape(), read_as<std::uint16_t>(a)};
    case dtype::u32:
      return {a.shape(), read_as<std::uint32_t>(a)};
    case dtype::u64:
      return {a.shape(), read_as<std::uint64_t>(a)};
    case dtype::f64:
      return {a.shape(), read_as<double>(a)};
    default:
      return {a.shape(), read_as<float>(a.astype(dtype::f32))};
  }
}

/// An array on the default device with these values.
inline tutti::array upload(const dense& d, tutti::dtype type = tutti::dtype::f32) {
  const tutti::array wide = tutti::array::from(std::vector<double>(d.values), d.extents);
  return wide.astype(type);
}

/// As upload(), without any work on the device.
template <class T>
tutti::array upload_as(const dense& d) {
  std::vector<T> values(d.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(d.values[i]);
  return tutti::array::from(std::span<const T>(values), d.extents);
}

/// Values that f32 holds exactly.
inline dense random_dense(const tutti::shape& extents, double low, double high,
                          std::uint64_t salt = 0) {
  const auto drawn =
      random_vector<float>(static_cast<std::size_t>(extents.size()), low, high, salt);
  return {extents, {drawn.begin(), drawn.end()}};
}

inline dense random_integers(const tutti::shape& extents, double low, double high,
                             std::uint64_t salt = 0) {
  const auto drawn =
      random_vector<std::int64_t>(static_cast<std::size_t>(extents.size()), low, high, salt);
  return {extents, {drawn.begin(), drawn.end()}};
}

/// The same values as a plain array, a transposed one, a reversed one, and every second element of
/// a larger one.
template <class T = float>
std::vector<std::pair<std::string, tutti::array>> layouts(const dense& d) {
  std::vector<std::pair<std::string, tutti::array>> out;
  out.emplace_back("plain", upload_as<T>(d));
  const int rank = d.extents.rank();
  if (rank == 0 || d.values.empty()) return out;
  tutti::shape turned = d.extents, doubled = d.extents;
  for (int i = 0; i < rank; ++i) {
    turned[i] = d.extents[rank - 1 - i];
    doubled[i] = 2 * d.extents[i] + 1;
  }
  const dense columns =
      tabulate(turned, [&](const position& i) { return d.at(position(i.rbegin(), i.rend())); });
  out.emplace_back("transposed", upload_as<T>(columns).transpose());
  const dense reversed = tabulate(d.extents, [&](position i) {
    for (int k = 0; k < rank; ++k) i[std::size_t(k)] = d.extents[k] - 1 - i[std::size_t(k)];
    return d.at(i);
  });
  const std::vector<tutti::slice> backwards(static_cast<std::size_t>(rank),
                                            tutti::slice{{}, {}, -1});
  out.emplace_back("reversed", tutti::slice_view(upload_as<T>(reversed), backwards));
  const dense spread = tabulate(doubled, [&](position i) {
    for (auto& k : i) {
      if (k % 2 == 0) return 99.0;
      k /= 2;
    }
    return d.at(i);
  });
  const std::vector<tutti::slice> every_second(static_cast<std::size_t>(rank),
                                               tutti::slice{1, {}, 2});
  out.emplace_back("strided", tutti::slice_view(upload_as<T>(spread), every_second));
  return out;
}

/// The sum over every letter that `output` lacks, of products of operands, whose axes `terms` give
/// one letter each. Extents of 1 broadcast.
inline dense by_loops(const std::vector<std::string>& terms, const std::string& output,
                      const std::vector<dense>& operands) {
  std::map<char, std::int64_t> extents;
  for (std::size_t k = 0; k < terms.size(); ++k)
    for (std::size_t d = 0; d < terms[k].size(); ++d) {
      std::int64_t& known = extents.try_emplace(terms[k][d], 1).first->second;
      if (operands[k].extents[int(d)] != 1) known = operands[k].extents[int(d)];
    }
  std::string letters = output;
  for (const auto& [letter, extent] : extents)
    if (letters.find(letter) == std::string::npos) letters += letter;
  tutti::shape kept, inner;
  for (std::size_t d = 0; d < letters.size(); ++d)
    (d < output.size() ? kept : inner).push_back(extents[letters[d]]);
  return tabulate(kept, [&](const position& i) {
    double total = 0;
    tabulate(inner, [&](const position& j) {
      double product = 1;
      for (std::size_t k = 0; k < terms.size(); ++k) {
        position at;
        for (std::size_t d = 0; d < terms[k].size(); ++d) {
          const std::size_t place = letters.find(terms[k][d]);
          const std::int64_t index = place < i.size() ? i[place] : j[place - i.size()];
          at.push_back(operands[k].extents[int(d)] == 1 ? 0 : index);
        }
        product *= operands[k].at(at);
      }
      total += product;
      return 0;
    });
    return total;
  });
}

/// For BOOST_TEST: shape and values of `got` against `expected`.
inline boost::test_tools::assertion_result matches(const tutti::array& got, const dense& expected,
                                                   const tolerance& allowed = {}) {
  if (got.shape() != expected.extents) {
    boost::test_tools::assertion_result result(false);
    result.message() << "got shape " << got.shape().str() << ", expected "
                     << expected.extents.str();
    return result;
  }
  return all_close(read(got).values, expected.values, allowed);
}

}  // namespace tutti_test
