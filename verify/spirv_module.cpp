// SPDX-License-Identifier: Apache-2.0
//
// Numbers and operands are those of the SPIR-V specification (version 1.0, unified).
#include "spirv_module.hpp"

#include <cstring>
#include <string_view>

namespace tutti::conformance {
namespace {

constexpr uint32_t magic = 0x07230203, version_1_0 = 0x00010000;

// Instructions.
constexpr uint32_t op_source = 3, op_memory_model = 14, op_entry_point = 15, op_capability = 17,
                   op_type_void = 19, op_type_int = 21, op_type_vector = 23, op_type_pointer = 32,
                   op_type_function = 33, op_function = 54, op_function_parameter = 55,
                   op_function_end = 56, op_variable = 59, op_load = 61, op_store = 62,
                   op_in_bounds_ptr_access_chain = 70, op_decorate = 71, op_composite_extract = 81,
                   op_u_convert = 113, op_i_add = 128, op_i_mul = 132, op_label = 248,
                   op_return = 253;
// Operands.
constexpr uint32_t capability_addresses = 4, capability_kernel = 6, capability_int64 = 11,
                   physical64 = 2, memory_opencl = 2, model_kernel = 6, language_opencl_c = 3,
                   decoration_builtin = 11, decoration_constant = 22, global_invocation_id = 28,
                   storage_input = 1, storage_cross_workgroup = 5, aligned = 2;

// Names of values.
enum id : uint32_t {
  none,
  main,
  ids,
  void_type,
  u32,
  u64,
  u64x3,
  input_pointer,
  global_pointer,
  function_type,
  x,
  out,
  a,
  entry,
  all_ids,
  i,
  from,
  value,
  product,
  short_i,
  sum,
  to,
  bound
};

class assembler {
 public:
  assembler() : words_{magic, version_1_0, 0, bound, 0} {}

  void add(uint32_t opcode, std::initializer_list<uint32_t> operands) {
    words_.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | opcode);
    words_.insert(words_.end(), operands);
  }
  void add_entry_point(id function, std::string_view name, id variable) {
    std::vector<uint32_t> text(name.size() / 4 + 1);  // ends in a 0
    std::memcpy(text.data(), name.data(), name.size());
    words_.push_back(static_cast<uint32_t>(text.size() + 4) << 16 | op_entry_point);
    words_.insert(words_.end(), {model_kernel, function});
    words_.insert(words_.end(), text.begin(), text.end());
    words_.push_back(variable);
  }
  std::vector<uint32_t> take() { return std::move(words_); }

 private:
  std::vector<uint32_t> words_;
};

void add_types(assembler& m) {
  m.add(op_type_void, {void_type});
  m.add(op_type_int, {u32, 32, 0});
  m.add(op_type_int, {u64, 64, 0});
  m.add(op_type_vector, {u64x3, u64, 3});
  m.add(op_type_pointer, {input_pointer, storage_input, u64x3});
  m.add(op_type_pointer, {global_pointer, storage_cross_workgroup, u32});
  m.add(op_type_function, {function_type, void_type, global_pointer, global_pointer, u32});
  m.add(op_variable, {input_pointer, ids, storage_input});
}

void add_body(assembler& m) {
  m.add(op_function, {void_type, main, 0, function_type});
  m.add(op_function_parameter, {global_pointer, x});
  m.add(op_function_parameter, {global_pointer, out});
  m.add(op_function_parameter, {u32, a});
  m.add(op_label, {entry});
  m.add(op_load, {u64x3, all_ids, ids, aligned, 32});
  m.add(op_composite_extract, {u64, i, all_ids, 0});
  m.add(op_in_bounds_ptr_access_chain, {global_pointer, from, x, i});
  m.add(op_load, {u32, value, from, aligned, 4});
  m.add(op_i_mul, {u32, product, a, value});
  m.add(op_u_convert, {u32, short_i, i});
  m.add(op_i_add, {u32, sum, product, short_i});
  m.add(op_in_bounds_ptr_access_chain, {global_pointer, to, out, i});
  m.add(op_store, {to, sum, aligned, 4});
  m.add(op_return, {});
  m.add(op_function_end, {});
}

}  // namespace

std::vector<uint32_t> scaled_module() {
  assembler m;
  for (const uint32_t c : {capability_addresses, capability_kernel, capability_int64})
    m.add(op_capability, {c});
  m.add(op_memory_model, {physical64, memory_opencl});
  m.add_entry_point(main, "scaled", ids);
  m.add(op_source, {language_opencl_c, 102000});
  m.add(op_decorate, {ids, decoration_builtin, global_invocation_id});
  m.add(op_decorate, {ids, decoration_constant});
  add_types(m);
  add_body(m);
  return m.take();
}

}  // namespace tutti::conformance
