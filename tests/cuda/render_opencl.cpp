// SPDX-License-Identifier: Apache-2.0
//
// Programs as the opencl plugin renders them for a device with f64.
#include "dialects.hpp"
#include "opencl/objects.hpp"
#include "sdk/renderer.hpp"

namespace tutti::test {

std::string render_opencl(const test_program& program, sdk::schedule kind) {
  opencl::device_info info;
  info.kind = kind;
  info.has_f64 = true;
  sdk::render_options options;
  options.kind = kind;
  options.vector_bytes = 32;
  options.work_group = 128;
  return sdk::render(program.desc(), opencl::make_dialect(info), options).source;
}

}  // namespace tutti::test
