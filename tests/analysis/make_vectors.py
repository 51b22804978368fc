#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes vectors.txt: operands and results of NumPy and SciPy for vectors_test.cpp, in the format of
# tests/ops/make_vectors.py, whose functions it uses.
# Needs NumPy and SciPy. Run as: tests/analysis/make_vectors.py > tests/analysis/vectors.txt
import os
import sys

import numpy as np
import scipy.stats.qmc
from scipy.spatial.distance import cdist

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
from make_vectors import case, uniform  # noqa: E402


def covariances():
    x = uniform(4, 9)
    z = uniform(3, 7) + 1j * uniform(3, 7)
    for m in (x, z, x[0], x[:, :1]):
        with np.errstate(all="ignore"):
            case("cov:0", 1e-13, [m], np.cov(m, ddof=0))
            if m.shape[-1] > 1:
                case("cov:1", 1e-13, [m], np.cov(m))
                case("corrcoef", 1e-13, [m], np.corrcoef(m))
    a, b = uniform(5, 3), uniform(7, 3)
    for number, name in enumerate(["euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine"]):
        case(f"cdist:{number}", 1e-13, [a, b], cdist(a, b, name))


def percentiles():
    x = uniform(4, 5, 3)
    case("percentile", 1e-14, [x], np.percentile(x, [0, 12.5, 50, 99, 100], axis=(0, 2)))


def counts():
    x, y = uniform(4, 50), uniform(4, 50)
    x[1, 3], x[2, 5], y[0, 0] = np.nan, -2.0, 2.5
    rows = np.array([np.histogram(row[~np.isnan(row)], 7, (-2, 2.5))[0] for row in x])
    case("histogram_along", 0, [x], rows)
    case("histogram_first", 0, [x.T.copy()], rows.T)
    good = ~np.isnan(x)
    case("histogram2d", 0, [x, y],
         np.histogram2d(x[good], y[good], [5, 3], [[-2, 2.5], [-1, 2.5]])[0].astype(np.int64))


def numerical():
    xp = np.sort(uniform(9))
    fp = uniform(9)
    x = np.concatenate([uniform(12, low=-4, high=4), xp, [np.nan, np.inf, -np.inf]]).reshape(2, 12)
    case("interp", 1e-14, [x, xp, fp], np.interp(x, xp, fp))
    case("interp_ends", 1e-14, [x, xp, fp], np.interp(x, xp, fp, left=-7, right=8))
    case("interp", 1e-15, [np.array([0.5, 1.0, 2.0]), np.array([1.0]), np.array([3.0])],
         np.interp([0.5, 1, 2], [1.0], [3.0]))
    y = uniform(3, 8, 2)
    case("trapezoid", 1e-14, [y], np.trapezoid(y, dx=0.3, axis=1))
    z = uniform(6) + 1j * uniform(6)
    case("gradient", 1e-13, [y], np.gradient(y, 0.3, axis=1))
    case("gradient_second", 1e-13, [y], np.gradient(y, 0.3, axis=1, edge_order=2))
    case("gradient", 1e-13, [y[:, :2]], np.gradient(y[:, :2], 0.3, axis=1))
    case("gradient_complex", 1e-13, [z], np.gradient(z))


def at_places():
    y, x = uniform(3, 8, 2), np.sort(uniform(8))
    case("trapezoid_at", 1e-14, [y, x], np.trapezoid(y, x, axis=1))
    case("gradient_at", 1e-12, [y, x], np.gradient(y, x, axis=1))
    case("gradient_at_second", 1e-12, [y, x], np.gradient(y, x, axis=1, edge_order=2))
    x = np.cumsum(uniform(3, 8, 2, low=0.1, high=1), 1)
    case("trapezoid_at", 1e-14, [y, x], np.trapezoid(y, x, axis=1))
    xp, fp = np.array([0.0, 1, 1, 2]), uniform(4)
    x = np.array([-1.0, 0, 0.5, 1, 1.5, 2, 3])
    case("interp", 1e-14, [x, xp, fp], np.interp(x, xp, fp))


def infinite_points():
    inf, nan = np.inf, np.nan
    x = np.array([-inf, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, inf, nan])
    places = [[-1, 0, 1, 2], [-inf, 0, 1, inf], [-inf, -inf, 1, 2], [-1, 0, inf, inf], [-1, 0, 1, nan],
              [-inf, 0, nan, nan], [-1, 1, 1, inf], [-1.7e308, 0, 1, 1.7e308]]
    values = [[1.0, 2, 3, 5], [4, 4, 4, 4], [-inf, 2, 3, inf], [inf, inf, 3, -inf], [1, -inf, inf, 5],
              [nan, 2, 3, nan], [-inf, -inf, nan, 5]]
    with np.errstate(all="ignore"):
        for number, xp in enumerate(places):
            xp = np.array(xp, np.float64)
            case(f"interp_rows:{number}", 1e-15, [x, xp, np.array(values)],
                 np.array([np.interp(x, xp, np.array(fp, np.float64)) for fp in values]))
        pair, values = np.array([-inf, inf]), [[2.0, 2.0], [2.0, 3.0], [inf, inf]]
        case("interp_rows:8", 1e-15, [x, pair, np.array(values)],
             np.array([np.interp(x, pair, np.array(fp)) for fp in values]))


def sequences():
    case("sobol", 0, [], scipy.stats.qmc.Sobol(10, scramble=False, bits=32).random(64))
    far = scipy.stats.qmc.Sobol(10, scramble=False, bits=32)
    far.fast_forward(1000000)
    case("sobol_far", 0, [], far.random(9))
    case("halton", 1e-15, [], scipy.stats.qmc.Halton(12, scramble=False).random(40))


if __name__ == "__main__":
    for part in (covariances, percentiles, counts, numerical, at_places, sequences, infinite_points):
        part()
