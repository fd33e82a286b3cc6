"""Values of Python as the options of the command line have them, exactly."""

from __future__ import annotations

import functools
import hashlib
import math
import operator
import os
from decimal import Decimal
from fractions import Fraction
from typing import Any, Iterable, Mapping, Sequence

from . import _core


def number(value: Any) -> str:
    """A number as the command line reads it: whole numbers and fractions exactly, a float as the
    shortest decimal that reads back as the same float.

    >>> number(10**6), number(1e6), number(0.1), number(Fraction(1, 3)), number("2^20")
    ('1000000', '1000000', '0.1', '1/3', '2^20')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Fraction):
        whole = value.denominator == 1
        return str(value.numerator) if whole else f"{value.numerator}/{value.denominator}"
    if isinstance(value, Decimal):
        return format(value, "f")
    try:
        return str(operator.index(value))
    except TypeError:
        pass
    try:
        real = float(value)
    except TypeError:
        raise _not_a_number(value) from None
    return str(int(real)) if real.is_integer() else repr(real)


def _not_a_number(value: Any) -> _core.Error:
    return _core.Error(f"expected a number such as 10, 0.25 or Fraction(1, 3), not {value!r}")


def fraction(value: Any) -> Fraction:
    """The number that `number` writes."""
    if isinstance(value, Fraction):
        return value
    try:
        return Fraction(number(value))
    except (ValueError, ZeroDivisionError):
        raise _not_a_number(value) from None


def probabilities(given: Mapping[Any, Any]) -> dict[Any, Fraction]:
    """Exact where they are fractions, or floats with few digits, such as 0.25; of other floats the
    nearest fractions with a denominator of at most 10^6, and where these are not as near as 10^-9
    or have no common denominator below 2^32, the nearest multiples of 1 / (2^32 - 1).

    >>> probabilities({"a": 1 / 3, "b": 1 / 7})
    {'a': Fraction(1, 3), 'b': Fraction(1, 7)}
    """
    exact = {outcome: fraction(value) for outcome, value in given.items()}
    for outcome, value in exact.items():
        if not 0 <= value <= 1:
            raise _core.Error(f"{number(given[outcome])} is no probability: it is not between "
                              "0 and 1")
    if _fits(exact.values()) or not any(isinstance(value, float) for value in given.values()):
        return exact
    near = {outcome: value.limit_denominator(10**6) for outcome, value in exact.items()}
    is_near = all(abs(near[outcome] - value) <= value / 10**9 for outcome, value in exact.items())
    if not is_near or not _fits(near.values()):
        most = 2**32 - 1
        near = {outcome: Fraction(round(value * most), most) for outcome, value in exact.items()}
    for outcome, value in exact.items():
        if value and not near[outcome]:
            raise _core.Error(f"the probability {number(given[outcome])} is too small: the "
                              "smallest but 0 is 1/4294967295")
    beyond = sum(near.values()) - 1
    if 0 < beyond < Fraction(1, 10**6):  # by rounding
        largest = max(near, key=lambda outcome: near[outcome])
        near[largest] -= beyond
    return near


def _fits(values: Iterable[Fraction]) -> bool:
    return math.lcm(*(value.denominator for value in values)) < 2**32


def counts(init: Any, n: Any) -> Any:
    """How many agents begin in each state: `init` itself, the value for n if it is a function,
    and n agents where its values are shares, which add up to 1.

    >>> counts({"A": 0.6, "B": 0.4}, 11), counts(lambda n: {"A": 1, "B": n - 1}, "1e3")
    ({'A': 7, 'B': 4}, {'A': 1, 'B': 999})
    """
    is_function = callable(init)
    if not is_function and not isinstance(init, Mapping):
        return init
    agents = None if n is None else int(fraction(_power(number(n))))
    if is_function:
        if agents is None:
            raise _core.Error("init is a function of n: give n")
        init = init(agents)
        if not isinstance(init, Mapping):
            raise _core.Error("init as a function of n gives a dict of states and counts or "
                              f"shares, not {init!r} for n = {agents}")
    values = {state: fraction(value) for state, value in init.items()}
    for state, value in values.items():
        if value < 0:
            raise _core.Error(f"init gives {number(value)} agents to {state!r}")
    total = sum(values.values(), Fraction(0))
    if all(value.denominator == 1 for value in values.values()):
        if is_function and total != agents:
            raise _core.Error(f"init gives {total} agents, but n = {agents}")
        return {state: int(value) for state, value in values.items()}
    if agents is None:
        raise _core.Error("init gives shares, which need n")
    if abs(total - 1) > Fraction(1, 10**9):
        raise _core.Error(f"the shares of init add up to {float(total):g}, not to 1")
    result = {state: int(value * agents) for state, value in values.items()}
    lost = {state: values[state] * agents - count for state, count in result.items()}
    by_rest: list[Any] = sorted(lost, key=lambda state: lost[state], reverse=True)
    for state in by_rest[:agents - sum(result.values())]:
        result[state] += 1
    return {state: count for state, count in result.items() if count}


def _power(text: str) -> str:
    """2^20 as a number."""
    base, hat, exponent = text.partition("^")
    return str(int(base) ** int(exponent)) if hat else text


def params(given: Mapping[str, Any]) -> list[str]:
    """NAME=VALUE for each."""
    if not isinstance(given, Mapping):
        raise _core.Error(f"param takes a dict such as {{'m': 20}}, not {given!r}")
    return [f"{name}={number(value)}" for name, value in given.items()]


def strings(given: str | Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def horizon(until: Any) -> str:
    """`until`: a time, "convergence,50", or ("convergence", 50)."""
    if isinstance(until, (tuple, list)) and len(until) == 2:
        return f"{until[0]},{number(until[1])}"
    return number(until)


@functools.cache
def kinds() -> Mapping[str, str]:
    """The options of a run, each with its kind: number, list, flag, path, horizon, limit, ..."""
    return _core.options()


def option(name: str, value: Any) -> Any:
    """The value of an option of the table, as the core takes it."""
    if name == "param":
        return params(value)
    kind = kinds()[name]
    if kind == "list":
        return strings(value)
    if kind == "flag":
        return bool(value)
    if kind == "path":
        return os.fspath(value)
    return horizon(value) if kind == "horizon" else number(value)


def label(pairs: Sequence[tuple[str, int]]) -> str:
    """Stands for a given configuration in rows."""
    text = "".join(f"{name},{count}\n" for name, count in pairs)
    return "given:" + hashlib.sha256(text.encode()).hexdigest()[:16]


def graph(given: Any) -> dict[str, Any]:
    """The options that name the graph: a word of the command line, a graph of networkx (an
    edge stands for both directions unless it is directed), or an array of arcs with two columns,
    initiator and responder."""
    if given is None:
        return {}
    if isinstance(given, str):
        return {"graph": given}
    if hasattr(given, "nodes") and hasattr(given, "edges"):
        places = {node: place for place, node in enumerate(given.nodes())}
        arcs = [(places[u], places[v]) for u, v in given.edges()]
        if not given.is_directed():
            arcs += [(v, u) for u, v in arcs]
        agents = len(places)
    else:
        arcs = [(int(u), int(v)) for u, v in given]
        agents = 1 + max((max(arc) for arc in arcs), default=0)
    arcs.sort()
    digest = hashlib.sha256(repr((agents, arcs)).encode()).hexdigest()[:16]
    return {"arcs": (f"given:{digest}", agents, arcs)}
