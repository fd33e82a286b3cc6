#!/usr/bin/env python3
"""The first three examples of ppsim's page (Doty and Severson, CMSB 2021) at their sizes, drawn
from conclave's engines: approximate majority of 10^9 agents, discrete averaging of 10^6, and the
leader election of Berenbrink, Kaaser, Kling and Otterbach (SOSA 2018) with 10^9 agents.

    PYTHONPATH=build/release/python python3 examples/ppsim_page.py docs/pictures/ppsim-page.svg
"""

import dataclasses
import math
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "conclave", "font.size": 9})

import matplotlib.pyplot as pyplot  # noqa: E402

from conclave.ppsim import Simulation  # noqa: E402


def draw_majority(axes):
    n = 10**9
    rules = {("A", "B"): ("U", "U"), ("A", "U"): ("A", "A"), ("B", "U"): ("B", "B")}
    sim = Simulation({"A": 0.501 * n, "B": 0.499 * n}, rules, seed=1)
    sim.run(10, 0.1)
    sim.run()
    sim.history.plot(ax=axes, title="approximate majority, n = 10⁹: agents")
    return sim


def draw_averaging(axes):
    n = 10**6

    def averages(a, b):
        return (a + b) // 2, (a + b + 1) // 2

    sim = Simulation({0: n // 2, 50: n // 2}, averages, seed=1)
    sim.run(lambda config: max(config) - min(config) <= 2, 0.1)
    history = sim.history
    for time in (1, 2, 4, history.index[-1]):
        line = history.iloc[abs(history.index - time).argmin()]
        axes.plot(sim.state_list, line.to_numpy(), label=f"time {time:.3g}")
    axes.set_yscale("symlog")
    axes.set_ylim(0, 10**8)  # room for the legend
    axes.set_title("discrete averaging, n = 10⁶: agents")
    axes.set_xlabel("value")
    axes.legend(loc="upper center", ncol=4, columnspacing=0.8, handlelength=0.8, fontsize="small")
    return sim


@dataclasses.dataclass(unsafe_hash=True)
class Agent:
    leads: bool = True
    bit: int = 0
    marked: bool = False
    is_marking: bool = True
    counter: int = 0


def updated(own, other, rounds, most):
    """Agents first count to `rounds` lots of heads, and the few that succeed mark themselves; then
    contenders count marked agents, and who has counted less gives up."""
    own = dataclasses.replace(own)
    if own.is_marking:
        if own.counter >= 3 * rounds and other.bit == 0:
            own.is_marking = False
        else:
            own.counter += 1
        if own.counter == 4 * rounds:
            own.marked, own.is_marking = True, False
    if not own.is_marking:
        if own.leads:
            own.counter += bool(other.marked and own.counter <= most)
            is_beaten = other.leads and own.counter == other.counter and own.bit < other.bit
            own.leads = not is_beaten and own.counter >= other.counter
        own.counter = max(own.counter, other.counter)
    own.bit = 1 - own.bit
    return own


def meet(u, v, rounds, most):
    return updated(u, v, rounds, most), updated(v, u, rounds, most)


def draw_election(axes):
    n = 10**9
    logarithm = int(math.log2(n))
    sim = Simulation({Agent(): n}, meet, rounds=int(math.log2(logarithm)), most=4 * logarithm,
                     seed=1)
    sim.run(lambda config: sum(count for agent, count in config.items() if agent.leads) == 1, 1.0)
    leaders = [sum(int(count) for agent, count in zip(sim.state_list, config) if agent.leads)
               for config in sim.configs]
    axes.plot(sim.times, leaders)
    axes.set_yscale("log")
    axes.set_title("leader election, n = 10⁹: contenders")
    axes.set_xlabel("time (n interactions)")
    return sim


def main():
    figure, places = pyplot.subplots(1, 3, figsize=(12, 3.4))
    for draw, axes in zip((draw_majority, draw_averaging, draw_election), places):
        sim = draw(axes)
        print(f"{len(sim.state_list)} states, {sim.n} agents, time {sim.time:g}", flush=True)
    figure.tight_layout()
    figure.savefig(sys.argv[1], metadata={"Date": None})


if __name__ == "__main__":
    main()
