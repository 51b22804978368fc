// SPDX-License-Identifier: Apache-2.0
//
// The matrix product: ranks and batches converted to [B,M,K] x [B,K,N], with copies only if the
// layouts of TUTTI_OPERATOR_MATMUL cannot express an operand.
#include "op/operands.hpp"
#include "plugin/support.hpp"

namespace tutti {
namespace {

shape leading(const shape& s) { return shape(std::span(s.begin(), s.end() - 2)); }

// One matrix of a batch: an axis with stride 1, the other with a stride of at least its length.
bool fits_operator(const shape& extents, const shape& strides) {
  return (strides[2] == 1 && strides[1] >= extents[2]) ||
         (strides[1] == 1 && strides[2] >= extents[1]);
}

// Strides along axes of extent 1 are meaningless: any that the operator accepts can be used.
shape free_strides(const shape& extents, shape strides) {
  if (extents[0] == 1) strides[0] = 0;
  if (extents[1] == 1 && extents[2] == 1) {
    strides[1] = strides[2] = 1;
  } else if (extents[1] == 1) {
    strides[1] = strides[2] == 1 ? extents[2] : 1;
  } else if (extents[2] == 1) {
    strides[2] = strides[1] == 1 ? extents[1] : 1;
  }
  return strides;
}

// a [B,R,C] as the operator requires it.
array operator_layout(const array& a) {
  const graph::node& n = *a.node();
  if (!n.is_view()) return a;
  const graph::layout from = graph::layout_of(n);
  const shape strides = free_strides(n.extents, from.strides);
  if (!fits_operator(n.extents, strides) || strides[0] < 0) {
    return graph::elementwise(TUTTI_OP_cast, n.type, {a}, "matmul");
  }
  if (strides == from.strides) return a;
  return graph::view(a, n.extents, {from.offset, strides}, graph::view_op::reshape);
}

// a with leading axes that broadcast to `batch`, as [B,R,C]; without them the batch stride is 0.
array batched(const array& a, const shape& batch) {
  const std::int64_t rows = a.dim(-2);
  const std::int64_t columns = a.dim(-1);
  const shape own = leading(a.shape());
  const std::int64_t count = batch.size();
  if (own.size() == 1) {
    const graph::layout from = graph::layout_of(*a.node());
    const int rank = a.ndim();
    const shape one{1, rows, columns};
    const shape strides = free_strides(one, {0, from.strides[rank - 2], from.strides[rank - 1]});
    const array matrix = graph::view(a, one, {from.offset, strides}, graph::view_op::reshape);
    return count == 1 ? matrix : broadcast_to(matrix, {count, rows, columns});
  }
  return reshape(broadcast_to(a, op::with_rest(batch, {rows, columns}, 0)), {count, rows, columns});
}

// Whether [.., M, K] can be reshaped to [B*M, K] without a copy.
bool folds(const array& a) {
  const graph::layout where = graph::layout_of(*a.node());
  const shape& extents = a.shape();
  for (int i = 0; i + 2 < extents.rank(); ++i)
    if (where.strides[i] != where.strides[i + 1] * extents[i + 1]) return false;
  return true;
}

// Whether the device has products of this dtype; it must have those of integers and of wide floats.
bool multiplies(op::device_pointer device, dtype type) {
  if (graph::compute_dtype(type) == type && !is_complex(type)) return true;
  return plugins::supports(*graph::or_default(device), TUTTI_OPERATOR_MATMUL, type, 64);
}

// a [B,M,K] times b [B,K,N], whose strides may be 0 along B.
array product3(const array& a, const array& b) {
  const shape &left = a.shape(), &right = b.shape();
  return graph::operation(graph::operator_params(TUTTI_OPERATOR_MATMUL), a.dtype(),
                          {left[0], left[1], right[2]}, {operator_layout(a), operator_layout(b)},
                          "matmul");
}

// For complex numbers: products of the parts, which are fast on every backend.
array complex_matmul(const array& a, const array& b) {
  if (!is_complex(a.dtype())) return complex(matmul(a, real(b)), matmul(a, imag(b)));
  if (!is_complex(b.dtype())) return complex(matmul(real(a), b), matmul(imag(a), b));
  const array x = real(a), y = imag(a), u = real(b), v = imag(b);
  return complex(matmul(x, u) - matmul(y, v), matmul(x, v) + matmul(y, u));
}

}  // namespace

array matmul(const array& a, const array& b) {
  array operands[] = {a, b};
  const dtype type = op::promote_operands(operands, op::row_kind::NUMERIC, "matmul").type;
  const auto device = graph::common_device(operands, "matmul");
  const shape given_a = a.shape();
  const shape given_b = b.shape();
  if (given_a.rank() == 0 || given_b.rank() == 0)
    base::fail<shape_error>("matmul: operands must have at least one dimension: {} x {}", given_a,
                            given_b);

  // f16 and bf16 are summed in f32 either way; a device that accepts them directly reads half as
  // much.
  const bool as_it_is = multiplies(device, type);
  if (is_complex(type) && !as_it_is) {
    const dtype part = real_dtype(type);  // real operands are not widened further
    const auto widened = [&](const array& x) {
      return op::cast(x, is_complex(x.dtype()) ? type : part, "matmul");
    };
    return complex_matmul(widened(operands[0]), widened(operands[1]));
  }
  const dtype compute = as_it_is ? type : graph::compute_dtype(type);
  array x = op::cast(operands[0], compute, "matmul");
  array y = op::cast(operands[1], compute, "matmul");
  if (given_a.rank() == 1) x = expand_dims(x, 0);
  if (given_b.rank() == 1) y = expand_dims(y, 1);
  const std::int64_t m = x.dim(-2);
  const std::int64_t k = x.dim(-1);
  const std::int64_t n = y.dim(-1);
  if (k != y.dim(-2))
    base::fail<shape_error>("matmul: inner dimensions differ: {} x {}", given_a, given_b);

  const shape batch_a = leading(x.shape());
  const shape batch_b = leading(y.shape());
  shape batch;
  try {
    batch = broadcast_shapes(batch_a, batch_b, "matmul");
  } catch (const shape_error&) {
    base::fail<shape_error>("matmul: leading dimensions do not broadcast: {} x {}", given_a,
                            given_b);
  }
  shape to = batch;
  if (given_a.rank() > 1) to.push_back(m);
  if (given_b.rank() > 1) to.push_back(n);
  const bool empty = graph::checked_elements(to, type, "matmul") == 0;
  if (k == 0 || empty) return op::zeros_on(to, type, device);

  array product;
  if (batch_b.size() == 1 && batch == batch_a && batch.size() > 1 && folds(x)) {
    const array rows = reshape(x, {1, batch.size() * m, k});
    product = product3(rows, batched(y, {}));
  } else {
    product = product3(batched(x, batch), batched(y, batch));
  }
  return op::cast(reshape(product, to), type, "matmul");
}

}  // namespace tutti
