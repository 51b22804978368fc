// SPDX-License-Identifier: Apache-2.0
#include "runtime/promote/described_work.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace tutti::runtime {
namespace {

enum class described : std::uint8_t { program = 'p', op = 'o' };

template <class T>
void put(std::string& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
void put_all(std::string& bytes, const T* values, std::uint64_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  put(bytes, count);
  if (count > 0) bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

void put_text(std::string& bytes, const char* text) {
  put_all(bytes, text, text != nullptr ? std::strlen(text) : 0);
}

class reader {
 public:
  explicit reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  bool get(T& value) {
    if (rest_.size() < sizeof value) return false;
    std::memcpy(static_cast<void*>(&value), rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return true;
  }

  template <class List>
  bool get_all(List& values) {
    using element = typename List::value_type;
    std::uint64_t count = 0;
    if (!get(count) || count > rest_.size() / sizeof(element)) return false;
    values.resize(count);
    if (count > 0)
      std::memcpy(static_cast<void*>(values.data()), rest_.data(), count * sizeof(element));
    rest_.remove_prefix(count * sizeof(element));
    return true;
  }

  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

bool read(reader& in, graph::operator_params& to) {
  std::int32_t number = 0;
  std::vector<std::byte> bytes;
  if (!in.get(number) || host::find_operator(number) == nullptr || !in.get_all(bytes)) return false;
  to = graph::operator_params(static_cast<tutti_operator>(number));
  return to.assign(bytes);
}

}  // namespace

std::string to_bytes(const tutti_program_desc& desc) {
  std::string bytes;
  put(bytes, described::program);
  put(bytes, desc);
  put_all(bytes, desc.inputs, desc.input_count);
  put_all(bytes, desc.scalar_dtypes, desc.scalar_count);
  put_all(bytes, desc.instructions, desc.instruction_count);
  put_all(bytes, desc.outputs, desc.output_count);
  put_text(bytes, desc.label);
  return bytes;
}

std::string to_bytes(const operator_call& call) {
  std::string bytes;
  put(bytes, described::op);
  put(bytes, call.what.row().number);
  put_all(bytes, call.what.bytes().data(), call.what.bytes().size());
  put(bytes, call.output_count);
  put_all(bytes, call.views.data(), call.views.size());
  put_text(bytes, call.what.label());
  return bytes;
}

std::optional<described_work> described_work::from(std::string_view bytes) {
  reader in(bytes);
  described_work made;
  described what{};
  bool is_read = in.get(what);
  if (what == described::program) {
    program_parts& p = made.parts_.emplace<program_parts>();
    is_read = is_read && in.get(p.desc) && in.get_all(p.inputs) && in.get_all(p.scalar_dtypes) &&
              in.get_all(p.instructions) && in.get_all(p.outputs);
    is_read = is_read && p.inputs.size() == p.desc.input_count &&
              p.scalar_dtypes.size() == p.desc.scalar_count &&
              p.instructions.size() == p.desc.instruction_count &&
              p.outputs.size() == p.desc.output_count;
  } else if (what == described::op) {
    operator_call& call = made.parts_.emplace<operator_parts>().call;
    is_read = is_read && read(in, call.what) && in.get(call.output_count) &&
              in.get_all(call.views) && call.output_count <= call.views.size();
  } else {
    return std::nullopt;
  }
  if (!is_read || !in.get_all(made.label_) || !in.is_at_end()) return std::nullopt;
  return made;
}

const tutti_program_desc* described_work::program() {
  auto* const p = std::get_if<program_parts>(&parts_);
  if (p == nullptr) return nullptr;
  p->desc.inputs = p->inputs.data();
  p->desc.scalar_dtypes = p->scalar_dtypes.data();
  p->desc.instructions = p->instructions.data();
  p->desc.outputs = p->outputs.data();
  p->desc.label = label_.c_str();
  return &p->desc;
}

const tutti_operator_desc* described_work::op() {
  auto* const o = std::get_if<operator_parts>(&parts_);
  if (o == nullptr) return nullptr;
  o->call.what.rename(label_.c_str());
  o->desc = description_of(o->call);
  return &o->desc;
}

}  // namespace tutti::runtime
