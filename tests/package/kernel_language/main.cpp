// SPDX-License-Identifier: Apache-2.0
//
// Prints a program of f32 as the SDK renders it, once every installed kernel file is seen to begin
// with the words of the language.
#include <iostream>
#include <string>
#include <string_view>
#include <tutti/sdk/renderer.hpp>

#include "embedded_kernels.hpp"

namespace {

namespace sdk = tutti::sdk;
using namespace tutti::kernels;

std::string rendered() {
  sdk::dialect words;
  words.name = "xx";
  words.kernel = "entry";
  words.global_index = "here";
  words.global_size = "everywhere";
  words.types[TUTTI_F32] = "float";
  words.types[TUTTI_I32] = "int";
  words.types[TUTTI_I64] = "long";
  words.libraries = {math_shared_xx};
  const tutti_program_operand operand{TUTTI_F32, TUTTI_ACCESS_UNIT, 0, 0};
  const tutti_program_operand result{TUTTI_F32, TUTTI_ACCESS_UNIT, 0, 1};
  const tutti_instruction instruction{TUTTI_OP_square, TUTTI_F32, 1, {0, 0, 0}};
  tutti_program_desc desc{};
  desc.kept_rank = 1;
  desc.input_count = desc.instruction_count = desc.output_count = 1;
  desc.inputs = &operand;
  desc.instructions = &instruction;
  desc.outputs = &result;
  sdk::render_options options;
  options.kind = sdk::schedule::gpu;
  return sdk::render(desc, words, options).source;
}

}  // namespace

int main() {
  constexpr std::string_view words =
      "// SPDX-License-Identifier: Apache-2.0\n// The words of the language xx.";
  for (const std::string_view text : {gather_xx, lookup_xx, partition_xx, scan_xx, sort_xx}) {
    if (!text.starts_with(words) || text.size() < 1000) {
      std::cerr << "a kernel file is not what it should be:\n" << text.substr(0, 200) << '\n';
      return 1;
    }
  }
  if (scan_xx.find("The scan over a group of xx") == std::string_view::npos ||
      math_shared_xx.find("FUNCTION") == std::string_view::npos) {
    std::cerr << "words of the language are missing\n";
    return 1;
  }
  std::cout << rendered();
}
