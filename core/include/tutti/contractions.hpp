// SPDX-License-Identifier: Apache-2.0
//
// Products that sum over shared axes, implemented by batched matmul, fused multiplications and
// views: transposed operands cost no copy, and gradients follow. Operands promote as in dtype.hpp;
// bool throws dtype_error.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "tutti/array.hpp"

namespace tutti {

/// Einstein summation as NumPy's: "ij,jk->ik". Letters name axes; a letter that occurs twice in one
/// operand takes the diagonal; letters that the output lacks are summed; "..." represents further
/// axes, which broadcast. Without "->" the output has the axes of "...", then the letters that
/// occur once, in ASCII order. An axis of extent 1 broadcasts. Operands are contracted in pairs, in
/// the order with the fewest multiplications and stored elements for up to 8 operands, otherwise
/// greedily. Throws value_error for invalid subscripts, shape_error with the letter if extents
/// differ or if more than 8 axes would be needed.
TUTTI_API array einsum(std::string_view subscripts, array_list operands);

/// Sum of products over axes_a[i] of a and axes_b[i] of b; the result has the other axes of a, then
/// those of b. Throws shape_error if extents differ, value_error for lists of different lengths or
/// a repeated axis.
TUTTI_API array tensordot(const array& a, const array& b, const shape& axes_a, const shape& axes_b);
/// Over the last `count` axes of a and the first of b. Throws value_error if they have fewer.
TUTTI_API array tensordot(const array& a, const array& b, int count = 2);

/// [a.size(), b.size()]: a[i] * b[j] of the flattened arrays.
TUTTI_API array outer(const array& a, const array& b);
/// Sum of products over the last axes; the product if an operand is 0-d.
TUTTI_API array inner(const array& a, const array& b);
/// Kronecker product: each element of a times all of b; leading ones are added to the shorter
/// shape.
TUTTI_API array kron(const array& a, const array& b);
/// Sum of conj(a) * b along `axis`, operands broadcast. Throws shape_error if the extents of the
/// axis differ.
TUTTI_API array vecdot(const array& a, const array& b, integer axis = -1);
/// Cross product of vectors of 3 along `axis`, operands broadcast. Throws shape_error for other
/// extents.
TUTTI_API array cross(const array& a, const array& b, integer axis = -1);
/// Sum of a diagonal, selected as by diagonal(), in dtype `type` if it is given; see sum().
TUTTI_API array trace(const array& a, std::int64_t offset = 0, integer axis1 = 0, integer axis2 = 1,
                      std::optional<dtype> type = {});

}  // namespace tutti
