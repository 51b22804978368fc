// SPDX-License-Identifier: Apache-2.0
//
// Files of operands and results that a script wrote: lines "case NAME TOLERANCE", then "in" and
// "out" lines with dtype, shape and values (floats in hexadecimal, complex numbers as two), as
// tests/ops/make_vectors.py tells.
#pragma once

#include "tutti_test/arrays.hpp"

namespace tutti_test {

using operand_list = std::vector<tutti::array>;
/// A call of operands; `number` is what stands behind a colon in the name of the case, or 0.
using vector_call = std::function<tutti::array(const operand_list& operands, std::int64_t number)>;
using vector_calls = std::map<std::string, vector_call>;

/// The call of an expression in the operands `v` and the number `n`.
#define TUTTI_CALL(expression)                                                              \
  []([[maybe_unused]] const tutti_test::operand_list& v, [[maybe_unused]] std::int64_t n) { \
    return expression;                                                                      \
  }

struct typed_values {
  tutti::dtype type;
  dense values;  // complex numbers: with a last axis of two parts
};

inline typed_values parse_values(std::istringstream& line) {
  std::string type, extents, word;
  line >> type >> extents;
  typed_values out{tutti::dtype_from_name(type), {}};
  if (extents != "-") {
    std::istringstream list(extents);
    while (std::getline(list, word, ',')) out.values.extents.push_back(std::stoll(word));
  }
  if (tutti::is_complex(out.type)) out.values.extents.push_back(2);
  while (line >> word) out.values.values.push_back(std::strtod(word.c_str(), nullptr));
  return out;
}

/// The parts of complex numbers as a last axis.
inline tutti::array parts_of(const tutti::array& a) {
  if (!tutti::is_complex(a.dtype())) return a;
  const tutti::array both[] = {tutti::real(a), tutti::imag(a)};
  return tutti::stack(both, -1);
}

inline tutti::array upload_typed(const typed_values& operand) {
  const tutti::array values = upload_as<double>(operand.values);
  if (!tutti::is_complex(operand.type)) return values.astype(operand.type);
  std::vector<std::complex<double>> numbers;
  for (std::size_t i = 0; i < operand.values.values.size(); i += 2)
    numbers.emplace_back(operand.values.values[i], operand.values.values[i + 1]);
  tutti::shape extents = operand.values.extents;
  extents.erase(extents.rank() - 1);
  return tutti::array::from(numbers, extents).astype(operand.type);
}

/// Checks every case of the file; returns how many results were compared.
inline int check_vectors(const std::filesystem::path& path, const vector_calls& calls) {
  std::ifstream file(path);
  BOOST_TEST_REQUIRE(file.good());
  std::string text, role, label;
  double tolerated = 0;
  std::vector<tutti::array> operands;
  int results = 0;
  while (std::getline(file, text)) {
    std::istringstream line(text);
    line >> role;
    if (role == "case") {
      line >> label >> tolerated;
      operands.clear();
    } else if (role == "in") {
      operands.push_back(upload_typed(parse_values(line)));
    } else {
      const typed_values expected = parse_values(line);
      const std::size_t colon = label.find(':');
      const std::int64_t number =
          colon == std::string::npos ? 0 : std::stoll(label.substr(colon + 1));
      BOOST_TEST_CONTEXT("case " << label) {
        const auto found = calls.find(label.substr(0, colon));
        BOOST_TEST_REQUIRE((found != calls.end()));
        const tutti::array got = found->second(operands, number);
        BOOST_TEST((got.dtype() == expected.type));
        BOOST_TEST(matches(parts_of(got), expected.values,
                           {.relative = tolerated, .absolute = tolerated}));
      }
      ++results;
    }
  }
  return results;
}

}  // namespace tutti_test
