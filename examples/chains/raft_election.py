#!/usr/bin/env python3
"""Raft's election with timeouts of whole units, as a Markov chain for `conclave solve`.

ALIVE servers elect a leader while DOWN others are down but count for the majority. Timeouts are
LOW, LOW + 1, ..., LOW + SPREAD - 1 units, each equally likely, drawn anew whenever a timer is set;
a message takes one unit. Servers whose timers run out first, at the same time, stand. All others
vote for one of them, the same one, as in `conclave run raft-election --param timeout=ticks`. A step
of the chain is a unit of time, and the reward of a step is 1 where a term begins:

    examples/chains/raft_election.py 2 1 10 10 raft     writes raft.tra, raft.lab, raft.trew
    conclave solve raft.tra --exact                     the expected election time: 293/18
    conclave solve raft.tra --rewards raft.trew --exact the expected number of terms: 10/9
"""
import math
import sys
from fractions import Fraction


def group(size, count, time, since, low, spread):
    """`count` of `size` timers that run since then run out at this time, the others later."""
    begin = low + since
    passed = min(max(time - begin + 1, 0), spread)
    if count > 0 and not begin <= time < begin + spread:
        return Fraction(0)
    later = Fraction(spread - passed, spread)
    return math.comb(size, count) * Fraction(1, spread) ** count * later ** (size - count)


def first(alive, stood, time, count, low, spread):
    """`stood` timers run since 0, the others since 1; the first run out now, `count` of them."""
    return sum(group(stood, i, time, 0, low, spread)
               * group(alive - stood, count - i, time, 1, low, spread)
               for i in range(max(0, count - (alive - stood)), min(stood, count) + 1))


class Chain:
    """States are numbered as they are met; the first is the beginning."""

    def __init__(self):
        self.numbers, self.edges, self.terms = {}, {}, set()

    def number(self, state):
        return self.numbers.setdefault(state, len(self.numbers))

    def add(self, state, after, probability, begins_term=False):
        if probability == 0:
            return
        edge = self.number(state), self.number(after)
        self.edges[edge] = self.edges.get(edge, 0) + probability
        if begins_term:
            self.terms.add(edge)


def chain_of(alive, down, low, spread):
    """States: (servers that stood in the last term, units since), "asked", "done"."""
    majority = (alive + down) // 2 + 1
    chain, open_states, known = Chain(), [(alive, 0)], {(alive, 0)}
    chain.number((alive, 0))
    while open_states:
        stood, time = state = open_states.pop()
        rest = sum((first(alive, stood, at, count, low, spread)
                    for at in range(time, low + spread + 1) for count in range(1, alive + 1)),
                   Fraction(0))
        nobody = Fraction(1)
        for count in range(1, alive + 1):
            probability = first(alive, stood, time, count, low, spread) / rest
            nobody -= probability
            wins = alive - count + 1 >= majority
            after = "asked" if wins else (count, 1)
            chain.add(state, after, probability, begins_term=True)
            if probability and not wins and after not in known:
                known.add(after)
                open_states.append(after)
        chain.add(state, (stood, time + 1), nobody)
        if nobody and (stood, time + 1) not in known:
            known.add((stood, time + 1))
            open_states.append((stood, time + 1))
    chain.add("asked", "done", Fraction(1))
    chain.add("done", "done", Fraction(1))
    return chain


def main():
    if len(sys.argv) != 6:
        sys.exit(f"usage: {sys.argv[0]} ALIVE DOWN LOW SPREAD FILE")
    alive, down, low, spread = map(int, sys.argv[1:5])
    if alive < 2 or down < 0 or low < 2 or spread < 1 or alive <= (alive + down) // 2:
        sys.exit("ALIVE, at least 2, must be a majority; LOW is at least 2, SPREAD at least 1")
    chain, path = chain_of(alive, down, low, spread), sys.argv[5]
    edges = [f"{begin} {end} {chance}" for (begin, end), chance in chain.edges.items()]
    terms = [f"{begin} {end} 1" for begin, end in sorted(chain.terms)]
    files = {".tra": [f"{len(chain.numbers)} {len(edges)}", *edges],
             ".trew": [f"{len(chain.numbers)} {len(terms)}", *terms],
             ".lab": ['0="init" 1="done"', "0: 0", f"{chain.number('done')}: 1"]}
    for ending, lines in files.items():
        with open(path + ending, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
