#!/usr/bin/env python3
"""Draws the holding times of ppl with the paper's constants over n, and what Theorem 23 promises.

Usage: holding.py experiments/rare/ppl.jsonl docs/pictures/ppl-holding.svg
"""
import json
import math
import subprocess
import sys

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]


def main(rows_file, picture):
    series = {}
    for line in open(rows_file, encoding="utf-8"):
        row = json.loads(line)
        if set(row["params"]) <= {"N", "c"}:
            series.setdefault(row["params"].get("c", 1), {})[row["n"]] = row["ln_holding"]
    lines = [
        "set terminal svg size 640,430 background '#ffffff' font 'sans-serif,13'",
        f"set output '{picture}'", "set logscale xy", "set xtics 8,2,1024", "set xrange [7:1200]",
        "set yrange [10:200000]", "set xlabel 'n = N'",
        "set ylabel 'ln of the expected holding time, in interactions'", "set key outside right"]
    plots, data = [], []
    for c, colour in zip(sorted(series), COLOURS):
        plots.append(f"'-' with linespoints pt 7 ps 0.5 lw 2 lc rgb '{colour}' title 'c = {c}'")
        data.append([(n, value) for n, value in sorted(series[c].items())])
    for c, colour in zip(sorted(series), COLOURS):
        plots.append(f"'-' with lines lc rgb '{colour}' title 'promised, c = {c}'")
        data.append([(n, (10 * c + 1) * math.log(n)) for n in sorted(series[c])])
    lines.append("plot " + ", ".join(plots))
    for points in data:
        lines += [f"{n} {value}" for n, value in points] + ["e"]
    subprocess.run(["gnuplot"], input="\n".join(lines) + "\n", text=True, check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
