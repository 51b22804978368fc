// SPDX-License-Identifier: Apache-2.0
//
// Programs as the cuda plugin renders them.
#include "cuda/objects.hpp"
#include "dialects.hpp"
#include "sdk/renderer.hpp"

namespace tutti::test {

std::string render_cuda(const test_program& program) {
  sdk::render_options options;
  options.kind = sdk::schedule::gpu;
  options.work_group = cuda::work_group;
  return sdk::render(program.desc(), cuda::make_dialect(), options).source;
}

}  // namespace tutti::test
