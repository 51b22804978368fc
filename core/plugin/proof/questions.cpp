// SPDX-License-Identifier: Apache-2.0
//
// The checks with known results, which call the function tables of a plugin directly. `tutti
// verify` has further checks.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/process.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/raii.hpp"

namespace tutti::plugins {
namespace {

constexpr std::size_t rows = 1011;  // not a multiple of any vector width

using words_owner = std::unique_ptr<std::vector<std::uint32_t>>;

/// Two columns of f32, then numbers.
words_owner known_words(std::size_t count) {
  auto made = std::make_unique<std::vector<std::uint32_t>>(count);
  std::vector<std::uint32_t>& words = *made;
  for (std::size_t i = 0; i < count; ++i) words[i] = static_cast<std::uint32_t>(i) * 2654435761u;
  for (std::size_t i = 0; i < rows; ++i) {
    words[i] = std::bit_cast<std::uint32_t>((static_cast<float>(i * 37 % 1001) - 500) / 128);
    // 0 too: quotients are infinite, and one is 0 / 0.
    words[rows + i] = std::bit_cast<std::uint32_t>(static_cast<float>(i % 257) / 16);
  }
  return made;
}

// tanh(a) + a b + a / b: terms of the same sign and about the same size, so that a mistake in each
// shows. Values 0 and 1 are the inputs, the instructions follow.
program_handle compile(const opened_device& d) {
  const tutti_instruction code[] = {{TUTTI_OP_tanh, TUTTI_F32, 1, {0}},
                                    {TUTTI_OP_multiply, TUTTI_F32, 2, {0, 1}},
                                    {TUTTI_OP_divide, TUTTI_F32, 2, {0, 1}},
                                    {TUTTI_OP_add, TUTTI_F32, 2, {2, 3}},
                                    {TUTTI_OP_add, TUTTI_F32, 2, {5, 4}}};
  const tutti_program_operand operands[] = {{TUTTI_F32, TUTTI_ACCESS_UNIT, 0, 0},
                                            {TUTTI_F32, TUTTI_ACCESS_UNIT, 0, 0},
                                            {TUTTI_F32, TUTTI_ACCESS_UNIT, 0, 6}};
  tutti_program_desc desc{};
  desc.struct_size = sizeof desc;
  desc.ir_version = TUTTI_IR_VERSION;
  desc.operand_size = sizeof operands[0];
  desc.instruction_size = sizeof code[0];
  desc.kept_rank = 1;
  desc.input_count = 2;
  desc.instruction_count = static_cast<std::uint32_t>(std::size(code));
  desc.output_count = 1;
  desc.inputs = operands;
  desc.instructions = code;
  desc.outputs = operands + 2;
  desc.label = "proof of f32";
  return create_program(d, desc);
}

bool is_right(float got, float right) {
  if (std::isnan(right)) return std::isnan(got);
  // tanh may be wrong by 5 ulp, the quotient by 2.5, each other step by half an ulp.
  constexpr float most = 8 * std::numeric_limits<float>::epsilon();
  return got == right || std::fabs(got - right) <= most * std::fabs(right);
}

/// Streams and memory of their own, to avoid interference.
struct session {
  const opened_device& device;
  words_owner words;
  buffer_handle source, target, workspace;
  stream_handle first = create_stream(device), second = create_stream(device);

  /// Memory that work may still use, on a device that cannot be waited for, is not released.
  ~session() {
    for (const stream_handle* stream : {&first, &second}) {
      if (!ignore(device.plugin->stream.synchronize(stream->get()))) continue;
      for (buffer_handle* b : {&source, &target, &workspace}) base::keep_for_ever(b->release());
      base::keep_for_ever(words.release());
    }
  }
};

}  // namespace

std::string mistake_of(const opened_device& d, const char*& asked) {
  asked = "transfers";
  const plugin& p = *d.plugin;
  constexpr std::uint64_t before = 20;  // bytes that are not copied
  // Drivers do not transfer that much as they transfer a page.
  const std::size_t n = std::max<std::size_t>(
      std::min(std::size_t{3} << 19, d.limits.max_allocation_bytes / 4) / 4, 2 * rows);
  session s{d, known_words(n), allocate(d, before + n * 4), allocate(d, n * 4), {}};
  const auto& words = *s.words;
  std::vector<std::uint32_t> got(n);
  tutti_buffer *const source = s.source.get(), *const target = s.target.get();
  tutti_stream *const first = s.first.get(), *const second = s.second.get();
  // Written in one stream, copied in another after an event, and read.
  check(p.transfer.write(first, source, before, words.data(), n * 4, 0, nullptr), d, "write");
  const event_handle written = record_event(d, first);
  check(p.stream.flush(first), d, "flush");
  check(p.stream.wait(second, written.get()), d, "wait for an event");
  check(p.transfer.copy(second, source, before, target, 0, n * 4, nullptr), d, "copy");
  check(p.transfer.read(second, target, 0, got.data(), n * 4, 1, nullptr), d, "read");
  const auto [is, expected] = std::mismatch(got.begin(), got.end(), words.begin());
  if (is != got.end())
    return fmt::format("{:#x} instead of {:#x} at word {}", *is, *expected, is - got.begin());

  asked = "arithmetic of f32";
  const program_handle program = compile(d);
  const tutti_operand operands[] = {{target, 0, {1}}, {target, rows * 4, {1}}, {source, 0, {1}}};
  tutti_program_launch launch{};
  launch.struct_size = sizeof launch;
  launch.operand_size = sizeof operands[0];
  launch.extent[0] = rows;
  launch.inputs = operands;
  launch.outputs = operands + 2;
  check(p.program.workspace(program.get(), &launch, &launch.workspace_bytes), d, "workspace");
  if (launch.workspace_bytes > 0) s.workspace = allocate(d, launch.workspace_bytes);
  launch.workspace = s.workspace.get();
  check(p.program.launch(second, program.get(), &launch, nullptr), d, "launch");
  check(p.transfer.read(second, source, 0, got.data(), rows * 4, 1, nullptr), d, "read");
  for (std::size_t i = 0; i < rows; ++i) {
    const double a = std::bit_cast<float>(words[i]), b = std::bit_cast<float>(words[rows + i]);
    const auto right = static_cast<float>(std::tanh(a) + a * b + a / b);
    if (const auto y = std::bit_cast<float>(got[i]); !is_right(y, right))
      return fmt::format("{:.9g} instead of {:.9g} at {} of {}", y, right, i, rows);
  }
  return {};
}

}  // namespace tutti::plugins
