// SPDX-License-Identifier: Apache-2.0
//
// A dozen typical programs in both dialects against golden/NAME.cu and golden/NAME.cl, without the
// preludes, which are files of their own. TUTTI_GOLDEN_UPDATE=1 writes the files anew.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "dialects.hpp"
#include "embedded_kernels.hpp"
#include "tutti_test/paths.hpp"

using namespace tutti;
using namespace tutti::test;

namespace {

void compare(const std::string& file, const std::string& source, std::string_view prelude) {
  const size_t at = source.find(prelude);
  BOOST_REQUIRE(at != std::string::npos);
  std::string text =
      "// SPDX-License-Identifier: Apache-2.0\n// Rendered; the prelude is left out.\n";
  text += source.substr(0, at) + source.substr(at + prelude.size());
  const std::string path = std::string(tutti_test::paths::golden_folder) + "/" + file;
  if (std::getenv("TUTTI_GOLDEN_UPDATE") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  BOOST_TEST((golden.str() == text),
             file << " is not what is rendered now; if the change is meant, run tests/cuda/update "
                     "and look at the difference. Rendered:\n"
                  << text);
}

}  // namespace

BOOST_AUTO_TEST_CASE(rendered_sources_are_the_golden_ones) {
  const std::vector<test_program> programs = typical_programs();
  BOOST_TEST(programs.size() >= 12u);
  for (const test_program& p : programs) {
    compare(p.name + ".cu", render_cuda(p), kernels::prelude_cu);
    compare(p.name + ".cl", render_opencl(p, sdk::schedule::gpu), kernels::prelude_cl);
  }
}
