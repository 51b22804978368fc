#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes vectors.txt: operands and results of SciPy and librosa for vectors_test.cpp, in the format
# of tests/ops/make_vectors.py, whose functions it uses.
# Needs NumPy, SciPy and librosa (from PyPI). Run as: tests/signal/make_vectors.py > tests/signal/vectors.txt
import os
import sys

import librosa
import numpy as np
import scipy.signal as ss

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
from make_vectors import case, uniform  # noqa: E402


def complexes(*shape):
    return uniform(*shape, low=-1) + 1j * uniform(*shape, low=-1)


def short_time():
    x = uniform(2, 45)
    w = uniform(6, low=0.5, high=1.5)
    case("stft", 1e-13, [x], librosa.stft(x, n_fft=8, hop_length=3))
    case("stft_reflected", 1e-13, [x], librosa.stft(x, n_fft=9, hop_length=4, pad_mode="reflect"))
    case("stft_window", 1e-13, [x, w],
         librosa.stft(x, n_fft=10, win_length=6, window=lambda n: w, hop_length=5, center=False))
    z = librosa.stft(x, n_fft=8, hop_length=3)
    case("istft", 1e-13, [z], librosa.istft(z, n_fft=8, hop_length=3))
    case("istft_length", 1e-13, [z], librosa.istft(z, n_fft=8, hop_length=3, length=45))
    changed = z * uniform(*z.shape, low=0.5, high=1)
    case("istft", 1e-13, [changed], librosa.istft(changed, n_fft=8, hop_length=3))
    case("spectrogram", 1e-12, [x], np.abs(librosa.stft(x, n_fft=8, hop_length=3)) ** 2)


def designs():
    case("firwin", 1e-13, [], ss.firwin(11, 0.3))
    case("firwin_even", 1e-13, [], ss.firwin(12, 80, window=("kaiser", 6.0), fs=400))
    case("firwin_high", 1e-13, [], ss.firwin(15, 0.3, pass_zero=False))
    case("firwin_bands", 1e-12, [], ss.firwin(21, [0.2, 0.4, 0.7], pass_zero=False, window="hann"))
    case("firwin_stop", 1e-12, [], ss.firwin(21, [0.2, 0.4], scale=False))
    case("firwin2", 1e-13, [], ss.firwin2(15, [0, 0.5, 1], [1, 1, 0]))
    case("firwin2_steps", 1e-13, [],
         ss.firwin2(16, [0, 12.5, 12.5, 30, 50], [0.5, 0.5, 1, 0.2, 0], fs=100, window="blackman"))
    # What a filter answers to an impulse does not depend on how its poles are paired.
    impulse = np.zeros(40)
    impulse[0] = 1
    for kind in ("lowpass", "highpass"):
        for order in (1, 2, 5, 8):
            sos = ss.butter(order, 0.3, kind, output="sos")
            case(f"butter_{kind}:{order}", 1e-11, [], ss.sosfilt(sos, impulse))
    for kind in ("bandpass", "bandstop"):
        for order in (1, 2, 3, 6):
            sos = ss.butter(order, [30, 75], kind, fs=200, output="sos")
            case(f"butter_{kind}:{order}", 1e-10, [], ss.sosfilt(sos, impulse))
    # So wide that real poles stay real.
    case("butter_wide", 1e-11, [],
         ss.sosfilt(ss.butter(3, [0.01, 0.95], "bandpass", output="sos"), impulse))


def filters():
    b, a = [0.2, 0.5, -0.1, 0.3], [2.0, -1.6, 1.1]
    z = complexes(3, 70)
    case("lfilter_complex", 1e-12, [z], ss.lfilter(b, a, z))
    columns, state = uniform(70, 3), uniform(3, 3)
    y, end = ss.lfilter(b, a, columns, axis=0, zi=state)
    case("lfilter_state", 1e-12, [columns, state], y)
    case("lfilter_state_end", 1e-12, [columns, state], end)
    case("lfilter_zi", 1e-13, [], ss.lfilter_zi(b, a))
    sos = ss.butter(4, [0.2, 0.35], "bandpass", output="sos")
    columns, state = uniform(70, 3), uniform(4, 2, 3)
    case("sosfilt", 1e-12, [sos, columns], ss.sosfilt(sos, columns, axis=0))
    y, end = ss.sosfilt(sos, columns, axis=0, zi=state)
    case("sosfilt_state", 1e-12, [sos, columns, state], y)
    case("sosfilt_state_end", 1e-12, [sos, columns, state], end)
    x = uniform(2, 100)
    case("filtfilt", 1e-12, [x], ss.filtfilt(b, a, x))
    case("sosfiltfilt", 1e-11, [sos, x], ss.sosfiltfilt(sos, x, padlen=27))
    case("preemphasis", 1e-15, [x], np.concatenate([x[:, :1], x[:, 1:] - 0.97 * x[:, :-1]], 1))


def mel():
    for name, htk in (("slaney", False), ("htk", True)):
        case("mel_" + name, 1e-12, [],
             librosa.filters.mel(sr=8000, n_fft=64, n_mels=7, htk=htk, dtype=np.float64))
        case(f"mel_{name}_plain", 1e-12, [],
             librosa.filters.mel(sr=8000, n_fft=33, n_mels=5, fmin=100, fmax=3000, htk=htk, norm=None,
                                 dtype=np.float64))
    s = uniform(4, 5, low=0, high=2) ** 8
    case("power_to_db", 1e-12, [s], librosa.power_to_db(s))
    case("power_to_db_all", 1e-12, [s], librosa.power_to_db(s, ref=0.5, amin=1e-3, top_db=None))
    x = uniform(300, low=-1, high=1)
    frames = {"n_fft": 64, "hop_length": 32}
    bands = librosa.feature.melspectrogram(y=x, sr=8000, n_mels=10, **frames)
    # librosa's own weights are f32.
    weights = librosa.filters.mel(sr=8000, n_fft=64, n_mels=10, dtype=np.float64)
    exact = weights @ np.abs(librosa.stft(x, **frames)) ** 2
    assert np.allclose(bands, exact, rtol=1e-6)
    case("mel_spectrogram", 1e-12, [x], exact)
    case("mfcc", 1e-11, [x], librosa.feature.mfcc(S=librosa.power_to_db(exact), n_mfcc=6))
    case("mfcc_lifter", 1e-11, [x], librosa.feature.mfcc(S=librosa.power_to_db(exact), n_mfcc=6, lifter=22))


if __name__ == "__main__":
    for part in (short_time, designs, filters, mel):
        part()
