#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes images/*: pictures that image_test.cpp reads, and what they show as .npy. PNG is packed here,
by the words of its specification, with every depth, colour type and interlacing; Pillow and OpenCV
are asked whether they see the same. JPEG is Pillow's. Needs NumPy, Pillow and OpenCV; run it in this
folder. The results are committed."""
import io
import os
import struct
import zlib

import cv2
import numpy as np
from PIL import Image

os.makedirs("images", exist_ok=True)
height, width = 11, 13


def values(channels, most):
    """Of [y, x, c]; image_test.cpp has the same formula."""
    y, x, c = np.ogrid[:height, :width, :channels]
    return (y * 3101 + x * 177 + c * 20011 + y * x * 7) % (most + 1)


def chunk(kind, data):
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def packed(rows, depth):
    """Rows [height, samples] as bytes, each begun by the number of a filter: none and up in turn."""
    out, above = b"", None
    for i, row in enumerate(rows):
        if depth == 16:
            data = row.astype(">u2").tobytes()
        else:
            bits = ((row[:, None] >> np.arange(depth - 1, -1, -1)) & 1).astype(np.uint8)
            data = np.packbits(bits.reshape(-1)).tobytes()
        line = np.frombuffer(data, dtype=np.uint8)
        if i % 2 == 1:
            out += b"\2" + (line - above).astype(np.uint8).tobytes()
        else:
            out += b"\0" + data
        above = line
    return out


ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))


def png(samples, depth, color, interlaced=False, extra=b"", extents=None):
    def flat(a):
        return a.reshape(a.shape[0], -1)
    if interlaced:
        parts = [samples[y::dy, x::dx] for y, x, dy, dx in ADAM7]
        data = b"".join(packed(flat(p), depth) for p in parts if p.size)
    else:
        data = packed(flat(samples), depth)
    h, w = extents or samples.shape[:2]
    header = struct.pack(">IIBBBBB", w, h, depth, color, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra
            + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


def seen_by_others(data, expected):
    got = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    got = got.reshape(height, width, -1)
    if got.shape[2] >= 3:
        got = got[:, :, [2, 1, 0] + ([3] if got.shape[2] == 4 else [])]
    if got.shape == expected.shape:
        assert np.array_equal(got, expected)
    else:  # OpenCV has no grey with opacity
        shown = np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))
        wide = expected if expected.shape[2] > 2 else expected[:, :, [0, 0, 0] + [1] * (expected.shape[2] - 1)]
        wide = wide >> 8 if wide.max() > 255 else wide
        assert np.array_equal(shown[:, :, :wide.shape[2]], wide)


def write(name, data, expected=None):
    with open(f"images/{name}", "wb") as out:
        out.write(data)
    if expected is not None:
        seen_by_others(data, expected)


COLORS = {1: 0, 2: 4, 3: 2, 4: 6}
for channels, color in COLORS.items():
    for depth in (8, 16):
        v = values(channels, 2**depth - 1)
        write(f"c{channels}_{depth}.png", png(v, depth, color), v)
v = values(3, 65535)
write("interlaced_16.png", png(v, 16, 2, interlaced=True), v)
for depth in (1, 2, 4):
    v = values(1, 2**depth - 1)
    write(f"grey_{depth}.png", png(v, depth, 0, interlaced=depth == 2), v * (255 // (2**depth - 1)))
palette = (np.arange(16)[:, None] * [16, 9, 5] + [3, 80, 150]).astype(np.uint8)
v = values(1, 15)
plte = chunk(b"PLTE", palette.tobytes())
write("palette.png", png(v, 4, 3, extra=plte), palette[v[:, :, 0]])
opacity = np.full(16, 255, np.uint8)
opacity[:3] = [0, 100, 200]
with_opacity = np.concatenate([palette, opacity[:, None]], axis=1)
write("palette_opacity.png", png(v, 4, 3, interlaced=True, extra=plte + chunk(b"tRNS", opacity[:3].tobytes())),
      with_opacity[v[:, :, 0]])
v = values(3, 255)
key = v[4, 6]
clear = np.where((v == key).all(axis=2), 0, 255)[:, :, None]
write("key.png", png(v, 8, 2, extra=chunk(b"tRNS", struct.pack(">HHH", *key))), np.concatenate([v, clear], axis=2))
# A profile that would unpack to 4 MB is not unpacked.
profile = b"x\0\0" + zlib.compress(b"\0" * (1 << 22), 9)
v = values(1, 255)
write("profile.png", png(v, 8, 0, extra=chunk(b"iCCP", profile)), v)
# Extents that a few bytes cannot fill.
write("huge.png", png(values(1, 255), 8, 0, extents=(2**31 - 1, 2**31 - 1)))

# Smooth, so that little is lost.
y, x = np.mgrid[:24, :40]
smooth = np.stack([x * 5 + 20, y * 8 + 30, 220 - x * 2 - y * 3], axis=2).astype(np.uint8)


def write_jpeg(name, image, **options):
    stream = io.BytesIO()
    image.save(stream, "JPEG", **options)
    with open(f"images/{name}.jpg", "wb") as out:
        out.write(stream.getvalue())
    if image.mode != "CMYK":
        shown = np.asarray(Image.open(stream))
        np.save(f"images/{name}.npy", shown.reshape(24, 40, -1))


rgb = Image.fromarray(smooth)
write_jpeg("grey", rgb.convert("L"), quality=92)
write_jpeg("full", rgb, quality=92, subsampling=0)
write_jpeg("halved", rgb, quality=92, subsampling=2)
write_jpeg("progressive", rgb, quality=92, subsampling=1, progressive=True)
write_jpeg("cmyk", rgb.convert("CMYK"), quality=50)
