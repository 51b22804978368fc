// SPDX-License-Identifier: Apache-2.0
//
// Every kind of program compiles with the library's own declarations of OpenCL C's functions on the
// PoCL that they were written for. Another version may need its own header: that costs time only.
#include "tutti_test/arrays.hpp"
#include "tutti_test/command.hpp"

BOOST_AUTO_TEST_SUITE(work, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(programs_of_every_kind) {
  const array rows = tutti::arange(8, dtype::i64);
  // Half in memory, double, and integers; the scan below converts vectors between them.
  for (const dtype type : {dtype::f16, dtype::f64, dtype::i32}) {
    const array x = tutti::remainder(tutti::arange(64 * 96), 57).astype(type).reshape({64, 96});
    std::vector<array> all{tutti::sort(x, 1),
                           tutti::topk(x, 5).values,
                           tutti::cumsum(x),
                           tutti::partition(x, 40),
                           tutti::sum(x, 1),
                           tutti::matmul(x, x.T()),
                           tutti::matmul(x, x[0].reshape({96, 1})),
                           tutti::searchsorted(tutti::arange(9, type), x),
                           tutti::scatter_add(x, rows, tutti::take(x, rows, 0), 0)};
    if (tutti::is_floating(type)) {
      all.push_back(tutti::logcumsumexp(x));
      all.push_back(tutti::matmul(tutti::ones({512, 512}, type), tutti::ones({512, 512}, type)));
      all.push_back(tutti::exp(x) * tutti::erf(x) + tutti::sqrt(x) - tutti::sin(x));
    }
    for (const array& a : all) a.wait();
  }
  tutti::cumsum(rows, {0, false, false, dtype::f32}).wait();
  tutti::bincount(rows).wait();
  tutti::random::normal(tutti::random::key(1), {100}).wait();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(the_drivers_own_header_is_not_needed) {
  if (tutti::default_device().properties().driver.find("Portable Computing Language 3.1") != 0) {
    BOOST_TEST_MESSAGE("not the driver that the declarations were written for");
    return;
  }
  const auto end = tutti_test::run(
      "TUTTI_LOG=debug " + tutti_test::beside("test_opencl_declarations") + " --run_test=work");
  BOOST_TEST(end.status == 0, end.output);
  const auto has = [&](const char* part) { return end.output.find(part) != std::string::npos; };
  BOOST_TEST(has("compiled tutti_scan"));
  BOOST_TEST(!has("needs its own header"), end.output);
}
