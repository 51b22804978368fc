#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The peers of cases_arrays.cpp, cases_convolution.cpp, cases_signal.cpp, cases_image.cpp,
# cases_sparse.cpp, cases_ml.cpp and, with peer_samples.py, cases_samples.cpp: the same work in the
# installed ones of NumPy, SciPy, scikit-learn, OpenCV, JAX and PyTorch. Reads lines: "open NAME"
# answers with the fastest library for that case, "run" with the milliseconds of one run.
import importlib
import sys
import time

import numpy as np

import peer_samples


def installed(*names):
    """The first of these modules if all of them are installed."""
    try:
        return [importlib.import_module(name) for name in names][0]
    except ImportError:
        return None


cv2 = installed("cv2")
jax = installed("jax")
scipy = installed("scipy", "scipy.fft", "scipy.signal", "scipy.sparse")
models = ["cluster", "ensemble", "linear_model", "naive_bayes", "neighbors"]
sklearn = installed("sklearn", *("sklearn." + name for name in models))
torch = installed("torch")
if jax is not None:
    jax.config.update("jax_platforms", "cpu")

M = 1 << 20
convolution_kinds = ["forward", "data", "weights"]
sparse_kinds = ["grid", "rows", "uneven rows", "columns"]
rng = np.random.default_rng(7)


def of_floats(work, *extents):
    """Creates an operand with these extents, and returns the work on it."""

    def make():
        x = rng.random(extents, "f4")
        return lambda: work(x)

    return make


def numpy_cases():
    """Maps names to functions that create the operands and return the work."""
    generator = np.random.Generator(np.random.Philox(1))

    def scatter():
        base, order, x = np.zeros(M, "f4"), rng.permutation(M), rng.random(M, "f4")

        def work():
            y = base.copy()
            y[order] = x
            return y

        return work

    def scatter_add():
        index, x = rng.integers(0, 65536, 327680), rng.random(327680, "f4")
        return lambda: np.bincount(index, x, 65536)

    def take():
        order, x = rng.permutation(M).astype("i4"), rng.random(M, "f4")
        return lambda: x.take(order)

    def isin():
        x, few = rng.integers(0, 1 << 30, M, "i4"), rng.integers(0, 1 << 30, 1000, "i4")
        return lambda: np.isin(x, few)

    def concatenate():
        parts = [rng.random(100, "f4") for _ in range(64)]
        return lambda: np.concatenate(parts)

    def nonzero():
        flags = rng.random(M, "f4") > 0.5
        return lambda: np.nonzero(flags)

    return {
        "uniform": lambda: lambda: generator.random(16 * M, "f4"),
        "normal": lambda: lambda: generator.standard_normal(16 * M, "f4"),
        "gamma": lambda: lambda: generator.standard_gamma(2.5, M, "f4"),
        "sum": of_floats(lambda x: x.sum(), 4096, 4096),
        "row variances": of_floats(lambda x: x.var(1), 4096, 4096),
        "argmin": of_floats(lambda x: x.argmin(1), M, 5),
        "short rows": of_floats(lambda x: x.sum(1), M, 5),
        "transpose": of_floats(lambda x: np.ascontiguousarray(x.T), 4096, 4096),
        "isin": isin,
        "scatter": scatter,
        "scatter_add": scatter_add,
        "take": take,
        "choice": lambda: lambda: generator.choice(M, 1000, replace=False),
        "nonzero": nonzero,
        "concatenate": concatenate,
        "logcumsumexp": of_floats(np.logaddexp.accumulate, M),
    }


def sparse_rows(kind):
    """Starts, columns and values in compressed rows, as in cases_sparse.cpp."""
    if kind == "grid":
        n = 1024
        i = np.arange(n * n)
        near = [i - n, i - 1, i, i + 1, i + n]
        there = [i >= n, i % n > 0, i >= 0, i % n < n - 1, i + n < n * n]
        columns, kept = np.stack(near, 1), np.stack(there, 1)
        lengths, columns = kept.sum(1), columns[kept]
    else:
        rows, each = (M // 16 if kind == "columns" else M // 4), 40
        lengths = np.full(rows, each)
        if kind == "uneven rows":
            lengths = np.where(np.arange(rows) % 100 == 0, 50 * each, each // 2)
        number = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        share = rows / np.repeat(lengths, lengths)
        columns = (number + 0.5 + 0.4999 * rng.uniform(-1, 1, len(number))) * share
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype("i4")
    return starts, columns.astype("i4"), rng.random(len(columns), "f4")


def scipy_cases():
    # As librosa does.
    def spectra(x):
        window = scipy.signal.get_window("hann", 1024).astype("f4")
        frames = np.lib.stride_tricks.sliding_window_view(np.pad(x, 512), 1024)[::256]
        return scipy.fft.rfft(frames * window, workers=-1).T

    mel_bands = rng.random((128, 513), "f4")

    def mel_spectrogram(x):
        z = spectra(x)
        return mel_bands @ (z.real**2 + z.imag**2)

    b, a = (part.astype("f4") for part in scipy.signal.butter(2, 0.2))
    sections = scipy.signal.butter(8, 0.2, output="sos").astype("f4")

    def sparse_product(kind):
        starts, columns, values = sparse_rows(kind)
        rows = len(starts) - 1
        a = scipy.sparse.csr_matrix((values, columns, starts), shape=(rows, rows))
        b = rng.random((rows, 64) if kind == "columns" else rows, "f4")
        return lambda: a @ b

    def sparse_squared():
        starts, columns, values = sparse_rows("grid")
        a = scipy.sparse.csr_matrix((values, columns, starts))
        return lambda: a @ a

    return {
        "csr squared": sparse_squared,
        "stft": of_floats(spectra, 4 * M),
        "mel spectrogram": of_floats(mel_spectrogram, 4 * M),
        "resample_poly": of_floats(lambda x: scipy.signal.resample_poly(x, 160, 147), 4 * M),
        "lfilter": of_floats(lambda x: scipy.signal.lfilter(b, a, x), 16, M // 4),
        "sosfilt": of_floats(lambda x: scipy.signal.sosfilt(sections, x), 16, M // 4),
        **{"csr " + kind: (lambda kind=kind: sparse_product(kind)) for kind in sparse_kinds},
    }


def sklearn_cases():
    def table():
        labels = np.arange(20000) % 5
        x = (2 * rng.random((5, 32)) - 1)[labels] + 4 * rng.random((20000, 32)) - 2
        return x.astype("f4"), labels, (np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2]).astype("f4")

    def of_labels(model, rows=20000):
        def make():
            x, labels, _ = table()
            return lambda: model().fit(x, labels).score(x[:rows], labels[:rows])

        return make

    def of_targets(model):
        def make():
            x, _, targets = table()
            return lambda: model().fit(x, targets).score(x, targets)

        return make

    return {
        "logistic": of_labels(sklearn.linear_model.LogisticRegression),
        "ridge": of_targets(sklearn.linear_model.Ridge),
        "naive bayes": of_labels(sklearn.naive_bayes.GaussianNB),
        "k-means": of_targets(
            lambda: sklearn.cluster.KMeans(8, n_init=1, max_iter=20, tol=0, random_state=1)
        ),
        "nearest": of_labels(sklearn.neighbors.KNeighborsClassifier, 2000),
        "boosting": of_targets(
            lambda: sklearn.ensemble.HistGradientBoostingRegressor(
                max_iter=20, max_leaf_nodes=None, max_depth=5, early_stopping=False
            )
        ),
    }


def opencv_cases():
    def of_picture(work):
        return of_floats(work, 3000, 4000, 3)

    turn = cv2.getRotationMatrix2D((3999 / 2, 2999 / 2), 10, 1)
    mirrored = cv2.BORDER_REFLECT_101
    return {
        "resize": of_picture(lambda x: cv2.resize(x, (2000, 1500), interpolation=cv2.INTER_AREA)),
        "gaussian_blur": of_picture(lambda x: cv2.GaussianBlur(x, (13, 13), 1.5, borderType=mirrored)),
        "sobel": of_picture(lambda x: cv2.Sobel(x, cv2.CV_32F, 1, 0, borderType=mirrored)),
        "rotate": of_picture(lambda x: cv2.warpAffine(x, turn, (4000, 3000), flags=cv2.INTER_LINEAR)),
    }


def jax_cases():
    jnp = jax.numpy
    key = jax.random.PRNGKey(1)

    def jitted(work, *operands):
        compiled = jax.jit(work)
        return lambda: compiled(*operands).block_until_ready()

    def floats(*extents):
        return jnp.asarray(rng.random(extents, "f4"))

    def order():
        return jnp.asarray(rng.permutation(M).astype("i4"))

    return {
        "uniform": lambda: jitted(lambda k: jax.random.uniform(k, (16 * M,)), key),
        "normal": lambda: jitted(lambda k: jax.random.normal(k, (16 * M,)), key),
        "gamma": lambda: jitted(lambda k: jax.random.gamma(k, 2.5, (M,)), key),
        "sum": lambda: jitted(lambda x: x.sum(), floats(4096, 4096)),
        "row variances": lambda: jitted(lambda x: x.var(1), floats(4096, 4096)),
        "argmin": lambda: jitted(lambda x: x.argmin(1), floats(M, 5)),
        "short rows": lambda: jitted(lambda x: x.sum(1), floats(M, 5)),
        "transpose": lambda: jitted(lambda x: x.T.copy(), floats(4096, 4096)),
        "scatter": lambda: jitted(
            lambda b, i, x: b.at[i].set(x), jnp.zeros(M, "f4"), order(), floats(M)
        ),
        "scatter_add": lambda: jitted(
            lambda b, i, x: b.at[i].add(x),
            jnp.zeros(65536, "f4"),
            jnp.asarray(rng.integers(0, 65536, 327680).astype("i4")),
            floats(327680),
        ),
        "take": lambda: jitted(lambda x, i: x[i], floats(M), order()),
        "logcumsumexp": lambda: jitted(jax.lax.cumlogsumexp, floats(M)),
    }


def torch_cases():
    def floats(*extents):
        return torch.rand(*extents)

    def bound(work, *operands):
        return lambda: work(*operands)

    def scatter_add():
        index = torch.randint(0, 65536, (327680,))
        return bound(lambda b, i, x: b.scatter_add(0, i, x), torch.zeros(65536), index, floats(327680))

    def sparse_product(kind):
        starts, columns, values = (torch.from_numpy(part) for part in sparse_rows(kind))
        rows = len(starts) - 1
        a = torch.sparse_csr_tensor(starts, columns, values, (rows, rows))
        return bound(torch.matmul, a, floats(rows, 64) if kind == "columns" else floats(rows))

    def sampled_product():
        starts, columns, values = (torch.from_numpy(part) for part in sparse_rows("columns"))
        rows = len(starts) - 1
        a = torch.sparse_csr_tensor(starts, columns, values, (rows, rows))
        x, y = floats(rows, 64), floats(64, rows)
        return lambda: torch.sparse.sampled_addmm(a, x, y, beta=0)

    def convolution(kind):
        x, w, g = floats(32, 64, 56, 56), floats(64, 64, 3, 3), floats(32, 64, 56, 56)
        if kind == "forward":
            return lambda: torch.nn.functional.conv2d(x, w, padding=1)
        if kind == "data":
            return lambda: torch.nn.grad.conv2d_input(x.shape, w, g, padding=1)
        return lambda: torch.nn.grad.conv2d_weight(x, w.shape, g, padding=1)

    def residual_block():
        x, v, w = floats(8, 64, 56, 56), floats(64, 64, 3, 3), floats(64, 64, 3, 3)
        a, b = floats(64), floats(64)
        all = [part.requires_grad_() for part in (x, v, a, w, b)]

        def work():
            first = torch.nn.functional.conv2d(x, v, a, padding=1).relu()
            second = torch.nn.functional.conv2d(first, w, b, padding=1)
            return torch.autograd.grad((second + x).relu().sum(), all)

        return work

    return {
        **{"conv " + kind: (lambda kind=kind: convolution(kind)) for kind in convolution_kinds},
        "conv block": residual_block,
        "csr sampled": sampled_product,
        "uniform": lambda: lambda: torch.rand(16 * M),
        "normal": lambda: lambda: torch.randn(16 * M),
        "gamma": lambda: bound(torch._standard_gamma, torch.full((M,), 2.5)),
        "sum": lambda: bound(torch.sum, floats(4096, 4096)),
        "row variances": lambda: bound(lambda x: x.var(1), floats(4096, 4096)),
        "argmin": lambda: bound(lambda x: x.argmin(1), floats(M, 5)),
        "short rows": lambda: bound(lambda x: x.sum(1), floats(M, 5)),
        "transpose": lambda: bound(lambda x: x.T.contiguous(), floats(4096, 4096)),
        "isin": lambda: bound(
            torch.isin, torch.randint(0, 1 << 30, (M,)), torch.randint(0, 1 << 30, (1000,))
        ),
        "scatter": lambda: bound(
            lambda b, i, x: b.scatter(0, i, x), torch.zeros(M), torch.randperm(M), floats(M)
        ),
        "scatter_add": scatter_add,
        "take": lambda: bound(torch.take, floats(M), torch.randperm(M)),
        "nonzero": lambda: bound(torch.nonzero, floats(M) > 0.5),
        "concatenate": lambda: bound(torch.cat, [floats(100) for _ in range(64)]),
        "logcumsumexp": lambda: bound(lambda x: torch.logcumsumexp(x, 0), floats(M)),
        "stft": lambda: bound(
            lambda x, w: torch.stft(x, 1024, 256, window=w, pad_mode="constant", return_complex=True),
            floats(4 * M),
            torch.hann_window(1024),
        ),
        **{"csr " + kind: (lambda kind=kind: sparse_product(kind)) for kind in sparse_kinds},
    }


def milliseconds(work):
    begin = time.perf_counter()
    work()
    once = (time.perf_counter() - begin) * 1e3
    repeats = max(1, min(1000, int(20 / max(once, 1e-3))))
    begin = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - begin) * 1e3 / repeats


def fastest(name, libraries):
    best = None
    for version, cases in libraries:
        if name in cases:
            work = cases[name]()
            took = min(milliseconds(work) for _ in range(3))
            if best is None or took < best[0]:
                best = (took, version, work)
    return best


def main():
    libraries = [
        (f"{name} {module.__version__}", {**cases(), **of_samples()})
        for name, module, cases, of_samples in (
            ("NumPy", np, numpy_cases, dict),
            ("SciPy", scipy, scipy_cases, dict),
            ("scikit-learn", sklearn, sklearn_cases, peer_samples.sklearn_cases),
            ("OpenCV", cv2, opencv_cases, dict),
            ("JAX", jax, jax_cases, peer_samples.jax_cases),
            ("PyTorch", torch, torch_cases, peer_samples.torch_cases),
        )
        if module is not None
    ]
    work = None
    for line in sys.stdin:
        command, _, name = line.strip().partition(" ")
        if command == "open":
            best = fastest(name, libraries)
            work = best[2] if best else None
            print(best[1] if best else "none", flush=True)
        elif command == "run":
            print(milliseconds(work), flush=True)


if __name__ == "__main__":
    main()
