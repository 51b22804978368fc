// SPDX-License-Identifier: Apache-2.0
#include "plugin/proof/questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <vector>

#include "base/process.hpp"
#include "plugin/raii.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

/// A separate stream and separate buffers, to avoid interference.
class session {
 public:
  explicit session(const opened_device& d) : device_(d), stream_(create_stream(d)) {}
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  /// Memory that work may still use, on a device that cannot be waited for, is not released.
  ~session() {
    if (!ignore(device_.plugin->stream.synchronize(stream_.get()))) return;
    for (buffer_handle& buffer : buffers_) keep_for_ever(buffer.release());
    for (auto& words : on_its_way_) keep_for_ever(words.release());
  }

  tutti_buffer* room(std::uint64_t bytes) {
    return bytes > 0 ? buffers_.emplace_back(allocate(device_, bytes)).get() : nullptr;
  }

  /// `words`, which are kept until the stream has been waited for.
  template <class T>
  tutti_buffer* upload(const std::vector<T>& words) {
    auto& sent =
        *on_its_way_.emplace_back(std::make_unique<std::vector<char>>(words.size() * sizeof(T)));
    std::memcpy(sent.data(), words.data(), sent.size());
    tutti_buffer* const made = room(sent.size());
    check(device_.plugin->transfer.write(stream(), made, 0, sent.data(), sent.size(), 0, nullptr),
          device_, "write to the device");
    return made;
  }

  template <class T>
  std::vector<T> download(tutti_buffer* from, std::size_t count) {
    std::vector<T> words(count);
    check(device_.plugin->transfer.read(stream(), from, 0, words.data(), count * sizeof(T), 1,
                                        nullptr),
          device_, "read from the device");
    return words;
  }

  tutti_stream* stream() const { return stream_.get(); }

 private:
  const opened_device& device_;
  std::vector<buffer_handle> buffers_;
  std::vector<std::unique_ptr<std::vector<char>>> on_its_way_;
  stream_handle stream_;  // destroyed first
};

// ---- transfers

using words = std::vector<std::uint32_t>;

std::string difference(const words& right, const std::uint32_t* got) {
  for (std::size_t i = 0; i < right.size(); ++i)
    if (got[i] != right[i])
      return fmt::format("{:#x} instead of {:#x} at word {} of {}", got[i], right[i], i,
                         right.size());
  return {};
}

/// Written in one stream, copied in another after an event, and read.
std::string transfer_mistake(const opened_device& d) {
  const plugin& p = *d.plugin;
  constexpr std::uint64_t most = std::uint64_t{3}
                                 << 19;  // which drivers transfer differently from a page
  const std::size_t n =
      std::max<std::size_t>(std::min(most, d.limits.max_allocation_bytes / 4) / 4, 64);
  const std::size_t skipped = 5;
  words sent(n), right(n);
  for (std::size_t i = 0; i < n; ++i) sent[i] = static_cast<std::uint32_t>(i) * 2654435761u + 1;
  std::copy(sent.begin() + skipped, sent.end(), right.begin());
  std::fill(right.end() - skipped, right.end(), 7u);
  session first(d), second(d);
  tutti_buffer* const target = second.upload(words(n, 7u));
  tutti_buffer* const source = first.upload(sent);
  const event_handle written = record_event(d, first.stream());
  check(p.stream.flush(first.stream()), d, "flush");
  check(p.stream.wait(second.stream(), written.get()), d, "wait for an event");
  check(
      p.transfer.copy(second.stream(), source, skipped * 4, target, 0, (n - skipped) * 4, nullptr),
      d, "copy");
  return difference(right, second.download<std::uint32_t>(target, n).data());
}

// ---- arithmetic: a third operand selects which of three results is stored

struct rows {
  std::vector<float> a, b, what, right;
  std::size_t tiny = 0;  ///< the first elements, which may be 0: their input or result is denormal

  void add(float x, float y, int which) {
    a.push_back(x);
    b.push_back(y);
    what.push_back(static_cast<float>(which));
    right.push_back(which == 1   ? x * y
                    : which == 2 ? x / y
                                 : static_cast<float>(std::tanh(double{x}) + double{x} * y));
  }
};

rows known_rows() {
  using limits = std::numeric_limits<float>;
  rows r;
  r.add(limits::min(), 0.5f, 1);
  r.add(limits::min() / 4, 8, 1);
  r.add(limits::min(), 4, 2);
  r.add(limits::min() / 8, 0.0625f, 2);
  r.tiny = r.a.size();
  for (int i = 0; i < 999; ++i) {  // not a multiple of any vector width
    const auto x = static_cast<float>(i * 37 % 1001 - 500), y = static_cast<float>(i % 96 + 1);
    r.add(i % 3 == 0 ? std::fabs(x) / 256 : x, y, i % 3);
  }
  for (const float special : {limits::infinity(), -limits::infinity(), limits::quiet_NaN(), 0.f})
    for (const int which : {1, 2}) {
      r.add(special, 2, which);
      r.add(special, 0, which);
      r.add(1, special, which);
    }
  return r;
}

program_handle compile(const opened_device& d) {
  const auto op = [](tutti_opcode code, std::uint8_t type,
                     std::initializer_list<std::uint32_t> of) {
    tutti_instruction i{
        static_cast<std::uint16_t>(code), type, static_cast<std::uint8_t>(of.size()), {}};
    std::copy(of.begin(), of.end(), i.operand);
    return i;
  };
  // Values 0 to 2 are the inputs, 3 and 4 the scalars 1 and 2, the instructions follow.
  const tutti_instruction code[] = {
      op(TUTTI_OP_multiply, TUTTI_F32, {0, 1}),  op(TUTTI_OP_divide, TUTTI_F32, {0, 1}),
      op(TUTTI_OP_tanh, TUTTI_F32, {0}),         op(TUTTI_OP_add, TUTTI_F32, {7, 5}),
      op(TUTTI_OP_equal, TUTTI_BOOL, {2, 3}),    op(TUTTI_OP_equal, TUTTI_BOOL, {2, 4}),
      op(TUTTI_OP_where, TUTTI_F32, {10, 6, 8}), op(TUTTI_OP_where, TUTTI_F32, {9, 5, 11})};
  const tutti_program_operand input{TUTTI_F32, TUTTI_ACCESS_UNIT, 0, 0};
  const tutti_program_operand inputs[] = {input, input, input};
  const tutti_program_operand output{TUTTI_F32, TUTTI_ACCESS_UNIT, 0, 12};
  const std::uint8_t scalar_types[] = {TUTTI_F32, TUTTI_F32};
  tutti_program_desc desc{};
  desc.struct_size = sizeof desc;
  desc.ir_version = TUTTI_IR_VERSION;
  desc.operand_size = sizeof(tutti_program_operand);
  desc.instruction_size = sizeof(tutti_instruction);
  desc.kept_rank = 1;
  desc.reduction = TUTTI_REDUCE_NONE;
  desc.reduce_layout = TUTTI_REDUCE_INNER;
  desc.input_count = 3;
  desc.scalar_count = 2;
  desc.instruction_count = static_cast<std::uint32_t>(std::size(code));
  desc.output_count = 1;
  desc.inputs = inputs;
  desc.scalar_dtypes = scalar_types;
  desc.instructions = code;
  desc.outputs = &output;
  desc.label = "proof of f32";
  return create_program(d, desc);
}

bool is_right(float got, float right, bool is_tiny) {
  if (std::isnan(right)) return std::isnan(got);
  if (got == right || (got == 0 && is_tiny)) return true;
  // tanh may be wrong by 5 ulp, the sum by half an ulp more.
  return std::fabs(got - right) <= 8 * std::numeric_limits<float>::epsilon() * std::fabs(right);
}

std::string arithmetic_mistake(const opened_device& d) {
  const program_functions& api = d.plugin->program;
  const rows r = known_rows();
  const program_handle program = compile(d);
  session with(d);
  tutti_operand inputs[3] = {}, output{};
  int next = 0;
  for (const auto* column : {&r.a, &r.b, &r.what}) {
    inputs[next].buffer = with.upload(*column);
    inputs[next++].stride[0] = 1;
  }
  output.buffer = with.upload(std::vector<float>(r.a.size(), -77.f));
  output.stride[0] = 1;
  tutti_scalar scalars[2] = {};
  scalars[0].f32 = 1;
  scalars[1].f32 = 2;
  tutti_program_launch launch{};
  launch.struct_size = sizeof launch;
  launch.operand_size = sizeof(tutti_operand);
  launch.extent[0] = r.a.size();
  launch.inputs = inputs;
  launch.scalars = scalars;
  launch.outputs = &output;
  check(api.workspace(program.get(), &launch, &launch.workspace_bytes), d, "workspace");
  launch.workspace = with.room(launch.workspace_bytes);
  check(api.launch(with.stream(), program.get(), &launch, nullptr), d, "launch");
  const auto got = with.download<float>(output.buffer, r.a.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!is_right(got[i], r.right[i], i < r.tiny))
      return fmt::format("{:.9g} instead of {:.9g} at {} of {}", got[i], r.right[i], i, got.size());
  return {};
}

}  // namespace

const std::array<question, 2> all_questions{
    question{"transfers", false, transfer_mistake},
    question{"arithmetic of f32", true, arithmetic_mistake}};

}  // namespace tutti::detail
