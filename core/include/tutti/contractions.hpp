// SPDX-License-Identifier: Apache-2.0
//
// Products that sum over shared axes. All come down to batched matmul, fused multiplications and
// views, so transposed operands cost no copy and gradients follow. Operands promote as in
// dtype.hpp; bool throws dtype_error.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "tutti/array.hpp"

namespace tutti {

/// Einstein summation as NumPy's: "ij,jk->ik". Letters name axes; a letter twice in one operand
/// takes the diagonal; letters that the output lacks are summed; "..." stands for further axes,
/// which broadcast. Without "->" the output has the axes of "...", then the letters that occur
/// once, in ASCII order. An axis of extent 1 broadcasts. Operands are contracted in pairs, in the
/// order of the fewest multiplications and stored elements for up to 8 operands, greedily beyond.
/// Throws value_error for subscripts that make no sense or do not fit the operands, shape_error
/// naming the letter where extents differ or where more than 8 axes would be needed.
TUTTI_API array einsum(std::string_view subscripts, std::span<const array> operands);
TUTTI_API array einsum(std::string_view subscripts, std::initializer_list<array> operands);

/// Sum of products over axes_a[i] of a and axes_b[i] of b; the result has the other axes of a, then
/// those of b. Throws shape_error where extents differ, value_error for lists of different length
/// or an axis named twice.
TUTTI_API array tensordot(const array& a, const array& b, const shape& axes_a, const shape& axes_b);
/// Over the last `count` axes of a and the first of b. Throws value_error where they have less.
TUTTI_API array tensordot(const array& a, const array& b, int count = 2);

/// [a.size(), b.size()]: a[i] * b[j] of the flattened arrays.
TUTTI_API array outer(const array& a, const array& b);
/// Sum of products over the last axes; with a 0-d operand the product.
TUTTI_API array inner(const array& a, const array& b);
/// Kronecker product: each element of a times the whole of b; the shorter shape gets leading ones.
TUTTI_API array kron(const array& a, const array& b);
/// Sum of conj(a) * b along `axis`, operands broadcast. Throws shape_error where the extents of the
/// axis differ.
TUTTI_API array vecdot(const array& a, const array& b, integer axis = -1);
/// Cross product of vectors of 3 along `axis`, operands broadcast. Throws shape_error for other
/// extents.
TUTTI_API array cross(const array& a, const array& b, integer axis = -1);
/// Sum of a diagonal, as of diagonal(), in dtype `type` where one is given: as sum().
TUTTI_API array trace(const array& a, std::int64_t offset = 0, integer axis1 = 0, integer axis2 = 1,
                      std::optional<dtype> type = {});

}  // namespace tutti
