#!/usr/bin/env python3
"""The inequalities with numbers in the proofs of the five papers, evaluated for n = 16 ... 10^6.

Usage: inequalities.py [--failing] [PAPER]...      (--failing: leave out the lines that hold)

Each entry says that `left` is at most `right`, as the paper prints it: `right` is the printed
bound, `left` the exact value of what it bounds, or the expression before it in a chain. Both are
functions of n that return natural logarithms. Printed is the n of the grid at which the ratio is
largest. Free constants have the smallest values that the papers allow: c = 1 and N = n for ppl,
m = ceil(lg n) for pll, r = n/4, alpha = 7 and groups of m = n agents for electleader; logarithms of
kmpp are binary. The file is long because it is a list.

What fails has a kind: `misprint` (the rest of the paper shows what is meant), `text` (probably lost
when the text was extracted from the PDF), `mistake` (a step that does not hold; the statement may
survive) or `large n` (true from an n beyond the grid on, which the paper allows for).
"""
import collections
import math
import sys
from math import ceil, floor, lgamma, log, log1p, sqrt
from typing import Callable, NamedTuple

from exact_tails import at_least, at_most, epidemic, harmonic, rounds, untouched

GRID = (16, 64, 256, 1024, 4096, 16384, 20000, 65536, 262144, 10**6)


class Inequality(NamedTuple):
    place: str
    text: str
    left: Callable
    right: Callable
    least: int = 16  # the n from which on the paper claims it
    kind: str = ""  # of the failure
    most: int = 10**6  # the n up to which it is evaluated


def lg(x):
    return math.log2(x)


def up(n):
    """ceil(ln n), as in the constants of ppl."""
    return ceil(log(n))


def c_max(n):
    return 41 * ceil(lg(n))


def log_choose(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) if k <= n else -math.inf


def half_or_more(k):
    """ln P(a fair binomial of k trials is at most floor(k / 2))."""
    return at_most(k // 2, k, 0.5)


def winners(players, i):
    """ln P(exactly i players of the lottery of Section 3.1.1 of pll win)."""
    total = 0.0
    for s in range(1, 200):  # heads of the winners
        log_others = (players - i) * log1p(-2.0 ** -s)
        total += math.exp(log_choose(players, i) - i * (s + 1) * log(2) + log_others)
    return log(total)


def tied(i, values):
    """P(the largest of i uniform values is not unique)."""
    return 1 - i / values * sum((x / values) ** (i - 1) for x in range(values))


PLL = [
    Inequality("Lemma 1", "P(not over after 2 ceil(n'/n) t) <= n' e^(-t/n), n' = 2, t = 2 n ln n",
               lambda n: epidemic(n, 4 * n * log(n), 2), lambda n: log(2) - 2 * log(n),
               kind="misprint"),
    Inequality("Lemma 1", "k(n'-k)/C(n',2) <= P(an infection), n' = n/2, k = 1",
               lambda n: log(4 / n), lambda n: log((n - 2) / (n * (n - 1))), kind="misprint"),
    Inequality("Lemma 1", "n'/n^2 <= (n'/2)/C(n,2)", lambda n: -log(2 * n),
               lambda n: -log(2 * (n - 1))),
    Inequality("Lemma 1", "n'/2 <= n' - ceil((n'+1)/2) + 1, n' = n - 1",
               lambda n: log((n - 1) / 2), lambda n: log(n - ceil(n / 2))),
    Inequality("Lemma 1", "(1 - n'/n^2)^(n t/n') <= e^(-t/n), n' = n/2, t = 2 n ln n",
               lambda n: 4 * n * log(n) * log1p(-0.5 / n), lambda n: -2 * log(n)),
    Inequality("Lemma 1", "P(not over after 2 ceil(n/n') t) <= n' e^(-t/n), n' = n/2",
               lambda n: epidemic(n, 8 * n * log(n), n // 2), lambda n: log(n / 2) - 2 * log(n)),
    Inequality("Section 3.1.1", "1/(2^i - 1) <= 2^(1-i), i = 2",
               lambda n: -log(3), lambda n: -log(2)),
    Inequality("Section 3.1.1", "P(2 winners) <= 2^(1-2)", lambda n: winners(n, 2),
               lambda n: -log(2)),
    Inequality("Section 3.1.1", "P(5 winners) <= 2^(1-5)", lambda n: winners(n, 5),
               lambda n: -4 * log(2)),
    Inequality("Section 3.1.1", "P(more than lg n heads) <= 1/n",
               lambda n: -(floor(lg(n)) + 1) * log(2), lambda n: -log(n)),
    Inequality("Section 3.1.2", "P(nonces of 5 tie) <= 4 * 2^(-ceil(lg m))",
               lambda n: log(tied(5, 2 ** ceil(lg(ceil(lg(n)))))),
               lambda n: log(4) - ceil(lg(ceil(lg(n)))) * log(2)),
    Inequality("Section 3.1.2", "(i-1) 2^(-ceil(lg m)) <= i/m <= i/lg n, i = 5",
               lambda n: log(4) - ceil(lg(ceil(lg(n)))) * log(2), lambda n: log(5 / ceil(lg(n)))),
    Inequality("Lemma 6", "(1 - 2/n)^(n ln n) <= n^-2",
               lambda n: n * log(n) * log1p(-2 / n), lambda n: -2 * log(n)),
    Inequality("Lemma 6", "P(somebody has no status after ceil(n ln n)) <= 1/n",
               lambda n: untouched(n, ceil(n * log(n))), lambda n: -log(n)),
    Inequality("Lemma 8", "58 ln n <= 41 lg n <= c_max", lambda n: log(58 * log(n)),
               lambda n: log(41 * lg(n))),
    Inequality("Lemma 8", "P(X >= c_max) <= e^(-(16/42)^2 E[X]/3)",
               lambda n: at_least(c_max(n), 21 * n * log(n), 2 / n),
               lambda n: -(16 / 42) ** 2 / 3 * floor(21 * n * log(n)) * 2 / n),
    Inequality("Lemma 8", "e^(-(16/42)^2 E[X]/3) <= e^(-2 ln n + 0.05)",
               lambda n: -(16 / 42) ** 2 / 3 * floor(21 * n * log(n)) * 2 / n,
               lambda n: -2 * log(n) + 0.05),
    Inequality("Lemma 8, P1", "P(somebody changes colour in 21 n ln n) <= e^0.05/n",
               lambda n: log(n) + at_least(c_max(n), 21 * n * log(n), 2 / n),
               lambda n: 0.05 - log(n)),
    Inequality("Lemma 8, P2", "P(the colour is not everywhere after 4 n ln n) <= n e^(-2 ln n)",
               lambda n: epidemic(n, 4 * n * log(n)), lambda n: -log(n)),
    Inequality("Lemma 7", "P(a timer has fewer than c_max of c_max n steps) <= e^(-c_max/4)",
               lambda n: at_most(c_max(n) - 1, c_max(n) * n, 2 / n), lambda n: -c_max(n) / 4),
    Inequality("Lemma 9", "n 2^(-c_max) <= n 2^(-41 lg n) <= 1/n",
               lambda n: log(n) - c_max(n) * log(2), lambda n: -40 * log(n)),
    Inequality("Lemma 9", "1/n <= (n/2)/C(n,2)", lambda n: -log(n), lambda n: -log(n - 1)),
    Inequality("Lemma 9", "n e^(-(2/3)^2 6 lg n/2) <= 1/n, the Chernoff step of 6 n lg n",
               lambda n: log(n) - 4 / 3 * lg(n), lambda n: -log(n), kind="mistake"),
    Inequality("Lemma 9", "n P(fewer than 2 lg n followers met in 6 n lg n) <= 1/n",
               lambda n: log(n) + at_most(ceil(2 * lg(n)) - 1, 6 * n * lg(n), 1 / n),
               lambda n: -log(n)),
    Inequality("Lemma 9", "ceil(n ln n) + ceil(6 n lg n) <= ceil(10 n ln n)",
               lambda n: log(ceil(n * log(n)) + ceil(6 * n * lg(n))),
               lambda n: log(ceil(10 * n * log(n)))),
    Inequality("Lemma 9", "n 2^(-2 lg n) <= 1/n", lambda n: log(n) - 2 * log(n),
               lambda n: -log(n)),
    Inequality("Lemma 9", "P(the level is not everywhere in V_A after 8 n ln n) <= 1/n",
               lambda n: epidemic(n, 8 * n * log(n), n // 2), lambda n: -log(n)),
    Inequality("Lemma 9", "ceil(10 n ln n) + ceil(8 n ln n) + 1 <= ceil(21 n ln n)",
               lambda n: log(ceil(10 * n * log(n)) + ceil(8 * n * log(n)) + 1),
               lambda n: log(ceil(21 * n * log(n)))),
    Inequality("Lemma 10", "ceil(17 n ln n) <= ceil(21 n ln n) - ceil(4 n ln n)",
               lambda n: log(ceil(17 * n * log(n))),
               lambda n: log(ceil(21 * n * log(n)) - ceil(4 * n * log(n))), kind="text"),
    Inequality("Lemma 10", "sum of i 2^(1-i) for i >= 2 <= 3",
               lambda n: log(sum(i * 2.0 ** (1 - i) for i in range(2, 60))), lambda n: log(3)),
    Inequality("Lemma 12", "floor(4 n ln n) + ceil(8 n ln n) <= floor(21 n ln n)",
               lambda n: log(floor(4 * n * log(n)) + ceil(8 * n * log(n))),
               lambda n: log(floor(21 * n * log(n)))),
    Inequality("Lemma 13", "1/2 <= P(floor(k/2) of k coins at most show head), k = n",
               lambda n: -log(2), half_or_more),
    Inequality("Lemma 13", "floor(k1/2) + k2/2 < floor(k/2), k = k1",
               lambda n: log(n // 2 + 1), lambda n: log(n // 2), kind="misprint"),
    Inequality("Lemma 13", "leaders of L_2 that survive <= k2/2, k2 = 1: it meets v_l as initiator",
               lambda n: 0.0, lambda n: log(0.5), kind="mistake"),
    Inequality("Lemma 14", "P(fewer than lg n of c_max - 1 trials of 1/4 succeed) <= (ln n)/n",
               lambda n: at_most(ceil(lg(n)) - 1, c_max(n) - 1, 0.25),
               lambda n: log(log(n) / n)),
    Inequality("Section 4", "C(n,2) 2^(-3 lg n) <= 1/n",
               lambda n: log(n * (n - 1) / 2) - 3 * log(n), lambda n: -log(n)),
]


def tau(n):
    return 144 * n * up(n) ** 2


def records(n, k):
    """ln P(the sum of trials of probabilities 1, 1/2, ..., 1/(n-1) is at least k)."""
    top = ceil(k)
    law = [1.0] + [0.0] * top
    for i in range(1, n):
        for j in range(min(i, top), 0, -1):
            stay = law[j] if j == top else law[j] * (1 - 1 / i)
            law[j] = stay + law[j - 1] / i
        law[0] *= 1 - 1 / i
    return log(law[top]) if law[top] else -math.inf


def meets_infected(n):
    """The largest probability of Lemma 5 that a virtual agent is in a step without infection."""
    return max((m - 1) / (m * (m - 1) / 2 + (n - m) * (n - m - 1) / 2)
               for m in range(2, n + 1))


def path(n, d, steps_per_agent):
    """4 d ceil(lg n) + 2 d H_n and what is lost in so many steps per agent."""
    return 4 * d * ceil(lg(n)) + 2 * d * harmonic(n) + steps_per_agent


def log_sum(*logs):
    most = max(logs)
    return most + log(sum(math.exp(each - most) for each in logs))


PPL = [
    Inequality("Section 4", "5 <= L = ceil(ln N) for N >= 55", lambda n: log(5),
               lambda n: log(up(n)), 55),
    Inequality("Lemma 4", "P(I(2t) is not V) <= n e^(-t/n), t = 2 n ln n",
               lambda n: epidemic(n, 4 * n * log(n)), lambda n: -log(n)),
    Inequality("Lemma 5", "1/2 <= P(x_i >= 2 x_(i-1)), the least over x <= n", lambda n: log(0.5),
               lambda n: log(min((x // 2) / (x - 1) for x in range(2, min(n, 5000))))),
    Inequality("Lemma 5", "P(Y <= ceil(lg n)) <= e^(-(5/6)^2 3 ceil(lg n)), d = 3",
               lambda n: at_most(ceil(lg(n)), 12 * ceil(lg(n)), 0.5),
               lambda n: -(5 / 6) ** 2 * 3 * ceil(lg(n))),
    Inequality("Lemma 5", "e^(-3 ceil(lg n) (5/6)^2) <= n^-3",
               lambda n: -(5 / 6) ** 2 * 3 * ceil(lg(n)), lambda n: -3 * log(n)),
    Inequality("Lemma 5", "1 <= log2(e) (5/6)^2", lambda n: 0.0,
               lambda n: log(25 / 36 / log(2))),
    Inequality("Lemma 5", "P(sum of W_i >= 6 H_(n-1)) <= 2^(-6 H_(n-1))",
               lambda n: records(n, 6 * harmonic(n - 1)),
               lambda n: -6 * harmonic(n - 1) * log(2), most=4096),
    Inequality("Lemma 5", "2^(-6 H_(n-1)) <= e^(-3 H_(n-1))",
               lambda n: -6 * harmonic(n - 1) * log(2), lambda n: -3 * harmonic(n - 1)),
    Inequality("Lemma 5", "e^(-3 H_(n-1)) <= n^-3", lambda n: -3 * harmonic(n - 1),
               lambda n: -3 * log(n)),
    Inequality("Lemma 5", "(m-1)/(C(m,2) + C(n-m,2)) <= 4/n, the largest over m",
               lambda n: log(meets_infected(n)), lambda n: log(4 / n), most=65536),
    Inequality("Lemma 5", "P(W' >= 24 t/n) <= 2^(-24 t/n), t = n ceil(ln n)",
               lambda n: at_least(24 * up(n), n * up(n), 4 / n), lambda n: -24 * up(n) * log(2)),
    Inequality("Lemma 5", "2^(-24 t/n) <= e^(-12 t/n)", lambda n: -24 * up(n) * log(2),
               lambda n: -12 * up(n)),
    Inequality("Lemma 5", "P(W' >= 8 t/n) <= e^(-4t/(3n)), t = n ceil(ln n)",
               lambda n: at_least(8 * up(n), n * up(n), 4 / n), lambda n: -4 / 3 * up(n)),
    Inequality("Corollary 7", "44 ceil(lg n) + 22 H_n + 144 L^2 <= the same with 1 + ln n for H_n",
               lambda n: log(path(n, 11, 144 * up(n) ** 2)),
               lambda n: log(44 * ceil(lg(n)) + 22 * (1 + log(n)) + 144 * up(n) ** 2), 55),
    Inequality("Corollary 7", "44 (1 + log2(e) L) + 22 (1 + L) + 144 L^2 <= 144 L^2 + 86 L + 66",
               lambda n: log(44 * (1 + up(n) / log(2)) + 22 * (1 + up(n)) + 144 * up(n) ** 2),
               lambda n: log(144 * up(n) ** 2 + 86 * up(n) + 66), 55),
    Inequality("Corollary 7", "144 L^2 + 86 L + 66 <= t_max/2 = 360 L^2",
               lambda n: log(144 * up(n) ** 2 + 86 * up(n) + 66),
               lambda n: log(360 * up(n) ** 2), 55),
    Inequality("Corollary 7", "e^(-3 L^2) <= N^-15", lambda n: -3 * up(n) ** 2,
               lambda n: -15 * log(n), 55),
    Inequality("Corollary 7", "n (2 n^-11 + n^(-72 L) + N^-15) <= 3 n^-10",
               lambda n: log(n) + log_sum(log(2) - 11 * log(n), -72 * up(n) * log(n),
                                          -15 * log(n)), lambda n: log(3) - 10 * log(n), 55),
    Inequality("Corollary 8", "12 ceil(lg n) + 6 H_n + 32 L <= 12 (1 + log2(e)L) + 6 + 6L + 32 L",
               lambda n: log(path(n, 3, 32 * up(n))),
               lambda n: log(12 * (1 + up(n) / log(2)) + 6 * (1 + up(n)) + 32 * up(n)), 55),
    Inequality("Corollary 8", "12 (1 + log2(e) L) + 6 (1 + L) + 32 L <= 56 L + 18",
               lambda n: log(12 * (1 + up(n) / log(2)) + 6 * (1 + up(n)) + 32 * up(n)),
               lambda n: log(56 * up(n) + 18), 55),
    Inequality("Corollary 8", "56 L + 18 < t_virus = 60 L", lambda n: log(56 * up(n) + 18),
               lambda n: log(60 * up(n)), 55),
    Inequality("Corollary 8", "n (2 n^-3 + N^-5 + N^-2) <= 2/n",
               lambda n: log(n) + log_sum(log(2) - 3 * log(n), -5 * log(n), -2 * log(n)),
               lambda n: log(2 / n), 55),
    Inequality("Lemma 9", "P(one agent has t_emit/2 of tau steps) <= e^(-6 L^2)",
               lambda n: at_least(360 * up(n) ** 2, tau(n), 2 / n), lambda n: -6 * up(n) ** 2, 55),
    Inequality("Lemma 9", "e^(-6 L^2) <= N^-30", lambda n: -6 * up(n) ** 2,
               lambda n: -30 * log(n), 55),
    Inequality("Lemmas 9, 10", "n P(one agent has t_emit/2 of tau steps) < N^-29",
               lambda n: log(n) + at_least(360 * up(n) ** 2, tau(n), 2 / n),
               lambda n: -29 * log(n), 55),
    Inequality("Lemma 12", "s/n <= (C(s,2) + s(n-s))/C(n,2), the worst s",
               lambda n: max(log((n - 1) / (2 * n - s - 1)) for s in range(1, n + 1)),
               lambda n: 0.0, most=65536),
    Inequality("Lemma 12", "H_n <= 1 + ceil(ln n)", lambda n: log(harmonic(n)),
               lambda n: log(1 + up(n))),
    Inequality("Lemma 12", "P(sum of X_j >= 2in/s) <= P(Y_s <= i), i = 60, s = 1",
               lambda n: at_most(59, 120 * n - 1, 1 / n), lambda n: at_most(60, 120 * n, 1 / n)),
    Inequality("Lemma 12", "P(Y_s <= i) <= e^(-i/4), i = 60, s = 1",
               lambda n: at_most(60, 120 * n, 1 / n), lambda n: -15.0),
    Inequality("Lemma 12", "P(RT(i) >= 2 i n (1 + ceil(ln n))) <= n e^(-i/4), i = 5 ceil(ln n)",
               lambda n: rounds(n, 5 * up(n), 10 * up(n) * n * (1 + up(n))),
               lambda n: log(n) - 5 * up(n) / 4, most=1024),
    Inequality("Corollary 13", "120 L (1 + ceil(ln n)) <= 144 L^2",
               lambda n: log(120 * up(n) * (1 + up(n))), lambda n: log(144 * up(n) ** 2), 55),
    Inequality("Corollary 13", "n e^(-t_virus/4) <= N^-14", lambda n: log(n) - 15 * up(n),
               lambda n: -14 * log(n), 55),
    Inequality("Corollary 13", "P(RT(t_virus) >= tau) <= N^-14",
               lambda n: rounds(n, 60 * up(n), tau(n)), lambda n: -14 * log(n), 55, most=1024),
    Inequality("Lemma 14", "N^-14 <= N^-29, as 1 - N^-29 + N^-14 is a probability",
               lambda n: -14 * log(n), lambda n: -29 * log(n), 55, "misprint"),
    Inequality("Lemma 17", "n e^(-t_max/4) <= 1/N", lambda n: log(n) - 180 * up(n) ** 2,
               lambda n: -log(n), 55),
    Inequality("Lemma 17", "P(RT(t_max) >= 2 n t_max (1 + ceil(ln n))) <= n e^(-t_max/4)",
               lambda n: rounds(n, 720 * up(n) ** 2, 1440 * n * up(n) ** 2 * (1 + up(n))),
               lambda n: log(n) - 180 * up(n) ** 2, 55, most=1024),
    Inequality("Lemma 17", "10 tau (1 + ceil(ln n)) <= 12 tau ceil(ln N)",
               lambda n: log(10 * (1 + up(n))), lambda n: log(12 * up(n)), 55),
    Inequality("Lemmas 18, 20", "3 n^-10 of Lemma 15 <= 1/N, N = n^12",
               lambda n: log(3) - 10 * log(n), lambda n: -12 * log(n), 55, "mistake"),
    Inequality("Lemma 19", "e^(t_emit/4) < N^-900", lambda n: 180.0 * up(n) ** 2,
               lambda n: -900 * log(n), 55, "misprint"),
    Inequality("Lemma 19", "P(one agent has at most t_emit of 5 tau steps) <= e^(-t_emit/4)",
               lambda n: at_most(720 * up(n) ** 2, 5 * tau(n), 2 / n),
               lambda n: -180.0 * up(n) ** 2, 55),
    Inequality("Lemma 19", "e^(-t_emit/4) < N^-900", lambda n: -180.0 * up(n) ** 2,
               lambda n: -900 * log(n), 55),
    Inequality("Lemma 20", "1 + ceil(i'/2) <= 1 + floor(i/2), i' = i = n - 1",
               lambda n: log(1 + ceil((n - 1) / 2)), lambda n: log(1 + (n - 1) // 2), 55, "text"),
    Inequality("Lemma 20", "1/2 <= P(at least ceil(i'/2) of i' shields are lost), i' = n",
               lambda n: log(0.5), half_or_more, 55),
    Inequality("Lemma 20", "1/4 <= P(a virus) P(ceil(i'/2) of i' shields are lost), i' = n",
               lambda n: log(0.25), lambda n: log(0.5) + half_or_more(n), 55),
    Inequality("Lemma 20", "4 n ceil(ln N) < 5 tau", lambda n: log(4 * n * up(n)),
               lambda n: log(5 * tau(n)), 55),
]

PRL = [
    Inequality("Lemma 10", "N <= n [N/n], the moves of a bullet in [N/n] rounds, N = n + 1",
               lambda n: log(n + 1), lambda n: log(n), kind="text"),
    Inequality("Lemma 10", "n (ceil(N/n) + 1) <= N + 2n, N = n + 1", lambda n: log(3 * n),
               lambda n: log(3 * n + 1)),
    Inequality("Lemma 10", "n (N + 2n) <= 3 n N, N = n", lambda n: log(3 * n * n),
               lambda n: log(3 * n * n)),
    Inequality("Lemma 5", "N - d_R(i-1) + 1 <= N - d_R(i), u_(i-1) leads, d_R(i) = 1, N = n",
               lambda n: log(n + 1), lambda n: log(n - 1), kind="mistake"),
    Inequality("Lemma 5", "d_L(i) <= N - d_R(i)", lambda n: log(n / 2), lambda n: log(n / 2)),
    Inequality("Claim 2", "d_R(i-1) + 1 <= d_R(i)", lambda n: log(3), lambda n: log(1),
               kind="misprint"),
    Inequality("Claim 3", "3s/4 <= leaders with a gap of at most 4n/s behind them, s = n/4",
               lambda n: log(3 * n / 16), lambda n: log(n / 4 - (n // 17))),
    Inequality("Claim 3", "n/2 <= leaders with two such gaps, s = n/4 leaders in all",
               lambda n: log(n / 2), lambda n: log(n / 4), kind="misprint"),
    Inequality("Claim 3", "1/2 <= P(half of three events of probability 1/2 occur)",
               lambda n: log(0.5), lambda n: log(0.25), kind="mistake"),
    Inequality("Claim 3", "(s/2)(1/2)(1/3) <= s (1 - 11/12)", lambda n: log(1 / 12),
               lambda n: log(1 / 12)),
    Inequality("Lemma 13", "sum of (11/12)^i <= 12 = O(1)",
               lambda n: log(sum((11 / 12) ** i for i in range(ceil(log(n) / log(12 / 11)) + 1))),
               lambda n: log(12)),
]


def meetings(a, m, agents):
    """Steps and probability: how often one of so many agents is in a m ln m steps of its group."""
    return a * m * log(m), 2 / agents


ELECTLEADER = [
    Inequality("Abstract", "log n (log^2 n)^2 <= log^3 n, the bits for r = log^2 n",
               lambda n: 5 * log(log(n)), lambda n: 3 * log(log(n)), kind="mistake"),
    Inequality("Section 3.1", "n^2 ln n <= n(n-1)/2, the mean time in which a message is found",
               lambda n: log(n * n * log(n)), lambda n: log(n * (n - 1) / 2), kind="mistake"),
    Inequality("Lemma A.1 (1)", "P(X > alpha t/n) <= e^(-(alpha-1)^2 t/((alpha+1)n)), t = 4 n ln n",
               lambda n: at_least(floor(28 * log(n)) + 1, 4 * n * log(n), 2 / n),
               lambda n: -18 * log(n), kind="mistake"),
    Inequality("Lemma A.1 (1)", "e^(36 t/(8n)) <= n^-4", lambda n: 18 * log(n),
               lambda n: -4 * log(n), kind="misprint"),
    Inequality("Lemma A.1 (2)", "n P(X > 7 t/n) <= n^-2",
               lambda n: log(n) + at_least(floor(28 * log(n)) + 1, 4 * n * log(n), 2 / n),
               lambda n: -2 * log(n)),
    Inequality("Lemma A.1 (3)", "P(X < t/(7n)) <= e^(-(1 - 1/14)^2 t/n)",
               lambda n: at_most(ceil(4 / 7 * log(n)) - 1, 4 * n * log(n), 2 / n),
               lambda n: -4 * (13 / 14) ** 2 * log(n)),
    Inequality("Lemma A.1 (3)", "e^(-(1 - 1/(2 alpha))^2 t/n) <= e^(-9t/(10n))",
               lambda n: -4 * (13 / 14) ** 2 * log(n), lambda n: -3.6 * log(n), kind="mistake"),
    Inequality("Lemma A.1 (3)", "e^(-9t/(10n)) <= n^(-7/2)", lambda n: -3.6 * log(n),
               lambda n: -3.5 * log(n)),
    Inequality("Lemma A.2", "n P(an epidemic takes more than 7 n ln n) <= 1/n",
               lambda n: log(n) + epidemic(n, 7 * n * log(n)), lambda n: -log(n)),
    Inequality("Lemma B.1", "1/(2N) <= (1/2 - 1/(10 lg N))^(lg N), N = n^3",
               lambda n: -log(2) - 3 * log(n), lambda n: 3 * lg(n) * log(0.5 - 1 / (30 * lg(n)))),
    Inequality("Lemma B.1", "(1/2 + 1/(10 lg N))^(lg N) <= 2/N",
               lambda n: 3 * lg(n) * log(0.5 + 1 / (30 * lg(n))), lambda n: log(2) - 3 * log(n)),
    Inequality("Lemma B.1", "(1/2 + 1/(10 ln N))^(ln N) <= 2/N, all logarithms are natural",
               lambda n: 3 * log(n) * log(0.5 + 1 / (30 * log(n))),
               lambda n: log(2) - 3 * log(n), kind="misprint"),
    Inequality("Corollary C.3", "2 + R_max + D_max states <= 181 ln n, D_max = 2 R_max = 120 ln n",
               lambda n: log(2 + 180 * log(n)), lambda n: log(181 * log(n))),
    Inequality("Lemma D.1", "bits of the printed sum <= 4 r lg n, r = 1, c = 2, c_sleep = 13",
               lambda n: log(lg(n + (2 + 4 * n + (2 * n + 1) * 13 * log(n)) * (2 * n + 1))),
               lambda n: log(4 * lg(n))),
    Inequality("Lemma D.5", "1/n <= 2 (n/2)/(n(n-1))", lambda n: -log(n), lambda n: -log(n - 1)),
    Inequality("Lemma D.5", "badges after an interaction <= r/2, with an agent in leader election",
               lambda n: log(n / 4), lambda n: log(n / 8), kind="mistake"),
    Inequality("Lemma D.5", "P(X < lg r) <= P(X < lg r - 1), b = 10",
               lambda n: at_most(ceil(lg(n / 4)) - 1, 10 * n * log(n), 1 / n),
               lambda n: at_most(ceil(lg(n / 4)) - 2, 10 * n * log(n), 1 / n), kind="misprint"),
    Inequality("Lemma D.5", "P(Z < lg r) <= e^(-(1 - lg r/(b ln n))^2 b ln n/2), b = 10",
               lambda n: at_most(ceil(lg(n / 4)) - 1, 10 * n * log(n), 1 / n),
               lambda n: -5 * log(n) * (1 - lg(n / 4) / (10 * log(n))) ** 2),
    Inequality("Lemma D.5", "e^(-(1 - lg r/(b ln n))^2 b ln n/2) <= n^(-(1 - log2(e)/b)^2 b/2)",
               lambda n: -5 * log(n) * (1 - lg(n / 4) / (10 * log(n))) ** 2,
               lambda n: -5 * log(n) * (1 - 0.1 / log(2)) ** 2),
    Inequality("Lemma D.5", "n^(-(1 - log2(e)/b)^2 b/2) <= n^-3, b = 10",
               lambda n: -5 * log(n) * (1 - 0.1 / log(2)) ** 2, lambda n: -3 * log(n)),
    Inequality("Lemma D.8", "n (1 - 2(1-1/c) r/(n(n-1)))^t <= n n^-4, c = 2",
               lambda n: log(n) + 16 * (n - 1) * log(n) * log1p(-0.25 / (n - 1)),
               lambda n: -3 * log(n)),
    Inequality("Lemma D.8", "4 ln n n(n-1)/(2(1-1/c)r) <= 2 n^2 ln n/((1-1/c)r)",
               lambda n: log(n - 1), lambda n: log(n)),
    Inequality("Lemma D.9", "n P(Steps >= c_sleep ln n) <= n^(1-f'), c_sleep = 3f', f' = 4.1",
               lambda n: log(n) + at_least(12.3 * log(n), 4.1 * n * log(n), 2 / n),
               lambda n: -3.1 * log(n), kind="mistake"),
    Inequality("Lemma D.9", "n^(1-f') <= n^-3, f' > 4", lambda n: -3.1 * log(n),
               lambda n: -3 * log(n)),
    Inequality("Lemma D.10", "C(n,2) 2/n^3 <= 1/n", lambda n: log((n - 1) / n ** 2),
               lambda n: -log(n)),
    Inequality("Lemma D.10", "4 n^6 14 ln n states <= n^8 = 2^O(log n)",
               lambda n: log(56 * log(n)) + 6 * log(n), lambda n: 8 * log(n)),
    Inequality("Appendix D.2", "4 n^6 14 ln n states <= 56 n^3, \"O(n^3)\"",
               lambda n: log(56 * log(n)) + 6 * log(n), lambda n: log(56) + 3 * log(n),
               kind="mistake"),
    Inequality("Lemma D.10", "n P(14 ln n of 14 n ln n steps are one agent's) <= 1/n, \"c > 14\"",
               lambda n: log(n) + at_least(14 * log(n), 14 * n * log(n), 2 / n),
               lambda n: -log(n), kind="mistake"),
    Inequality("Lemma E.3", "1/(2m) <= P(two agents of one rank meet), m of 2m - 1 agents have it",
               lambda m: -log(2 * m), lambda m: log(m / (2 * (2 * m - 1)))),
    Inequality("Lemmas E.3, E.7", "1/(2m) <= P(two agents of one rank meet), m/2 ranks twice",
               lambda m: -log(2 * m), lambda m: log(4 / (9 * m - 6)), kind="mistake"),
    Inequality("Lemma E.3", "(1 - 1/(2m))^(6 m ln m) <= m^-3",
               lambda m: 6 * m * log(m) * log1p(-0.5 / m), lambda m: -3 * log(m)),
    Inequality("Lemma E.4", "P(at most half of the mean a ln m) <= m^(-a/8), a = 17, eta = 2m",
               lambda m: at_most(8.5 * log(m), *meetings(17, m, 2 * m)),
               lambda m: -17 / 8 * log(m)),
    Inequality("Lemma E.4", "P(at least twice the mean 2 a ln m) <= m^(-2a/3), eta = m",
               lambda m: at_least(68 * log(m), *meetings(17, m, m)), lambda m: -34 / 3 * log(m)),
    Inequality("Lemma E.5", "P(no new signature in c m ln m) <= m^-2, c = 33, eta = 2m - 1",
               lambda m: at_most(ceil(33 * log(m)) - 1, *meetings(33, m, 2 * m - 1)),
               lambda m: -2 * log(m), kind="mistake"),
    Inequality("Lemma E.5", "(4m^3 + m)/m^5 <= 1/m", lambda m: log(4 / m ** 2 + m ** -4.0),
               lambda m: -log(m)),
    Inequality("Lemma E.5", "P(a new signature in (c/8) m ln m) <= m^-2, eta = m",
               lambda m: at_least(33 * log(m), *meetings(33 / 8, m, m)), lambda m: -2 * log(m)),
    Inequality("Lemma E.6", "4m <= 2 eta, the discrepancy at the start, eta = m",
               lambda m: log(4 * m), lambda m: log(2 * m), kind="mistake"),
    Inequality("Lemma E.1", "2r (2r-1)/(n(n-1)) < 4r^2/n^2, r = n/4",
               lambda n: log((n / 2 - 1) / (2 * (n - 1))), lambda n: log(0.25)),
    Inequality("Lemma F.4 (11)", "(1 - 1/(3(n-1)))^(c n ln n) <= (1 - 1/(3n))^(c n ln n), c = 6",
               lambda n: 6 * n * log(n) * log1p(-1 / (3 * n - 3)),
               lambda n: 6 * n * log(n) * log1p(-1 / (3 * n))),
    Inequality("Lemma F.4 (11)", "(1 - 1/(3n))^(c n ln n) <= n^(-c/3)",
               lambda n: 6 * n * log(n) * log1p(-1 / (3 * n)), lambda n: -2 * log(n)),
    Inequality("Observation F.1", "n P(an agent is in P_max of n P_max/8) <= n^-2, P_max = 32 ln n",
               lambda n: log(n) + at_least(32 * log(n), 4 * n * log(n), 2 / n),
               lambda n: -2 * log(n)),
    Inequality("Lemma F.4", "n P(8 c_epi ln n of c_epi n ln n steps are one agent's) <= n^-2",
               lambda n: log(n) + at_least(56 * log(n), 7 * n * log(n), 2 / n),
               lambda n: -2 * log(n)),
]


def referees(n):
    return sqrt(4 * n * lg(n))


def phases(n):
    return ceil(lg(referees(n))) + 1


def rho(n):
    return phases(n) - ceil(lg(lg(n))) - 5


def left_over(n):
    """n/4^k for the last phase k < rho of Lemma 6, whose candidates are the fewest."""
    return n / 4 ** (rho(n) - 1)


def disjoint(n, size):
    """ln P(two sets of so many of n - 1 neighbours have nothing in common)."""
    size = min(ceil(size), n - 1)
    return log_choose(n - 1 - size, size) - log_choose(n - 1, size)


def avoided(n, draws, others):
    """ln P(none of so many draws, with repetition, is one of `others` independent ones of n)."""
    law = {0: 1.0}  # different ones among the draws so far
    for _ in range(draws):
        law = {k: law.get(k, 0.0) * k / n + law.get(k - 1, 0.0) * (n - k + 1) / n
               for k in range(1, max(law) + 2)}
    return log(math.fsum(p * math.exp(others * log1p(-k / n)) for k, p in law.items()))


KMPP = [
    Inequality("Lemma 2", "C(n,2) n^-4 <= n^-2", lambda n: log((n - 1) / 2) - 3 * log(n),
               lambda n: -2 * log(n)),
    Inequality("Lemma 3", "6 units from a request to its answer <= 4, \"the largest delay\"",
               lambda n: log(6), lambda n: log(4), kind="mistake"),
    Inequality("Lemma 4", "H_n - 1 <= ln n", lambda n: log(harmonic(n) - 1), lambda n: log(log(n))),
    Inequality("Lemma 6", "(1 - 1/n)^(25 n/4) <= e^(-25/4)",
               lambda n: 6.25 * n * log1p(-1 / n), lambda n: -6.25),
    Inequality("Lemma 6", "5n/2^(k+3) <= m_0 = 10 * 2^k ceil(n/4^k)/16, k = rho - 1",
               lambda n: log(5 * n) - (rho(n) + 2) * log(2),
               lambda n: log(ceil(left_over(n)) / 16 * 10) + (rho(n) - 1) * log(2), 16384),
    Inequality("Lemma 6", "P(a referee is not in top) <= 15/16, k = rho - 1",
               lambda n: log1p(-left_over(n) / 4 / n), lambda n: log(15 / 16), 16384, "mistake"),
    Inequality("Lemma 6", "P(20 referees with repetition are free) <= (1 - 1/n)^(20 m_0), k = 1",
               lambda n: avoided(n, 20, 20 * n / 64), lambda n: 20 * 20 * n / 64 * log1p(-1 / n),
               16384, "mistake"),
    Inequality("Lemma 6", "P(20 different referees are free) <= (1 - 1/n)^(20 m_0), k = 1",
               lambda n: 20 * n / 64 * log1p(-20 / n), lambda n: 20 * 20 * n / 64 * log1p(-1 / n),
               16384),
    Inequality("Lemma 6", "(15/16) ceil(n/4^(k-1)) <= (15/2) n/4^k",
               lambda n: log(15 / 16 * ceil(4 * left_over(n))), lambda n: log(7.5 * left_over(n)),
               16384),
    Inequality("Lemma 6", "(15/2) e^(-25/4) <= 1/16", lambda n: log(7.5) - 6.25,
               lambda n: log(1 / 16)),
    Inequality("Lemma 6", "e^(-(1/3)(1/16) n/4^k) <= n^-3, k = rho - 1, the second bound of [35]",
               lambda n: -left_over(n) / 48, lambda n: -3 * log(n), 16384, "mistake"),
    Inequality("Lemma 6", "P(NR_B > 2 E[NR_B]) <= n^-3, (15/16) 4n/4^k trials of e^(-25/4)",
               lambda n: at_least(floor(7.5 * left_over(n) * math.exp(-6.25)) + 1,
                                  3.75 * left_over(n), math.exp(-6.25)),
               lambda n: -3 * log(n), 16384, "mistake"),
    Inequality("Lemma 6", "P(NR_B > (2/16) n/4^k) <= n^-3, which is what is needed",
               lambda n: at_least(floor(left_over(n) / 8) + 1, 3.75 * left_over(n),
                                  math.exp(-6.25)), lambda n: -3 * log(n), 16384),
    Inequality("Lemma 6", "(1/16) ceil(n/4^(k-1)) + (2/16) n/4^k <= ceil(n/4^k)",
               lambda n: log(ceil(4 * left_over(n)) / 16 + left_over(n) / 8),
               lambda n: log(ceil(left_over(n))), 16384),
    Inequality("Footnote 14", "10 * 2^rho <= ceil(sqrt(4 n lg n))",
               lambda n: log(10) + rho(n) * log(2), lambda n: log(ceil(referees(n))), 16384),
    Inequality("Lemma 7", "ceil(sqrt(4 n lg n)) <= 10 * 2^(K-1)", lambda n: log(ceil(referees(n))),
               lambda n: log(10) + (phases(n) - 1) * log(2)),
    Inequality("Lemma 7", "(1 - 1/n)^(4 n lg n) <= n^-4", lambda n: 4 * n * lg(n) * log1p(-1 / n),
               lambda n: -4 * log(n)),
    Inequality("Lemma 7", "P(no referee in common) <= n^-4", lambda n: disjoint(n, referees(n)),
               lambda n: -4 * log(n)),
    Inequality("Lemma 7", "ceil(n/4^(rho-1)) <= ceil(2^13 lg n)",
               lambda n: log(ceil(left_over(n))), lambda n: log(2 ** 13 * lg(n)), 16384),
    Inequality("Lemma 7", "ceil(2^13 lg n) n^-4 <= n^-3",
               lambda n: log(2 ** 13 * lg(n)) - 4 * log(n), lambda n: -3 * log(n), kind="large n"),
    Inequality("Lemma 8", "sum of 20 * 2^(j+1), j <= i <= 5 * 2^(i+4), i = rho",
               lambda n: log(20 * (2 ** (rho(n) + 2) - 4)), lambda n: log(5 * 2 ** (rho(n) + 4)),
               16384),
    Inequality("Lemma 8", "2s(1 + i - psi) + 5 * 2^(psi+4) <= 2(i + 5 - psi)s, i = psi + 1",
               lambda n: log(4 * ceil(referees(n)) + 80 * 2 ** floor(lg(ceil(referees(n)) / 10))),
               lambda n: log(12 * ceil(referees(n)))),
    Inequality("Lemma 10", "(1 - 2 lg n/sqrt(n))^(2 sqrt(n) lg n) <= e^(-2 lg n)",
               lambda n: 2 * sqrt(n) * lg(n) * log1p(-2 * lg(n) / sqrt(n)), lambda n: -2 * lg(n),
               1024),
    Inequality("Lemma 10", "P(no referee in common) <= 1/n^2",
               lambda n: disjoint(n, 2 * sqrt(n) * lg(n)), lambda n: -2 * log(n)),
    Inequality("Lemma 10", "(n-1)/n^2 <= 1/n", lambda n: log(n - 1) - 2 * log(n),
               lambda n: -log(n)),
    Inequality("Lemma 11", "P(|Z_1| >= 6 n^(1/3)) <= 2^(-6 n^(1/3))",
               lambda n: at_least(6 * n ** (1 / 3), n, n ** (-2 / 3)),
               lambda n: -6 * n ** (1 / 3) * log(2)),
    Inequality("Lemma 11", "(1 - n^(-2/3))^(n^(7/9)) <= e^(-n^(1/9))",
               lambda n: n ** (7 / 9) * log1p(-n ** (-2 / 3)), lambda n: -n ** (1 / 9)),
    Inequality("Lemma 11", "e^(-n^(1/9)) <= 1/n, \"with high probability\" with c = 1",
               lambda n: -n ** (1 / 9), lambda n: -log(n), kind="large n"),
    Inequality("Lemma 11", "6 n^(1/3) + 12 n^(4/9) <= 18 n^(4/9)",
               lambda n: log(6 * n ** (1 / 3) + 12 * n ** (4 / 9)),
               lambda n: log(18) + 4 / 9 * log(n)),
    Inequality("Lemma 11", "n^(4/9) sqrt(n) lg n <= n",
               lambda n: 17 / 18 * log(n) + log(lg(n)), log, kind="large n"),
]

PAPERS = {"pll": PLL, "ppl": PPL, "prl": PRL, "electleader": ELECTLEADER, "kmpp": KMPP}


class Result(NamedTuple):
    n: int
    left: float
    right: float

    @property
    def holds(self):
        return self.left - self.right <= 1e-9


def worst(inequality):
    """Its sides at the n of the grid where it is closest to failing, or fails most."""
    sizes = [n for n in GRID if inequality.least <= n <= inequality.most]
    found = [Result(n, inequality.left(n), inequality.right(n)) for n in sizes]
    return max(found, key=lambda result: result.left - result.right)


def shown(logarithm):
    """e^logarithm with three digits, also where that is no double."""
    if -600 < logarithm < 600:
        return f"{math.exp(logarithm):.3g}"
    power, rest = divmod(logarithm / log(10), 1)
    return f"{10 ** rest:.2f}e{int(power):+d}"


def main(*words):
    papers = [word for word in words if word != "--failing"]
    print(f"{'PLACE':<15} {'AS PRINTED: LEFT <= RIGHT':<74} {'N':>7} {'LEFT':>10} {'RIGHT':>10} "
          f"{'RATIO':>10}  VERDICT")
    kinds = collections.Counter()
    for paper in papers or PAPERS:
        print(f"{paper}: {len(PAPERS[paper])}")
        for entry in PAPERS[paper]:
            result = worst(entry)
            verdict = "holds" if result.holds else f"FAILS: {entry.kind}"
            kinds[verdict] += 1
            if result.holds and "--failing" in words:
                continue
            print(f"{entry.place:<15} {entry.text:<74} {result.n:>7} {shown(result.left):>10} "
                  f"{shown(result.right):>10} {shown(result.left - result.right):>10}  {verdict}")
    print(f"{kinds.total()} inequalities, {kinds.total() - kinds['holds']} fail: " + ", ".join(
        f"{count} {kind[7:]}" for kind, count in kinds.most_common() if kind != "holds"))


if __name__ == "__main__":
    main(*sys.argv[1:])
