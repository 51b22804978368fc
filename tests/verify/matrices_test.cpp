// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra that is wrong in one way each is told by `tutti verify`, in words that say which.
#include <boost/test/unit_test.hpp>
#include <string>

#include "tutti_test/command.hpp"
#include "tutti_test/paths.hpp"

namespace {

namespace paths = tutti_test::paths;

tutti_test::outcome verify(const std::string& group, const std::string& wrong) {
  return tutti_test::run("env WRONG=" + wrong + " '" + paths::tutti_program + "' verify '" +
                         paths::wrong_plugin + "' --quiet --filter " + group);
}

}  // namespace

BOOST_AUTO_TEST_CASE(wrong_factors_are_told) {
  const struct {
    const char *group, *wrong, *told;
  } cases[] = {{"lu/f64/failures", "regular", "a matrix without a result is no error"},
               {"triangular_solve/c64/lower", "conjugate", "transpose 2"},
               {"triangular_solve/f64/upper", "triangle", "[4,2,2]"},
               {"cholesky/c128/upper", "triangle", "[4,2,2]"},
               {"lu/f32/regular", "pivots", "the pivot of column 0 is not the largest"},
               {"svd/f32/values", "order", "s does not descend"},
               {"cholesky/f32/lower", "zeros", "the other triangle is not 0"}};
  for (const auto& c : cases) BOOST_TEST_CONTEXT(c.group << ", " << c.wrong) {
      const tutti_test::outcome right = verify(c.group, "nothing");
      BOOST_TEST(right.status == 0, right.output);
      const tutti_test::outcome found = verify(c.group, c.wrong);
      BOOST_TEST(found.status == 1);
      BOOST_TEST((found.output.find(c.told) != std::string::npos), found.output);
    }
}
