// SPDX-License-Identifier: Apache-2.0
//
// Arrays as text: the same as NumPy shows (printed.txt, written by make_printed.py).
#include <iomanip>

#include "tutti_test/arrays.hpp"
#include "tutti_test/data.hpp"

namespace {

struct printed {
  array values;
  tutti::print_options options;
  std::string text;
};

template <class T>
array numbers(std::istringstream& line, const tutti::shape& extents) {
  std::vector<T> values;
  for (std::string word; line >> word;) {
    if constexpr (std::is_floating_point_v<T>)
      values.push_back(static_cast<T>(std::strtod(word.c_str(), nullptr)));
    else if constexpr (std::is_same_v<T, std::uint64_t>)
      values.push_back(std::stoull(word));
    else
      values.push_back(static_cast<T>(std::stoll(word)));
  }
  return array::from(values, extents);
}

template <class T>
array complex_numbers(std::istringstream& line, const tutti::shape& extents) {
  std::vector<std::complex<T>> values;
  for (std::string re, im; line >> re >> im;)
    values.emplace_back(static_cast<T>(std::strtod(re.c_str(), nullptr)),
                        static_cast<T>(std::strtod(im.c_str(), nullptr)));
  return array::from(values, extents);
}

array parse(dtype type, const tutti::shape& extents, const std::string& text) {
  std::istringstream line(text);
  switch (type) {
    case dtype::f64:
      return numbers<double>(line, extents);
    case dtype::f16:
    case dtype::f32:
      return numbers<float>(line, extents).astype(type);
    case dtype::u64:
      return numbers<std::uint64_t>(line, extents);
    case dtype::i64:
      return numbers<std::int64_t>(line, extents);
    case dtype::c64:
      return complex_numbers<float>(line, extents);
    case dtype::c128:
      return complex_numbers<double>(line, extents);
    default:
      return numbers<std::int32_t>(line, extents).astype(type);
  }
}

std::vector<printed> cases() {
  std::ifstream in(tutti_test::data(tutti_test::paths::printed));
  BOOST_TEST_REQUIRE(in.good());
  std::vector<printed> out;
  for (std::string line; std::getline(in, line);) {
    std::istringstream head(line);
    std::string word, type, extents;
    printed p;
    int lines = 0;
    head >> word >> type >> extents >> p.options.precision >> p.options.threshold >>
        p.options.edgeitems >> p.options.linewidth >> lines;
    BOOST_TEST_REQUIRE(word == "case");
    tutti::shape of;
    std::istringstream list(extents == "-" ? "" : extents);
    while (std::getline(list, word, ',')) of.push_back(std::stoll(word));
    std::getline(in, line);
    p.values = parse(tutti::dtype_from_name(type), of, line);
    for (; lines > 0 && std::getline(in, line); --lines) p.text += line + (lines > 1 ? "\n" : "");
    out.push_back(p);
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(as_numpy_shows_them) {
  const std::vector<printed> all = cases();
  BOOST_TEST(all.size() > 40u);
  for (const printed& p : all) BOOST_TEST(to_string(p.values, p.options) == p.text);
}

BOOST_AUTO_TEST_CASE(streams) {
  std::ostringstream out;
  out << array::from({{1, 20}, {-3, 4}}) << '\n'
      << std::setprecision(2) << array::from<float>({0.125f, 1, -2}) << '\n'
      << tutti::zeros({0, 3}) << array(1.5) << array(true);
  BOOST_TEST(out.str() ==
             "[[ 1, 20],\n [-3,  4]] i32[2,2]\n"
             "[ 0.12,  1.  , -2.  ] f32[3]\n"
             "[] f32[0,3]1.5 f32[]true bool[]");
}

BOOST_AUTO_TEST_CASE(of_views_and_halves) {
  const array a = tutti::arange(6).reshape({2, 3});
  BOOST_TEST(to_string(a.T()) == "[[0, 3],\n [1, 4],\n [2, 5]]");
  BOOST_TEST(to_string(tutti::flip(a, 1)) == "[[2, 1, 0],\n [5, 4, 3]]");
  // The fewest digits that another bf16 does not have.
  BOOST_TEST(to_string(tutti::full({2}, 0.1, dtype::bf16)) == "[0.1, 0.1]");
  BOOST_TEST(to_string(tutti::full({}, 3.14159, dtype::bf16)) == "3.14");
}

BOOST_AUTO_TEST_CASE(of_large_arrays_only_the_corners_are_read) {
  const array x = tutti::arange(std::int64_t{1} << 20).reshape({1024, 1024}).wait();
  const auto before = tutti::stats().bytes_read;
  const std::string text = to_string(x);
  BOOST_TEST(text.find("[      0,       1,       2, ...,    1021,    1022,    1023]") !=
             std::string::npos);
  BOOST_TEST(tutti::stats().bytes_read - before == 36u * 4);
  BOOST_TEST(to_string(x, {.edgeitems = 0}) == "[...]");
  for (const std::int64_t most : {std::int64_t{1} << 62, INT64_MAX})
    BOOST_TEST(to_string(tutti::arange(3), {.threshold = 0, .edgeitems = most}) == "[0, 1, 2]");
}

BOOST_AUTO_TEST_CASE(wrong_options) {
  FAILS(value_error, to_string(array(1), {.precision = -1}), "precision -1");
  FAILS(value_error, to_string(array(1), {.linewidth = -5}), "linewidth -5");
  FAILS(value_error, to_string(array()), "never assigned");
}
