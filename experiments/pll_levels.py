#!/usr/bin/env python3
"""Lemmas 12 and 17 of pll: when all agents are in epoch 3, with colour 2 and the same level.

Usage: pll_levels.py [CONCLAVE]

The level of BackUp, level_B, is a variable of candidates (status A). Printed is in how many trials
every agent is in epoch 3 with colour 2 at the given time, and all levels are 0, or all are 1.
"""
import collections
import csv
import math
import pathlib
import re
import subprocess
import sys
import tempfile

GRID = [(256, 340, 400), (1024, 420, 400), (4096, 500, 100)]  # n, parallel time, trials
FOLLOWS = ("3", "2", None)  # epoch and colour of somebody without a level


def kinds_by_trial(conclave, n, time, trials):
    """The epochs, colours and levels at the end of each trial."""
    with tempfile.TemporaryDirectory() as folder:
        end = pathlib.Path(folder) / "end.csv"
        subprocess.run([conclave, "run", "pll", "--n", str(n), "--until", str(time), "--trials",
                        str(trials), "--final", end, "--quiet"],
                       stdout=subprocess.DEVNULL, check=True)
        kinds = collections.defaultdict(set)
        with open(end, encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                agent = dict(re.findall(r"(\w+)=(\w+)", row["state"]))
                kinds[row["trial"]].add((agent["epoch"], agent["color"], agent.get("level_B")))
    return list(kinds.values())


def main(conclave="conclave"):
    print(f"{'n':>6} {'time':>6} {'/ ln n':>7} {'trials':>7} {'all at level 0':>15} "
          f"{'all at level 1':>15}")
    for n, time, trials in GRID:
        found = kinds_by_trial(conclave, n, time, trials)
        there = [sum(kinds - {FOLLOWS} == {("3", "2", level)} for kinds in found)
                 for level in "01"]
        print(f"{n:>6} {time:>6} {time / math.log(n):7.1f} {len(found):>7} {there[0]:>15} "
              f"{there[1]:>15}")


if __name__ == "__main__":
    main(*sys.argv[1:])
