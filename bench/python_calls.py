#!/usr/bin/env python3
"""The cost of a call of the Python module: microseconds, the median of `--repeats` batches of
`--calls`, as CPU time of the process and as time on the clock.

    PYTHONPATH=build/release/python python3 bench/python_calls.py
"""

import argparse
import statistics
import time

import conclave as cv

EPIDEMIC = cv.Protocol({("I", "S"): ("I", "I")})
CALLS = {'cv.run("pll", n=100)': lambda: cv.run("pll", n=100),
         'cv.run("pll", n=100, trials=100)': lambda: cv.run("pll", n=100, trials=100),
         'cv.Simulation("pll", n=100)': lambda: cv.Simulation("pll", n=100),
         'cv.Simulation(epidemic, {"I": 1, "S": 99})':
             lambda: cv.Simulation(EPIDEMIC, {"I": 1, "S": 99})}


def cost(call, calls):
    """CPU and clock, microseconds per call."""
    begin, clock = time.process_time(), time.perf_counter()
    for _ in range(calls):
        call()
    return ((time.process_time() - begin) / calls * 1e6,
            (time.perf_counter() - clock) / calls * 1e6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=9)
    words = parser.parse_args()
    print(f"{'microseconds per call':<46}{'CPU':>8}{'clock':>8}")
    for name, call in CALLS.items():
        measured = [cost(call, words.calls) for _ in range(words.repeats)]
        cpu, clock = (statistics.median(each) for each in zip(*measured))
        print(f"{name:<46}{cpu:8.0f}{clock:8.0f}")


if __name__ == "__main__":
    main()
