#!/usr/bin/env python3
"""conclave and ppsim side by side, in one process: the same notebook code on both.

Each cell is a protocol with n agents. A first run of ppsim finds the time span that takes it about
`--seconds`; then both packages simulate that span from the start, in turn, with the same call. The
table has interactions per CPU second, the best of `--repeats`, and how long the simulation objects
took to make. ppsim must be installed: pip install ppsim.

    PYTHONPATH=build/release/python python3 bench/ppsim_bench.py
    PYTHONPATH=build/release/python python3 bench/ppsim_bench.py --protocol epidemic --n 1e9
"""

import argparse
import math
import random
import time


def epidemic(n):
    return {0: n - 1, 1: 1}, {(0, 1): (1, 1)}


def majority(n):
    """0 and 1 are opinions, 2 is none; the responder changes."""
    zeros = n // 2 + n // 1000
    rules = {(0, 1): (0, 2), (1, 0): (1, 2), (0, 2): (0, 0), (1, 2): (1, 1)}
    return {0: zeros, 1: n - zeros}, rules


def fratricide(n):
    return {"L": n}, {("L", "L"): ("L", "F")}


def table(states):
    """All outputs are uniform; so is the start."""
    def made(n):
        draws = random.Random(states)
        rules = {(a, b): (draws.randrange(states), draws.randrange(states))
                 for a in range(states) for b in range(states)}
        return {a: n // states + (a < n % states) for a in range(states)}, rules
    return made


def clock(digits):
    """A phase clock, one way: the initiator follows a responder that is less than half a cycle
    ahead, or a marked one that is level. sqrt(n) + 1 agents are marked."""
    def rule(u, v):
        (own, mark), (other, marked) = u, v
        ahead = (other - own) % digits
        if (not marked) if ahead == 0 else 2 * ahead >= digits:
            return u, v
        return ((own + 1) % digits, mark), v

    def made(n):
        marked = math.isqrt(n) + 1
        return {(0, False): n - marked, (0, True): marked}, rule
    return made


PROTOCOLS = {"epidemic": epidemic, "majority": majority, "fratricide": fratricide,
             "table-100": table(100), "table-1000": table(1000), "clock-100": clock(100),
             "clock-1000": clock(1000)}


class Side:
    """One of the two packages with a protocol."""

    def __init__(self, package, init, rule):
        begin = time.process_time()
        self.simulation = package.Simulation(init, rule, transition_order="asymmetric", seed=1)
        self.made = time.process_time() - begin
        self.best = math.inf

    def advance(self, length):
        """CPU seconds."""
        begin = time.process_time()
        self.simulation.run(length, history_interval=length, timer=False)
        return time.process_time() - begin

    def measure(self, init, length):
        self.simulation.reset(init)
        self.best = min(self.best, self.advance(length))


def span(side, seconds, last):
    """How far it comes in so many seconds."""
    length, took, reached = 0.01, 0.0, 0.0
    while took < seconds and reached < last:
        length = min(length, last - reached)
        took += side.advance(length)
        reached += length
        if took < seconds / 4:
            length *= 2
    return reached


def cell(packages, protocol, n, seconds, repeats):
    """The time that was simulated, and both sides."""
    init, rule = PROTOCOLS[protocol](n)
    sides = [Side(package, init, rule) for package in packages]
    # Later, nearly nothing happens.
    last = {"epidemic": 3 * math.log(n), "majority": 4 * math.log(n)}.get(protocol, 1000.0)
    length = span(sides[1], seconds, last)
    for _ in range(repeats):
        for side in sides:
            side.measure(init, length)
    return length, *sides


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--protocol", default=",".join(PROTOCOLS), help="names, with commas")
    parser.add_argument("--n", default="1e6,1e8,1e9,1e10", help="numbers of agents, with commas")
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU time of ppsim per repeat")
    parser.add_argument("--repeats", type=int, default=2)
    words = parser.parse_args()
    try:
        import ppsim
    except ImportError:
        raise SystemExit("this compares with ppsim, which is not installed: pip install ppsim")
    import conclave.ppsim
    print("| protocol | n | time simulated | conclave | ppsim | ratio | made in, s | ppsim |")
    print("|---|---|---|---|---|---|---|---|")
    for protocol in words.protocol.split(","):
        for text in words.n.split(","):
            n = int(float(text))
            length, ours, theirs = cell((conclave.ppsim, ppsim), protocol, n, words.seconds,
                                        words.repeats)
            print(f"| {protocol} | {text} | {length:.3g} | {length * n / ours.best:.2e} | "
                  f"{length * n / theirs.best:.2e} | {theirs.best / ours.best:.2f} | "
                  f"{ours.made:.2g} | {theirs.made:.2g} |", flush=True)


if __name__ == "__main__":
    main()
