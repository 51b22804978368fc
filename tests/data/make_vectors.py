#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes vectors/, what the tests here read, with NumPy, pandas, scikit-learn and soundfile. Run it in
this folder; the files are committed, so that the tests need none of them. What a reader has to find in
NAME.EXT is in NAME.npy, of tables column by column in NAME.COLUMN.npy and NAME.COLUMN.txt."""
import gzip
import os
import struct
import wave

import numpy as np
import pandas
import soundfile
from sklearn.model_selection import KFold, StratifiedKFold

os.makedirs("vectors", exist_ok=True)


def write(name, data):
    with open(f"vectors/{name}", "wb") as out:
        out.write(data)


# IDX: element i is i * 7 - 20 of integers with a sign, i * 7 of u8, i / 8 - 1 of floats.
codes = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}
for code, number in codes.items():
    count = np.arange(24).reshape(2, 3, 4)
    a = count / 8 - 1 if code[0] == "f" else count * 7 - (20 if code[0] == "i" else 0)
    a = a.astype(code)
    data = struct.pack(">BBBB3I", 0, 0, number, 3, 2, 3, 4) + a.astype(">" + code).tobytes()
    write(f"{code}.idx", data)
    write(f"{code}.idx.gz", gzip.compress(data, mtime=0))
    np.save(f"vectors/{code}.npy", a)
write("empty.idx", struct.pack(">BBBB2I", 0, 0, 8, 2, 0, 5))

# A table as pandas reads it.
text = (
    'name,age,"size, cm",note,grade\r\n'
    'Ada,36,1.5e2,"says ""hello""",b\r\n'
    'Bob,NA,-0,"two\nlines",a\r\n'
    ' Eve ,  41 ,inf,"a,b",\r\n'
    "\r\n"
    'Zoë,7,,n/a,c\r\n'
    '"",-3,1e-400," ",a'
)
write("people.csv", text.encode())
write("people.csv.gz", gzip.compress(text.encode(), mtime=0))
missing = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "<NA>"]
table = pandas.read_csv("vectors/people.csv", na_values=missing, keep_default_na=False)
table["note"] = table["note"].where(table["note"].str.strip() != "")  # a blank is missing here
np.save("vectors/people.age.npy", table["age"].to_numpy(np.float64))
np.save("vectors/people.size.npy", table["size, cm"].to_numpy(np.float64))
for column in ("name", "note", "grade"):
    lines = ("\x00missing" if pandas.isna(v) else v for v in table[column])
    write(f"people.{column}.txt", "\x01".join(lines).encode())

# Folds of scikit-learn: the fold in which each thing is tested.
labels = {
    "even": np.arange(20) % 4,
    "odd": np.array([5, 5, 2, 5, 2, 9, 5, 2, 9, 5, 5, 2, 9, 5, 5, 2, 5, 9, 2, 5, 5, 2, 9]),
    "sorted": np.repeat([0, 1, 2], [11, 7, 5]),
}
for name, y in labels.items():
    for folds in (2, 3, 5):
        fold = np.zeros(len(y), np.int64)
        for i, (_, test) in enumerate(StratifiedKFold(folds).split(y, y)):
            fold[test] = i
        plain = np.zeros(len(y), np.int64)
        for i, (_, test) in enumerate(KFold(folds).split(y)):
            plain[test] = i
        np.save(f"vectors/folds_{name}_{folds}.npy", np.stack([y, fold, plain]))

# Sound. WAV of integers is written by Python's own module, not by the library that reads it.
frames = 37
ramp = (np.arange(frames * 2).reshape(frames, 2) * 887 % 65536 - 32768).astype(np.int64)
ramp[0], ramp[1] = (-32768, 32767), (0, 1)


def write_wav(name, samples, width):
    with wave.open(f"vectors/{name}.wav", "wb") as out:
        out.setnchannels(samples.shape[1])
        out.setsampwidth(width)
        out.setframerate(8000)
        raw = b"".join(int(v).to_bytes(width, "little", signed=width > 1) for v in samples.flat)
        out.writeframes(raw)


write_wav("pcm16", ramp, 2)
write_wav("pcm16_mono", ramp[:, :1], 2)
write_wav("pcm24", ramp * 256 + 3, 3)
write_wav("pcm8", ramp // 256 + 128, 1)
np.save("vectors/pcm16.npy", (ramp / 32768).astype(np.float32))
np.save("vectors/pcm16_mono.npy", (ramp[:, :1] / 32768).astype(np.float32))
np.save("vectors/pcm24.npy", ((ramp * 256 + 3) / 2**23).astype(np.float32))
np.save("vectors/pcm8.npy", (ramp // 256 / 128).astype(np.float32))
soundfile.write("vectors/flac16.flac", ramp.astype(np.int16), 44100, subtype="PCM_16")
np.save("vectors/flac16.npy", (ramp / 32768).astype(np.float32))
floats = np.array([[0.0], [-1.5], [1e-20], [3.25]], np.float32)
soundfile.write("vectors/float.wav", floats, 16000, subtype="FLOAT")
np.save("vectors/float.npy", floats)
soundfile.write("vectors/other.aiff", ramp.astype(np.int16), 8000, subtype="PCM_16")
