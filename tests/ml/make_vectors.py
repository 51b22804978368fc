#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes vectors.txt: operands and results of scikit-learn for vectors_test.cpp, in the format of
# tests/ops/make_vectors.py, whose functions it uses.
# Needs NumPy, SciPy and scikit-learn. Run as: tests/ml/make_vectors.py > tests/ml/vectors.txt
import os
import sys

import numpy as np
import scipy.optimize
from sklearn import (decomposition, ensemble, linear_model, metrics, mixture, naive_bayes, neighbors,
                     preprocessing, svm)

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
from make_vectors import case, generator, uniform  # noqa: E402


def groups(rows, features, classes):
    """Rows around centers, of classes that overlap, and their labels."""
    labels = (np.arange(rows) * 7 % classes).astype(np.int64)
    centers = uniform(classes, features, low=-1.5, high=1.5)
    return centers[labels] + uniform(rows, features, low=-1.6, high=1.6), labels


def flat(*arrays):
    return np.concatenate([np.ravel(np.asarray(a, dtype=np.float64)) for a in arrays])


def preparation():
    x = uniform(9, 4)
    x[:, 1] = 2.7
    case("standard_scaler", 1e-14, [x], preprocessing.StandardScaler().fit_transform(x))
    scaler = preprocessing.MinMaxScaler((-1, 3)).fit(x)
    case("min_max_scaler", 1e-14, [x, 2 * x], scaler.transform(2 * x))
    clipping = preprocessing.MinMaxScaler((-1, 3), clip=True).fit(x)
    case("min_max_scaler_clip", 1e-14, [x, 2 * x], clipping.transform(2 * x))
    c = generator.integers(-3, 4, (11, 2)).astype(np.int64)
    encoder = preprocessing.OneHotEncoder(sparse_output=False, dtype=np.float32)
    case("one_hot_encoder", 0, [c], encoder.fit_transform(c))
    case("label_encoder", 0, [c[:, 0]], preprocessing.LabelEncoder().fit_transform(c[:, 0]))


def class_metrics():
    truth = generator.integers(0, 4, 60).astype(np.int64)
    predicted = np.where(generator.random(60) < 0.6, truth,
                         generator.integers(0, 3, 60)).astype(np.int64)
    single = lambda value: np.float32(value)  # noqa: E731
    case("accuracy_score", 1e-7, [truth, predicted],
         single(metrics.accuracy_score(truth, predicted)))
    case("confusion_matrix", 0, [truth, predicted], metrics.confusion_matrix(truth, predicted))
    for name in ("precision_score", "recall_score", "f1_score"):
        function = getattr(metrics, name)
        for number, average in ((1, "micro"), (2, "macro"), (3, "weighted"), (4, None)):
            case(f"{name}:{number}", 1e-6, [truth, predicted],
                 np.asarray(function(truth, predicted, average=average, zero_division=0),
                            dtype=np.float32))
        case(f"{name}:0", 1e-6, [truth % 2, predicted % 2],
             single(function(truth % 2, predicted % 2)))
    # A class that is never predicted, and one that occurs in neither.
    few, other = np.array([0, 0, 3, 1, 3], dtype=np.int64), np.array([0, 1, 0, 1, 0],
                                                                     dtype=np.int64)
    for name in ("precision_score", "recall_score", "f1_score"):
        case(f"{name}:2", 1e-6, [few, other],
             single(getattr(metrics, name)(few, other, average="macro", zero_division=0)))


def score_metrics():
    truth = generator.integers(0, 2, 40).astype(np.int64)
    scores = np.round(uniform(40) + truth, 1)  # with ties
    curve = metrics.roc_curve(truth, scores, drop_intermediate=False)
    case("roc_curve", 1e-15, [truth, scores], flat(*curve))
    case("roc_auc_score", 1e-15, [truth, scores], metrics.roc_auc_score(truth, scores))
    labels = generator.integers(0, 3, 40).astype(np.int64)
    p = np.round(uniform(40, 3, low=0.0, high=1.0) + 0.5 * np.eye(3)[labels], 1)
    p = (p + 0.05) / np.sum(p + 0.05, axis=1, keepdims=True)
    case("roc_auc_score", 1e-15, [labels, p],
         metrics.roc_auc_score(labels, p, multi_class="ovr"))
    case("log_loss", 1e-14, [labels, p], metrics.log_loss(labels, p))
    case("log_loss", 1e-14, [truth, p[:, 0]], metrics.log_loss(truth, p[:, 0]))
    certain = np.array([0.0, 1.0, 1.0, 0.0])
    case("log_loss", 1e-13, [np.array([0, 1, 0, 1], dtype=np.int64), certain],
         metrics.log_loss([0, 1, 0, 1], certain))
    for shape in ((13,), (13, 3)):
        a, b = uniform(*shape), uniform(*shape)
        for name in ("mean_squared_error", "mean_absolute_error", "r2_score"):
            case(name, 1e-14, [a, b], getattr(metrics, name)(a, b))
    x, clusters = groups(31, 3, 4)
    clusters[5] = 9  # alone
    case("silhouette_samples", 1e-13, [x, clusters], metrics.silhouette_samples(x, clusters))


def linear_models():
    x, y = uniform(23, 4), uniform(23)
    targets = uniform(23, 2)
    shifted = x + np.array([100.0, 0, -50, 3])
    for name, make in (("linear_regression", linear_model.LinearRegression),
                       ("ridge", lambda **o: linear_model.Ridge(0.7, **o))):
        for a, b in ((x, y), (shifted, targets), (x[:3], y[:3])):
            m = make().fit(a, b)
            case(name, 1e-10, [a, b], flat(m.coef_, m.intercept_))
            m = make(fit_intercept=False).fit(a, b)
            case(name + ":1", 1e-10, [a, b], flat(m.coef_))
    y = shifted @ np.array([1.0, 0, -2, 0.02]) + 0.3 * y
    for alpha in (1, 3):
        m = linear_model.Lasso(alpha / 10, tol=1e-13, max_iter=100000).fit(shifted, y)
        case(f"lasso:{alpha}", 1e-8, [shifted, y], flat(m.coef_, m.intercept_))


def objective_of_svc(x, signs, c):
    def value(w):
        missing = np.maximum(1 - signs * (x @ w[:-1] + w[-1]), 0)
        slope = -2 * c * signs * missing
        return (c * np.sum(missing**2) + w[:-1] @ w[:-1] / 2,
                np.append(x.T @ slope + w[:-1], np.sum(slope)))
    return value


def classifiers():
    for classes in (2, 3):
        x, labels = groups(30, 3, classes)
        labels = 2 * labels - 1
        for fits in (True, False):
            m = linear_model.LogisticRegression(C=0.8, tol=1e-11, max_iter=10000,
                                                fit_intercept=fits).fit(x, labels)
            name = "logistic_regression" + ("" if fits else ":1")
            # Functions of all classes may be moved together: intercepts are not penalised.
            rest = m.intercept_ if classes == 2 else m.intercept_ - np.mean(m.intercept_)
            case(name, 1e-6, [x, labels], flat(m.coef_, rest) if fits else flat(m.coef_))
        case("logistic_proba", 1e-6, [x, labels],
             linear_model.LogisticRegression(C=0.8, tol=1e-11, max_iter=10000).fit(
                 x, labels).predict_proba(x))
        m = svm.LinearSVC(C=0.6, tol=1e-12, max_iter=10**7, fit_intercept=False, dual=False).fit(
            x, labels)
        case("linear_svc:1", 1e-6, [x, labels], flat(m.coef_))
        m = naive_bayes.GaussianNB().fit(x, labels)
        case("gaussian_nb", 1e-10, [x, labels], m.predict_proba(x))
        query = uniform(7, 3)
        for number, weights in ((0, "uniform"), (1, "distance")):
            m = neighbors.KNeighborsClassifier(4, weights=weights).fit(x, labels)
            case(f"k_neighbors_classifier:{number}", 1e-12, [x, labels, query],
                 m.predict_proba(query))
            m = neighbors.KNeighborsRegressor(4, weights=weights).fit(x, query[labels % 7])
            case(f"k_neighbors_regressor:{number}", 1e-12, [x, query[labels % 7], query],
                 m.predict(query))
    x, labels = groups(30, 3, 2)
    best = scipy.optimize.minimize(objective_of_svc(x, 2.0 * labels - 1, 0.6), np.zeros(4), jac=True,
                                   method="BFGS", options={"gtol": 1e-11})
    case("linear_svc", 1e-6, [x, labels], best.x)


def components():
    x = uniform(17, 5)
    for number, whiten in ((0, False), (1, True)):
        m = decomposition.PCA(3, whiten=whiten).fit(x)
        case(f"pca:{number}", 1e-12, [x], m.transform(x))
    x = uniform(12, 4) @ np.diag([4.0, 2, 1, 0.3])
    u, s, vh = np.linalg.svd(x - x.mean(0), full_matrices=False)
    sign = np.array([np.sign(row[np.argmax(np.abs(row))]) for row in vh])
    vh = vh * sign[:, None]
    case("pca_components", 1e-12, [x], vh[:3])
    case("pca_variance", 1e-12, [x], (s**2 / 11)[:3])
    case("pca_ratio", 1e-12, [x], (s**2 / np.sum(s**2))[:3])
    case("pca_scores", 1e-12, [x], ((x - x.mean(0)) @ vh.T)[:, :3])
    x, labels = groups(60, 2, 3)
    x += 8 * np.array([[0.0, 0], [1, 0], [0, 1]])[labels] + 100
    for number, kind in ((0, "full"), (1, "diag")):
        m = mixture.GaussianMixture(3, covariance_type=kind, tol=1e-12, max_iter=1000,
                                    random_state=0, n_init=5).fit(x)
        case(f"gaussian_mixture:{number}", 1e-6, [x],
             flat(m.score_samples(x), m.bic(x), m.aic(x)))


def predictions_without_ties(draw, make, predict):
    """Samples and targets of draw(), and predictions for the samples and for query rows. Where two
    splits of a node gain the same, which one is taken is nobody's promise: draws again until
    neither the order of features nor the direction of their axes matters."""
    while True:
        x, y, query = draw()
        both = np.concatenate([x, query])
        found = predict(make().fit(x, y), both)
        if np.max(np.abs(predict(make().fit(-x[:, ::-1], y), -both[:, ::-1]) - found)) < 1e-9:
            return x, y, query, found[:len(x)], found[len(x):]


def trees():
    options = {"max_iter": 6, "max_leaf_nodes": None, "early_stopping": False}

    def numbers():
        x = uniform(60, 4)
        return x, np.sin(2 * x[:, 0]) + x[:, 1] * (x[:, 2] > 0), uniform(20, 4)
    for depth, leaf, l2 in ((1, 1, 0), (3, 5, 0), (4, 3, 2)):
        x, y, query, fitted, predicted = predictions_without_ties(
            numbers, lambda: ensemble.HistGradientBoostingRegressor(
                max_depth=depth, min_samples_leaf=leaf, l2_regularization=l2, **options),
            lambda m, rows: m.predict(rows))
        case(f"boosting_regressor:{depth}", 1e-5, [x, y, x], fitted)
        case(f"boosting_regressor:{depth}", 1e-5, [x, y, query], predicted)
    for classes in (2, 3):
        x, y, query, fitted, predicted = predictions_without_ties(
            lambda: (*groups(80, 3, classes), uniform(15, 3)),
            lambda: ensemble.HistGradientBoostingClassifier(
                max_depth=3, min_samples_leaf=5, **options),
            lambda m, rows: m.predict_proba(rows))
        case("boosting_classifier", 1e-5, [x, y, x], fitted)
        case("boosting_classifier", 1e-5, [x, y, query], predicted)


if __name__ == "__main__":
    preparation()
    class_metrics()
    score_metrics()
    linear_models()
    classifiers()
    components()
    trees()
