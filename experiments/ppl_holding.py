#!/usr/bin/env python3
"""A certified lower bound of the expected holding time of P_PL (Lemma 16, Theorem 23).

Usage: ppl_holding.py [N [T_MAX T_VIRUS T_EMIT]]   (default: 64 agents and the paper's constants)

Probabilities of failure are bounded from above by fractions of integers: every step is an
inequality between them, and where a fraction is shortened it is rounded up. No trial, estimate or
floating-point number enters a bound; floating point only chooses parameters of which all are valid.
The argument, step by step, is in docs/explanation/claims-ppl.md.
"""
import math
import sys
from fractions import Fraction


def paper(n, c=1):
    """(t_max, t_virus, t_emit) of the paper with N = n."""
    log = math.ceil(math.log(n))
    return 720 * c * log * log, 60 * log, 720 * c * log * log


def above(value, bits=256):
    """The fraction, or a little more: an integer of so many bits times a power of two."""
    shift = value.numerator.bit_length() - value.denominator.bit_length() - bits
    unit = Fraction(2) ** shift
    return math.ceil(value / unit) * unit


def traced_back(n, x, shorten=above):
    """Sums over all numbers of steps back of the expected x^cost of paths that avoid the leader.

    A set of j followers knows what the last one knows; cost is the number of interactions on a path
    between them. Returns the sum over paths that the leader joins in the next step, and the
    sum over all, each divided by the size of its set.
    """
    pair, joins, going, paths = 2 / (n * (n - 1)), 0, 0, 1
    if shorten is above:
        pair = Fraction(2, n * (n - 1))
    for j in range(1, n):
        leaves = pair * (j * (n - j) - (x - 1) * (j - 1))
        if leaves <= 0:
            raise ValueError(f"x = {x} is too large for {n} agents")
        paths = shorten(paths / leaves)
        joins, going = shorten(joins + pair * paths), shorten(going + paths / j)
        paths = paths * pair * (n - 1 - j) * (j + 2 * x - 1)
    return joins, going


def best_x(n, t_max):
    """The cost's base at which the bound of the timeouts is least, about."""
    def badness(x):
        return math.log(traced_back(n, float(x), float)[0]) - (t_max - 1) * math.log(x)
    if n > 64:
        return Fraction(2)  # valid for every n
    grid = [1 + Fraction(n - 1, n - 2) * Fraction(k, 32) for k in range(1, 32)]
    return min([Fraction(2), *grid], key=badness)


def leader_step(n, y):
    """Weights of a lineage, at a follower or at the leader, from one interaction of the leader to
    the next; a lineage has weight y^cost. None if y is too large for sums over all of them."""
    leader, other = Fraction(2, n), Fraction(2 * (n - 2), n * (n - 1))
    wait = leader + other - 2 * y * other
    if wait <= 0:
        return None
    to_leader = leader * y / (n - 1) / wait
    step = ((leader * (n - 2 + y) / (n - 1) / wait, to_leader), (y, y))
    stays = (1 - step[0][0]) * (1 - y) - to_leader * y
    return step if min(1 - step[0][0], 1 - y, stays) > 0 else None


def multiplied(a, b):
    """The product of two matrices, its entries rounded up."""
    return tuple(tuple(above(a[i][0] * b[0][j] + a[i][1] * b[1][j]) for j in range(2))
                 for i in range(2))


def lineages(n, y, interactions, begin):
    """The weight of lineages at the leader after k of its interactions, summed over all
    k >= interactions; begin: how many begin at followers, and at the leader."""
    step = leader_step(n, y)
    (ff, fl), (lf, ll) = step
    power, square, left = ((1, 0), (0, 1)), step, interactions
    while left:
        power = multiplied(power, square) if left & 1 else power
        square, left = multiplied(square, square), left >> 1
    at_follower, at_leader = (begin[0] * power[0][j] + begin[1] * power[1][j] for j in range(2))
    return (at_follower * fl + at_leader * (1 - ff)) / ((1 - ff) * (1 - ll) - fl * lf)


def best_y(n, t_virus, interactions):
    """The cost's base at which the bound of the suicides is least, about."""
    def badness(y):
        (ff, fl), (lf, ll) = ((float(each) for each in row) for row in leader_step(n, y))
        root = (ff + ll + math.sqrt((ff - ll) ** 2 + 4 * fl * lf)) / 2
        return interactions * math.log(root) - math.log1p(-root) - (t_virus - 1) * math.log(y)
    guess = Fraction(t_virus, t_virus + interactions)
    grid = [guess * Fraction(k, 64) for k in range(1, 129)]
    return min((y for y in grid if leader_step(n, y)), key=badness)


def outlives(n, t_virus, interactions, begin):
    """P(a virus reaches the leader after that many of its interactions, or later), at most."""
    y = best_y(n, t_virus, interactions)
    return above(lineages(n, y, interactions, begin) / y ** (t_virus - 1))


def failures(n, t_max, t_virus, t_emit, start):
    """(timeouts per step, suicides per virus, failures because of the start), each at most.

    start: "safe", or "S" for every configuration of S.
    """
    x = best_x(n, t_max)
    joins, going = traced_back(n, x)
    age = t_max // 2 if start == "S" else 0  # since the followers heard of the leader
    timeout, once = above(joins / x ** (t_max - 1)), above(going / x ** (t_max - 1 - age))
    suicide = outlives(n, t_virus, t_emit + 1, (0, 1))
    once += suicide / 2
    if start == "S":  # all may have a virus, and the shield lasts t_emit/2 interactions
        once += outlives(n, t_virus, (t_emit + 1) // 2 + 1, (n - 1, 1))
    return timeout, suicide, once


def holding(n, t_max, t_virus, t_emit, start="S"):
    """A lower bound of the expected holding time from the start; 0 if nothing is known."""
    timeout, suicide, once = failures(n, t_max, t_virus, t_emit, start)
    rate = timeout + suicide / (n * t_emit)
    return max(1 - once, 0) ** 2 / (2 * rate)


def logarithm(value):
    """ln of a positive fraction, rounded down to two digits."""
    return math.floor(100 * (math.log(value.numerator) - math.log(value.denominator)) - 1e-6) / 100


def scientific(value, up=False):
    """A positive fraction as d.dd·10^k, rounded down or up, with integers alone."""
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    power = bits * 30103 // 100000 + 2
    while value < Fraction(10) ** power:
        power -= 1
    leading = value / Fraction(10) ** (power - 2)
    return f"{(math.ceil if up else math.floor)(leading) / 100:.2f}·10^{power}"


def main():
    words = [int(float(word)) for word in sys.argv[1:]]
    n = words[0] if words else 64
    constants = tuple(words[1:4]) if len(words) == 4 else paper(n)
    print("n = {}, t_max = {}, t_virus = {}, t_emit = {}".format(n, *constants))
    for start, name in (("S", "every configuration of S"), ("safe", "safe")):
        timeout, suicide, once = (scientific(each, up=True)
                                  for each in failures(n, *constants, start))
        bound = holding(n, *constants, start)
        print(f"from {name}: at most {timeout} timeouts per step, {suicide} suicides per virus, "
              f"{once} once")
        print(f"  expected holding time at least {scientific(bound) if bound else 0}")


if __name__ == "__main__":
    main()
