#!/usr/bin/env python3
"""How often the 95 % intervals of `conclave rare` hold the truth, over many fresh seeds.

Usage: coverage.py run CONCLAVE FIRST LAST coverage.csv  adds what is missing of these seeds
       coverage.py check CONCLAVE SEEDS coverage.csv     runs the first SEEDS of each case again
       coverage.py coverage.csv                          prints how many intervals hold the truth

The cases are four epidemics in which the infected recover at random meetings, and the failure is
that one of them alone is left. The truth is what `conclave verify` computes.
"""
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

EPIDEMIC = """states S, I
param p = 30 in 0..100 "chance in percent to recover at a meeting"
start all: all of I
I + S -> I + I
I + I -> S + I with p/100
stop when count(I) == 1
"""
CASES = [(12, 60, "count(S)"), (20, 80, "sum(if S then 2 else 0)"), (30, 100, "n - count(I)"),
         (40, 100, "-ln(count(I))")]
PARTICLES = 300
FIELDS = ["n", "p", "importance", "seed", "ln_exact", "ln_low", "ln_high", "warnings"]


def answer(conclave, command, text, n, p, *words):
    run = subprocess.run([conclave, command, text, "--n", str(n), "--param", f"p={p}", "--quiet",
                          *words], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def rows(conclave, seeds, known=()):
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(folder) / "epidemic.pp"
        text.write_text(EPIDEMIC)
        for n, p, importance in CASES:
            exact = answer(conclave, "verify", text, n, p, "--from", "start", "--format", "json")
            truth = math.log(exact["expected"]["interactions"])
            for seed in (seed for seed in seeds if (str(n), str(seed)) not in known):
                row = answer(conclave, "rare", text, n, p, "--importance", importance, "--seed",
                             str(seed), "--particles", str(PARTICLES), "--threads", "1",
                             "--format", "jsonl")
                warnings = len(row["ways"][0]["importance"][0]["warnings"])
                yield dict(zip(FIELDS, [n, p, importance, seed, f"{truth:.4f}", row["ln_low"],
                                        row["ln_high"], warnings]))


def write(conclave, first, last, path):
    known = {(row["n"], row["seed"]) for row in read(path)} if pathlib.Path(path).exists() else ()
    with open(path, "a", encoding="utf-8") as stored:
        writer = csv.DictWriter(stored, FIELDS, lineterminator="\n")
        if not known:
            writer.writeheader()
        for row in rows(conclave, range(int(first), int(last) + 1), known):
            writer.writerow(row)
            stored.flush()


def holds(row):
    return float(row["ln_low"]) <= float(row["ln_exact"]) <= float(row["ln_high"])


def read(path):
    with open(path, encoding="utf-8") as stored:
        return list(csv.DictReader(stored))


def show(path):
    stored = read(path)
    print(f"{'n':>3} {'p':>4}  {'importance':<24} {'ln T':>8} {'seeds':>6} {'hold':>5}"
          f" {'above':>6} {'below':>6} {'warned':>7} {'hold of those without warning':>30}")
    for n, p, importance in CASES:
        case = [row for row in stored if (int(row["n"]), int(row["p"])) == (n, p)]
        held = [row for row in case if holds(row)]
        above = sum(float(row["ln_low"]) > float(row["ln_exact"]) for row in case)
        calm = [row for row in case if row["warnings"] == "0"]
        share = f"{sum(map(holds, calm))} of {len(calm)}"
        print(f"{n:>3} {p:>4}  {importance:<24} {float(case[0]['ln_exact']):8.4f} {len(case):>6}"
              f" {len(held):>5} {above:>6} {len(case) - len(held) - above:>6}"
              f" {len(case) - len(calm):>7} {share:>30}")
    print(f"all: {sum(map(holds, stored))} of {len(stored)} intervals hold the truth")


def check(conclave, count, path):
    stored = read(path)
    seeds = sorted({int(row["seed"]) for row in stored})[:int(count)]
    known = {(row["n"], row["seed"]): row for row in stored}
    same = [known[str(row["n"]), str(row["seed"])] == {name: str(row[name]) for name in FIELDS}
            for row in rows(conclave, seeds)]
    print(f"{sum(same)} of {len(same)} rows are as stored")
    return 0 if all(same) else 1


if __name__ == "__main__":
    if sys.argv[1] == "run":
        write(*sys.argv[2:])
    elif sys.argv[1] == "check":
        sys.exit(check(*sys.argv[2:]))
    else:
        show(sys.argv[1])
