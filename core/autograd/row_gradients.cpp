// SPDX-License-Identifier: Apache-2.0
//
// The gradient column of op_table.def as code.
#include "autograd/gradients.hpp"
#include "tutti/ops.hpp"

namespace tutti::autograd {

#define GRAD(...) \
  std::vector<array> { __VA_ARGS__ }
#define NO_GRAD \
  std::vector<array> {}

std::vector<array> row_cotangents(std::uint16_t opcode, const array& g, const array& a,
                                  const array& b, const array& c, const array& y) {
  switch (opcode) {
    case TUTTI_OP_where:
      return {array(), where(a, g, 0), where(a, 0, g)};
    case TUTTI_OP_cast:
      if (is_complex(a.dtype())) return {astype(g, a.dtype())};
      if (!is_floating(a.dtype())) return {};
      return {astype(real(g), a.dtype())};
    default:
      break;
  }
  static_cast<void>(c);
  switch (opcode) {
#define TUTTI_OP(id, name, arity, kinds, result, float_text, int_text, host, gradient, ...) \
  case TUTTI_OP_##name:                                                                     \
    return gradient;
#include "tutti/op_table.def"
#undef TUTTI_OP
    default:
      return {};
  }
}

}  // namespace tutti::autograd
