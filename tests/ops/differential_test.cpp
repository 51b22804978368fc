// SPDX-License-Identifier: Apache-2.0
//
// Functions on random operands against NumPy and SciPy: differential.txt, which
// make_differential.py writes. After a line "block" follow its operands, "in DTYPE SHAPE LAYOUT
// BYTES", then results, "CALL TOLERANCE DTYPE SHAPE BYTES": the name of the function and its
// arguments between colons; units in the last place of each element, or with an "m" of the largest;
// elements in hexadecimal, row-major, most significant byte first.
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <fstream>
#include <map>
#include <sstream>

#include "differential_calls.hpp"
#include "tutti_test/data.hpp"
#include "tutti_test/files.hpp"
#include "tutti_test/paths.hpp"

namespace {

using namespace tutti_test;
using tutti::array;
using tutti::dtype;
using tutti::slice;

struct values {
  dtype type;
  tutti::shape extents;
  std::vector<unsigned char> bytes;  // as the host has them
};

unsigned digit(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); }

values parse(std::istringstream& line, std::string* layout) {
  std::string type, extents, text, word;
  line >> type >> extents;
  if (layout != nullptr) line >> *layout;
  line >> text;
  values v{tutti::dtype_from_name(type), {}, {}};
  std::istringstream list(extents == "-" ? "" : extents);
  while (std::getline(list, word, ',')) v.extents.push_back(std::stoll(word));
  const std::size_t width = tutti::size_of(tutti::real_dtype(v.type));
  for (std::size_t i = 0; text != "-" && i < text.size(); i += 2 * width)
    for (std::size_t k = width; k-- > 0;)
      v.bytes.push_back(
          static_cast<unsigned char>(digit(text[i + 2 * k]) << 4 | digit(text[i + 2 * k + 1])));
  return v;
}

// The same elements where memory has them in order (c), with reversed axes (t), backwards (r), or
// as every other one of a longer last axis (s).
array upload(const values& v, const std::string& layout) {
  const std::size_t width = tutti::size_of(v.type);
  const auto count = static_cast<std::size_t>(v.extents.size());
  const int rank = v.extents.rank();
  const bool spaced = layout == "s", turned = layout == "t", backwards = layout == "r";
  tutti::shape extents = v.extents;
  if (spaced) extents[rank - 1] *= 2;
  if (turned) std::reverse(extents.begin(), extents.end());
  std::vector<unsigned char> bytes(v.bytes.size() * (spaced ? 2 : 1), 1);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t to = spaced ? 2 * i + 1 : backwards ? count - 1 - i : i;
    if (turned) {
      to = 0;
      std::size_t rest = i, stride = count;
      for (int d = rank - 1; d >= 0; --d) {
        const auto extent = static_cast<std::size_t>(v.extents[d]);
        stride /= extent;
        to += rest % extent * stride;
        rest /= extent;
      }
    }
    std::copy_n(&v.bytes[i * width], width, &bytes[to * width]);
  }
  array a = array::from_bytes(bytes.data(), bytes.size() / width, v.type, extents);
  if (turned) return a.transpose();
  if (backwards) return tutti::flip(a);
  if (!spaced) return a;
  std::vector<slice> all(static_cast<std::size_t>(rank));
  all.back() = slice{1, {}, 2};
  return tutti::slice_view(a, all);
}

double element(const values& v, std::size_t i) {
  const auto as = [&](auto value) {
    std::memcpy(&value, &v.bytes[i * sizeof value], sizeof value);
    return value;
  };
  switch (tutti::real_dtype(v.type)) {
    case dtype::f16:
      return tutti::host::half_to_float(as(std::uint16_t{}));
    case dtype::f32:
      return as(float{});
    default:
      return as(double{});
  }
}

int digits_of(dtype part) { return part == dtype::f64 ? 52 : part == dtype::f32 ? 23 : 10; }

bool close(double got, double expected, double size, double ulps, dtype part) {
  if (std::isnan(expected)) return std::isnan(got);
  const bool same = got == expected && std::signbit(got) == std::signbit(expected);
  if (same || ulps == 0) return same;
  // The smallest unit, and where the result overflows or not within the tolerance.
  const double least = part == dtype::f16 ? 0x1p-24 : part == dtype::f32 ? 0x1p-149 : 0x1p-1074;
  const double unit = std::max(std::ldexp(1.0, -digits_of(part)) * size, least);
  return std::abs(got - expected) <= ulps * unit;
}

// The first element that differs, or nothing.
std::string difference(const values& got, const values& expected, const std::string& tolerated) {
  if (got.type != expected.type || got.extents != expected.extents)
    return std::string(tutti::name(got.type)) + " " + got.extents.str() + ", expected " +
           std::string(tutti::name(expected.type)) + " " + expected.extents.str();
  if (!tutti::is_floating(got.type) && !tutti::is_complex(got.type))
    return got.bytes == expected.bytes ? "" : "other integers";
  const dtype part = tutti::real_dtype(got.type);
  const std::size_t count = got.bytes.size() / tutti::size_of(part);
  const std::size_t together = tutti::is_complex(got.type) ? 2 : 1;
  const bool of_largest = tolerated.back() == 'm';
  const double ulps = std::stod(tolerated);
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (std::isfinite(element(expected, i)))
      largest = std::max(largest, std::abs(element(expected, i)));
  for (std::size_t i = 0; i < count; ++i) {
    const double x = element(got, i), y = element(expected, i);
    const double other = std::abs(element(expected, together == 2 ? i ^ 1 : i));
    const double size = of_largest ? largest : std::max(std::abs(y), other);
    if (close(x, y, size, ulps, part)) continue;
    std::ostringstream text;
    text.precision(17);
    text << "[" << i / together << "] got " << x << ", expected " << y;
    return text.str();
  }
  return "";
}

struct result {
  std::string call, tolerated;
  array got;
  values expected;
};

// Elementwise results of one shape are computed by few programs if something reads several of them:
// whether any is NaN.
void evaluate(const std::vector<result>& results) {
  constexpr std::size_t at_once = 4;
  for (std::size_t i = 0; i < results.size(); i += at_once) {
    std::vector<array> together;
    array reader;
    for (std::size_t k = i; k < std::min(i + at_once, results.size()); ++k) {
      const array& y = results[k].got;
      together.push_back(y);
      if (!is_elementwise(results[k].call)) continue;
      const array seen = tutti::not_equal(y, y);
      const bool fits = !reader.valid() || reader.shape() == seen.shape();
      if (fits) reader = reader.valid() ? tutti::logical_or(reader, seen) : seen;
    }
    if (reader.valid()) together.push_back(reader);
    tutti::eval(together);
  }
}

void check(const std::vector<result>& results) {
  evaluate(results);
  for (const result& r : results) {
    values got{r.got.dtype(), r.got.shape(), std::vector<unsigned char>(r.got.nbytes())};
    r.got.copy_to(got.bytes.data(), got.bytes.size());
    const std::string text = difference(got, r.expected, r.tolerated);
    BOOST_TEST(text.empty(), r.call << " of " << tutti::name(got.type) << ": " << text);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(functions_of_numpy_and_scipy) {
  const std::filesystem::path vectors = tutti_test::data(tutti_test::paths::vectors);
  std::ifstream file(vectors.parent_path() / "differential.txt");
  BOOST_TEST_REQUIRE(file.good());
  std::string text, role, layout, tolerated;
  std::vector<array> operands;
  std::vector<result> results;
  std::size_t count = 0;
  while (std::getline(file, text)) {
    std::istringstream line(text);
    line >> role;
    if (role == "block") {
      check(results);
      results.clear();
      operands.clear();
    } else if (role == "in") {
      const values v = parse(line, &layout);
      operands.push_back(upload(v, layout));
    } else {
      line >> tolerated;
      const values expected = parse(line, nullptr);
      results.push_back({role, tolerated, call(role, operands), expected});
      ++count;
    }
  }
  check(results);
  BOOST_TEST(count > 300);
}
