#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes vectors.txt: operands and results of Pillow, OpenCV, SciPy, scikit-image and Python's
# colorsys for vectors_test.cpp, in the format of tests/ops/make_vectors.py, whose functions it uses.
# Needs NumPy, SciPy, Pillow, scikit-image and OpenCV (from PyPI).
# Run as: tests/image/make_vectors.py > tests/image/vectors.txt
import colorsys
import os
import sys

import cv2
import numpy as np
import scipy.ndimage as nd
import skimage
from PIL import Image

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
from make_vectors import case, generator, uniform  # noqa: E402


def by_pixel(f, image):
    return np.array([f(*pixel) for pixel in image.reshape(-1, 3)]).reshape(image.shape)


def hls_to_hsl(h, l, s):
    return h, s, l


CIE = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                [0.0193339, 0.1191920, 0.9503041]])
WHITE = np.array([0.95047, 1, 1.08883])


def lab(rgb):
    """By the words of IEC 61966-2-1 and CIE 15."""
    light = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    t = light @ CIE.T / WHITE
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), (29 / 6) ** 2 / 3 * t + 4 / 29)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)


def colours():
    corners = np.array([[r, g, b] for r in (0, 0.4, 1) for g in (0, 0.4, 1) for b in (0, 0.4, 1)])
    rgb = np.concatenate([corners, uniform(37, 3, low=0, high=1)]).reshape(8, 8, 3)
    case("rgb_to_grey", 1e-15, [rgb], (rgb @ [0.299, 0.587, 0.114])[..., None])
    hsv = by_pixel(colorsys.rgb_to_hsv, rgb)
    assert np.allclose(hsv, skimage.color.rgb2hsv(rgb))
    case("rgb_to_hsv", 1e-14, [rgb], hsv)
    case("hsv_to_rgb", 1e-14, [hsv], rgb)
    case("hsv_to_rgb", 1e-14, [hsv + [3, 0, 0]], rgb)
    hsl = by_pixel(lambda *p: hls_to_hsl(*colorsys.rgb_to_hls(*p)), rgb)
    case("rgb_to_hsl", 1e-14, [rgb], hsl)
    case("hsl_to_rgb", 1e-14, [hsl], rgb)
    jfif = np.array([[0.299, 0.587, 0.114], [-0.299 / 1.772, -0.587 / 1.772, 0.5], [0.5, -0.587 / 1.402, -0.114 / 1.402]])
    ycbcr = rgb @ jfif.T + [0, 0.5, 0.5]
    assert np.abs(np.asarray(Image.fromarray((rgb * 255).astype(np.uint8)).convert("YCbCr")) / 255 - ycbcr).max() < 0.012
    case("rgb_to_ycbcr", 1e-14, [rgb], ycbcr)
    case("ycbcr_to_rgb", 1e-14, [ycbcr], rgb)
    assert np.abs(lab(rgb) - skimage.color.rgb2lab(rgb)).max() < 0.02
    case("rgb_to_lab", 1e-13, [rgb], lab(rgb))
    case("lab_to_rgb", 1e-13, [lab(rgb)], rgb)


FILTERS = {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS}


def resizes():
    """By Pillow in f32, so that some digits are lost in between."""
    image = uniform(11, 13).astype(np.float32)
    for name, filter in FILTERS.items():
        for number, (h, w) in enumerate([(5, 7), (11, 6), (23, 13), (30, 41), (1, 1), (4, 40)]):
            shown = np.asarray(Image.fromarray(image, mode="F").resize((w, h), filter))
            case(f"resize_{name}:{number}", 3e-6 if name != "nearest" else 0,
                 [image.astype(np.float64)[..., None]], shown.astype(np.float64)[..., None])
    for number, (h, w) in enumerate([(5, 7), (11, 6), (1, 1), (3, 13)]):
        case(f"resize_area:{number}", 1e-6, [image.astype(np.float64)[..., None]],
             cv2.resize(image.astype(np.float64), (w, h), interpolation=cv2.INTER_AREA)[..., None])


def sampled(image, x, y, order, mode, value):
    mode = {"constant": "grid-constant", "edge": "nearest"}[mode]
    channels = [nd.map_coordinates(image[..., c], [y, x], order=order, mode=mode, cval=value)
                for c in range(image.shape[2])]
    return np.stack(channels, -1)


def warps():
    image = uniform(7, 9, 2)
    y, x = np.mgrid[:6, :10].astype(np.float64)
    m = np.array([[0.9, -0.35, 1.3], [0.4, 1.1, -1.7]])
    p = np.concatenate([m, [[0.01, -0.02, 0.8]]])
    for name, order, mode in [("bilinear", 1, "constant"), ("nearest", 0, "constant"), ("edge", 1, "edge")]:
        case(f"affine_{name}", 1e-13, [image, m],
             sampled(image, m[0, 0] * x + m[0, 1] * y + m[0, 2], m[1, 0] * x + m[1, 1] * y + m[1, 2], order, mode, 0.25))
        d = p[2, 0] * x + p[2, 1] * y + p[2, 2]
        case(f"perspective_{name}", 1e-13, [image, p],
             sampled(image, (p[0, 0] * x + p[0, 1] * y + p[0, 2]) / d,
                     (p[1, 0] * x + p[1, 1] * y + p[1, 2]) / d, order, mode, 0.25))
    y, x = np.mgrid[:7, :9].astype(np.float64)
    for degrees in (30, -75, 200):
        # OpenCV's matrix leads from the image to the result.
        there = cv2.getRotationMatrix2D((4.0, 3.0), degrees, 1.0)
        back = cv2.invertAffineTransform(there)
        case(f"rotate:{degrees}", 1e-13, [image],
             sampled(image, back[0, 0] * x + back[0, 1] * y + back[0, 2],
                     back[1, 0] * x + back[1, 1] * y + back[1, 2], 1, "constant", 0.25))


MODES = {"reflect": "mirror", "edge": "nearest", "constant": "constant"}


def filters():
    image = uniform(7, 9, 2)
    bytes_ = generator.integers(0, 256, (9, 8, 2)).astype(np.uint8)

    def each(f, a=image):
        return np.stack([f(a[..., c]) for c in range(a.shape[2])], -1)
    for name, mode in MODES.items():
        case(f"gaussian_{name}", 1e-13, [image], each(lambda a: nd.gaussian_filter(a, 1.3, mode=mode)))
        case(f"box_{name}", 1e-13, [image], each(lambda a: nd.uniform_filter(a, (3, 5), mode=mode)))
        for axis in (0, 1):
            case(f"sobel_{name}:{axis}", 1e-13, [image], each(lambda a: nd.sobel(a, 1 - axis, mode=mode)))
            across = nd.correlate1d
            case(f"scharr_{name}:{axis}", 1e-13, [image],
                 each(lambda a: across(across(a, [-1, 0, 1], 1 - axis, mode=mode), [3, 10, 3], axis, mode=mode)))
        case(f"laplacian_{name}", 1e-13, [image], each(lambda a: nd.laplace(a, mode=mode)))
        for size in (3, 5):
            case(f"median_{name}:{size}", 0, [image], each(lambda a: nd.median_filter(a, size, mode=mode)))
    case("median_reflect:5", 0, [bytes_], each(lambda a: nd.median_filter(a, 5, mode="mirror"), bytes_))
    size = (3, 5)
    case("erode", 0, [image], each(lambda a: nd.grey_erosion(a, size, mode="nearest")))
    case("dilate", 0, [image], each(lambda a: nd.grey_dilation(a, size, mode="nearest")))
    case("opening", 0, [bytes_], each(lambda a: cv2.morphologyEx(a, cv2.MORPH_OPEN, np.ones(size, np.uint8)), bytes_))
    case("closing", 0, [bytes_], each(lambda a: cv2.morphologyEx(a, cv2.MORPH_CLOSE, np.ones(size, np.uint8)), bytes_))
    # By the definition, pixel by pixel.
    wide = np.pad(image, ((2, 2), (2, 2), (0, 0)), mode="reflect")
    out = np.empty_like(image)
    y, x = np.mgrid[-2:3, -2:3]
    for i in range(7):
        for j in range(9):
            near = wide[i:i + 5, j:j + 5]
            w = np.exp(-(y**2 + x**2) / (2 * 1.5**2) - ((near - image[i, j]) ** 2).sum(2) / (2 * 0.8**2))
            out[i, j] = (near * w[..., None]).sum((0, 1)) / w.sum()
    case("bilateral", 1e-13, [image], out)
    case("histogram", 0, [bytes_], np.stack([np.histogram(bytes_[..., c], 7, (0, 200))[0] for c in range(2)]))
    two = np.concatenate([generator.integers(10, 90, 60), generator.integers(120, 250, 40)]).astype(np.uint8)
    photo = np.stack([two.reshape(10, 10), generator.integers(3, 9, (10, 10)).astype(np.uint8),
                      np.full((10, 10), 77, np.uint8)], -1)
    case("otsu", 0, [photo], np.array([cv2.threshold(photo[..., c].copy(), 0, 255, cv2.THRESH_OTSU)[0]
                                       for c in range(3)]).astype(np.uint8))
    case("equalize", 0, [photo], each(lambda a: cv2.equalizeHist(a.copy()), photo))
    case("integral", 0, [bytes_.astype(np.int32)], cv2.integral(bytes_).astype(np.int64))
    case("integral", 1e-14, [image], np.pad(image.cumsum(0).cumsum(1), ((1, 0), (1, 0), (0, 0))))


def short_numbers(*shape, low=-3.0, high=3.0):
    """Of few digits, which take less room."""
    return np.round(uniform(*shape, low=low, high=high) * 64) / 64


def equalizations():
    photo = (generator.integers(0, 256, (23, 26, 2)) // [1, 5] + [0, 90]).astype(np.uint8)
    for number, (limit, rows, columns) in enumerate([(2.0, 3, 4), (0.0, 2, 5), (40.0, 8, 8), (1.25, 1, 1)]):
        # Where OpenCV mirrors an axis that needs it not, the other needs it too.
        part = photo if number != 1 else photo[:20, :25]
        tool = cv2.createCLAHE(limit, (columns, rows))
        case(f"clahe:{number}", 0, [part], np.stack([tool.apply(part[..., c].copy()) for c in range(2)], -1))
    image = uniform(7, 9)
    for number, (size, offset) in enumerate([(3, 0.0), (5, 0.25)]):
        for by, method in (("box", "mean"), ("gaussian", "gaussian")):
            for mode in ("reflect", "edge"):
                level = skimage.filters.threshold_local(image, size, method, offset=offset, mode=MODES[mode])
                case(f"adaptive_{by}_{mode}:{number}", 0, [image[..., None]], (image > level)[..., None])


def blobs(height, width):
    """Bright shapes on a dark ground, with some noise, as u8."""
    y, x = np.mgrid[:height, :width]
    picture = generator.integers(0, 20, (height, width))
    picture += 150 * ((y - 0.4 * height) ** 2 + (x - 0.35 * width) ** 2 < (0.3 * height) ** 2)
    picture += 60 * (np.abs(y - 0.7 * height) + np.abs(x - 0.7 * width) < 0.25 * width)
    return picture.astype(np.uint8)


def edges():
    picture = blobs(21, 26)
    noise = generator.integers(0, 256, (13, 12)).astype(np.uint8)
    for number, (low, high) in enumerate([(60, 150), (200, 400), (0, 0)]):
        for of in (picture, noise):
            case(f"canny:{number}", 0, [of[..., None]], (cv2.Canny(of, low, high, L2gradient=True) > 0)[..., None])
    image = uniform(7, 9)
    for number, (k, deviation) in enumerate([(0.05, 1.0), (0.2, 0.6)]):
        case(f"harris:{number}", 1e-9, [image[..., None]],
             skimage.feature.corner_harris(image, k=k, sigma=deviation)[..., None])


def orientations():
    """By scikit-image, whose sums over cells are f32."""
    image = short_numbers(27, 22, 3)
    for number, (o, cell, block) in enumerate([(9, (4, 5), (3, 2)), (3, (8, 8), (1, 1)), (5, (3, 3), (9, 7))]):
        case(f"hog:{number}", 1e-7, [image],
             skimage.feature.hog(image, o, cell, block, feature_vector=False, channel_axis=-1))
    picture = blobs(21, 26).astype(np.float64)
    case("hog:0", 1e-7, [picture[..., None]],
         skimage.feature.hog(picture, 9, (4, 5), (3, 2), feature_vector=False))


def components():
    for share in (0.35, 0.5, 0.65):
        mask = generator.random((9, 11, 2)) < share
        for by, structure in ((0, None), (1, np.ones((3, 3), int))):
            found = [nd.label(mask[..., c], structure) for c in range(2)]
            case(f"component_labels:{by}", 0, [mask], np.stack([f[0] for f in found], -1).astype(np.int64))
            case(f"component_counts:{by}", 0, [mask], np.array([f[1] for f in found]).astype(np.int64))


def patterns():
    image = short_numbers(11, 12, 3)
    image[6:, 7:] = 0.25
    for h, w in ((3, 4), (1, 1), (11, 2)):
        pattern = image[:h, 5:5 + w] + short_numbers(h, w, 3, low=-0.2, high=0.2)
        windows = np.lib.stride_tricks.sliding_window_view(image, (h, w, 3))[:, :, 0]
        over = (2, 3, 4)
        case("match_squares", 1e-12, [image, pattern], ((windows - pattern) ** 2).sum(over)[..., None])
        case("match_products", 1e-12, [image, pattern], (windows * pattern).sum(over)[..., None])
        a = windows - windows.mean(over, keepdims=True)
        b = pattern - pattern.mean()
        same = (windows.max(over) == windows.min(over)) | (pattern.max() == pattern.min())
        norms = np.sqrt((a**2).sum(over) * (b**2).sum())
        case("match_coefficient", 1e-9, [image, pattern],
             np.where(same, 0, (a * b).sum(over) / np.where(same, 1, norms))[..., None])
        shown = skimage.feature.match_template(image, pattern)[..., 0]
        assert np.abs(np.where(same, 0, shown - (a * b).sum(over) / np.where(same, 1, norms))).max() < 1e-9


def suppressed(boxes, scores, overlap):
    """By the definition."""
    left, kept = list(np.argsort(-scores, kind="stable")), []
    while left:
        best = left.pop(0)
        kept.append(best)

        def common(other):
            low = np.maximum(boxes[best, :2], boxes[other, :2])
            high = np.minimum(boxes[best, 2:], boxes[other, 2:])
            both = np.prod(np.maximum(high - low, 0))
            return both / (sum(np.prod(boxes[i, 2:] - boxes[i, :2]) for i in (best, other)) - both)
        left = [other for other in left if common(other) <= overlap]
    return np.array(kept, np.int64)


def suppressions():
    corners = uniform(40, 2, low=0, high=10)
    boxes = np.concatenate([corners, corners + uniform(40, 2, low=1, high=5)], 1)
    scores = generator.integers(0, 12, 40) / 4
    for percent in (0, 30, 70, 100):
        kept = suppressed(boxes, scores, percent / 100)
        case(f"nms:{percent}", 0, [boxes, scores], kept)
        if percent:
            # OpenCV leaves the order of equal scores open, so they are told apart.
            apart = scores + 1 - np.arange(40) * 1e-4
            sizes = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], 1)
            assert list(np.ravel(cv2.dnn.NMSBoxes(sizes.tolist(), apart.tolist(), 0.0, percent / 100))) == list(kept)


if __name__ == "__main__":
    for part in (colours, resizes, warps, filters, equalizations, edges, orientations, components, patterns,
                 suppressions):
        part()
