#!/usr/bin/env python3
"""The election of Itai and Rodeh on a synchronous ring, as a Markov chain for `conclave solve`.

In every round each of N processes draws a number below K. The largest that nobody else has drawn
wins; if there is none, the next round begins. A step of the chain is a round:

    examples/chains/itai_rodeh.py 3 8 ring         writes ring.tra, ring.lab
    conclave solve ring.tra --exact                64/63
"""
import itertools
import math
import sys
from fractions import Fraction


def round_fails(processes, numbers):
    """The probability that no number is drawn exactly once."""
    failures = 0
    for counts in itertools.combinations_with_replacement(range(numbers), processes):
        times = [counts.count(number) for number in set(counts)]
        if 1 not in times:
            failures += math.factorial(processes) // math.prod(map(math.factorial, times))
    return Fraction(failures, numbers ** processes)


def main():
    if len(sys.argv) != 4:
        sys.exit(f"usage: {sys.argv[0]} N K FILE")
    processes, numbers, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    again = round_fails(processes, numbers)
    with open(path + ".tra", "w", encoding="ascii") as file:
        file.write(f"2 3\n0 0 {again}\n0 1 {1 - again}\n1 1 1\n")
    with open(path + ".lab", "w", encoding="ascii") as file:
        file.write('0="init" 1="done"\n0: 0\n1: 1\n')


if __name__ == "__main__":
    main()
