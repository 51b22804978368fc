#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes vectors.txt: operands and results of SciPy for vectors_test.cpp, in the format of
# tests/ops/make_vectors.py, whose functions it uses. A sparse matrix is given as its extents and
# triplets, of which some name a place several times.
# Needs NumPy and SciPy (from PyPI). Run as: tests/sparse/make_vectors.py > tests/sparse/vectors.txt
import os
import sys

import numpy as np
import scipy.sparse as sp

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
from make_vectors import case, integers, uniform  # noqa: E402


def numbers(*shape, dtype=np.float64):
    x = uniform(*shape, low=-1)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * uniform(*shape, low=-1)
    return x.astype(dtype)


class triplets:
    def __init__(self, rows, columns, count, dtype=np.float64):
        self.row = integers(count, low=0, high=rows, dtype=np.int64)
        self.column = integers(count, low=0, high=columns, dtype=np.int64)
        self.value = numbers(count, dtype=dtype)
        if count > 4:  # twice and three times at one place, and an empty row
            self.row[1:3] = self.row[0]
            self.column[1:3] = self.column[0]
            self.row[self.row == rows // 2] = 0
        self.shape = (rows, columns)
        self.matrix = sp.coo_array((self.value, (self.row, self.column)), shape=self.shape)

    def operands(self):
        return [np.array(self.shape, np.int64), self.row, self.column, self.value]


def structure():
    for rows, columns, count in [(7, 5, 23), (1, 9, 6), (9, 1, 7), (12, 12, 1), (14, 11, 50)]:
        t = triplets(rows, columns, count)
        case("to_dense", 1e-15, t.operands(), t.matrix.toarray())
        csr, csc = t.matrix.tocsr(), t.matrix.tocsc()
        csr.sum_duplicates()
        csc.sum_duplicates()
        for name, m in [("csr", csr), ("csc", csc)]:
            case(f"{name}_starts", 0, t.operands(), m.indptr.astype(np.int64))
            case(f"{name}_indices", 0, t.operands(), m.indices.astype(np.int64))
            case(f"{name}_values", 1e-15, t.operands(), m.data)
        case("diagonal", 1e-15, t.operands(), t.matrix.tocsr().diagonal())
        case("sum", 1e-14, t.operands(), np.array(t.matrix.sum()))
        case("sum_rows", 1e-14, t.operands(), np.asarray(t.matrix.sum(axis=1)).ravel())
        case("sum_columns", 1e-14, t.operands(), np.asarray(t.matrix.sum(axis=0)).ravel())


def products():
    for dtype, tolerance in [(np.float64, 1e-14), (np.float32, 2e-6), (np.complex128, 1e-14)]:
        t = triplets(13, 11, 60, dtype)
        a = t.matrix.tocsr()
        x, b, left = (numbers(11, dtype=dtype), numbers(11, 13, dtype=dtype),
                      numbers(3, 13, dtype=dtype))
        case("matvec", tolerance, t.operands() + [x], a @ x)
        case("matmat", tolerance, t.operands() + [b], a @ b)
        case("left", tolerance, t.operands() + [left], left @ a)
        places = triplets(13, 9, 40, dtype)
        mask = places.matrix.tocsr()
        mask.data[:] = 1
        b = numbers(11, 9, dtype=dtype)
        dense = numbers(13, 11, dtype=dtype)
        case("sddmm", tolerance, places.operands() + [dense, b], mask.toarray() * (dense @ b))


def pairs():
    for rows, inner, columns in [(8, 6, 10), (11, 9, 7)]:
        a, b = triplets(rows, inner, 3 * rows), triplets(inner, columns, 3 * inner)
        product = (a.matrix.tocsr() @ b.matrix.tocsr()).tocsr()
        product.sum_duplicates()
        both = a.operands() + b.operands()
        case("product", 1e-14, both, product.toarray())
        case("product_starts", 0, both, product.indptr.astype(np.int64))
        case("product_columns", 0, both, product.indices.astype(np.int64))
        c = triplets(rows, inner, 4 * rows)
        x, y, both = a.matrix.tocsr(), c.matrix.tocsr(), a.operands() + c.operands()
        case("add", 1e-15, both, (x + y).toarray())
        case("subtract", 1e-15, both, (x - y).toarray())
        case("multiply", 1e-15, both, x.multiply(y).toarray())
        places = y.copy()
        places.data[:] = 1
        places.sum_duplicates()
        case("masked", 1e-15, both, x.toarray() * (places.toarray() != 0))
        for other in (uniform(rows, inner), uniform(inner), uniform(rows, 1), uniform(1, 1)):
            case("scaled", 1e-15, a.operands() + [other], x.multiply(other).toarray())
        case("slice_rows:3", 1e-15, a.operands(), x[3:].toarray())
        picks = integers(9, low=-rows, high=rows, dtype=np.int64)
        case("take_rows", 1e-15, a.operands() + [picks], x[picks].toarray())


structure()
products()
pairs()
