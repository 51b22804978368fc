// SPDX-License-Identifier: Apache-2.0
//
// Promotion of operands (Python array API standard; C++ scalars are weak) and casts.
#include "op/operands.hpp"

#include <algorithm>
#include <vector>

#include "semantics/host_math.hpp"

namespace tutti::op {
namespace {

int rank_of(dtype t) { return is_bool(t) ? 0 : is_integral(t) ? 1 : is_floating(t) ? 2 : 3; }

std::string names_of(array_list operands) {
  std::string text;
  for (const array& a : operands) text += (text.empty() ? "" : ", ") + std::string(name(a.dtype()));
  return text;
}

// Weak scalars only: the highest kind, the wider of two integers.
dtype join_weak(dtype a, dtype b) {
  if (rank_of(a) != rank_of(b)) return rank_of(a) > rank_of(b) ? a : b;
  if (a == b) return a;
  return dtype::i64;
}

dtype join_strong(dtype a, dtype b, std::string_view op) {
  const bool unsigned64 = a == dtype::u64 || b == dtype::u64;
  if (unsigned64 && is_integral(a) && is_integral(b) && is_unsigned(a) != is_unsigned(b))
    base::fail<dtype_error>("{}: no dtype can represent both {} and {}; convert one with astype",
                            op, a, b);
  return promote(a, b);
}

dtype apply_kind(dtype type, row_kind kind, array_list operands, std::string_view op) {
  const auto reject = [&](const char* wanted, const char* hint = "") {
    base::fail<dtype_error>("{}: needs {}, got {}{}", op, wanted, names_of(operands), hint);
  };
  switch (kind) {
    case row_kind::NUMERIC:
      if (is_bool(type)) reject("integers, floats or complex numbers");
      return type;
    case row_kind::REAL:
      if (is_bool(type) || is_complex(type)) reject("integers or floats");
      return type;
    case row_kind::FLOATING:
      return is_floating(type) || is_complex(type) ? type : dtype::f32;
    case row_kind::REAL_FLOATING:
      if (is_complex(type)) reject("real numbers");
      return is_floating(type) ? type : dtype::f32;
    case row_kind::INTEGRAL:
      if (is_floating(type) || is_complex(type))
        reject("integers or bool", op == "bitwise_xor" ? "; a power is pow(a, b)" : "");
      return type;
    case row_kind::LOGICAL:
      return dtype::boolean;
    case row_kind::ANY:
    case row_kind::IR:
      break;
  }
  return type;
}

bool holds_weak(dtype type, const graph::node& weak) {
  const std::int64_t value = weak.value().real.i64;
  if (weak.type == dtype::u64 && value < 0) return type == dtype::u64;
  return holds(type, value);
}

std::string weak_text(const graph::node& n) {
  const tutti_scalar value = n.value().real;
  return n.type == dtype::u64 ? std::to_string(value.u64) : std::to_string(value.i64);
}

// The dtype in which scalars of a kind are folded: its widest type. An integer beyond i64 makes all
// of them u64, in which a negative one throws.
dtype wide_type(dtype type, array_list operands, std::string_view op) {
  if (is_complex(type)) return dtype::c128;
  if (is_floating(type)) return dtype::f64;
  if (!is_integral(type)) return type;
  const auto is_large = [](const array& a) {
    return a.dtype() == dtype::u64 && a.node()->value().real.i64 < 0;
  };
  if (std::none_of(operands.begin(), operands.end(), is_large)) return dtype::i64;
  for (const array& a : operands)
    if (!holds_weak(dtype::u64, *a.node()))
      base::fail<value_error>("{}: {} does not fit u64", op, weak_text(*a.node()));
  return dtype::u64;
}

// The result of an operation on scalars only: folded in the widest type of its kind, weak again.
std::optional<array> apply_weak(tutti_opcode opcode, dtype type, dtype result, array_list operands,
                                std::string_view op) {
  const dtype wide = wide_type(type, operands, op);
  std::vector<array> inputs;
  for (const array& a : operands) inputs.push_back(graph::constant_like(a, {}, wide, nullptr));
  const dtype to = is_bool(result)       ? dtype::boolean
                   : is_complex(result)  ? dtype::c128
                   : is_floating(result) ? dtype::f64
                                         : wide;
  const array folded = graph::elementwise(opcode, to, inputs, op);
  if (!folded.node()->is_constant()) return std::nullopt;
  const tutti_scalar value = folded.node()->value().real;
  if (is_bool(result)) return array(value.u8 != 0);
  if (to == dtype::c128)
    return array(std::complex<double>(value.f64, folded.node()->value().imaginary.f64));
  if (to == dtype::f64) return array(value.f64);
  if (wide == dtype::u64) return array(value.u64);
  if (type == dtype::i32 && value.i64 == static_cast<std::int32_t>(value.i64))
    return array(static_cast<std::int32_t>(value.i64));
  return array(value.i64);
}

dtype result_type(row_result rule, dtype type) {
  switch (rule) {
    case row_result::BOOL:
      return dtype::boolean;
    case row_result::REAL_OF:
      return real_dtype(type);
    case row_result::COMPLEX_OF:
      return complex_dtype(type);
    case row_result::SAME:
      break;
  }
  return type;
}

// Operations that need no node: the parts of real numbers.
std::optional<array> part_of_real(tutti_opcode opcode, dtype type, const array& a,
                                  std::string_view op) {
  if (is_complex(type)) return std::nullopt;
  if (opcode == TUTTI_OP_real || opcode == TUTTI_OP_conj) return cast(a, type, op);
  if (opcode == TUTTI_OP_imag) return zeros_on(a.shape(), type, a.node()->device, op);
  return std::nullopt;
}

// The position of the right operand relative to all integers of its dtype: -1 below, 1 above;
// otherwise 0.
int side_of(const array& a, dtype type) {
  const graph::node& n = *a.node();
  if (!n.weak || !is_integral(n.type) || !is_integral(type) || holds_weak(type, n)) return 0;
  return n.type != dtype::u64 && n.value().real.i64 < 0 ? -1 : 1;
}

// Comparisons of integers with a number that their dtype cannot represent have the same result for
// all elements.
std::optional<array> apply_beyond(tutti_opcode opcode, dtype type, array_list operands,
                                  std::string_view op) {
  if (operands.size() != 2) return std::nullopt;
  const int left = side_of(operands[0], type), right = side_of(operands[1], type);
  if (left == right) return std::nullopt;
  const int order = left - right;  // the sign of operands[0] - operands[1]
  const auto all = [&](bool answer) {
    const array& strong = operands[left != 0 ? 1 : 0];
    return graph::constant_like(array(answer), strong.shape(), dtype::boolean,
                                strong.node()->device, op);
  };
  switch (opcode) {
    case TUTTI_OP_equal:
      return all(false);
    case TUTTI_OP_not_equal:
      return all(true);
    case TUTTI_OP_less:
    case TUTTI_OP_less_equal:
      return all(order < 0);
    case TUTTI_OP_greater:
    case TUTTI_OP_greater_equal:
      return all(order > 0);
    default:
      return std::nullopt;
  }
}

}  // namespace

bool holds(dtype type, std::int64_t value) {
  if (type == dtype::u64) return value >= 0;
  if (type == dtype::i64) return true;
  const int bits = 8 * static_cast<int>(size_of(type));
  if (is_unsigned(type)) return value >= 0 && value < std::int64_t{1} << bits;
  return value >= -(std::int64_t{1} << (bits - 1)) && value < std::int64_t{1} << (bits - 1);
}

common_type promote_operands(array_list operands, row_kind kind, std::string_view op) {
  std::optional<dtype> strong;
  std::optional<dtype> weak;
  for (const array& a : operands) {
    const graph::node& n = graph::get(a, op);
    // Each is a truth value, so their dtypes need not be compatible.
    if (kind == row_kind::LOGICAL) (n.weak ? weak : strong) = dtype::boolean;
    if (kind == row_kind::LOGICAL) continue;
    if (n.weak)
      weak = weak ? join_weak(*weak, n.type) : n.type;
    else
      strong = strong ? join_strong(*strong, n.type, op) : n.type;
  }
  if (!strong) return {apply_kind(*weak, kind, operands, op), true};
  dtype type = *strong;
  if (weak && rank_of(*weak) > rank_of(*strong))
    type = is_complex(*weak) ? complex_dtype(*strong) : *weak;
  return {apply_kind(type, kind, operands, op), false};
}

array cast(const array& a, dtype type, std::string_view op) {
  const graph::node& n = graph::get(a, op);
  if (is_complex(n.type) && !is_complex(type) && !is_bool(type))
    base::fail<dtype_error>("{}: {} does not become {}; take real(), imag() or abs()", op, n.type,
                            type);
  if (n.type == type && !n.weak) return a;
  if (n.is_constant()) {
    if (n.weak && is_integral(n.type) && is_integral(type) && !holds_weak(type, n))
      base::fail<value_error>("{}: {} does not fit {}", op, weak_text(n), type);
    return graph::constant_like(a, n.extents, type, n.device, op);
  }
  return graph::elementwise(TUTTI_OP_cast, type, {a}, op);
}

dtype type_of(const array& a, std::string_view op) {
  return promote_operands({a}, row_kind::ANY, op).type;
}

dtype real_type_of(const array& a, std::string_view op) {
  const dtype type = type_of(a, op);
  if (is_complex(type)) base::fail<dtype_error>("{}: needs real numbers, got {}", op, type);
  return type;
}

dtype floating_type_of(const array& a, std::string_view op) {
  return promote_operands({a}, row_kind::FLOATING, op).type;
}

dtype real_floating_type_of(const array& a, std::string_view op) {
  real_type_of(a, op);
  return floating_type_of(a, op);
}

dtype accumulator_type(const array& a, std::optional<dtype> wanted, std::string_view op) {
  const dtype given = type_of(a, op);
  const bool rounds = is_floating(given) || is_complex(given);
  const dtype type = wanted.value_or(rounds ? given : is_unsigned(given) ? dtype::u64 : dtype::i64);
  const bool loses = (rounds && is_integral(type)) || (is_complex(given) && !is_complex(type));
  if (is_bool(type) || loses)
    base::fail<dtype_error>("{}: {} elements do not accumulate in {}", op, given, type);
  return type;
}

array apply(tutti_opcode opcode, row_kind kind, row_result rule, std::span<array> operands,
            std::string_view op) {
  const common_type common = promote_operands(operands, kind, op);
  const dtype result = result_type(rule, common.type);
  if (common.weak) {
    if (auto folded = apply_weak(opcode, common.type, result, operands, op)) return *folded;
  }
  if (auto found = apply_beyond(opcode, common.type, operands, op)) return *found;
  if (auto found = part_of_real(opcode, common.type, operands[0], op)) return *found;
  if (opcode == TUTTI_OP_nextafter && graph::compute_dtype(common.type) != common.type)
    base::fail<dtype_error>("{}: needs f32 or f64, got {}", op, common.type);
  for (array& a : operands)
    if (a.dtype() != common.type || a.node()->weak) a = cast(a, common.type, op);
  return graph::elementwise_of(opcode, result, operands, op);
}

void require_same_beside(int axis, const shape& a, const shape& b, std::string_view op) {
  bool fits = a.rank() == b.rank();
  for (int i = 0; fits && i < a.rank(); ++i) fits = i == axis || a[i] == b[i];
  if (!fits) base::fail<shape_error>("{}: shapes differ beside axis {}: {} and {}", op, axis, a, b);
}

array zeros_on(const shape& extents, dtype type, device_pointer device, std::string_view op) {
  return graph::constant(extents, type, std::int64_t{0}, device, op);
}

bool is_known_zero(const array& a) {
  if (!a.node()->is_constant()) return false;
  const array value = graph::constant_like(a, {}, dtype::c128, nullptr);
  return value.node()->value().real.f64 == 0 && value.node()->value().imaginary.f64 == 0;
}

std::optional<std::pair<std::int64_t, std::int64_t>> known_range(const array& a) {
  const graph::node& n = *a.node();
  if (n.is_constant()) {
    const dtype wide = n.type == dtype::u64 ? dtype::u64 : dtype::i64;
    const array value = graph::constant_like(a, {}, wide, nullptr);
    const std::int64_t exact = value.node()->value().real.i64;
    if (wide == dtype::u64 && exact < 0) return std::nullopt;
    return std::pair{exact, exact};
  }
  if (n.range) return n.range;
  return graph::base_of(n).range;
}

std::pair<std::int64_t, std::int64_t> exact_range(const array& a, const array& values) {
  // For other nodes, and for a part of uploaded values, the known bounds may be wide.
  for (const array* known : {&a, &values}) {
    const auto kind = known->node()->kind;
    if (kind != graph::kind::constant && kind != graph::kind::data) continue;
    if (const auto range = known_range(*known)) return *range;
  }
  return evaluated_range(values);
}

}  // namespace tutti::op
