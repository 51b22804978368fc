#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes differential.txt: random operands of every dtype and layout, special values among them, and
# what NumPy and SciPy make of them, computed in a wider type where there is one and rounded once.
# differential_test.cpp tells the format. Needs python3-numpy and python3-scipy. Run as:
# tests/ops/make_differential.py > tests/ops/differential.txt
import pathlib
import re
import numpy as np
import scipy.ndimage as nd
import scipy.special

NAMES = {"f2": "f16", "f4": "f32", "f8": "f64", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64",
         "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "b1": "bool", "c8": "c64",
         "c16": "c128"}
DTYPES = "f4 c8 i4 u1 b1 f8 f2 c16 i8 u8 i1 u2".split()
WIDER = {"f2": "f8", "f4": "f8", "f8": "g", "c8": "c16", "c16": "G"}
TABLE = pathlib.Path(__file__).parents[2] / "core/include/tutti/op_table.def"
ULPS = {m[1]: float(m[2]) for m in re.finditer(
    r'^TUTTI_OP\( *\d+, (\w+),.*?, *(\d+), "[^"]*"\)$', TABLE.read_text(), re.M)}
rng = np.random.Generator(np.random.PCG64(11))


def code(dtype):
    return np.dtype(dtype).str[1:]


def hexadecimal(values):
    values = np.ascontiguousarray(values)
    return values.astype(values.dtype.newbyteorder(">")).tobytes().hex() or "-"


def shape_text(shape):
    return ",".join(map(str, shape)) or "-"


def write_operand(values):
    layout = rng.choice(list("ctrs")) if values.ndim else "c"
    print("in", NAMES[code(values.dtype)], shape_text(values.shape), layout, hexadecimal(values))


def write_result(call, tolerance, values):
    values = np.asarray(values)
    print(call, tolerance, NAMES[code(values.dtype)], shape_text(values.shape),
          hexadecimal(values))


def block(*operands):
    print("block")
    for operand in operands:
        write_operand(operand)


def random_shape(rank=None, low=1, high=6):
    return tuple(rng.integers(low, high, rng.integers(1, 4) if rank is None else rank))


def is_real(dtype):
    return np.dtype(dtype).kind == "f"


def special(dtype):
    """What functions stumble over: ends, zeros, infinities, NaN, halves."""
    kind = np.dtype(dtype).kind
    if kind == "f":
        info = np.finfo(dtype)
        return [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, -2.5, float(info.max),
                -float(info.max), float(info.tiny), float(info.eps)]
    if kind == "c":
        return [0, 1, -1, 1j, -1j, 0.5 + 0.5j, -2.5 - 0.5j, complex(-1, 1e-3)]
    if kind == "b":
        return [False, True]
    info = np.iinfo(dtype)
    return [0, 1, info.max, info.min, info.max - 1, info.min + 1, 7, 3]


def draw(dtype, shape, low=-3, high=3, specials=0.0):
    """Random values in [low, high], of which a part is replaced by special ones."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        values = rng.integers(0 if kind == "u" else int(low), int(high) + 1, shape).astype(dtype)
    elif kind == "c":
        values = (rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)).astype(dtype)
    else:
        values = rng.uniform(low, high, shape).astype(dtype)
    chosen = rng.uniform(size=shape) < specials
    pool = np.array(special(dtype), dtype=dtype)
    return np.where(chosen, rng.choice(pool, shape), values)


def wide(values):
    """In the type to compute in; what is no float as the f32 that it becomes."""
    if code(values.dtype) not in WIDER:
        values = values.astype(np.float32)
    return values.astype(WIDER[code(values.dtype)])


def floating(values):
    return values.dtype if code(values.dtype) in WIDER else np.dtype(np.float32)


# ---- elementwise: name -> (kinds of dtypes, function); F computes in the wider type

def erf(x):
    return scipy.special.erf(x.astype(np.float64))


def erfc(x):
    return scipy.special.erfc(x.astype(np.float64))


def sigmoid(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)), 1) / (1 + np.exp(-np.abs(x)))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


UNARY_FLOAT = {
    "fc": {"exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt,
           "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
           "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
           "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "log2": np.log2,
           "log10": np.log10, "reciprocal": lambda x: 1 / x, "rsqrt": lambda x: 1 / np.sqrt(x)},
    "f": {"exp2": np.exp2, "cbrt": np.cbrt, "erf": erf, "erfc": erfc, "sigmoid": sigmoid,
          "softplus": softplus, "silu": lambda x: x * sigmoid(x),
          "gelu": lambda x: x * erfc(-x / np.sqrt(2)) / 2},
}
UNARY_SAME = {
    "fciu": {"negative": np.negative, "square": np.square, "positive": np.positive,
             "conj": np.conj},
    "fiu": {"abs": np.abs, "sign": lambda x: np.sign(x) + 0, "floor": np.floor, "ceil": np.ceil,
            "trunc": np.trunc, "round": lambda x: np.rint(x) if is_real(x.dtype) else x, "relu": lambda x: np.maximum(x, 0) + 0},
    "c": {"abs": np.abs, "real": np.real, "imag": np.imag, "angle": np.angle},
    "fc": {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite},
    "f": {"signbit": np.signbit},
    "iub": {"bitwise_not": np.invert},
    "fciub": {"logical_not": np.logical_not},
}
BINARY_FLOAT = {
    "fc": {"divide": np.divide},
    "f": {"hypot": np.hypot, "atan2": np.arctan2, "fmod": np.fmod, "logaddexp": np.logaddexp,
          "copysign": np.copysign},
}
BINARY_SAME = {
    "fciu": {"add": np.add, "subtract": np.subtract, "multiply": np.multiply},
    "fiu": {"minimum": np.minimum, "maximum": np.maximum, "floor_divide": np.floor_divide,
            "remainder": np.remainder, "less": np.less, "less_equal": np.less_equal,
            "greater": np.greater, "greater_equal": np.greater_equal},
    "f": {"power": np.power},
    "iu": {"left_shift": np.left_shift, "right_shift": np.right_shift},
    "iub": {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
            "bitwise_xor": np.bitwise_xor},
    "fciub": {"equal": np.equal, "not_equal": np.not_equal, "logical_and": np.logical_and,
              "logical_or": np.logical_or, "logical_xor": np.logical_xor},
}
# In units in the last place, of what is no row of the table.
COMPOSED = {"reciprocal": 3, "sigmoid": 12, "softplus": 12, "silu": 16, "gelu": 24, "angle": 4}
EXACT = {"relu", "positive", "minimum", "maximum", "sign"}


def tolerance(name, operand):
    ulp = ULPS.get(name, COMPOSED.get(name, 0))
    if name in EXACT:
        return 0
    if operand.dtype.kind == "c":
        return max(4 * ulp, 4) if ulp or name in ("multiply", "square", "abs") else 0
    # Halves are rounded once more; on the way they have the error of f32.
    return min(ulp, 1) if code(operand.dtype) == "f2" else ulp


def rounded(values, dtype):
    return np.asarray(values).astype(dtype)


def elementwise(operands, floats, same, chosen):
    kind = operands[0].dtype.kind
    block(*operands)
    for kinds, functions in floats.items():
        for name, function in functions.items():
            if code(operands[0].dtype) not in chosen[name, kinds]:
                continue
            result = rounded(function(*map(wide, operands)), floating(operands[0]))
            write_result(name, tolerance(name, operands[0].astype(floating(operands[0]))), result)
    for kinds, functions in same.items():
        for name, function in functions.items():
            if code(operands[0].dtype) not in chosen[name, kinds]:
                continue
            inexact = kind in "fc" and name not in ("positive", "minimum", "maximum")
            result = function(*(map(wide, operands) if inexact else operands))
            if result.dtype.kind in "fc" and result.dtype.kind == kind or kind in "iu":
                result = result if result.dtype == bool else rounded(result, operands[0].dtype)
            elif result.dtype.kind == "f":
                result = rounded(result, real_of(operands[0].dtype))
            write_result(name, tolerance(name, operands[0]), result)


def real_of(dtype):
    return np.empty(0, dtype).real.dtype


def choose_dtypes(tables):
    """For each function the first dtype of its kinds and another: each is a program to compile."""
    chosen = {}
    for also, table in tables:
        for kinds, functions in table.items():
            fitting = [d for d in DTYPES if d[0] in kinds + also]
            others = fitting[1:]
            for name in functions:
                chosen[name, kinds] = {fitting[0], *rng.permutation(others)[:1]}
    return chosen


def elementwise_blocks():
    chosen = choose_dtypes([("iub", UNARY_FLOAT), ("", UNARY_SAME), ("iub", BINARY_FLOAT),
                            ("", BINARY_SAME)])
    for dtype in DTYPES:
        rough = 0.0 if dtype[0] == "c" else 0.5
        shape = random_shape(2, 3, 7)
        elementwise([draw(dtype, shape, specials=rough)], UNARY_FLOAT, UNARY_SAME, chosen)
        column = draw(dtype, shape[:1] + (1,), -9, 9, specials=rough)
        row = draw(dtype, shape[1:], -9, 9, specials=rough)
        elementwise([column, row], BINARY_FLOAT, BINARY_SAME, chosen)
    for dtype in ("f4", "i4", "f8"):
        a, low, high = (draw(dtype, random_shape(1, 7, 8)) for _ in range(3))
        block(a, np.minimum(low, high), np.maximum(low, high))
        write_result("clip", 0, np.clip(a, np.minimum(low, high), np.maximum(low, high)))
        block(a > 0, low, high)
        write_result("where", 0, np.where(a > 0, low, high))


def conversions():
    numbers = np.array([0.0, -0.0, 1.5, -2.5, 300, -300, 65504, 1e5, -1e5, 1 + 2.0**-11,
                        1 + 2.0**-11 + 2.0**-30, 1 + 3 * 2.0**-11 - 2.0**-40, 2.0**-24,
                        2.0**-25 + 2.0**-50, 3e38, 1e300, np.inf, np.nan])
    block(numbers)
    for target in ("f2", "f4"):
        write_result(f"astype:{NAMES[target]}", 0, numbers.astype(target))
    whole = np.array([0, 1, -1, 255, 256, 2**24 + 1, -2**31, 2**40 + 1, 2**53 + 1, 2**62 + 2**38 + 1,
                      2**63 - 1, -2**63], dtype=np.int64)
    block(whole)
    for target in ("f4", "f8", "i1", "u2", "i4", "u8", "b1"):
        write_result(f"astype:{NAMES[target]}", 0, whole.astype(target))


def cases_of_reductions():
    for dtype in ("f4", "u2"):
        a = draw(dtype, random_shape(3, 2, 5))
        axis = int(rng.integers(-3, 3))
        block(a)
        accumulated = {"f": a.dtype, "u": np.uint64}.get(a.dtype.kind, np.int64)
        real = floating(a)
        x = wide(a)
        write_result(f"sum:{axis}", "8m", a.sum(axis, dtype=accumulated))
        write_result(f"prod:{axis}", "16m", a.prod(axis, dtype=accumulated))
        write_result(f"min:{axis}", 0, a.min(axis))
        write_result(f"max:{axis}", 0, a.max(axis))
        write_result(f"any:{axis}", 0, a.any(axis))
        write_result(f"all:{axis}", 0, a.all(axis))
        write_result(f"argmin:{axis}", 0, a.argmin(axis))
        write_result(f"argmax:{axis}", 0, a.argmax(axis))
        write_result(f"count_nonzero:{axis}", 0, np.count_nonzero(a, axis=axis))
        if dtype != "f4":
            continue
        write_result(f"mean:{axis}", "8m", rounded(x.mean(axis), real))
        write_result(f"var:{axis}:1", "16m", rounded(x.var(axis, ddof=1), real))
        write_result(f"stddev:{axis}:0", "16m", rounded(x.std(axis), real))
        e = np.exp(x)
        write_result(f"logsumexp:{axis}", "8m", rounded(np.log(e.sum(axis)), real))
        shares = e / e.sum(axis, keepdims=True)
        write_result(f"softmax:{axis}", "8m", rounded(shares, real))
        write_result(f"log_softmax:{axis}", "8m", rounded(np.log(shares), real))
        write_result(f"median:{axis}", "2m", rounded(np.median(x.astype("f8"), axis), real))
        for method in ("linear", "higher", "midpoint"):
            q = rounded(np.quantile(x.astype("f8"), 0.3, axis, method=method), real)
            write_result(f"quantile:{axis}:0.3:{method}", "8m", q)
        for p in (1, 2, 3, np.inf):
            norm = np.linalg.norm(x.astype("f8"), p, axis=axis)
            write_result(f"norm:{axis}:{p}", "16m", rounded(norm, real))
        weights = draw(dtype, a.shape, 1, 4).astype(a.dtype)
        weights[..., 0] = 1
        block(a, weights)
        write_result("average", "16m", rounded(np.average(x, 1, wide(weights)), real))


def cases_along_an_axis():
    for dtype in ("f4", "u1"):
        a = draw(dtype, random_shape(2, 3, 6))
        block(a)
        integers = a.dtype.kind in "iu"
        wider = {"i": np.int64, "u": np.uint64}.get(a.dtype.kind, a.dtype)
        for axis in (0, 1):
            for name, function in [("cumsum", np.add), ("cumprod", np.multiply),
                                   ("cummax", np.maximum), ("cummin", np.minimum)]:
                to = wider if name in ("cumsum", "cumprod") else a.dtype
                exact = 0 if integers or name in ("cummax", "cummin") else "8m"
                x = a.astype(to)
                write_result(f"{name}:{axis}:0", exact, function.accumulate(x, axis))
                turned = np.flip(function.accumulate(np.flip(x, axis), axis), axis)
                write_result(f"{name}:{axis}:1", exact, turned)
            write_result(f"diff:{axis}:2", 0 if integers else "2m", np.diff(a, 2, axis))
            if not integers:
                total = np.logaddexp.accumulate(wide(a), axis)
                write_result(f"logcumsumexp:{axis}:0", "8m", rounded(total, a.dtype))
            if integers:
                continue
            write_result(f"sort:{axis}", 0, np.sort(a, axis))
            write_result(f"argsort:{axis}", 0, np.argsort(a, axis, kind="stable"))
            write_result(f"topk:{axis}:2", 0, np.flip(np.sort(a, axis), axis).take([0, 1], axis))
            write_result(f"partition:{axis}:1", 0, np.sort(a, axis).take(1, axis))
            write_result(f"roll:{axis}:2", 0, np.roll(a, 2, axis))
            write_result(f"flip:{axis}", 0, np.flip(a, axis))
            write_result(f"repeat_each:{axis}:2", 0, np.repeat(a, 2, axis))


def cases_of_shapes():
    for dtype in ("f4", "b1"):
        a = draw(dtype, random_shape(3, 2, 5))
        n = a.shape
        block(a)
        write_result("transpose", 0, a.T)
        write_result("swapaxes:0:2", 0, np.swapaxes(a, 0, 2))
        write_result("matrix_transpose", 0, np.swapaxes(a, -1, -2))
        write_result("moveaxis:0:2", 0, np.moveaxis(a, 0, 2))
        write_result("flatten", 0, a.reshape(-1))
        write_result("expand_dims:1", 0, a[:, None])
        write_result("slice", 0, a[::-1, 1:, ::2])
        write_result("tile:2:1:2", 0, np.tile(a, (2, 1, 2)))
        write_result("pad:1:2", 0, np.pad(a, (1, 2)))
        write_result("diagonal:0:1:2", 0, np.diagonal(a, 0, 1, 2))
        write_result("tril:1", 0, np.tril(a, 1))
        write_result("triu:-1", 0, np.triu(a, -1))
        write_result("nonzero", 0, np.stack(np.nonzero(a)))
        write_result("split:2", 0, a[:, :, -1:])
        b = draw(dtype, n)
        block(a, b)
        write_result("concatenate:1", 0, np.concatenate([a, b], 1))
        write_result("stack:1", 0, np.stack([a, b], 1))


def cases_of_indices():
    for dtype in ("f4", "i4"):
        a, places = draw(dtype, (4, 5, 3)), rng.integers(-3, 3, (2, 3))
        block(a, places)
        for axis in (0, 1, 2):
            write_result(f"take:{axis}", 0, np.take(a, places, axis))
        flat, spots = draw(dtype, (6,)), rng.integers(-6, 6, 9)
        updates = draw(dtype, (9,))
        block(flat, spots, updates)
        kind = flat.dtype.kind
        chosen = [("scatter_add", np.add), ("scatter_multiply", np.multiply)]
        if kind != "c":
            chosen += [("scatter_min", np.minimum), ("scatter_max", np.maximum)]
        for name, function in chosen:
            result = flat.copy()
            function.at(result, spots, updates)
            write_result(name, "8m" if kind in "fc" else 0, result)
        result = flat.copy()
        for spot, update in zip(spots, updates):
            result[spot] = update
        write_result("scatter_set", 0, result)
        write_result("put", 0, result)
    a, along = draw("f4", (3, 4)), rng.integers(-4, 4, (3, 2))
    block(a, along)
    write_result("take_along_axis:1", 0, np.take_along_axis(a, along, 1))
    mask = draw("b1", a.shape)
    block(a, mask)
    write_result("mask_select", 0, a[mask])
    write_result("masked_fill", 0, np.where(mask, np.float32(2), a))


def cases_of_sets():
    for dtype in ("f4",):
        a, others = draw(dtype, (4, 5), 0, 6), np.sort(draw(dtype, (7,), 0, 6))
        if is_real(dtype):
            a = np.round(a)
        block(others, a)
        write_result("searchsorted:0", 0, np.searchsorted(others, a))
        write_result("searchsorted:1", 0, np.searchsorted(others, a, "right"))
        write_result("isin", 0, np.isin(a, others))
        values, first, inverse, counts = np.unique(a, True, True, True)
        write_result("unique_values", 0, values)
        write_result("unique_counts", 0, counts)
        write_result("unique_inverse", 0, inverse.reshape(a.shape))
    numbers, weights = draw("u1", (20,), 0, 9), draw("f4", (20,))
    block(numbers, weights)
    write_result("bincount", 0, np.bincount(numbers, minlength=12))
    write_result("bincount_weights", "8m",
                 rounded(np.bincount(numbers, weights, minlength=12), "f4"))
    write_result("histogram:5:-2:2.5", 0, np.histogram(weights, 5, (-2, 2.5))[0])


def cases_of_products():
    for dtype in ("i4", "c8"):
        exact = 0 if dtype == "i4" else "16m"

        def put(call, function, *operands):
            wider = map(wide, operands) if exact else operands
            write_result(call, exact, rounded(function(*wider), dtype))
        a, b = draw(dtype, (2, 3, 4)), draw(dtype, (4, 5))
        block(a, b)
        put("matmul", np.matmul, a, b)
        put("tensordot", lambda x, y: np.tensordot(x, y, 1), a, b)
        put("einsum:ijk,kl->jl", lambda x, y: np.einsum("ijk,kl->jl", x, y), a, b)
        u, v = draw(dtype, (4, 3)), draw(dtype, (4, 3))
        block(u, v)
        put("cross", np.cross, u, v)
        put("vecdot", lambda x, y: (np.conj(x) * y).sum(-1), u, v)
        put("inner", np.inner, u, v)
        write_result("trace", exact, rounded(np.trace(wide(u)), dtype) if exact else np.trace(u))
        put("kron", np.kron, u, v)
        block(u[:, 0], v[:, 1])
        put("outer", np.outer, u[:, 0], v[:, 1])


def creations():
    print("block")
    for start, stop, count in [(0, 1, 7), (-3.5, 2, 5), (5, -5, 4), (2, 9, 1)]:
        write_result(f"linspace:{start}:{stop}:{count}", "1m", np.linspace(start, stop, count))
    for start, stop, step in [(0, 5, 1), (-3, 4, 2), (9, -2, -3)]:
        write_result(f"arange:{start}:{stop}:{step}", 0, np.arange(start, stop, step))
    write_result("eye:3:5:1", 0, np.eye(3, 5, 1))


def of_channels(function, image):
    return np.stack([function(image[..., c]) for c in range(image.shape[-1])], -1)


def cases_of_images():
    global rng
    rng = np.random.Generator(np.random.PCG64(17))  # so that cases of other functions stay as they are
    for dtype in ("f4", "u1", "f8"):
        image = draw(dtype, (*rng.integers(4, 9, 2), 3), 0, 255 if dtype == "u1" else 1)
        block(image)
        write_result("image_rotate90:1", 0, np.rot90(image))
        write_result("image_rotate90:2", 0, np.rot90(image, 2))
        write_result("image_crop:1:2:3:2", 0, image[1:4, 2:4])
        write_result("image_flip_horizontal", 0, image[:, ::-1])
        write_result("image_erode:3:5", 0, of_channels(
            lambda a: nd.grey_erosion(a, (3, 5), mode="nearest"), image))
        write_result("image_median:3", 0, of_channels(
            lambda a: nd.median_filter(a, 3, mode="mirror"), image))
        sums = np.pad(image, ((1, 0), (1, 0), (0, 0))).astype("u8" if dtype == "u1" else "f8")
        write_result("image_integral", "16m", sums.cumsum(0).cumsum(1))
        if dtype == "u1":
            write_result("image_to_float", 1, image.astype("f4") / np.float32(255))
            continue
        write_result("image_to_u8", 0, np.rint(image * image.dtype.type(255)).astype("u1"))
        x = image.astype("g") if dtype == "f8" else image.astype("f8")
        grey = (x * np.array([0.299, 0.587, 0.114])).sum(-1, keepdims=True)
        write_result("image_grey", "4m", rounded(grey, dtype))
        x = x.astype("f8")
        for name, function in [
                ("image_box:3:5", lambda a: nd.uniform_filter(a, (3, 5), mode="mirror")),
                ("image_gaussian:0.7", lambda a: nd.gaussian_filter(a, 0.7, mode="mirror")),
                ("image_sobel", lambda a: nd.sobel(a, 1, mode="mirror"))]:
            write_result(name, "32m", rounded(of_channels(function, x), dtype))


with np.errstate(all="ignore"):
    elementwise_blocks()
    conversions()
    cases_of_reductions()
    cases_along_an_axis()
    cases_of_shapes()
    cases_of_indices()
    cases_of_sets()
    cases_of_products()
    creations()
    cases_of_images()
