#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The time of training samples from their start to the first trained batch, and the memory of
# training: the largest resident set up to a quarter of two epochs, minus that after data and model
# were created. Also runs PyTorch with the networks of peer_samples.py if it is installed.
# sample_start.py FOLDER_OF_SAMPLES [RUNS]; uses TUTTI_DATA and TUTTI_DEVICE. Linux.
import os
import pty
import re
import resource
import signal
import statistics
import subprocess
import sys
import time

SAMPLES = {
    "mnist_perceptron": "sample perceptron",
    "image_classifier": "sample pictures",
    "spoken_digits": "sample spectra",
}


def megabytes(pid, field):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(field + r":\s+(\d+)", status.read())[1]) / 1024


def run_sample(path):
    """Seconds to the first progress bar, and megabytes."""
    begin = time.monotonic()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(path, [path, "--epochs", "2", "--out", "/tmp/sample-start"])
    said, first, before, peak = b"", None, None, None
    while peak is None:
        try:
            said += os.read(terminal, 4096)
        except OSError:
            sys.exit(said.decode(errors="replace"))
        if before is None and b"parameters" in said:
            before = megabytes(pid, "VmRSS")
            with open(f"/proc/{pid}/clear_refs", "w") as clear:
                clear.write("5")  # resets the peak resident set
        shares = re.findall(rb"(\d+)%", said)
        if first is None and shares:
            first = time.monotonic() - begin
        if shares and int(shares[-1]) >= 25:
            peak = megabytes(pid, "VmHWM")
    os.kill(pid, signal.SIGTERM)
    os.waitpid(pid, 0)
    os.close(terminal)
    return first, peak - before


def run_peer(name):
    """Runs the steps in this process, prints their cost, and exits."""
    begin = time.monotonic()
    import peer_samples

    peer_samples.STEPS = 1
    work = peer_samples.torch_cases()[name]()
    before = megabytes("self", "VmRSS")
    work()
    first = time.monotonic() - begin
    for _ in range(30):
        work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(first, peak - before)


def main():
    if sys.argv[1] == "--peer":
        return run_peer(sys.argv[2])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    for sample, peer in SAMPLES.items():
        ours = [run_sample(os.path.join(sys.argv[1], sample)) for _ in range(runs)]
        again = [sys.executable, __file__, "--peer", peer]
        theirs = [subprocess.run(again, capture_output=True, text=True) for _ in range(runs)]
        theirs = [[float(v) for v in r.stdout.split()] for r in theirs if r.returncode == 0]
        for who, values in ("Tutti", ours), ("PyTorch", theirs):
            for what, column in zip(("s to the first batch", "MB of a training"), zip(*values)):
                low, high = min(column), max(column)
                print(f"{sample} {who}: {statistics.median(column):.3g} ({low:.3g} - {high:.3g}) {what}")


main()
