#!/usr/bin/env python3
"""Time against space: electleader at n = 128 over r, as docs/pictures/electleader-tradeoff.svg.

Usage: electleader_tradeoff.py CONCLAVE [PICTURE]
"""
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

N, TRIALS = 128, 100
SIZES = (1, 2, 4, 8, 16, 32, 64)
STARTS = ("clean", "triggered", "dup", "random")
PICTURE = pathlib.Path(__file__).parents[1] / "docs" / "pictures" / "electleader-tradeoff.svg"

PLOT = """
set terminal svg size 900,560 enhanced font 'sans-serif,14' background '#ffffff'
set output '{picture}'
set logscale x 2
set logscale y
set logscale y2
set xlabel 'r (size of the groups of ranks)'
set ylabel 'parallel time to the safe set, mean of {trials} trials'
set y2label 'bits per verifier'
set ytics nomirror
set y2tics
set key at graph 0.58,0.34
set title 'electleader, n = {n}: time against space'
plot for [k=2:{last}] '{table}' using 1:k with linespoints pointtype 7 title columnheader(k), \\
  '{table}' using 1:{bound} with lines dashtype 2 linecolor 'gray50' title columnheader({bound}), \\
  '{table}' using 1:{bits} axes x1y2 with linespoints pointtype 4 linecolor 'black' \\
    title columnheader({bits})
"""


def mean_time(conclave, r, start):
    words = [conclave, "run", "electleader", "--n", N, "--param", f"r={r}", "--init", start,
             "--trials", TRIALS, "--format", "jsonl", "--quiet"]
    output = subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True)
    rows = [json.loads(line) for line in output.stdout.splitlines()]
    assert all(row["converged"] and row["leaders"] == 1 for row in rows)
    return statistics.fmean(row["parallel_time"] for row in rows)


def bits_per_verifier(m):
    """Messages, their contents, observations, signature: all that grows with the group."""
    content = 5 * math.log2(m)
    chosen = math.log2(math.comb(2 * m * m, 2 * m))
    return math.log2(N) + m * (chosen + 2 * m * content) + (2 * m * m + 1) * content


def main():
    conclave = sys.argv[1]
    picture = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else PICTURE
    lines = [["r", *STARTS, '"16 (n/r) ln n"', '"bits per verifier (right axis)"']]
    for r in SIZES:
        times = [mean_time(conclave, r, start) for start in STARTS]
        lines.append([r, *times, 16 * N / r * math.log(N), bits_per_verifier(r)])
        print(*(f"{value:.6g}" for value in lines[-1]), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "table"
        table.write_text("".join(" ".join(map(str, line)) + "\n" for line in lines))
        last = 1 + len(STARTS)
        script = PLOT.format(picture=picture, table=table, n=N, trials=TRIALS, last=last,
                             bound=last + 1, bits=last + 2)
        subprocess.run(["gnuplot"], input=script, text=True, check=True)


if __name__ == "__main__":
    main()
