#!/usr/bin/env python3
"""Computes the rows of a grid of rare failures, from where it was left.

Usage: rows.py ppl|fitted|detection CONCLAVE FILE.jsonl

A row is what `conclave rare --format jsonl` prints. The file has the rows in the order of the grid,
so that as many commands are skipped as it has lines. All of it takes minutes on two cores: ppl
mostly for n >= 512.
"""
import math
import pathlib
import subprocess
import sys


def holding_of_ppl():
    """How long ppl holds."""
    # The paper's constants: suicides, which dominate, by spine sampling.
    spine = ["--way", "suicide", "--importance", "spine", "--particles"]
    for n in (8, 16, 20, 32, 54, 64, 128, 256, 512, 1024):
        yield ["ppl", "--n", n, *spine, 200]
    for c in (2, 3, 4):
        for n in (8, 16, 32, 64):
            yield ["ppl", "--n", n, "--param", f"c={c}", *spine, 200]
    for c in (2, 3, 4):
        for n in (128, 256, 512, 1024):
            yield ["ppl", "--n", n, "--param", f"c={c}", *spine, 10, "--repetitions", 5]
    # Timers that are shorter by a factor of 60 (t_virus = ceil(ln N)): both ways, two functions.
    for n in (8, 16):
        yield ["ppl", "--n", n, "--param", "t_virus=3", "--particles", 3000]
    # Timeouts over t_max; the virus is out of the way.
    for n in (8, 16, 32):
        for t_max in (10, 20, 40):
            yield ["ppl", "--n", n, "--param", f"t_max={t_max}", "--param", "t_virus=2", "--param",
                   "t_emit=40", "--way", "timeout"]


def fitted_timers():
    """How long ppl holds with timers that fit n, and timers with the same t_max: its timeouts."""
    for lg, particles in ((4, 1000), (5, 1000), (6, 3000), (7, 4000)):
        n, t_virus = 2 ** lg, 2 * lg
        t_max = ["--param", f"t_max={t_virus + 8}", "--particles", particles]
        yield ["ppl", "--n", n, "--param", f"t_virus={t_virus}", "--param", f"t_emit={5 * t_virus}",
               *t_max]
        if n <= 32:
            yield ["timers", "--n", n, *t_max]


def late_detections():
    """How often electleader detects later than k (n/r) ln n units of time."""
    grid = [(n, n // 4, k) for n in (16, 32, 64) for k in (1, 2, 3, 4, 6, 8)]
    grid += [(n, 8, k) for n in (256, 1024, 4096, 16384, 65536) for k in (1, 2, 3, 4)]
    grid += [(1024, r, 3) for r in (1, 2, 4, 16, 32)]
    for n, r, k in grid:
        limit = round(k * n * n / r * math.log(n))
        yield ["electleader", "--n", n, "--param", f"r={r}", "--max-interactions", limit]


def main(grid, conclave, path):
    grids = {"ppl": holding_of_ppl, "fitted": fitted_timers, "detection": late_detections}
    commands = list(grids[grid]())
    file = pathlib.Path(path)
    done = len(file.read_text().splitlines()) if file.exists() else 0
    for command in commands[done:]:
        row = subprocess.run([conclave, "rare", *map(str, command), "--quiet", "--format", "jsonl"],
                             capture_output=True, text=True, check=True).stdout
        with open(file, "a", encoding="utf-8") as rows:
            rows.write(row)
    print(f"{path}: {len(commands)} rows, {done} there from before")


if __name__ == "__main__":
    main(*sys.argv[1:])
