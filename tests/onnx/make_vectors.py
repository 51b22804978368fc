#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes vectors.txt: operators of ONNX by its reference implementation, which is NumPy, for
# onnx_test.cpp, in the format of tests/ops/make_vectors.py. What the reference leaves out (lengths
# of sequences, clipping, some poolings) is written here by its definition.
# Needs NumPy and onnx. Run as: tests/onnx/make_vectors.py > tests/onnx/vectors.txt
import os
import sys

import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
from make_vectors import case, integers, uniform  # noqa: E402

FULL = 1e-12
SINGLE = 2e-6  # where the reference computes in f32


def evaluated(op, inputs, outputs=1, **attributes):
    """The outputs of one node; inputs that are None are absent."""
    names = [f"i{k}" if v is not None else "" for k, v in enumerate(inputs)]
    results = [f"o{k}" for k in range(outputs)]
    node = helper.make_node(op, names, results, **attributes)
    given = {n: v for n, v in zip(names, inputs) if n}
    graph = helper.make_graph(
        [node], "one", [helper.make_tensor_value_info(
            n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in given.items()],
        [helper.make_tensor_value_info(n, TensorProto.UNDEFINED, None) for n in results])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)])
    return ReferenceEvaluator(model).run(None, given)


def node(name, inputs, tolerance=FULL, output=0, outputs=None, **attributes):
    """A case of the operator that the name begins with; one output of it."""
    with np.errstate(all="ignore"):
        values = evaluated(name.split(":")[0], inputs, outputs or output + 1, **attributes)
    case(name, tolerance, [v for v in inputs if v is not None], np.asarray(values[output]))


def norms():
    x = uniform(2, 6, 3, 2)
    c, d = uniform(6), uniform(6)
    node("BatchNormalization", [x, c, d, uniform(6), uniform(6, low=0.5, high=2)], epsilon=2.0**-10)
    node("InstanceNormalization", [x, c, d], epsilon=2.0**-10)
    node("GroupNormalization", [x, c, d], SINGLE, num_groups=3, epsilon=2.0**-10)
    node("LayerNormalization", [x, uniform(3, 2), uniform(3, 2)], axis=2, epsilon=2.0**-10)
    node("RMSNormalization", [x, uniform(3, 2)], axis=-2, epsilon=2.0**-10)
    node("LpNormalization", [uniform(3, 4)], axis=1, p=2)
    node("MeanVarianceNormalization", [uniform(2, 3, 2, 2, dtype=np.float32)], SINGLE)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def recurrent():
    t, n, width, hidden = 5, 3, 4, 2
    x, lengths = uniform(t, n, width), np.array([3, 5, 1])

    def weights(gates, directions=1):
        return [uniform(directions, gates * hidden, width, low=-1, high=1),
                uniform(directions, gates * hidden, hidden, low=-1, high=1),
                uniform(directions, 2 * gates * hidden, low=-1, high=1)]

    h, c, p = uniform(1, n, hidden), uniform(1, n, hidden), uniform(1, 3 * hidden)
    node("RNN", [x, *weights(1), None, h], hidden_size=hidden)
    node("GRU:0", [x, *weights(3), None, h], hidden_size=hidden, linear_before_reset=0)
    node("GRU:1", [x, *weights(3), None, h], hidden_size=hidden, linear_before_reset=1)
    w = weights(4)
    node("LSTM:0", [x, *w, None, h, c, p], hidden_size=hidden)
    node("LSTM:1", [x, *w, None, h, c, p], hidden_size=hidden, output=2)
    node("LSTM:2", [x, *weights(4, 2)], hidden_size=hidden, direction="bidirectional")

    for number, direction in ((3, "forward"), (4, "reverse")):  # rows by themselves, cut off
        y = np.zeros((t, 1, n, hidden))
        for row, steps in enumerate(lengths):
            y[:steps, :, row:row + 1] = evaluated(
                "LSTM", [x[:steps, row:row + 1], *w, None, h[:, row:row + 1], c[:, row:row + 1], p],
                hidden_size=hidden, direction=direction)[0]
        case(f"LSTM:{number}", FULL, [x, *w, lengths, h, c, p], y)

    (u, r, b), state, cell = [v[0] for v in w], h[0], c[0]  # clipped and coupled
    steps = []
    for now in x:
        sums = now @ u.T + state @ r.T + b[:4 * hidden] + b[4 * hidden:]
        i, o, f, g = np.split(np.clip(sums, -0.5, 0.5), 4, -1)
        cell = (1 - sigmoid(i)) * cell + sigmoid(i) * np.tanh(g)
        state = sigmoid(o) * np.tanh(cell)
        steps.append(state[None])
    case("LSTM:5", FULL, [x, *w, h, c], np.stack(steps))


def attention():
    q, k, v = uniform(2, 4, 3, 6), uniform(2, 2, 5, 6), uniform(2, 2, 5, 3)
    node("Attention:0", [q, k, v], softcap=1.5)
    mask = integers(3, 5, low=0, high=2).astype(bool)
    mask[:, 1] = True
    node("Attention:1", [q, k, v, mask], scale=0.25)
    node("Attention:2", [q, k, v, uniform(2, 4, 3, 5)], output=3, qk_matmul_output_mode=3)
    node("Attention:3", [q[:, :2, :, :], k[:, :, 2:, :], v[:, :, 2:, :]], is_causal=1)
    lengths = np.array([2, 5])
    node("Attention:4", [q, k, v, None, None, None, lengths])
    scores = np.einsum("nhtd,nhsd->nhts", q, np.repeat(k, 2, 1)) / np.sqrt(6)
    place = 2 + np.arange(3)[:, None] - np.arange(5)[None, :]  # how far a key is behind a query
    scores = np.where((place <= 1) & (place >= -1), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    case("Attention:5", FULL, [q, k, v], weights @ np.repeat(v, 2, 1))


def rotary():
    x, places = uniform(2, 3, 4, 6), integers(2, 4, low=0, high=50).astype(np.int64)
    angles = np.arange(50)[:, None] * 1000.0 ** (-np.arange(3) / 3)
    for number, width, interleaved in ((0, 6, 0), (1, 6, 1), (2, 4, 0)):
        angles = np.arange(50)[:, None] * 1000.0 ** (-2.0 * np.arange(width // 2) / width)
        value = evaluated("RotaryEmbedding", [x, np.cos(angles), np.sin(angles), places],
                          interleaved=interleaved,
                          rotary_embedding_dim=0 if width == 6 else width)[0]
        case(f"RotaryEmbedding:{number}", 1e-11, [x, places], value)


def activations():
    x = uniform(3, 7, low=-6, high=6)
    node("Gelu:0", [x], SINGLE, approximate="none")
    node("Gelu:1", [x], SINGLE, approximate="tanh")


def resize():
    x = uniform(1, 2, 5, 7)

    def of(number, to, by_scale=False, **options):
        extra = np.array([], dtype=np.float32)
        ends = np.array([1, 1, *to], dtype=np.float32 if by_scale else np.int64)
        inputs = [x, extra, ends] if by_scale else [x, None, None, np.array([1, 2, *to])]
        tolerance = SINGLE if options["mode"] == "cubic" else FULL
        case(f"Resize:{number}", tolerance, [x], evaluated("Resize", inputs, **options)[0])

    of(0, [8, 4], mode="nearest", coordinate_transformation_mode="asymmetric",
       nearest_mode="floor")
    of(1, [8, 4], mode="nearest", nearest_mode="round_prefer_ceil")
    of(2, [2.5, 0.625], by_scale=True, mode="linear")
    of(3, [1.75, 0.75], by_scale=True, mode="linear", coordinate_transformation_mode="asymmetric")
    of(4, [9, 3], mode="cubic", cubic_coeff_a=-0.5)
    of(5, [2.5, 0.625], by_scale=True, mode="cubic", exclude_outside=1)
    of(6, [9, 3], mode="linear", coordinate_transformation_mode="align_corners")
    of(7, [2, 3], mode="linear", antialias=1, exclude_outside=1)
    of(8, [0.375, 0.5], by_scale=True, mode="cubic", antialias=1, exclude_outside=1,
       cubic_coeff_a=-0.5)
    of(9, [3, 10], mode="nearest", coordinate_transformation_mode="align_corners",
       nearest_mode="ceil")


def sampling():
    x, grid = uniform(2, 2, 4, 3), uniform(2, 3, 4, 2, low=-1.6, high=1.6)
    for number, (mode, beyond, align) in enumerate([
            ("linear", "zeros", 0), ("linear", "border", 1), ("nearest", "zeros", 0),
            ("cubic", "reflection", 1), ("cubic", "zeros", 0), ("linear", "reflection", 0)]):
        node(f"GridSample:{number}", [x, grid], SINGLE, mode=mode, padding_mode=beyond,
             align_corners=align)
    node("GridSample:6", [uniform(1, 2, 3, 4, 2), uniform(1, 2, 2, 3, 3, low=-1.6, high=1.6)],
         SINGLE)
    boxes = np.array([[0.5, 1, 6, 5.5], [-3, -2, 2, 3], [2, 2, 2.5, 9]])
    for number, places in enumerate(("half_pixel", "output_half_pixel")):
        node(f"RoiAlign:{number}", [uniform(2, 2, 7, 8), boxes, np.array([1, 0, 1])],
             output_height=3,
             output_width=2, sampling_ratio=2, spatial_scale=0.75,
             coordinate_transformation_mode=places)
    x, w, offsets = uniform(1, 4, 6, 5), uniform(2, 2, 3, 2), uniform(1, 24, 3, 6)
    node("DeformConv", [x, w, offsets, uniform(2), uniform(1, 12, 3, 6, low=0, high=1)], SINGLE,
         group=2,
         offset_group=2, strides=[2, 1], pads=[1, 1, 1, 1], kernel_shape=[3, 2])


def pooling():
    x = uniform(1, 2, 7, 8)
    node("AveragePool:0", [x], kernel_shape=[2, 3], strides=[2, 2], dilations=[2, 2],
         pads=[1, 0, 1, 1])
    node("AveragePool:1", [x], kernel_shape=[2, 3], strides=[2, 3], pads=[0, 1, 1, 1], ceil_mode=1,
         count_include_pad=1)
    node("MaxPool:0", [x], kernel_shape=[2, 3], strides=[2, 3], ceil_mode=1)
    node("MaxPool:1", [x], output=1, kernel_shape=[2, 3], strides=[1, 2], pads=[1, 1, 0, 1],
         dilations=[2, 1])
    node("ConvTranspose", [x, uniform(2, 2, 3, 2), uniform(2)], strides=[2, 1])


def others():
    x = uniform(3, 4)
    node("Pad:0", [x, np.array([1, 5, 0, 6])], mode="wrap")
    case("Pad:1", 0, [x], np.pad(x[1:, :-2], [(0, 1), (2, 0)], constant_values=7.0))
    a, b = integers(40, low=-20, high=20), integers(40, low=1, high=7)
    b[::2] *= -1
    case("Div", 0, [a, b], (np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(np.int32))
    node("Mod", [a, b], tolerance=0, fmod=1)
    rows = integers(12, 3, low=0, high=2)
    for number, output in enumerate((0, 1, 2, 3)):
        node(f"Unique:{number}", [rows], tolerance=0, output=output, outputs=4, axis=0, sorted=1)
    node("Unique:4", [rows.T.copy()], tolerance=0, outputs=4, axis=1, sorted=1)
    node("SoftmaxCrossEntropyLoss", [uniform(4, 5, 3), integers(4, 3, low=0, high=5)])


def one_call():
    """Operators that are a call or two, of small operands."""
    a, b, p = uniform(2, 3), uniform(2, 3), uniform(2, 3, low=0.5)
    u = uniform(2, 3, low=-0.9, high=0.9)
    f, image, axis = a.astype(np.float32), uniform(1, 4, 5, 4), np.array([1])
    i, _ = integers(2, 3), integers(2, 3)
    i[0, 0], i[1, 1] = 4, 0
    node("Softsign", [a])
    node("Elu", [a], alpha=0.5)
    node("Celu", [f], alpha=0.5)
    node("Selu", [a], tolerance=SINGLE)
    node("LeakyRelu", [a], alpha=0.25)
    node("ThresholdedRelu", [a], alpha=0.5)
    node("PRelu", [a, u])
    node("HardSigmoid", [a], alpha=0.25, beta=0.5)
    node("HardSwish", [a], tolerance=SINGLE)
    node("Mish", [a])
    node("Swish", [a])
    node("Shrink", [a], lambd=1.0, bias=0.5)
    node("Mean", [a, b])
    node("Clip", [a, np.array(-1.0), np.array(2.0)])
    node("ReduceSum", [a, axis], keepdims=1)
    node("ReduceMean", [a, axis], keepdims=0)
    node("ReduceMax", [a, axis])
    node("ReduceMin", [a, axis])
    node("ReduceProd", [a, axis])
    node("ReduceL1", [a, axis])
    node("ReduceL2", [a, axis])
    node("ReduceSumSquare", [a, axis])
    node("ReduceLogSum", [p, axis])
    node("ReduceLogSumExp", [a, axis])
    node("ArgMax", [a], axis=1, keepdims=0)
    node("ArgMin", [a], axis=1, keepdims=1)
    node("Softmax", [a], axis=0)
    node("LogSoftmax", [a], axis=0)
    node("Hardmax", [a], axis=1)
    node("CumSum", [a, np.array(1)], exclusive=1, reverse=1)
    node("MatMul", [a, b.T.copy()])
    node("Gemm", [a, b, uniform(2)], transB=1, alpha=0.5)
    node("Einsum", [a, b], equation="ij,kj->ik")
    node("Det", [uniform(2, 3, 3)])
    node("Conv", [uniform(1, 4, 5, 4), uniform(2, 2, 2, 3), uniform(2)], group=2, pads=[1, 0, 0,
         1], strides=[2, 1])
    node("GlobalAveragePool", [image])
    node("GlobalMaxPool", [image])
    node("Transpose", [image], perm=[0, 2, 3, 1])
    node("Reshape", [image, np.array([2, -1])])
    node("Flatten", [image], axis=2)
    node("Squeeze", [image, np.array([0])])
    node("Unsqueeze", [a, np.array([1])])
    node("Expand", [a, np.array([2, 2, 3])])
    node("Tile", [a, np.array([2, 1])])
    node("Concat", [a, b], axis=1)
    node("Split", [image], axis=1, num_outputs=2, output=1, outputs=2)
    node("Slice", [image, np.array([1, 4]), np.array([4, 0]), np.array([1, 2]), np.array([2, -1])])
    node("Trilu", [a, np.array(1)], upper=1)
    node("EyeLike", [a], k=1, dtype=11)
    node("Gather", [a, np.array([[2, 0], [1, -1]])], axis=1)
    node("GatherElements", [a, np.array([[2, 0], [1, 1]])], axis=1)
    node("GatherND", [a, np.array([[1, 2], [0, 0]])])
    node("ScatterElements", [a, np.array([[2, 0], [1, 1]]), uniform(2, 2)], axis=1,
         reduction="add")
    node("ScatterND", [a, np.array([[1, 2], [0, 0]]), uniform(2)])
    node("Compress", [a, np.array([False, True, True])], axis=1)
    node("NonZero", [i])
    node("OneHot", [np.array([2, 0, 3]), np.array(4), np.array([0.5, 2.0])])
    node("TopK", [a, np.array([2])], axis=1, outputs=2)
    node("Range", [np.array(1.0), np.array(4.0), np.array(0.5)])
    node("DepthToSpace", [uniform(1, 4, 2, 3)], blocksize=2)
    node("SpaceToDepth", [uniform(1, 1, 4, 6)], blocksize=2)
    node("CenterCropPad", [image, np.array([3, 6])], axes=[2, 3])
    node("NegativeLogLikelihoodLoss", [uniform(4, 5), integers(4, low=0,
         high=5).astype(np.int64)], reduction="sum")
    node("QuantizeLinear", [f, np.array(0.25, np.float32), np.array(10, np.uint8)])


def creation():
    a = uniform(2, 3)
    for number, to in enumerate((TensorProto.INT32, TensorProto.BOOL, TensorProto.FLOAT)):
        node(f"Cast:{number}", [a], tolerance=0, to=to)
    node("CastLike", [integers(2, 3), a], tolerance=0)
    node("BitCast", [a.astype(np.float32)], tolerance=0, to=TensorProto.INT32)
    node("Identity", [a], tolerance=0)
    node("Dropout", [a], tolerance=0)
    node("Shape", [a], tolerance=0)
    node("Size", [a], tolerance=0)
    node("Constant", [], tolerance=0, value_floats=[0.5, -1.25, 3.0])
    node("ConstantOfShape", [np.array([2, 3])], tolerance=0,
         value=helper.make_tensor("value", TensorProto.INT32, [1], [7]))
    node("CumProd:0", [a, np.array(1)], exclusive=1, reverse=1)
    node("CumProd:1", [integers(3, 4), np.array(0)], tolerance=0)
    node("SwiGLU", [a, uniform(2, 3)], alpha=0.5)
    node("ReverseSequence:0", [uniform(4, 3, 2), np.array([2, 4, 1])], tolerance=0)
    node("ReverseSequence:1", [uniform(3, 5), np.array([5, 0, 3])], tolerance=0, batch_axis=0,
         time_axis=1)
    cache, update, places = uniform(2, 2, 5, 2), uniform(2, 2, 3, 2), np.array([1, 4])
    node("TensorScatter", [cache, update, places], tolerance=0, mode="circular")


def signals():
    size = np.array(10)
    node("HannWindow", [size], output_datatype=TensorProto.DOUBLE)
    node("HammingWindow", [size], output_datatype=TensorProto.DOUBLE, periodic=0)
    node("BlackmanWindow", [size], output_datatype=TensorProto.DOUBLE)
    x, z, n = uniform(2, 5, 3, 1), uniform(2, 5, 3, 2), np.array(8)
    node("DFT:0", [x, n, np.array(1)])
    node("DFT:1", [x, np.array(4), np.array(1)], onesided=1)
    node("DFT:2", [z, None, np.array(2)], inverse=1)
    node("DFT:3", [z, n, np.array(1)], inverse=1, onesided=1)
    node("STFT:0", [uniform(2, 20, 1), np.array(3), uniform(8)])
    node("STFT:1", [uniform(2, 14, 2), np.array(4), None, np.array(6)], onesided=0)
    node("MelWeightMatrix", [np.array(4), np.array(32), np.array(8000), np.array(125.0),
                             np.array(3800.0)], output_datatype=TensorProto.DOUBLE)


def pooled_regions(x, regions, size, scale):
    """MaxRoiPool (R. Girshick, "Fast R-CNN", ICCV 2015), which the reference does not have."""
    out = np.zeros((len(regions), x.shape[1], *size))
    for number, region in enumerate(regions):
        x0, y0, x1, y1 = np.floor(region[1:] * scale + 0.5).astype(int)
        spans = []
        for start, end, count in ((y0, y1, size[0]), (x0, x1, size[1])):
            step = max(end - start + 1, 1) / count
            spans.append([slice(max(start + int(np.floor(i * step)), 0),
                                max(start + int(np.ceil((i + 1) * step)), 0))
                          for i in range(count)])
        for i, rows in enumerate(spans[0]):
            for k, columns in enumerate(spans[1]):
                part = x[int(region[0])][:, rows, columns]
                out[number, :, i, k] = part.max((1, 2)) if part.size else 0
    return out


def windows():
    # The reference sums over the channels below the number of images only: both are 4.
    node("LRN", [uniform(4, 4, 1, 2)], size=4, alpha=0.5, beta=0.75, bias=2.0)
    x = uniform(1, 2, 4, 5)
    node("LpPool:0", [x], kernel_shape=[2, 3], strides=[2, 1], p=3)
    powers = evaluated("AveragePool", [np.abs(x)**3], kernel_shape=[2, 3], strides=[2, 1],
                       pads=[1, 1, 1, 0], count_include_pad=1)[0]  # the reference skips the padding
    case("LpPool:1", FULL, [x], (6 * powers)**(1 / 3))
    case("GlobalLpPool", FULL, [x], (np.abs(x)**3).sum((2, 3), keepdims=True)**(1 / 3))
    values, places = evaluated("MaxPool", [x[..., :4]], 2, kernel_shape=[2, 2], strides=[2, 2])
    node("MaxUnpool", [values, places], tolerance=0, kernel_shape=[2, 2], strides=[2, 2])
    regions = np.array([[1, 0, 1, 7, 9], [0, 3, -2, 5, 3], [1, 8, 9, 8, 30]], dtype=np.float64)
    x = uniform(2, 2, 6, 5)
    case("MaxRoiPool", 0, [x, regions], pooled_regions(x, regions, (2, 3), 0.5))
    node("Col2Im", [uniform(1, 8, 9), np.array([4, 3]), np.array([2, 2])], strides=[2, 1],
         pads=[1, 0, 1, 1])
    for number, size in enumerate(([2, 1, 3, 4], [1, 1, 2, 3, 2])):
        theta = uniform(size[0], len(size) - 2, len(size) - 1, dtype=np.float32)
        node(f"AffineGrid:{number}", [theta, np.array(size)], SINGLE, align_corners=number)
    boxes = uniform(2, 6, 4, low=0, high=4)  # in any order of corners
    scores, limits = uniform(2, 2, 6, low=0, high=1), [np.array([v]) for v in (3, 0.25, 0.3)]
    for number in (0, 1):
        node(f"NonMaxSuppression:{number}", [boxes, scores, *limits], tolerance=0,
             center_point_box=number)


def quantized():
    def bytes_of(*shape, dtype=np.uint8):
        return integers(*shape, low=np.iinfo(dtype).min, high=np.iinfo(dtype).max + 1, dtype=dtype)

    def single(*values):
        return np.array(values if len(values) > 1 else values[0], np.float32)

    x, w, zero = bytes_of(2, 4), bytes_of(4, 3, dtype=np.int8), np.array(120, np.uint8)
    node("DequantizeLinear:0", [x, single(0.3), zero], SINGLE)
    node("DequantizeLinear:1", [w, uniform(4, low=0.1, dtype=np.float32),
                                bytes_of(4, dtype=np.int8)], SINGLE, axis=0)
    node("DequantizeLinear:2", [w, uniform(2, 3, low=0.1, dtype=np.float32),
                                bytes_of(2, 3, dtype=np.int8)], SINGLE, axis=0, block_size=2)
    a = uniform(3, 4, dtype=np.float32)
    for number in range(3):
        node(f"DynamicQuantizeLinear:{number}", [a], SINGLE, output=number, outputs=3)
    zeros = bytes_of(3, dtype=np.int8)
    node("MatMulInteger", [x, w, zero, zeros], tolerance=0)
    filters = {"pads": [1, 0, 0, 1], "strides": [2, 1]}
    node("ConvInteger", [bytes_of(1, 2, 4, 4), bytes_of(3, 2, 2, 2, dtype=np.int8), zero, zeros],
         tolerance=0, **filters)

    def near(*shape, middle=0, dtype=np.int8):  # of small sums: some results are halfway
        return integers(*shape, low=middle - 9, high=middle + 10, dtype=dtype)

    scales = [single(0.5), single(1, 0.5, 0.25), single(0.25)]
    for name, x, w, bias, options in (
            ("QLinearMatMul", near(2, 4, middle=120, dtype=np.uint8), near(4, 3), [], {}),
            ("QLinearConv", near(1, 2, 4, 4, middle=120, dtype=np.uint8), near(3, 2, 2, 2),
             [integers(3)], filters)):
        node(name, [x, scales[0], zero, w, scales[1], near(3), scales[2], np.array(50, np.uint8),
                    *bias], tolerance=0, **options)


def models():
    x, w, bias, past = uniform(1, 3, 5), uniform(3, 1, 3), uniform(3), uniform(1, 3, 2)
    node("CausalConvWithState:0", [x, w, bias, past], SINGLE, outputs=2, activation="silu")
    node("CausalConvWithState:1", [x, w, bias, past], output=1)
    q, k, v = uniform(1, 4, 12, low=-1, high=1), uniform(1, 4, 6, low=-1, high=1), uniform(1, 4, 4)
    state, rate = uniform(1, 2, 3, 2), uniform(1, 4, 2, low=0, high=1)
    for number, rule in enumerate(("linear", "gated", "delta", "gated_delta")):
        decay = uniform(1, 4, 6 if number == 1 else 2, low=-1, high=0) if number % 2 else None
        node(f"LinearAttention:{number}", [q, k, v, state, decay, rate if number >= 2 else None],
             SINGLE, outputs=2, output=number // 3, q_num_heads=4, kv_num_heads=2,
             update_rule=rule)


if __name__ == "__main__":
    norms()
    recurrent()
    attention()
    rotary()
    activations()
    resize()
    sampling()
    pooling()
    others()
    one_call()
    creation()
    signals()
    windows()
    quantized()
    models()
