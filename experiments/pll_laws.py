#!/usr/bin/env python3
"""Lemmas 9 and 10 and the shares of Theorem 1 of pll by formula, and stored trials held to them.

Usage: pll_laws.py RESULTS.db [CONCLAVE]

QuickElimination is a lottery among the L leaders that the first interactions make: each throws a
coin until it shows tail, and those with the most heads win. The law of L is exact for every n (a
chain over the agents without a status), and that of the winners given L is a sum. Tournament lets
the winners draw one of 2^k values; the largest must be unique. Epidemics that are not over in time
are left out: their probability is below 10^-7 (inequalities.md). For large n the winners tend,
up to oscillations of 10^-5, to P(i) = 1/(i 2^i ln 2), and the share of epoch 3 to 1/(4 ln 2) / 2^k.

The last column is the p-value of a chi-square test of the winners 1, 2, ..., 6 and more.
"""
import collections
import json
import math
import subprocess
import sys

MOST = 6  # the last class holds this many winners and more


def leaders_law(n):
    """P(L = l) as a dictionary; what is below 10^-20 is left out."""
    before, now = {0: 1.0}, {0: 1.0}  # with x - 2 and x - 1 agents left without a status
    for x in range(2, n + 1):
        both = (x - 1) / (x - 1 + 2 * (n - x))  # of the interactions that give a status
        after = collections.defaultdict(float)
        for l, p in now.items():
            after[l] += (1 - both) * p
        for l, p in before.items():
            after[l + 1] += both * p
        before, now = now, {l: p for l, p in after.items() if p > 1e-20}
    return now


def winners_law(players):
    """P(i players win) for i = 1, ..., players up to 40."""
    found = []
    for i in range(1, min(players, 40) + 1):
        ways = math.lgamma(players + 1) - math.lgamma(i + 1) - math.lgamma(players - i + 1)
        found.append(sum(math.exp(ways - i * (s + 1) * math.log(2)
                                  + (players - i) * math.log1p(-2.0 ** -s))
                         for s in range(max(1, int(math.log2(players)) - 6), 80))
                     + (2.0 ** -players if i == players else 0.0))
    return found


def winners(n):
    """P(i leaders are left after QuickElimination) for i = 1, 2, ..."""
    total = [0.0] * 40
    for players, p in leaders_law(n).items():
        for i, q in enumerate(winners_law(players)):
            total[i] += p * q
    return total


def limit(i):
    return 1 / (i * 2 ** i * math.log(2))


def tie(i, values):
    """P(the largest of i values that are uniform on so many is not unique)."""
    return 1 - i / values * sum((x / values) ** (i - 1) for x in range(values))


def share_of_epoch_3(law, m):
    values = 2 ** math.ceil(math.log2(m))
    return sum(p * tie(i, values) for i, p in enumerate(law, 1) if i > 1)


def p_value(statistic, degrees):
    """P(chi-square >= statistic): the incomplete gamma function by its series."""
    a, x = degrees / 2, statistic / 2
    term = total = 1 / a
    j = a
    while term > 1e-17 * total:
        j += 1
        term *= x / j
        total += term
    return max(0.0, 1 - total * math.exp(a * math.log(x) - x - math.lgamma(a)))


def fit(counts, law):
    """The p-value of these counts of 1, 2, ... winners."""
    trials = sum(counts.values())
    expected = [trials * p for p in law[:MOST - 1]]
    expected.append(trials - sum(expected))
    seen = [counts[i] for i in range(1, MOST)]
    seen.append(trials - sum(seen))
    while expected[-1] < 10:
        expected[-2:], seen[-2:] = [sum(expected[-2:])], [sum(seen[-2:])]
    return p_value(sum((s - e) ** 2 / e for s, e in zip(seen, expected)), len(seen) - 1)


def cells(results, conclave):
    """(n, m) -> winners and epochs of the trials of pll, each trial once."""
    run = subprocess.run([conclave, "results", results, "--where", "protocol=pll", "--format",
                          "jsonl"], capture_output=True, text=True, check=True)
    found = collections.defaultdict(dict)
    for line in run.stdout.splitlines():
        row = json.loads(line)
        seen = row["observables"]
        found[row["n"], row["params"]["m"]][row["seed"], row["trial"]] = (
            seen["leaders_after_quick_elimination"], seen["epoch_at_convergence"])
    return {at: list(rows.values()) for at, rows in found.items()}


def main(results, conclave="conclave"):
    print("WINNERS        1        2        3        4        5   TRIALS  P-VALUE")
    print("limit   " + " ".join(f"{limit(i):8.5f}" for i in range(1, MOST)))
    stored, laws = cells(results, conclave), {}
    for n, m in sorted(stored):
        if n > 16384 or n in laws:
            continue
        laws[n] = winners(n)
        counts = collections.Counter(won for won, _ in stored[n, m])
        trials = len(stored[n, m])
        print(f"{n:<8}" + " ".join(f"{p:8.5f}" for p in laws[n][:MOST - 1]) +
              f" {trials:8} {fit(counts, laws[n]):8.3f}")
        print("  stored" + " ".join(f"{counts[i] / trials:8.5f}" for i in range(1, MOST)))
    print("\nEPOCH 3      M  2^K * SHARE  STORED SHARE  BY FORMULA  STANDARD ERRORS APART")
    for (n, m), rows in sorted(stored.items()):
        if n in laws:
            share = share_of_epoch_3(laws[n], m)
            seen = sum(epoch == 3 for _, epoch in rows) / len(rows)
            error = math.sqrt(share * (1 - share) / len(rows))
            print(f"{n:<9} {m:>4} {2 ** math.ceil(math.log2(m)) * share:12.4f} {seen:13.5f} "
                  f"{share:11.5f} {(seen - share) / error:22.2f}")
    print(f"limit {1 / (4 * math.log(2)):21.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
