#!/usr/bin/env python3
"""Lemmas 14 to 16 of pll: how long BackUp takes from a configuration that has just reached it.

Usage: pll_backup.py [CONCLAVE [N...]]

All agents are in epoch 3 with colour 2 and level 0; half of them are timers, and of the others
either all but one lead, or two. Means of parallel time with intervals of 95 %, and the first over
lg^2 n.
"""
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile


def configuration(n, leaders):
    followers = n // 2 - leaders
    return ("state,count\n"
            f"leader=1 status=A epoch=3 color=2 done=1 level_B=0,{leaders}\n"
            f"leader=0 status=A epoch=3 color=2 done=1 level_B=0,{followers}\n"
            f"leader=0 status=B epoch=3 color=2 done=0 count=0,{n // 2}\n")


def times(conclave, start, trials):
    run = subprocess.run([conclave, "run", "pll", "--init-from", start, "--trials", str(trials),
                          "--format", "jsonl", "--quiet"],
                         capture_output=True, text=True, check=True)
    return [json.loads(line)["parallel_time"] for line in run.stdout.splitlines()]


def interval(sample):
    quantile = 1.984 if len(sample) > 50 else 2.093  # Student's, of 99 and of 19 degrees
    return statistics.fmean(sample), quantile * statistics.stdev(sample) / len(sample) ** 0.5


def main(conclave="conclave", *sizes):
    print(f"{'n':>6} {'trials':>7} {'n/2 - 1 leaders':>17} {'/ lg^2 n':>9} {'two leaders':>15}")
    with tempfile.TemporaryDirectory() as folder:
        start = pathlib.Path(folder) / "backup.csv"
        for n in map(int, sizes or (64, 256, 1024, 4096, 16384)):
            trials = 100 if n <= 4096 else 20
            found = []
            for leaders in (n // 2 - 1, 2):
                start.write_text(configuration(n, leaders))
                found.append(interval(times(conclave, start, trials)))
            (many, error), (two, error_of_two) = found
            print(f"{n:>6} {trials:>7} {f'{many:.1f} ± {error:.1f}':>17} "
                  f"{many / math.log2(n) ** 2:9.2f} {f'{two:.1f} ± {error_of_two:.1f}':>15}")


if __name__ == "__main__":
    main(*sys.argv[1:])
