#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exchanges arrays with NumPy through DLPack, both ways: dlpack_numpy.py LIBRARY, the built
dlpack_bridge.cpp. What NumPy makes of the same numbers is the oracle. Exit status 77 (skipped)
without NumPy or where it has no from_dlpack."""
import ctypes
import gc
import sys
import weakref

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)
if not hasattr(np, "from_dlpack"):
    print("skipped: this NumPy has no from_dlpack")
    sys.exit(77)

version = tuple(int(part) for part in np.__version__.split(".")[:2])
bridge = ctypes.CDLL(sys.argv[1])
pointer = ctypes.c_void_p
for name, result, arguments in (
    ("failure", ctypes.c_char_p, []),
    ("export", pointer, [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int]),
    ("import", pointer, [pointer, ctypes.c_int]),
    ("describe", ctypes.c_char_p, [pointer]),
    ("read", ctypes.c_int, [pointer, pointer, ctypes.c_uint64]),
    ("drop", None, [pointer]),
):
    function = getattr(bridge, "bridge_" + name)
    function.restype, function.argtypes = result, arguments
capsule_new = ctypes.pythonapi.PyCapsule_New
capsule_new.restype, capsule_new.argtypes = ctypes.py_object, [pointer, ctypes.c_char_p, pointer]
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = pointer, [ctypes.py_object, ctypes.c_char_p]
capsule_rename = ctypes.pythonapi.PyCapsule_SetName
capsule_rename.restype, capsule_rename.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]

# Capsules keep pointers to their names: (fresh, consumed), by whether the form is the legacy one.
NAMES = {
    True: (b"dltensor", b"used_dltensor"),
    False: (b"dltensor_versioned", b"used_dltensor_versioned"),
}
DTYPES = {"i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4",
          "u64": "u8", "f16": "f2", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16"}
if version >= (1, 25):
    DTYPES["bool"] = "?"
checks = 0


def check(right, *what):
    global checks
    checks += 1
    if not right:
        print("FAILED:", *what)
        sys.exit(1)


def good(value):
    if not value:
        print("FAILED:", bridge.bridge_failure().decode())
        sys.exit(1)
    return value


def layouts(table):
    return {"table": table, "transposed": table.T, "reversed": table[::-1, ::2],
            "broadcast": np.broadcast_to(table[1], (2, 4)), "scalar": table[1, 2],
            "empty": table[1:1]}


class Exporter:
    """What np.from_dlpack wants of a producer."""

    def __init__(self, dtype, layout):
        self.what = dtype.encode(), layout.encode()
        self.was_legacy = None

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, *, max_version=None, **_):
        self.was_legacy = legacy = max_version is None
        tensor = good(bridge.bridge_export(*self.what, int(legacy)))
        return capsule_new(tensor, NAMES[legacy][0], None)


def take(x, legacy):
    """The tensor of a NumPy array, as a consumer takes it out of the capsule."""
    capsule = x.__dlpack__() if legacy else x.__dlpack__(max_version=(1, 0))
    tensor = capsule_pointer(capsule, NAMES[legacy][0])
    capsule_rename(capsule, NAMES[legacy][1])
    return tensor


def exports():
    for dtype, code in DTYPES.items():
        for layout, expected in layouts(np.arange(12).reshape(3, 4).astype(code)).items():
            exporter = Exporter(dtype, layout)
            got = np.from_dlpack(exporter)
            what = dtype, layout, got, expected
            check(got.dtype == expected.dtype and got.shape == expected.shape, *what)
            check(np.array_equal(got, expected), *what)
            if layout == "reversed":
                check(got.strides == (-4 * got.itemsize, 2 * got.itemsize), got.strides)
            if got.size > 0 and not exporter.was_legacy:
                check(not got.flags.writeable, "writeable", *what)
            check(exporter.was_legacy == (version < (2, 1)), "form", *what)
    # The memory stays while NumPy has it.
    kept = [np.from_dlpack(Exporter("f32", "transposed")) for _ in range(100)]
    check(all(np.array_equal(k, np.arange(12, dtype="f4").reshape(3, 4).T) for k in kept), "kept")


def imports(legacy):
    for dtype, code in DTYPES.items():
        whole = np.arange(12).reshape(3, 4).astype(code)
        for layout, x in layouts(whole).items():
            if not isinstance(x, np.ndarray):
                x = np.array(x)
            if layout == "broadcast" and legacy:
                continue  # NumPy exports nothing that is read-only without a flag for it
            a = good(bridge.bridge_import(take(x, legacy), int(legacy)))
            shown = bridge.bridge_describe(a).decode()
            check(shown == "%s[%s]" % (dtype, ",".join(map(str, x.shape))), shown, x.shape)
            out = ctypes.create_string_buffer(max(x.nbytes, 1))
            good(bridge.bridge_read(a, out, x.nbytes))
            check(out.raw[: x.nbytes] == np.ascontiguousarray(x).tobytes(), dtype, layout)
            bridge.bridge_drop(a)


def lifetime(legacy):
    x = np.arange(1000, dtype="f4")
    alive = weakref.ref(x)
    a = good(bridge.bridge_import(take(x, legacy), int(legacy)))
    address = x.ctypes.data
    del x
    gc.collect()
    check(alive() is not None, "the array keeps NumPy's memory")
    out = ctypes.create_string_buffer(4000)
    good(bridge.bridge_read(a, out, 4000))
    check(out.raw == np.arange(1000, dtype="f4").tobytes(), "values")
    check(alive().ctypes.data == address, "moved")
    bridge.bridge_drop(a)
    gc.collect()
    check(alive() is None, "NumPy gets its memory back")


exports()
for form in (True, False) if version >= (2, 1) else (True,):
    imports(form)
    lifetime(form)
print("NumPy", np.__version__, "-", checks, "checks passed")
