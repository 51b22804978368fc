#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes printed.txt: values and how NumPy 2.4 shows them, for print_test.cpp. A case is a line
# "case DTYPE SHAPE PRECISION THRESHOLD EDGEITEMS LINEWIDTH LINES", a line of values (floats in
# hexadecimal, complex numbers as two), then the text.
# Needs python3-numpy. Run as: tests/array/make_printed.py > tests/array/printed.txt
import math
import re
import numpy as np

NAMES = {"float16": "f16", "float32": "f32", "float64": "f64", "int8": "i8", "int32": "i32",
         "int64": "i64", "uint64": "u64", "bool": "bool", "complex64": "c64", "complex128": "c128"}
generator = np.random.Generator(np.random.PCG64(11))


def digits(value):
    value = float(value)
    return re.sub(r"\.?0*p", "p", value.hex()) if math.isfinite(value) else str(value)


def case(a, precision=6, threshold=1000, edgeitems=3, linewidth=75):
    a = np.asarray(a)
    text = np.array2string(a, separator=", ", precision=precision, threshold=threshold,
                           edgeitems=edgeitems, max_line_width=linewidth)
    if a.dtype == bool:
        text = text.replace("True", "true").replace("False", "false")
    text = text.replace("j", "i")
    shape = ",".join(str(n) for n in a.shape) or "-"
    print("case", NAMES[str(a.dtype)], shape, precision, threshold, edgeitems, linewidth,
          len(text.split("\n")))
    parts = a.ravel()
    if np.iscomplexobj(a):
        parts = np.stack([parts.real, parts.imag], -1).ravel()
    print(*[digits(v) if parts.dtype.kind == "f" else int(v) for v in parts])
    print(text)


def cases():
    case(np.arange(6, dtype=np.int32).reshape(2, 3))
    case(np.array([[-7, 1234], [50, 0]]))
    case(np.array([-128, 127, 5], np.int8))
    case(np.array([2**64 - 1, 0], np.uint64))
    case(np.array([True, False, True]))
    case(np.float64(2.5))
    case(np.int32(-3))
    case(np.array([1, 2.25, -3.125]))
    case(np.array([0.1, 1 / 3, 2]), precision=3)
    case(np.array([0.1, 1 / 3, 2], np.float32), precision=12)
    case(np.array([0.1, 1 / 3, 2], np.float16), precision=12)
    case(np.array([0.5, 2.5, 1.5, 0.1]), precision=0)
    case(np.array([np.nan, -np.nan, np.inf, -np.inf, 1.5]))
    case(np.array([np.nan, np.inf], np.float32))
    case(np.array([np.nan, -np.inf]))
    case(np.array([1e-5, 1.0, 0.0, -2.5]))
    case(np.array([1e-5, np.nan, -np.inf]))
    case(np.array([1e100, 3e-300, -1.25]))
    case(np.array([99999999.0, 123456.0]))
    case(np.array([100000000.0, 12345678.0]))
    case(np.array([999999.0, 1000.5], np.float32))
    case(np.array([1000000.0, 2.0], np.float32))
    case(np.array([999.0, 1.5], np.float16))
    case(np.array([0.0, -0.0]))
    case(np.array([5e-324, 0.0]))
    case(np.array([3.4e38, 1e-45], np.float32))
    case(np.array([100.0, 20.0]))
    case(np.array([1 + 2j, -3.5 + 0.25j, 0]))
    case(np.array([[1 + 2j], [complex(np.nan, -np.inf)]], np.complex64))
    case(np.array([1e-6 + 1j, 2 - 1e9j]))
    case(generator.normal(size=(3, 4)))
    case(generator.normal(size=(2, 3, 2)).astype(np.float32), precision=4)
    case(generator.normal(size=30).astype(np.float32))
    case(np.arange(40), linewidth=30)
    case(np.arange(12).reshape(3, 4), linewidth=3)
    case(np.arange(1000))
    case(np.arange(1001))
    case(np.arange(1200, dtype=np.int32).reshape(30, 40))
    case(np.arange(60.0).reshape(3, 4, 5), threshold=10, edgeitems=1)
    case(np.arange(20).reshape(2, 10), threshold=5, edgeitems=2)
    case(np.arange(24).reshape(1, 2, 3, 4), threshold=0)
    case(np.arange(100) * 1000, threshold=10, edgeitems=4, linewidth=20)
    case(np.zeros((0, 3)))


cases()
