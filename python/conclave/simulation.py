"""One trial to explore: advance it, sample it, branch it, inject faults."""

from __future__ import annotations

import math
import os
from fractions import Fraction
from typing import Any, Callable, Mapping, Union

from . import _core
from ._keywords import options_of
from ._optional import needed
from ._run import run_options
from ._words import fraction
from .protocol import Protocol, State, find

Condition = Union[str, Callable[["Simulation"], bool]]


def _time(value: Any) -> Fraction:
    """A time as the engines take it: the fraction itself, or the nearest one with a denominator of
    62 bits."""
    exact = fraction(value)
    return exact if exact.denominator < 2**63 else exact.limit_denominator(2**62)


def _is_count(value: Any, most: int = 2**126) -> bool:
    return type(value) is int and 0 <= value <= most


def _is_option(value: Any) -> bool:
    if not isinstance(value, list):
        return type(value) in (str, bool)
    return all(type(each) is str or (type(each) is tuple and len(each) == 2
                                     and type(each[0]) is str and _is_count(each[1]))
               for each in value)


def _is_trial(trial: Any) -> bool:
    """Whether it is what `Simulation.state` of the core returns."""
    if type(trial) is not tuple or len(trial) != 7 or type(trial[3]) is not list:
        return False
    number, part, before, interventions, now, time, first = trial
    return (_is_count(number, 2**62) and _is_count(part, 2**64 - 1) and _is_count(now)
            and _is_count(before, now) and (first is None or _is_count(first, now))
            and type(time) is float and 0 <= time < math.inf
            and all(type(each) is tuple and len(each) == 2 and _is_count(each[0], now)
                    and (each[1] is None or type(each[1]) is str) for each in interventions)
            and [at for at, _ in interventions] == sorted(at for at, _ in interventions))


def _is_state(state: Any) -> bool:
    """Whether it is what `Simulation.__getstate__` returns; Protocol looks at its own part."""
    return (type(state) is dict
            and set(state) == {"protocol", "options", "stop", "last_stop", "trial"}
            and type(state["options"]) is dict
            and all(type(name) is str and _is_option(value)
                    for name, value in state["options"].items())
            and all(state[name] is None or type(state[name]) is str
                    for name in ("stop", "last_stop"))
            and _is_trial(state["trial"]))


class Simulation:
    """A trial of a protocol that is advanced step by step.

    `init` is a dict of states and counts, the name of an initial configuration (then `n` is
    needed), or None for the protocol's own. Advancing in pieces gives the same trial as advancing
    at once, and sampling it changes nothing. Times are parallel times, interactions per agent, or
    the time of a network of reactions.

    >>> import conclave as cv
    >>> epidemic = cv.Protocol({("I", "S"): ("I", "I")})
    >>> sim = cv.Simulation(epidemic, {"S": 999, "I": 1}, seed=1)
    >>> sim.run(until=10, every=1)
    >>> sim.time, sim.config["I"]
    (10.0, 876)
    >>> branch = sim.copy()
    >>> branch.run_until("all(I)")
    True
    >>> sim.time, branch.config
    (10.0, {'I': 1000})
    """

    @options_of("Simulation")
    def __init__(self, protocol: str | os.PathLike[str] | Protocol,
                 init: Mapping[State, int] | str | None = None, *, n: Any = None, seed: Any = 1,
                 trial: int = 0, engine: str = "auto", param: Mapping[str, Any] | None = None,
                 graph: Any = None) -> None:
        self._protocol = find(protocol)
        self._options = run_options(self._protocol, n=n, seed=seed, param=param, init=init,
                                    engine=engine, graph=graph)
        self._stop = self._protocol._stop
        self._last_stop = self._own_stop()
        self._core = _core.Simulation(self._prepared(self._last_stop), trial)

    def _own_stop(self) -> str | None:
        """Following silence takes time, so a protocol of Python without a stop condition has none
        here."""
        written = not self._protocol.is_listed and self._protocol._text is None
        has_leader = self._protocol._leader is not None
        return "false" if written and self._stop is None and not has_leader else self._stop

    def _prepared(self, stop: str | None) -> Any:
        return _core.prepare(self._protocol.core_with(stop), self._options)

    @property
    def protocol(self) -> Protocol:
        return self._protocol

    @property
    def n(self) -> int:
        return int(self._core.prepared.n)

    @property
    def engine(self) -> str:
        """The engine that runs; `auto` goes over from one to another as the census changes."""
        return str(self._core.prepared.engine)

    @property
    def time(self) -> float:
        return float(self._core.time)

    @property
    def interactions(self) -> int:
        """How many there have been; exact, of any size."""
        return int(self._core.now)

    @property
    def config(self) -> dict[State, int]:
        """How many agents are in which state; only states that occur."""
        return self._census(self._core.census())

    @config.setter
    def config(self, config: Mapping[State, int]) -> None:
        """Puts the agents into other states, now; there must be as many as before."""
        if sum(config.values()) != self.n:
            raise _core.Error(f"a simulation keeps its {self.n} agents; the configuration given "
                              f"has {sum(config.values())}")
        self._protocol.give(self._options, config)
        self._go_on(self._last_stop)

    @property
    def agents(self) -> list[tuple[State, int]]:
        """The agents in their order, runs of equal ones counted, where it matters who is who."""
        return [(self._protocol.object_of(name), count) for name, count in self._core.agents()]

    @property
    def leaders(self) -> int:
        return int(self._core.leaders)

    @property
    def converged(self) -> bool:
        """Whether the stop condition holds now."""
        return bool(self._core.converged)

    @property
    def first_convergence(self) -> int | None:
        """The interaction at which the stop condition first held, as far as the trial has come."""
        first = self._core.first_convergence
        return None if first is None else int(first)

    @property
    def observables(self) -> dict[str, Any]:
        result: dict[str, Any] = self._core.observations()
        return result

    def run(self, until: Any = None, *, every: Any = None) -> None:
        """Advances to a time; without one to the stop condition, or to silence where there is none.
        With `every`, samples all multiples of that time for `history`."""
        if until is None:
            own = self._own_stop()
            stop = "silent" if own == "false" else own
            if stop != self._last_stop:
                self._go_on(stop)
            self._advance(None, every, stops=True)
        else:
            self._advance(_time(until), every, stops=False)

    def run_until(self, condition: Condition, *, every: Any = None, until: Any = None) -> bool:
        """Advances until the condition holds; false where the time `until` came first.

        A string, such as "count(I) > n/2" or "silent", is followed exactly, to the interaction at
        which it becomes true. A function of this simulation is asked at all multiples of `every`
        (1 unless given). Both are asked at once: where the condition holds already, nothing
        happens."""
        last = None if until is None else _time(until)
        if isinstance(condition, str):
            if condition != self._last_stop:
                self._go_on(condition)
            return self._advance(last, every, stops=True) == "stopped" and self.converged
        step = _time(1 if every is None else every)
        while not condition(self):
            following = step * self._next_multiple(step)
            if last is not None and following > last:
                self._advance(last, None, stops=False)
                return bool(condition(self))
            self._advance(following, every, stops=False)
        return True

    def step(self, interactions: int = 1) -> None:
        """Advances by so many interactions."""
        self._core.advance_to(self._core.now + interactions, False)

    def inject(self, fault: str) -> int:
        """Strikes now with a fault of the command line: "corrupt:50%", "zero:10", "kill-leaders",
        "make-leaders:3". Returns how many agents it has hit."""
        return int(self._core.strike(fault))

    @property
    def history(self) -> Any:
        """A pandas DataFrame of all samples: one line per time, one column per state that occurred.
        It is a view of the simulation's memory, without a copy, and cannot be written to; later
        samples do not change it."""
        numpy, pandas = needed("numpy", "history"), needed("pandas", "history")
        columns, times, counts = self._core.history()
        index = pandas.Index(numpy.asarray(times), name="time")
        return pandas.DataFrame(numpy.asarray(counts), index=index,
                                columns=[self._protocol.object_of(name) for name in columns])

    def look(self) -> None:
        """Adds the present configuration to the history."""
        self._core.look()

    def plot(self, ax: Any = None) -> Any:
        """The history as curves. Returns the axes of matplotlib."""
        pyplot = needed("matplotlib.pyplot", "plot()")
        if ax is None:
            _, ax = pyplot.subplots()
        for name, column in self.history.items():
            ax.plot(column.index, column, label=str(name))
        has_clock = self._core.prepared.has_clock
        ax.set_xlabel("time" if has_clock else "parallel time")
        ax.set_ylabel("molecules" if has_clock else "agents")
        ax.legend(fontsize="small")
        return ax

    def copy(self) -> Simulation:
        """A copy with the same future: the state of all generators is included. It takes
        time and memory for the agents, or for the states where they are counted, whatever the time
        that was simulated."""
        other = object.__new__(Simulation)
        other.__dict__.update(self.__dict__)
        other._options = dict(self._options)
        other._core = self._core.copy()
        return other

    __copy__ = copy

    def __getstate__(self) -> dict[str, Any]:
        """Plain data, but for a protocol that is made of objects of Python."""
        return {"protocol": self._protocol.plain(), "options": self._options, "stop": self._stop,
                "last_stop": self._last_stop, "trial": self._core.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if not _is_state(state):
            raise _core.Error("this is no simulation of a pickle")
        self._protocol = Protocol.from_plain(state["protocol"])
        self._options, self._stop = state["options"], state["stop"]
        self._last_stop = state["last_stop"]
        self._core = _core.Simulation.from_state(self._prepared(self._last_stop), state["trial"])

    def _census(self, counts: list[tuple[str, int]]) -> dict[State, int]:
        return {self._protocol.object_of(name): count for name, count in counts}

    def _go_on(self, stop: str | None) -> None:
        """The same agents with another stop condition."""
        if stop != self._last_stop:
            self._protocol.give(self._options, self._by_name())
        self._core.go_on_as(self._prepared(stop))
        self._last_stop = stop

    def _by_name(self) -> dict[State, int]:
        return self._census(self._core.agents())

    def _advance(self, until: Fraction | None, every: Any, stops: bool) -> str:
        if every is not None:
            self._core.look()
            result = self._record(until, _time(every), stops)
            if result == "stopped" or until is None:
                self._core.look()
                return result
        if until is None:
            return str(self._core.advance_to(2**127, stops))
        result = str(self._core.advance_to_time(until.numerator, until.denominator, stops))
        if every is not None:
            self._core.look()
        return result

    def _next_multiple(self, step: Fraction) -> int:
        """The number of the first multiple after now; the time is the nearest float to a fraction,
        and may lie just before it."""
        number = int(Fraction(self.time) // step) + 1
        return number + 1 if float(step * number) <= self.time else number

    def _record(self, until: Fraction | None, every: Fraction, stops: bool) -> str:
        if every <= 0:
            raise _core.Error("every must be a positive time")
        first = self._next_multiple(every)
        last = 2**62 if until is None else int(until // every)
        return str(self._core.record(every.numerator, every.denominator, first, last, stops))

    def __repr__(self) -> str:
        return (f"<conclave.Simulation of {self._protocol.name}, n = {self.n}, time {self.time:g}, "
                f"engine {self.engine}>")
