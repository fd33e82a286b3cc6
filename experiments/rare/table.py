#!/usr/bin/env python3
"""Prints tables of rare.md and table-ppl.md from the estimates of the plans beside it.

These are what `conclave results FILE.db --estimates --format jsonl` prints.

Usage: table.py paper|timeouts|scaled ppl.jsonl
       table.py fitted fitted.jsonl
       table.py detection detection.jsonl
"""
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import ppl_holding  # noqa: E402


def interval(value):
    name = "ln_probability" if "ln_probability" in value else "ln_holding"
    return f"{value[name]:.2f} ({value['ln_low']:.2f} to {value['ln_high']:.2f})"


def is_of_the_paper(row):
    return set(row["params"]) <= {"N", "c"}


def show_paper(rows):
    """The paper's constants: suicides over n and c, bounds from below, and the promise."""
    print(f"{'n':>4} {'c':>2} {'t_emit':>7} {'ln T':>9} {'95 % interval':>22} {'union bound':>12}"
          f" {'certified':>10} {'ln n^(10c+1)':>13} {'ln T / t_emit':>14}")
    for row in sorted(filter(is_of_the_paper, rows), key=lambda row: row["params"].get("c", 1)):
        n, c = row["n"], row["params"].get("c", 1)
        timers = ppl_holding.paper(n, c)
        value = row["ln_holding"]
        between = f"{row['ln_low']:.2f} to {row['ln_high']:.2f}"
        print(f"{n:>4} {c:>2} {timers[2]:>7} {value:9.2f} {between:>22}"
              f" {row['ways'][0]['ln_union_bound']:12.2f}"
              f" {ppl_holding.logarithm(ppl_holding.holding(n, *timers)):10.2f}"
              f" {(10 * c + 1) * math.log(n):13.1f} {value / timers[2]:14.3f}")


def show_timeouts(rows):
    """Timeouts over t_max, by two functions."""
    print(f"{'n':>4} {'t_max':>6} {'by group':>26} {'by mean':>26}")
    for row in rows:
        if row["params"].get("t_virus") == 2:
            functions = [interval(each) for each in row["ways"][0]["importance"]]
            verdict = "confirmed" if row["confirmed"] else "not confirmed"
            print(f"{row['n']:>4} {row['params']['t_max']:>6} {functions[0]:>26} "
                  f"{functions[1]:>26}  {verdict}")


def show_scaled(rows):
    """Constants that are shorter by a factor of 60: both ways, by two functions each."""
    for row in rows:
        if row["params"].get("t_virus") != 3:
            continue
        for way in row["ways"]:
            functions = [f"{each['name']} {interval(each)}" for each in way["importance"]]
            verdict = "confirmed" if way["confirmed"] else "not confirmed"
            print(f"{row['n']:>4}  {way['way']:<8} {'  '.join(f'{f:<40}' for f in functions)}"
                  f" {verdict}")


def show_fitted(rows):
    """Timers that fit n: both ways, by two functions each, and both together."""
    print(f"{'':<6} {'n':>4}  {'ln T':<24} {'':<13}  ways, by two functions each")
    for row in sorted(rows, key=lambda row: row["n"]):
        ways = [f"{way['way']} {', '.join(map(interval, way['importance']))}"
                for way in row["ways"]]
        verdict = "confirmed" if row["confirmed"] else "not confirmed"
        print(f"{row['protocol']:<6} {row['n']:>4}  {interval(row):<24} {verdict:<13}  "
              f"{'; '.join(ways)}")


def show_detection(rows):
    """Late detections of electleader over n, r and the limit, k (n/r) ln n units of time."""
    print(f"{'n':>7} {'r':>4} {'k':>5} {'ln P by age':>28} {'by signatures':>28} "
          f"{'ln P / ln n':>12}")
    for row in rows:
        n, r = row["n"], row["params"]["r"]
        k = row["max_interactions"] / n / (n / r * math.log(n))
        functions = [interval(each) for each in row["ways"][0]["importance"]]
        verdict = "confirmed" if row["confirmed"] else "not confirmed"
        print(f"{n:>7} {r:>4} {k:5.2f} {functions[0]:>28} {functions[1]:>28} "
              f"{row['ln_probability'] / math.log(n):12.3f}  {verdict}")


def main(table, path):
    with open(path, encoding="utf-8") as stored:
        rows = [json.loads(line) for line in stored]
    {"paper": show_paper, "timeouts": show_timeouts, "scaled": show_scaled, "fitted": show_fitted,
     "detection": show_detection}[table](rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
