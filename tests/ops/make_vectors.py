#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes vectors.txt: operands and results of NumPy for numpy_test.cpp. A case is a line
# "case NAME TOLERANCE", then "in"/"out" lines: dtype, shape, values (floats in hexadecimal, complex
# numbers as two).
# Needs python3-numpy. Run as: tests/ops/make_vectors.py > tests/ops/vectors.txt
import math
import re
import numpy as np

NAMES = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "uint8": "u8",
         "int8": "i8", "uint32": "u32", "bool": "bool", "complex64": "c64", "complex128": "c128"}
generator = np.random.Generator(np.random.PCG64(7))


def text(value):
    if isinstance(value, (complex, np.complexfloating)):
        return text(float(value.real)) + " " + text(float(value.imag))
    if isinstance(value, (float, np.floating)):
        value = float(value)
        return re.sub(r"\.?0*p", "p", value.hex()) if math.isfinite(value) else str(value)
    return str(int(value))


def show(role, value):
    value = np.asarray(value)
    shape = ",".join(str(n) for n in value.shape) or "-"
    print(role, NAMES[str(value.dtype)], shape, *[text(v) for v in value.ravel()])


def case(name, tolerance, operands, *results):
    print("case", name, tolerance)
    for operand in operands:
        show("in", operand)
    for result in results:
        show("out", result)


def uniform(*shape, low=-3.0, high=3.0, dtype=np.float64):
    return generator.uniform(low, high, shape).astype(dtype)


def integers(*shape, low=-9, high=10, dtype=np.int32):
    return generator.integers(low, high, shape).astype(dtype)


def elementwise():
    special = np.array([0.0, -0.0, 1, -1, 2.5, -2.5, 0.5, -0.5, 3, np.inf, -np.inf, np.nan])
    with np.errstate(all="ignore"):
        for name, function in [
                ("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("round", np.rint),
                ("sign", np.sign), ("abs", np.abs), ("sqrt", np.sqrt), ("exp", np.exp),
                ("expm1", np.expm1), ("log1p", np.log1p), ("tanh", np.tanh), ("sinh", np.sinh),
                ("asin", np.arcsin), ("atan", np.arctan), ("acosh", np.arccosh),
                ("cbrt", np.cbrt), ("log2", np.log2), ("isnan", np.isnan), ("isinf", np.isinf),
                ("isfinite", np.isfinite), ("logical_not", np.logical_not)]:
            a = np.concatenate([special, uniform(20)])
            case(name, 4e-15, [a], function(a))
        a = np.concatenate([special, uniform(13)])[:, None]
        b = np.concatenate([special, uniform(7)])
        for name, function in [
                ("minimum", np.minimum), ("maximum", np.maximum), ("fmod", np.fmod),
                ("hypot", np.hypot), ("power", np.power), ("atan2", np.arctan2),
                ("less_equal", np.less_equal), ("equal", np.equal)]:
            case(name, 4e-15, [a, b], function(a, b))
        a, b = uniform(5, 1), uniform(9)
        case("floor_divide", 0, [a, b], np.floor_divide(a, b))
        case("remainder", 1e-14, [a, b], np.remainder(a, b))
        a, b = integers(5, 1), integers(19)
        b = b[b != 0]
        case("floor_divide", 0, [a, b], np.floor_divide(a, b))
        case("remainder", 0, [a, b], np.remainder(a, b))
        case("bitwise_and", 0, [a, b], a & b)
        case("bitwise_xor", 0, [a, b], a ^ b)
        case("right_shift", 0, [a, np.abs(b)], a >> np.abs(b))
        case("left_shift", 0, [a, np.abs(b)], a << np.abs(b))
        case("divide", 1e-6, [a, b], (a / b).astype(np.float32))
    a = uniform(40)
    case("erf", 4e-15, [a], np.array([math.erf(v) for v in a]))
    case("erfc", 4e-15, [a], np.array([math.erfc(v) for v in a]))


# All pairs of awkward parts.
def complex_specials(parts):
    return np.array([complex(x, y) for x in parts for y in parts])


def complex_numbers():
    inf, nan = np.inf, np.nan
    everything = complex_specials([0.0, -0.0, 1.0, -2.5, inf, -inf, nan])
    a = uniform(12) + 1j * uniform(12)
    tiny = 1e-12 * a
    with np.errstate(all="ignore"):
        for name, function in [
                ("abs", np.abs), ("angle", np.angle), ("real", np.real), ("imag", np.imag),
                ("conj", np.conj), ("negative", np.negative), ("exp", np.exp), ("log", np.log),
                ("sqrt", np.sqrt), ("sin", np.sin), ("cos", np.cos), ("tanh", np.tanh),
                ("sinh", np.sinh), ("cosh", np.cosh), ("isnan", np.isnan), ("isinf", np.isinf),
                ("isfinite", np.isfinite), ("logical_not", np.logical_not)]:
            z = np.concatenate([everything, a, tiny[:4], 1 + tiny[:4]])
            case(name, 1e-14, [z], function(z))
        # Infinities have no limit here that NumPy and Kahan's formulas agree on.
        for name, function in [
                ("tan", np.tan), ("asin", np.arcsin), ("acos", np.arccos), ("atan", np.arctan),
                ("asinh", np.arcsinh), ("acosh", np.arccosh), ("atanh", np.arctanh),
                ("log10", np.log10), ("log2", np.log2), ("expm1", np.expm1),
                ("log1p", np.log1p), ("square", np.square)]:
            z = np.concatenate([a, 10 * a, tiny[:4]])
            case(name, 2e-14, [z], function(z))
        a, b = a[:, None], uniform(5) + 1j * uniform(5)
        for name, function in [
                ("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply),
                ("divide", np.divide), ("power", np.power), ("equal", np.equal),
                ("not_equal", np.not_equal)]:
            case(name, 2e-14, [a, b], function(a, b))
        zeros = complex_specials([0.0, -0.0, 1.0])
        case("divide", 0, [zeros[:, None], zeros], zeros[:, None] / zeros)
        case("power", 1e-14, [zeros[:, None], b], zeros[:, None] ** b)
    a = a.ravel().reshape(3, 4)
    for axis in (0, 1):
        case(f"sum:{axis}", 1e-14, [a], a.sum(axis))
        case(f"prod:{axis}", 1e-13, [a], a.prod(axis))
        case(f"mean:{axis}", 1e-14, [a], a.mean(axis))
    case("matmul", 1e-13, [a, a.T], a @ a.T)
    case("concatenate:0", 0, [a, a], np.concatenate([a, a]))


def more_elementwise():
    special = np.array([0.0, -0.0, 1, -1, 2.5, -2.5, 5e-324, np.inf, -np.inf, np.nan])
    a, b = special[:, None], np.concatenate([special, uniform(5)])
    with np.errstate(all="ignore"):
        case("copysign", 0, [a, b], np.copysign(a, b))
        case("nextafter", 0, [a, b], np.nextafter(a, b))
        case("nextafter", 0, [a.astype(np.float32), b.astype(np.float32)],
             np.nextafter(a.astype(np.float32), b.astype(np.float32)))
        case("logaddexp", 4e-15, [a, b], np.logaddexp(a, b))
        case("signbit", 0, [b[:-6]], np.signbit(b[:-6]))


def reductions():
    a = uniform(3, 4, 5)
    for axis in (0, 1, 2):
        case(f"argmin:{axis}", 0, [a], a.argmin(axis))
        case(f"argmax:{axis}", 0, [a], a.argmax(axis))
    b = integers(4, 6, low=0, high=3)
    case("any:1", 0, [b], b.any(1))
    case("all:0", 0, [b], b.all(0))
    case("sum:1", 0, [b], b.sum(1, dtype=np.int64))


def products_and_shapes():
    for left, right in [((3, 4), (4, 5)), ((4,), (4,)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3)),
                        ((2, 1, 3, 4), (5, 4, 2)), ((1, 3), (3, 1)), ((2, 3, 4), (2, 4, 3))]:
        a, b = uniform(*left), uniform(*right)
        case("matmul", 1e-13, [a, b], a @ b)
    a, index = uniform(4, 5, 3), integers(2, 3, low=-3, high=3)
    for axis in (0, 1, 2):
        case(f"take:{axis}", 0, [a, index], np.take(a, index, axis))
    truth, b, c = integers(3, 1, low=0, high=2), uniform(4), uniform(1)
    case("where", 0, [truth, b, c], np.where(truth != 0, b, c))
    b = uniform(2, 5, 3)
    case("concatenate:0", 0, [a, b], np.concatenate([a, b], 0))
    case("stack:1", 0, [b, b + 1], np.stack([b, b + 1], 1))
    case("swapaxes", 0, [a], np.swapaxes(a, 0, 2))
    case("slice", 0, [a], a[::-2, 1:4, -2:])
    case("eye", 0, [], np.eye(4))


def linear_algebra():
    own = np.random.Generator(np.random.PCG64(11))  # so that other cases stay as they are
    import scipy.linalg
    for real in (True, False):
        def matrix(*shape):
            a = own.uniform(-1, 1, shape)
            return a if real else a + 1j * own.uniform(-1, 1, shape)
        a, b, tall = matrix(2, 5, 5), matrix(5, 3), matrix(6, 3)
        hermitian = a + np.conj(np.swapaxes(a, -1, -2))
        definite = a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(5)
        case("cholesky", 1e-13, [definite], np.linalg.cholesky(definite))
        case("solve", 1e-11, [a, b], np.linalg.solve(a, np.broadcast_to(b, (2, 5, 3))))
        case("inv", 1e-11, [a], np.linalg.inv(a))
        case("det", 1e-12, [a], np.linalg.det(a))
        case("slogdet_sign", 1e-12, [a], np.linalg.slogdet(a)[0])
        case("slogdet_log", 1e-12, [a], np.linalg.slogdet(a)[1])
        case("eigvalsh", 1e-12, [hermitian], np.linalg.eigvalsh(hermitian))
        eigenvalues = np.linalg.eigvals(a).astype(np.complex128)
        case("eigvals", 1e-12, [a], np.take_along_axis(
            eigenvalues, np.argsort(eigenvalues.real + 0.37 * eigenvalues.imag), -1))
        case("svdvals", 1e-12, [a], np.linalg.svd(a, compute_uv=False))
        case("qr_r_squared", 1e-12, [tall], np.abs(np.linalg.qr(tall)[1]) ** 2)
        case("lu_rows", 0, [a], np.stack([
            np.array(scipy.linalg.lu(m, p_indices=True)[0]).argsort() for m in a]))
        case("lu_u", 1e-11, [a], np.stack([scipy.linalg.lu(m)[2] for m in a]))
        case("pinv", 1e-12, [tall], np.linalg.pinv(tall))
        case("matrix_rank", 0, [tall @ np.conj(tall.T)],
             np.asarray(np.linalg.matrix_rank(tall @ np.conj(tall.T))))
        case("lstsq", 1e-12, [tall, b[[0, 1, 2, 3, 4, 0]]],
             np.linalg.lstsq(tall, b[[0, 1, 2, 3, 4, 0]], rcond=None)[0])
        case("cond", 1e-11, [a], np.linalg.cond(a))
        case("nuclear", 1e-12, [a], np.linalg.norm(a, "nuc", axis=(-2, -1)))
        case("expm", 1e-12, [a * 2], scipy.linalg.expm(a * 2))


if __name__ == "__main__":
    elementwise()
    reductions()
    products_and_shapes()
    complex_numbers()
    more_elementwise()
    linear_algebra()
