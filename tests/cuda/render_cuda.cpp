// SPDX-License-Identifier: Apache-2.0
//
// Programs as the cuda plugin renders them.
#include "cuda/objects.hpp"
#include "embedded_kernels.hpp"
#include "programs.hpp"
#include "sdk/renderer.hpp"

namespace tutti::test {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
  return text;
}

// The source without the prelude that all share, its kernels under names of their own.
std::string in_namespace(const std::string& source, size_t number) {
  const std::string_view prelude = kernels::prelude_cu;
  if (source.compare(0, prelude.size(), prelude) != 0) throw std::logic_error("no prelude");
  const std::string suffix = "_" + std::to_string(number);
  std::string text = source.substr(prelude.size());
  for (const std::string kernel : {"main", "finish"})
    text = replaced(text, "void tutti_" + kernel + "(", "void " + kernel + suffix + "(");
  return "namespace p" + std::to_string(number) + " {\n" + text + "}\n";
}

std::string rendered(const program_spec& program) {
  sdk::render_options options;
  options.kind = sdk::schedule::gpu;
  options.work_group = cuda::work_group;
  return sdk::render(program.desc(), cuda::make_dialect(), options).source;
}

}  // namespace

std::string render_cuda(const std::vector<program_spec>& programs) {
  std::string text(kernels::prelude_cu);
  size_t number = 0;
  for (const program_spec& p : programs) text += in_namespace(rendered(p), number++);
  return text;
}

}  // namespace tutti::test
