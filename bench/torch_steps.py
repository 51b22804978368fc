#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The training steps of cases_digits.cpp and, through peer_samples.py, of cases_samples.cpp in
# PyTorch, eager, f32, on the same GPU: forward, loss, backward, Adam, and reading the loss. Prints
# microseconds and, with a JSON file of tutti-bench, ratios; exit status 1 if PyTorch cannot use the
# device.
import argparse
import json
import statistics
import sys
import time

import torch

import peer_samples

STEPS = {
    "digits: one training step, batch 64": ([64, 128, 10], 64),
    "perceptron 784-500-10: one training step, batch 128": ([784, 500, 10], 128),
}
SAMPLES = {
    "mnist_perceptron: 10 steps, 784-500-10, batch 50": "sample perceptron",
    "image_classifier: 10 steps, 28 x 28, batch 64": "sample pictures",
    "spoken_digits: 10 steps, 40 x 63, batch 64": "sample spectra",
    "spoken_digits --model gru: 10 steps, batch 64": "sample gru",
    "text_generator: 10 steps, 2 blocks of 64, batch 16 x 64": "sample text",
    "text_generator: 64 letters with cache": "sample writing",
}


def median_us(work, warm, runs, repetitions):
    for _ in range(warm):
        work()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        for _ in range(repetitions):
            work()
        times.append((time.perf_counter() - begin) / repetitions * 1e6)
    return statistics.median(times)


def training_step(widths, batch, device):
    torch.manual_seed(7)
    layers = []
    for fan_in, fan_out in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(fan_in, fan_out), torch.nn.ReLU()]
    network = torch.nn.Sequential(*layers[:-1]).to(device)
    optimizer = torch.optim.Adam(network.parameters())
    inputs = torch.rand(batch, widths[0], device=device) * 2 - 1
    truth = (torch.arange(batch) % widths[-1]).to(device)

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(inputs), truth)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def cases(device):
    """Name, unit and median of PyTorch for each case."""
    for name, (widths, batch) in STEPS.items():
        yield name, "us", median_us(training_step(widths, batch, device), 20, 9, 200)
    torch.set_default_device(device)
    works = peer_samples.torch_cases()
    for name, key in SAMPLES.items():
        yield name, "ms", median_us(works[key](), 3, 9, 1) / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--beside", help="JSON file of tutti-bench from the same run, to compare with")
    parser.add_argument("--json", help="write the results to this JSON file")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("PyTorch", torch.__version__, "finds no CUDA device")
        return 1
    ours = {}
    if arguments.beside:
        try:
            with open(arguments.beside) as file:
                ours = {case["name"]: case["value"] for case in json.load(file)["cases"]}
        except (OSError, ValueError, KeyError) as error:
            print("no results of tutti-bench:", error)
    device = torch.device("cuda", arguments.device)
    figures = []
    for name, unit, value in cases(device):
        row = {"name": name, "unit": unit, "torch": value}
        line = f"{name}: PyTorch {torch.__version__} eager {value:.4g} {unit}"
        if name in ours:
            row["tutti"] = ours[name]
            row["ratio"] = value / ours[name]
            line += f", Tutti {ours[name]:.4g} {unit}, {row['ratio']:.2f} times as fast (goal 1.00)"
        print(line, flush=True)
        figures.append(row)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"torch": torch.__version__, "steps": figures}, file, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
