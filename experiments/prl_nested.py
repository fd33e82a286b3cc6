#!/usr/bin/env python3
"""The mean time of prl at large n, by nesting: few first phases, each of them continued many times.

Usage: prl_nested.py run CONCLAVE N STARTS TRIALS FILE.csv
       prl_nested.py check CONCLAVE N FILE.csv
       prl_nested.py FILE.csv

From the start without leaders half of the work and more is done in the first n² interactions, in
which distances are counted up; nearly all of the variance arises later, when the last leaders meet.
So STARTS trials run for 1.2 n² interactions, or to convergence if that comes first, and the
configuration of each is continued to convergence TRIALS times with random numbers of its own.

Given a configuration, the mean of its continuations estimates without bias what is left, so that
the mean over all of them is unbiased. Continuations of one configuration depend on each other: the
interval is Student's over the means of the STARTS configurations, which are independent.

A row of FILE is a start: how many leaders its configuration has, and the sums of the interactions
of its trials, from the very beginning to convergence, and of their squares. `run` appends the
starts that are missing; `check` computes the first one of N again and compares.
"""
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HEADER = ["n", "start", "horizon", "leaders", "trials", "sum", "sum_of_squares"]
# Quantiles of Student's law, 97.5 %, rounded up, by degrees of freedom; the next lower one counts.
STUDENT = {1: 12.71, 2: 4.31, 3: 3.19, 4: 2.78, 5: 2.58, 6: 2.45, 7: 2.37, 8: 2.31, 9: 2.27,
           10: 2.23, 11: 2.21, 12: 2.18, 13: 2.17, 14: 2.15, 15: 2.14, 17: 2.11, 19: 2.10,
           24: 2.07, 29: 2.05, 39: 2.03, 49: 2.01, 99: 1.99}


def rows_of(conclave, *arguments):
    run = subprocess.run([conclave, "run", "prl", *map(str, arguments), "--threads", "1",
                          "--format", "jsonl", "--quiet"],
                         capture_output=True, text=True, check=False)
    if run.returncode not in (0, 3):  # 3: the horizon came before convergence
        sys.exit(run.stderr)
    return [json.loads(line) for line in run.stdout.splitlines()]


def nested(conclave, n, start, trials):
    """The row of a start. Its seed is `start`; that of its continuations is a million more."""
    with tempfile.TemporaryDirectory() as folder:
        configuration = pathlib.Path(folder) / "configuration.csv"
        phase, = rows_of(conclave, "--n", n, "--init", "no-leader-distL-zero", "--seed", start,
                         "--until", f"convergence,{6 * n / 5!r}", "--final", configuration)
        if phase["converged"]:
            times = [phase["interactions"]] * trials
        else:
            times = [phase["interactions"] + row["interactions"] for row in
                     rows_of(conclave, "--init-from", configuration, "--seed", 10 ** 6 + start,
                             "--trials", trials)]
    return [n, start, phase["interactions"], phase["leaders"], trials, sum(times),
            sum(time * time for time in times)]


def stored(path):
    if not pathlib.Path(path).exists():
        return []
    with open(path, encoding="utf-8") as lines:
        return [list(map(int, row)) for row in list(csv.reader(lines))[1:]]


def run(conclave, n, starts, trials, path):
    done = {row[1] for row in stored(path) if row[0] == int(n)}
    for start in range(1, int(starts) + 1):
        if start in done:
            continue
        row = nested(conclave, int(n), start, int(trials))
        is_new = not pathlib.Path(path).exists()
        with open(path, "a", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([HEADER] * is_new + [row])


def check(conclave, n, path):
    first, = (row for row in stored(path) if row[:2] == [int(n), 1])
    again = nested(conclave, int(n), 1, first[4])
    print("as stored" if again == first else f"{again} where {first} is stored")


def variance_of_trials(row):
    _, _, _, _, trials, total, squares = row
    return (trials * squares - total * total) / (trials * (trials - 1)) / row[0] ** 4


def show(path):
    print(f"{'n':>8} {'starts':>7} {'trials each':>12} {'leaders then':>13} {'mean / n²':>10} "
          f"{'95 % interval':>15} {'sd of a trial':>14} {'share of starts':>16}")
    rows = stored(path)
    for n in sorted({row[0] for row in rows}):
        starts = [row for row in rows if row[0] == n]
        means = [row[5] / row[4] / n ** 2 for row in starts]
        within = statistics.fmean(map(variance_of_trials, starts))
        # The variance of a mean is that of its start and that of its continuations together.
        between = max(statistics.variance(means) - within / starts[0][4], 0)
        mean = statistics.fmean(means)
        student = STUDENT[max(degrees for degrees in STUDENT if degrees < len(means))]
        error = student * statistics.stdev(means) / len(means) ** 0.5
        leaders = statistics.fmean(row[3] for row in starts)
        interval = f"{mean - error:.2f} to {mean + error:.2f}"
        share = f"{100 * between / (between + within):.0f} %"
        print(f"{n:>8} {len(starts):>7} {starts[0][4]:>12} {leaders:13.1f} {mean:10.2f} "
              f"{interval:>15} {(between + within) ** 0.5:14.2f} {share:>16}")


def main(command, *words):
    if not words:
        return show(command)
    return {"run": run, "check": check}[command](*words)


if __name__ == "__main__":
    main(*sys.argv[1:])
