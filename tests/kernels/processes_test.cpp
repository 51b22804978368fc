// SPDX-License-Identifier: Apache-2.0
//
// Kernels over several processes: what one compiled the next one finds, and one may end while its
// kernels run.
#include "tutti_test/arrays.hpp"
#include "tutti_test/command.hpp"
#include "tutti_test/host_device.hpp"

namespace {

tutti_test::outcome process(const std::string& arguments, const std::string& variables) {
  return tutti_test::run(variables + " " + tutti_test::beside("kernel_process") + " " + arguments);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_second_process_compiles_nothing) {
  const tutti_test::temporary_folder folder;
  const std::string variables = "TUTTI_CACHE_MB=512 TUTTI_CACHE_DIR=" + folder.path().string();
  const bool compiles = !tutti_test::on_host();
  const tutti_test::outcome first = process("cached", variables);
  BOOST_TEST(first.status == 0);
  BOOST_TEST(first.output ==
             (compiles ? "3, compiled 1, from the disk 0\n" : "3, compiled 0, from the disk 0\n"));
  const tutti_test::outcome second = process("cached", variables);
  BOOST_TEST(second.status == 0);
  BOOST_TEST(second.output ==
             (compiles ? "3, compiled 0, from the disk 1\n" : "3, compiled 0, from the disk 0\n"));
}

BOOST_AUTO_TEST_CASE(functions_on_the_host_are_a_fallback) {
  BOOST_TEST(process("host", "TUTTI_LOG=error").output == "1\n");
  const tutti_test::outcome refused = process("host", "TUTTI_FALLBACK=error");
  const bool told = refused.output.find("TUTTI_FALLBACK=error forbids") != std::string::npos;
  BOOST_TEST(told == (!tutti_test::on_host()), refused.output);
}

BOOST_AUTO_TEST_CASE(a_process_ends_with_kernels_in_flight) {
  for (int round = 0; round < 3; ++round) {
    const tutti_test::outcome end = process("exit", "POCL_KERNEL_CACHE=0");
    BOOST_TEST(end.status == 0, end.output);
    BOOST_TEST(end.output == "");
  }
}
