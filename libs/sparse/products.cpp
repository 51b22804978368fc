// SPDX-License-Identifier: Apache-2.0
//
// Products with dense arrays and with sparse matrices.
#include <fmt/format.h>

#include <algorithm>

#include "base/named_errors.hpp"
#include "sparse/pattern.hpp"
#include "tutti/grad.hpp"

namespace tutti::sparse {

using tutti::base::named;

namespace {

using arrays = std::vector<array>;

array without_rule(const pattern& p, const array& values, const array& b, const char* label) {
  const tutti::shape to{p.majors(), b.dim(1)};
  if (graph::checked_elements(to, values.dtype(), label) == 0 || p.count() == 0)
    return op::zeros_on(to, values.dtype(), p.device(), label);
  return op::sparse_product(p.starts(), p.minor(), values, b, label);
}

// The operator, without a gradient rule.
array sampled(const pattern& p, const array& x, const array& y, const char* label) {
  if (p.count() == 0 || x.dim(1) == 0)
    return op::zeros_on({p.count()}, x.dtype(), p.device(), label);
  return op::sampled_products(op::cast(p.major(), p.index_type(), label), p.minor(), x, y, label);
}

void check_inner(const tutti::shape& a, const tutti::shape& b, bool fits, const char* op) {
  if (!fits)
    throw shape_error(fmt::format("{}: inner dimensions differ: {} x {}", op, a.str(), b.str()));
}

// A vector or a matrix.
const tutti::shape& dense_shape(const array& b, const char* op) {
  const tutti::shape& extents = op::extents_of(b, op);
  if (extents.rank() != 1 && extents.rank() != 2)
    throw shape_error(
        fmt::format("{}: a dense operand {}, must be a vector or a matrix", op, extents.str()));
  return extents;
}

}  // namespace

dtype common_dtype(const array& a, const array& b, std::string_view op) {
  const array both[] = {a, b};
  return op::floating_type_of(both, op);
}

array products_at(const std::shared_ptr<const pattern>& places, const array& x, const array& y,
                  const char* label) {
  return custom_vjp(
      [=](const arrays& v) { return arrays{sampled(*places, v[0], v[1], label)}; },
      [=](const arrays& v, const arrays&, const arrays& g) {
        const arranged rows = places->is_compressed() ? arranged{places, {}} : places->compressed();
        const arranged flipped = places->flipped();
        return arrays{product_of({rows.places, in_order(g[0], rows.order)}, v[1], label),
                      product_of({flipped.places, in_order(g[0], flipped.order)}, v[0], label)};
      })({x, y})[0];
}

array product_of(const placed& a, const array& b, const char* label) {
  const auto places = a.places;
  return custom_vjp(
      [=](const arrays& v) { return arrays{without_rule(*places, v[0], v[1], label)}; },
      [=](const arrays& v, const arrays&, const arrays& g) {
        const arranged flipped = places->flipped();
        const placed transposed{flipped.places, in_order(v[0], flipped.order)};
        return arrays{products_at(places, g[0], v[1], label), product_of(transposed, g[0], label)};
      })({a.values, b})[0];
}

array matmul(const matrix& a, const array& b) {
  return named("matmul", [&] {
    const tutti::shape extents = checked(a, "matmul").shape();
    const tutti::shape& of_b = dense_shape(b, "matmul");
    check_inner(extents, of_b, of_b[0] == extents[1], "matmul");
    const dtype type = common_dtype(a.values(), b, "matmul");
    placed rows = compressed_along(a, true);
    rows.values = op::cast(rows.values, type, "matmul");
    const array right = op::cast(b, type, "matmul");
    if (of_b.rank() == 2) return product_of(rows, right, "sparse matmul");
    return reshape(product_of(rows, reshape(right, {extents[1], 1}), "sparse matmul"),
                   {extents[0]});
  });
}

array matmul(const array& a, const matrix& b) {
  return named("matmul", [&] {
    const tutti::shape extents = checked(b, "matmul").shape();
    const tutti::shape& of_a = dense_shape(a, "matmul");
    check_inner(of_a, extents, of_a.back() == extents[0], "matmul");
    const array product = matmul(b.T(), of_a.rank() == 2 ? matrix_transpose(a) : a);
    return of_a.rank() == 2 ? matrix_transpose(product) : product;
  });
}

matrix matmul(const matrix& a, const matrix& b) {
  return named("matmul", [&]() -> matrix {
    const tutti::shape of_a = checked(a, "matmul").shape(), of_b = checked(b, "matmul").shape();
    check_inner(of_a, of_b, of_a[1] == of_b[0], "matmul");
    graph::checked_elements({of_a[0], of_b[1]}, dtype::u8, "matmul");
    const placed left = compressed_along(a, true), right = compressed_along(b, true);
    const dtype type = common_dtype(left.values, right.values, "matmul");
    if (!graph::is_differentiated(left.values) && !graph::is_differentiated(right.values)) {
      array both[] = {op::cast(left.values, type, "matmul"),
                      op::cast(right.values, type, "matmul")};
      graph::common_device(both, "matmul");
      const auto found = product_by_rows({left.places, both[0]}, {right.places, both[1]});
      if (found) return {found->places, true, found->values};
    }
    // Each element of a is combined with the row of b given by its column.
    const array starts = op::cast(right.places->starts(), dtype::i64, "matmul");
    const array column = op::cast(left.places->minor(), dtype::i64, "matmul");
    const array begins = picked(starts, column);
    const array lengths = left.places->count() == 0 ? begins : picked(starts, column + 1) - begins;
    const spread met = spread_rows(begins, lengths);
    const array major = op::cast(picked(left.places->major(), met.row), dtype::i64, "matmul");
    const array minor = op::cast(picked(right.places->minor(), met.position), dtype::i64, "matmul");
    const array values = op::cast(picked(left.values, met.row), type, "matmul") *
                         op::cast(picked(right.values, met.position), type, "matmul");
    const placed found = coalesced(of_a[0], of_b[1], major * of_b[1] + minor, {}, values);
    return {found.places, true, found.values};
  });
}

matrix sddmm(const matrix& places, const array& a, const array& b) {
  return named("sddmm", [&]() -> matrix {
    const tutti::shape extents = checked(places, "sddmm").shape();
    const tutti::shape &of_a = op::extents_of(a, "sddmm"), &of_b = op::extents_of(b, "sddmm");
    if (of_a.rank() != 2 || of_b.rank() != 2 || of_a[0] != extents[0] || of_b[1] != extents[1] ||
        of_a[1] != of_b[0])
      throw shape_error(
          fmt::format("sddmm: {} x {} at places of {}", of_a.str(), of_b.str(), extents.str()));
    const dtype type = common_dtype(a, b, "sddmm");
    if (type == dtype::f16 || type == dtype::bf16)
      throw dtype_error(fmt::format("sddmm: {} is not supported; convert to f32", name(type)));
    array both[] = {op::cast(a, type, "sddmm"), matrix_transpose(op::cast(b, type, "sddmm")),
                    places.places()->minor()};
    graph::common_device(both, "sddmm");
    const auto& [x, y, index] = both;
    const bool by_rows = places.by_rows();
    const array values = products_at(places.places(), by_rows ? x : y, by_rows ? y : x, "sddmm");
    return {places.places(), by_rows, values};
  });
}

}  // namespace tutti::sparse
