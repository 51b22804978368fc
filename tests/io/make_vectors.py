#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes vectors/*.npy and *.npz with NumPy, oracle of the tests here. Run it in this folder; they are
committed, so that the tests need no NumPy. Element [i, j] of every 3 x 4 table is i * 4 + j - 3 for
signed and floating types, i * 4 + j for unsigned ones, and (i * 4 + j) % 3 == 0 for bool; complex
ones have the imaginary part (i * 4 + j) / 2."""
import os
import zipfile

import numpy as np
from numpy.lib import format as npy

os.makedirs("vectors", exist_ok=True)


def write(name, a, version=(1, 0)):
    with open(f"vectors/{name}.npy", "wb") as out:
        npy.write_array(out, a, version=version)


count = np.arange(12).reshape(3, 4)
for name in "i1 i2 i4 i8 f2 f4 f8".split():
    write(name, (count - 3).astype("<" + name))
for name in "u1 u2 u4 u8".split():
    write(name, count.astype("<" + name))
write("b1", count % 3 == 0)
write("fortran", np.asfortranarray((count - 3).astype("<f4")))
write("version2", (count - 3).astype("<f4"), version=(2, 0))
write("version3", (count - 3).astype("<f4"), version=(3, 0))
write("scalar", np.array(2.5, dtype="<f8"))
write("line", np.arange(5, dtype="<i4"))
write("empty", np.zeros((3, 0, 2), dtype="<f4"))
write("big_endian", (count - 3).astype(">f4"))
for code in ("c8", "c16"):
    write(code, (count - 3 + 0.5j * count).astype("<" + code))
write("structured", np.zeros(2, dtype=[("x", "<f4"), ("y", "<i4")]))
write("text", np.array(["ab", "c"]))
write("rank9", np.zeros((1,) * 9, dtype="<f4"))

# What npz_test.cpp reads: NumPy writes the sizes of members twice, also as ZIP64.
members = {"table": (count - 3).astype("<f4"), "line": np.arange(5, dtype="<i4"),
           "empty": np.zeros((3, 0, 2), dtype="<f4"), "scalar": np.array(2.5, dtype="<f8"),
           "zeros": np.zeros(1000, dtype="<u1")}
np.savez("vectors/stored.npz", **members)
np.savez_compressed("vectors/deflated.npz", **members)
# The same with the records that large archives have, since a small size counts as large here.
zipfile.ZIP64_LIMIT = 10
zipfile.ZIP_FILECOUNT_LIMIT = 1
np.savez("vectors/zip64.npz", **members)
np.savez_compressed("vectors/zip64_deflated.npz", **members)
