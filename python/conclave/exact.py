"""Exact answers: lemmas and times over all configurations, all schedules, hitting times."""

from __future__ import annotations

import dataclasses
import os
from fractions import Fraction
from typing import Any, Iterable, Mapping

from . import _core, _words
from ._keywords import options_of
from ._optional import needed
from ._run import allow_files, run_options
from .protocol import Protocol, find


@dataclasses.dataclass(frozen=True)
class Claim:
    """A lemma or property: `verdict` is holds, fails or vacuous."""

    name: str
    statement: str
    verdict: str
    problem: str = ""
    counterexample: tuple[tuple[str, str], ...] = ()

    @property
    def holds(self) -> bool:
        return self.verdict != "fails"


@dataclasses.dataclass(frozen=True)
class EngineTest:
    """Trials of an engine compared with the exact law of the time: a chi-square test. `compared` is
    false where there were too few trials for that."""

    engine: str
    trials: int
    mean: float
    p_value: float
    compared: bool
    agrees: bool


@dataclasses.dataclass(frozen=True)
class Verification:
    """The answer of `conclave verify`. Times are in interactions, with a certified relative error;
    `exactly` is the mean from `init` as a fraction (`exact=True`)."""

    protocol: str
    n: int
    params: dict[str, Any]
    start: str
    configurations: float
    classes: int
    transitions: int
    claims: tuple[Claim, ...]
    probability: float
    mean: float
    variance: float
    exactly: Fraction | None
    worst: float | None
    worst_start: str | None
    relative_error: float
    residual: float
    distribution: tuple[float, ...]
    mean_time: float | None
    engines: tuple[EngineTest, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every claim holds, vacuous ones do, and every engine agrees with the law."""
        return (all(claim.holds for claim in self.claims)
                and all(test.agrees for test in self.engines))

    def __bool__(self) -> bool:
        return self.holds


@options_of("verify")
def verify(protocol: str | os.PathLike[str] | Protocol, n: Any = None, *,
           param: Mapping[str, Any] | None = None, init: Any = None, graph: Any = None,
           exact: bool = False, target: str = "", within: str = "", distribution: Any = None,
           from_: str = "", congruence: bool = True, memory: Any = None, export: Any = None,
           against: str | Iterable[str] = "", trials: Any = 10000, seed: Any = 1,
           max_file_size: Any = None) -> Verification:
    """Checks the paper's lemmas, or the stop condition of a file, over all configurations of a
    small population, and computes exact times. `export` writes the chain for PRISM and Storm.
    `against` names engines whose trials are compared with the exact law.

    >>> import conclave as cv
    >>> cv.verify("fratricide", n=4, exact=True).exactly
    Fraction(9, 1)
    >>> [test.agrees for test in cv.verify("fratricide", n=4, against="agents,events").engines]
    [True, True]
    """
    allow_files(max_file_size)
    chosen = find(protocol)
    options = run_options(chosen, n=n, seed=seed, param=param, init=init, graph=graph)
    options.update({"exact": exact, "target": target, "within": within, "from": from_,
                    "no_congruence": not congruence, "trials": _words.number(trials),
                    "against": against if isinstance(against, str) else ",".join(against)})
    if distribution is not None:
        options["distribution"] = _words.number(distribution)
    if memory is not None:
        options["memory"] = _words.number(memory)
    if export is not None:
        options["export"] = os.fspath(export)
    found = _core.verify(chosen.core_starting(options), options)
    claims = tuple(Claim(each["name"], each["statement"], each["verdict"], each["problem"],
                         tuple(each["counterexample"])) for each in found["claims"])
    slowest = found["slowest"] or (None, None)
    ticks = found["ticks_per_time"]
    return Verification(
        protocol=chosen.name, n=found["n"],
        params=found["params"], start=found["start"], configurations=found["configurations"],
        classes=found["classes"], transitions=found["transitions"], claims=claims,
        probability=found["probability"], mean=found["mean"], variance=found["variance"],
        exactly=Fraction(found["mean_exactly"]) if found["mean_exactly"] else None,
        worst=slowest[0], worst_start=slowest[1], relative_error=found["relative_error"],
        residual=found["residual"], distribution=tuple(found["distribution"]),
        mean_time=found["mean"] / ticks if ticks else None,
        engines=tuple(EngineTest(**each) for each in found["engines"]))


@dataclasses.dataclass(frozen=True)
class Found:
    """The slowest initial configuration that a search has found: a lower bound."""

    configuration: str
    mean: float
    times: tuple[float, ...]
    candidates: int
    trials: int
    params: dict[str, Any]


@options_of("search")
def search(protocol: str | os.PathLike[str] | Protocol, n: Any = None, *,
           param: Mapping[str, Any] | None = None, graph: Any = None, budget: Any = None,
           objective: str | None = None, seed: Any = 1, max_interactions: Any = None,
           max_file_size: Any = None) -> Found:
    """Searches for the initial configuration that takes longest, as `conclave search` does.

    In message passing it searches for the worst adversary, by `objective`: "time" or "messages".
    """
    allow_files(max_file_size)
    chosen = find(protocol)
    options = run_options(chosen, n=n, seed=seed, param=param, graph=graph,
                          max_interactions=max_interactions)
    for key in ("given", "given_label"):
        options.pop(key, None)
    if budget is not None:
        options["budget"] = _words.number(budget)
    if objective is not None:
        options["objective"] = objective
    found = _core.search(chosen.core, options)
    times = tuple(found["times"])
    return Found(found["configuration"], sum(times) / len(times), times, found["candidates"],
                 found["trials"], found["params"])


@dataclasses.dataclass(frozen=True)
class Property:
    """A property of all schedules; where it fails, a shortest schedule shows it."""

    name: str
    holds: bool
    counterexample: tuple[tuple[str, list[str]], ...] = ()


@dataclasses.dataclass(frozen=True)
class Exploration:
    """All schedules of a few nodes."""

    protocol: str
    n: int
    params: dict[str, Any]
    configurations: int
    transitions: int
    schedules: float
    longest: int
    ends: int
    complete: bool
    properties: tuple[Property, ...]

    @property
    def holds(self) -> bool:
        return all(each.holds for each in self.properties)

    def __bool__(self) -> bool:
        return self.holds


@options_of("explore")
def explore(protocol: str, n: Any, *, param: Mapping[str, Any] | None = None, ids: str = "unique",
            graph: str = "", max_configurations: Any = None,
            max_file_size: Any = None) -> Exploration:
    """Tries every schedule of a message-passing protocol, as `conclave explore` does. Where coins
    may be drawn again and again, there are infinitely many.

    >>> import conclave as cv
    >>> cv.explore("flooding", n=3).holds
    True
    """
    allow_files(max_file_size)
    chosen = find(protocol)
    options = run_options(chosen, n=n, param=param, ids=ids, graph=graph or None)
    if max_configurations is not None:
        options["max_configurations"] = _words.number(max_configurations)
    found = _core.explore(chosen.core, options)
    properties = tuple(Property(name, holds, tuple(steps))
                       for name, holds, steps in found["properties"])
    return Exploration(chosen.name, int(_words.number(n)), found["params"],
                       found["configurations"], found["transitions"], found["schedules"],
                       found["longest"], found["ends"], found["complete"], properties)


@dataclasses.dataclass(frozen=True)
class Solution:
    """Expected hitting times of all states; `mean` and `variance` are NumPy arrays, infinite where
    the target may be missed. |mean - exact| <= relative_error * exact, proved."""

    mean: Any
    variance: Any
    relative_error: float
    variance_error: float
    residual: float
    method: str


def _states(target: Any) -> list[int]:
    numpy = needed("numpy", "solve()")
    array = numpy.atleast_1d(numpy.asarray(target))
    if array.dtype == bool:
        array = numpy.flatnonzero(array)
    return [int(state) for state in array]


def solve(matrix: Any, target: Any, *, costs: Any = None, variance: bool = False,
          method: str = "auto", fractions: bool = False, start: Any = None) -> Any:
    """Expected numbers of steps until a Markov chain reaches the target, from every state.

    `matrix` is a SciPy sparse matrix or a NumPy array of transition probabilities, `target` a list
    of states or a mask. The result is a `Solution` with a certified error. With `fractions=True`
    the entries are Fractions (or strings such as "1/3"), and so are the results: a list of
    Fractions for the states of `start`, all unless given.

    >>> import numpy
    >>> import conclave as cv
    >>> coin = numpy.array([[0.5, 0.5], [0, 1]])
    >>> float(cv.solve(coin, [1]).mean[0])
    2.0
    >>> from fractions import Fraction
    >>> third = [[Fraction(2, 3), Fraction(1, 3)], [0, 1]]
    >>> cv.solve(third, [1], fractions=True, start=[0])
    [Fraction(3, 1)]
    """
    if fractions:
        return _solve_exactly(matrix, target, method, start)
    numpy = needed("numpy", "solve()")
    sparse = needed("scipy.sparse", "solve()").csr_matrix(matrix, dtype=float)
    found = _core.solve(sparse.indptr, sparse.indices, sparse.data, _states(target),
                        [] if costs is None else [float(each) for each in costs], variance, method)
    return Solution(mean=numpy.asarray(found["mean"]), variance=numpy.asarray(found["variance"]),
                    relative_error=found["relative_error"],
                    variance_error=found["variance_error"], residual=found["residual"],
                    method=found["method"])


def _solve_exactly(matrix: Any, target: Any, method: str, start: Any) -> list[Fraction]:
    numpy = needed("numpy", "solve()")
    rows: Iterable[Any] = matrix.tolil().rows if hasattr(matrix, "tolil") else matrix
    if hasattr(matrix, "tolil"):
        lil = matrix.tolil()
        entries = [list(zip(columns, data)) for columns, data in zip(lil.rows, lil.data)]
    else:
        entries = [[(column, value) for column, value in enumerate(row) if value]
                   for row in rows]
    starts, columns_, values = [0], [], []
    for row in entries:
        for column, value in row:
            columns_.append(int(column))
            values.append(_words.number(_words.fraction(value)))
        starts.append(len(columns_))
    wanted = range(len(entries)) if start is None else _states(start)
    found = _core.solve_exactly(numpy.asarray(starts, dtype=numpy.int64),
                                numpy.asarray(columns_, dtype=numpy.int64), values,
                                _states(target), list(wanted), method)
    return [Fraction(text) for text in found]
