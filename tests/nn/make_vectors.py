#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes vectors.txt: operands and results of PyTorch, in f64, for vectors_test.cpp, in the format of
# tests/ops/make_vectors.py. A result is the value of a function, and behind it the gradients of its
# floating operands, of the sum of the value times cos(0), cos(1), ..., all flattened.
# Weights are operands in Tutti's layout, so that gradients are those of that layout.
# Needs NumPy and PyTorch. Run as: tests/nn/make_vectors.py > tests/nn/vectors.txt
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
from make_vectors import case, integers, uniform  # noqa: E402

torch.set_default_dtype(torch.float64)


def differentiated(name, operands, function, tolerance=1e-12):
    tensors = [torch.tensor(o) for o in operands]
    floating = [t for t in tensors if t.is_floating_point()]
    for t in floating:
        t.requires_grad_(True)
    value = function(*tensors)
    weights = torch.cos(torch.arange(value.numel(), dtype=torch.float64)).reshape(value.shape)
    slopes = torch.autograd.grad((value * weights).sum(), floating)
    parts = [value.detach().numpy().ravel()] + [s.numpy().ravel() for s in slopes]
    case(name, tolerance, operands, np.concatenate(parts))


def plain(name, operands, function, tolerance=1e-12):
    case(name, tolerance, operands, function(*[torch.tensor(o) for o in operands]).numpy())


def hard_sigmoid(x):
    """By the formula, since PyTorch's slope is a sixth in f32; the values must be its own."""
    y = F.relu6(x + 3) / 6
    assert torch.allclose(y, F.hardsigmoid(x), rtol=1e-14, atol=1e-16)
    assert torch.allclose(x * y, F.hardswish(x), rtol=1e-14, atol=1e-16)
    return y


def activations():
    for name, function in [
            ("elu", lambda x: F.elu(x, 0.7)), ("selu", F.selu), ("mish", F.mish),
            ("hard_sigmoid", hard_sigmoid), ("hard_swish", lambda x: x * hard_sigmoid(x)),
            ("glu", F.glu),
            ("gelu", F.gelu), ("silu", F.silu)]:
        differentiated(name, [uniform(3, 14, low=-5, high=5)], function)


def normalisation():
    x, w, b = uniform(4, 3, 5), uniform(3), uniform(3)
    mean, variance = uniform(3), uniform(3, low=0.5, high=2)
    differentiated("batch_norm", [x, w, b], lambda x, w, b: F.batch_norm(
        x, None, None, w, b, training=True, eps=1e-3))
    differentiated("batch_norm_eval", [x, w, b, mean, variance], lambda x, w, b, m, v:
                   F.batch_norm(x, m.detach(), v.detach(), w, b, eps=1e-3) + 0 * (m + v).sum())

    def running(x, m, v):
        m, v = m.clone(), v.clone()
        F.batch_norm(x, m, v, training=True, momentum=0.3)
        return torch.cat([m, v])
    plain("batch_norm_state", [x, mean, variance], running)
    w, b = uniform(3, 5), uniform(3, 5)
    differentiated("layer_norm", [x, w, b], lambda x, w, b: F.layer_norm(x, [3, 5], w, b))
    x, w, b = uniform(2, 6, 3, 2), uniform(6), uniform(6)
    differentiated("group_norm", [x, w, b], lambda x, w, b: F.group_norm(x, 3, w, b))
    x, w = uniform(4, 7), uniform(7)
    differentiated("rms_norm", [x, w], lambda x, w: F.rms_norm(x, [7], w, 1e-6))


def recurrent():
    n, t, width, hidden = 2, 4, 3, 5

    def run(kind, reverse):
        gates = {"lstm": 4, "gru": 3}[kind]
        make = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[kind]

        def apply(x, w, u, b, c=None):
            layer = make(width, hidden, batch_first=True)
            values = {"weight_ih_l0": w.T, "weight_hh_l0": u.T, "bias_ih_l0": b,
                      "bias_hh_l0": torch.zeros(gates * hidden) if c is None else c}
            y = torch.func.functional_call(layer, values, (x.flip(1) if reverse else x,))[0]
            return y.flip(1) if reverse else y
        operands = [uniform(n, t, width), uniform(width, gates * hidden, low=-1, high=1),
                    uniform(hidden, gates * hidden, low=-1, high=1), uniform(gates * hidden)]
        if kind == "gru":
            operands.append(uniform(gates * hidden))
        differentiated(kind + ("_reverse" if reverse else ""), operands, apply)
    for kind in ("lstm", "gru"):
        for reverse in (False, True):
            run(kind, reverse)


def attention():
    q, k, v = uniform(2, 3, 4), uniform(2, 5, 4), uniform(2, 5, 3)
    differentiated("attention", [q, k, v], F.scaled_dot_product_attention)
    mask = integers(3, 5, low=0, high=2).astype(bool)
    mask[:, 0] = True
    case_mask = uniform(3, 5)
    differentiated("attention_mask", [q, k, v, mask], lambda q, k, v, m:
                   F.scaled_dot_product_attention(q, k, v, attn_mask=m))
    differentiated("attention_bias", [q, k, v, case_mask], lambda q, k, v, m:
                   F.scaled_dot_product_attention(q, k, v, attn_mask=m, scale=0.3))
    differentiated("attention_causal", [k, k[..., ::-1].copy(), v], lambda q, k, v:
                   F.scaled_dot_product_attention(q, k, v, is_causal=True))

    def heads(x, qkv, b, out, c):
        y = x.transpose(0, 1)
        mask = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1)
        return F.multi_head_attention_forward(
            y, y, y, 6, 2, qkv.T, b, None, None, False, 0.0, out.T, c, need_weights=False,
            attn_mask=mask)[0].transpose(0, 1)
    differentiated("heads", [uniform(2, 4, 6), uniform(6, 18, low=-1, high=1), uniform(18),
                             uniform(6, 6, low=-1, high=1), uniform(6)], heads)


def weighted_binary(x, t, w, p, how):
    """By the formula, since PyTorch has no slopes of the weights; the values must be its own."""
    loss = -w * (p * t * F.logsigmoid(x) + (1 - t) * F.logsigmoid(-x))
    loss = {"mean": loss.mean, "sum": loss.sum, "none": lambda: loss}[how]()
    own = F.binary_cross_entropy_with_logits(x, t, w.detach(), pos_weight=p.detach(), reduction=how)
    assert torch.allclose(loss, own, rtol=1e-13, atol=0)
    return loss


def losses():
    logits, labels = uniform(7, 5), integers(7, low=0, high=5)
    labels[2] = 3
    weights = uniform(5, low=0.2, high=2)
    wide = labels.astype(np.int64)
    for number, how in enumerate(["mean", "sum", "none"]):
        differentiated(f"cross_entropy:{number}", [logits, wide], lambda x, y: F.cross_entropy(
            x, y, reduction=how))
        differentiated(f"smoothed:{number}", [logits, wide, weights], lambda x, y, w:
                       F.cross_entropy(x, y, w.detach(), label_smoothing=0.1, ignore_index=3,
                                       reduction=how) + 0 * w.sum())
        differentiated(f"nll:{number}", [logits, wide, weights], lambda x, y, w: F.nll_loss(
            x, y, w.detach(), ignore_index=3, reduction=how) + 0 * w.sum())
        a, b = uniform(3, 8), uniform(3, 8)
        differentiated(f"l1:{number}", [a, b], lambda a, b: F.l1_loss(a, b, reduction=how))
        differentiated(f"huber:{number}", [a, b], lambda a, b: F.huber_loss(
            a, b, reduction=how, delta=1.3))
        target, w, p = uniform(3, 8, low=0, high=1), uniform(8, low=0, high=2), uniform(
            8, low=0.5, high=3)
        differentiated(f"binary:{number}", [10 * a, target, w, p], lambda x, t, w, p:
                       weighted_binary(x, t, w, p, how))
        c = uniform(3, 8)
        differentiated(f"triplet:{number}", [a, b, c], lambda a, b, c: F.triplet_margin_loss(
            a, b, c, margin=2.0, reduction=how))
    log_q = np.log(np.random.default_rng(1).dirichlet(np.ones(6), 4))
    p = np.random.default_rng(2).dirichlet(np.ones(6), 4)
    differentiated("kl", [log_q, p], lambda x, t: F.kl_div(x, t, reduction="batchmean"))
    differentiated("kl_log", [log_q, np.log(p)], lambda x, t: F.kl_div(
        x, t, reduction="batchmean", log_target=True))


def ctc():
    n, t, s, c = 4, 9, 4, 6
    logits = uniform(n, t, c)
    targets = integers(n, s, low=1, high=c).astype(np.int64)
    targets[1, 1] = targets[1, 0]
    inputs, lengths = np.array([9, 9, 7, 5]), np.array([4, 3, 0, 2])
    for number, how in enumerate(["mean", "sum", "none"]):
        differentiated(f"ctc:{number}", [logits, targets, inputs, lengths],
                       lambda x, y, i, k: F.ctc_loss(F.log_softmax(x, 2).transpose(0, 1), y, i, k,
                                                     reduction=how))
    inputs = np.array([9, 3, 7, 5])  # the second target needs four steps
    differentiated("ctc_zero", [logits, targets, inputs, lengths],
                   lambda x, y, i, k: F.ctc_loss(F.log_softmax(x, 2).transpose(0, 1), y, i, k,
                                                 reduction="none", zero_infinity=True))


def optimisers():
    start, slopes = uniform(6, low=-1, high=1), uniform(5, 6, low=-1, high=1)
    O = torch.optim
    for name, make in [
            ("adam:0", lambda p: O.Adam(p, 0.05, weight_decay=0.3)),
            ("adam:1", lambda p: O.AdamW(p, 0.05, weight_decay=0.3)),
            ("rmsprop:0", lambda p: O.RMSprop(p, 0.05)),
            ("rmsprop:1", lambda p: O.RMSprop(p, 0.05, alpha=0.8, momentum=0.7)),
            ("rmsprop:2", lambda p: O.RMSprop(p, 0.05, alpha=0.8, momentum=0.7, centered=True,
                                              weight_decay=0.2)),
            ("adagrad:0", lambda p: O.Adagrad(p, 0.05)),
            ("adagrad:1", lambda p: O.Adagrad(p, 0.05, weight_decay=0.2,
                                              initial_accumulator_value=0.1))]:
        def train(p, g):
            p = torch.nn.Parameter(p.clone())
            optimizer = make([p])
            for slope in g:
                p.grad = slope.clone()
                optimizer.step()
            return p.detach()
        plain(name, [start, slopes], train)
    p, g = start.copy(), slopes  # Lion is not in PyTorch: its paper's algorithm 2
    m = np.zeros(6)
    for slope in g:
        p = p - 0.05 * (np.sign(0.9 * m + 0.1 * slope) + 0.2 * p)
        m = 0.99 * m + 0.01 * slope
    case("lion", 1e-12, [start, slopes], p)
    gradients = [uniform(4, 3), uniform(5)]

    def clipped(a, b):
        both = [torch.nn.Parameter(torch.zeros_like(x)) for x in (a, b)]
        both[0].grad, both[1].grad = a.clone(), b.clone()
        torch.nn.utils.clip_grad_norm_(both, 1.5)
        return torch.cat([x.grad.ravel() for x in both])
    plain("clip_by_norm", gradients, clipped, 1e-6)  # PyTorch adds 1e-6 to the norm


if __name__ == "__main__":
    activations()
    normalisation()
    recurrent()
    attention()
    losses()
    ctc()
    optimisers()
