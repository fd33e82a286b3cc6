#!/usr/bin/env python3
"""The constant of prl's n², without agents: only the leaders, their bullets and their signals.

Usage: prl_limit.py [TRIALS [LEADERS [SEED]]]

A bullet or a signal that must cross d agents waits for d given meetings one after the other, n
interactions each on average. With n -> infinity a crossing of a share x of the ring takes x n²
interactions, and its deviation vanishes like 1/sqrt(n); so do the waits at a leader. Once there are
leaders, Algorithm 1 is then the following game. A leader fires to the right, live behind its shield
or a dummy without it, each with probability 1/2. The bullet flies to the next leader, and a live
one kills it if it has no shield. A leader that stays sends a signal back to the left, which flies
to the nearest leader there; that one fires when it arrives. When a leader falls, what is on its
way to or from its right neighbour goes on.

The start is LEADERS leaders at random places of the ring, who have all just fired live bullets. The
time until one is left, in units of n² interactions, has a limit for many leaders: early falls cost
time of the order of 1 / LEADERS.
"""
import heapq
import random
import statistics
import sys


class Gap:
    """Between a leader and the next one to its right a bullet or a signal is on its way."""

    def __init__(self, left, right, arrival):
        self.left, self.right = left, right
        self.arrival = arrival
        self.has_bullet, self.is_live = True, True


def time_to_one_leader(leaders, draw):
    place = sorted(draw.random() for _ in range(leaders))
    shield = [True] * leaders

    def length(left, right):
        return (place[right] - place[left]) % 1 or 1.0

    gaps = [Gap(u, (u + 1) % leaders, 0.0) for u in range(leaders)]  # by its leader on the left
    for gap in gaps:
        gap.arrival = length(gap.left, gap.right)
    events = [(gap.arrival, number, gap) for number, gap in enumerate(gaps)]
    heapq.heapify(events)
    number, left_over = leaders, leaders
    while left_over > 1:
        now, _, gap = heapq.heappop(events)
        if now < gap.arrival:
            pass  # a signal whose leader fell, and which flies on to the next one
        elif not gap.has_bullet:
            gap.has_bullet, gap.is_live = True, draw.random() < 0.5
            shield[gap.left] = gap.is_live
            gap.arrival = now + length(gap.left, gap.right)
        elif gap.is_live and not shield[gap.right]:
            left_over -= 1
            joined = gaps[gap.right]
            if not joined.has_bullet:
                joined.arrival += length(gap.left, gap.right)
            joined.left = gap.left
            gaps[gap.left] = joined
            continue
        else:
            gap.has_bullet = False
            gap.arrival = now + length(gap.left, gap.right)
        number += 1
        heapq.heappush(events, (gap.arrival, number, gap))
    return now


def main():
    words = sys.argv[1:] + ["1000", "300", "1"][len(sys.argv) - 1:]
    trials, leaders, seed = map(int, words)
    draw = random.Random(seed)
    times = [time_to_one_leader(leaders, draw) for _ in range(trials)]
    mean, deviation = statistics.fmean(times), statistics.stdev(times)
    error = 1.96 * deviation / trials ** 0.5
    print(f"{leaders} leaders, {trials} trials: {mean:.4f} ± {error:.4f} n² until one is left, "
          f"standard deviation {deviation:.3f}")


if __name__ == "__main__":
    main()
