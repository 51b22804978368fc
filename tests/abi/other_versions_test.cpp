// SPDX-License-Identifier: Apache-2.0
//
// Plugins of other minor versions under this core: one with the tables of the header of 2.0, one
// with the least that tables may hold, one that maps no memory, one whose tables are longer than
// this core knows. The oracle is arithmetic on whole numbers.
#include "tutti_test/arrays.hpp"

namespace {

const std::string versions[] = {"same", "least", "unmapped", "more"};

std::vector<float> counting(std::size_t count) {
  std::vector<float> all(count);
  std::iota(all.begin(), all.end(), 1.0f);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(other_versions)

BOOST_AUTO_TEST_CASE(they_compute) {
  for (const std::string& name : versions) {
    BOOST_TEST_CONTEXT(name) {
      const tutti::device device(name + ":0");
      const array x = array::from(counting(1000), device);
      BOOST_TEST(tutti::sum(x).item<float>() == 500500.0f);
      const array y = x * 2.0f + 1.0f;
      const std::vector<float> got = y.to_vector<float>();
      BOOST_REQUIRE_EQUAL(got.size(), 1000u);
      for (std::size_t i = 0; i < got.size(); ++i)
        BOOST_REQUIRE_EQUAL(got[i], 2.0f * static_cast<float>(i + 1) + 1.0f);
    }
  }
}

// Without operators, events of the host and memory in place the core does it otherwise.
BOOST_AUTO_TEST_CASE(what_they_lack_is_done_otherwise) {
  for (const std::string& name : versions) {
    BOOST_TEST_CONTEXT(name) {
      const tutti::device device(name + ":0");
      const array a = array::from(counting(6), device).reshape({2, 3});
      const array product = tutti::matmul(a, a.transpose());
      BOOST_TEST(product.to_vector<float>() == (std::vector<float>{14, 32, 32, 77}), same);
      const array there = (a + 1.0f).to(tutti::device("reference")) * 2.0f;
      BOOST_TEST(there.to_vector<float>() == (std::vector<float>{4, 6, 8, 10, 12, 14}), same);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
