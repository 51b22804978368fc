#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The training steps of cases_digits.cpp in PyTorch, eager, f32, on the same GPU: forward, cross
# entropy, backward, Adam, and the loss read back. Prints microseconds and, beside a JSON file of
# tutti-bench, ratios; exit status 1 where PyTorch cannot use the device.
import argparse
import json
import statistics
import sys
import time

import torch

STEPS = {
    "digits: one training step, batch 64": ([64, 128, 10], 64),
    "perceptron 784-500-10: one training step, batch 128": ([784, 500, 10], 128),
}


def microseconds(widths, batch, device, runs=9, steps=200):
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

    for _ in range(20):
        step()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        for _ in range(steps):
            step()
        times.append((time.perf_counter() - begin) / steps * 1e6)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--beside", help="a JSON file of tutti-bench from the same run")
    parser.add_argument("--json", help="where to write the figures")
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
            print("no figures of tutti-bench:", error)
    device = torch.device("cuda", arguments.device)
    figures = []
    for name, (widths, batch) in STEPS.items():
        value = microseconds(widths, batch, device)
        row = {"name": name, "torch_us": value}
        line = f"{name}: PyTorch {torch.__version__} eager {value:.1f} us"
        if name in ours:
            row["tutti_us"] = ours[name]
            row["ratio"] = value / ours[name]
            line += f", Tutti {ours[name]:.1f} us, {row['ratio']:.2f} times as fast (goal 1.00)"
        print(line)
        figures.append(row)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"torch": torch.__version__, "steps": figures}, file, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
