#!/usr/bin/env python3
"""Lemma 12 of prl: how often all of three neighbouring leaders are left.

Usage: prl_three_leaders.py [CONCLAVE [TRIALS]]

Three leaders at places 0, d and 2d of a ring of n agents; distL is right everywhere, and nothing
else is set. The table shows the share of trials that still have three of them after 2, 4 and 8
times n (d1 + d2) steps.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

SIZES = [(64, 4), (64, 8), (256, 4), (256, 8), (256, 16)]


def configuration(n, d):
    lines, distance = ["state,count"], 0
    for place in range(n):
        leads = place in (0, d, 2 * d)
        distance = 0 if leads else distance + 1
        lines.append(f"leader={leads:d} bullet=0 shield=0 signal=0 distL={distance},1")
    return "\n".join(lines) + "\n"


def share_of_three(conclave, start, time, trials):
    run = subprocess.run([conclave, "run", "prl", "--init-from", start, "--trials", str(trials),
                          "--until", str(time), "--format", "jsonl", "--quiet"],
                         capture_output=True, text=True, check=True)
    left = [json.loads(line)["leaders"] for line in run.stdout.splitlines()]
    return sum(leaders == 3 for leaders in left) / len(left)


def main(conclave="conclave", trials=400):
    print("steps           " + "".join(f"{f'n = {n}, d = {d}':>17}" for n, d in SIZES))
    with tempfile.TemporaryDirectory() as folder:
        starts = {}
        for n, d in SIZES:
            starts[n, d] = pathlib.Path(folder) / f"three_{n}_{d}.csv"
            starts[n, d].write_text(configuration(n, d))
        for factor in (2, 4, 8):
            shares = [share_of_three(conclave, starts[n, d], factor * 2 * d, trials)
                      for n, d in SIZES]
            print(f"{factor} n (d1 + d2)    " + "".join(f"{share:17.4f}" for share in shares))


if __name__ == "__main__":
    main(*sys.argv[1:])
