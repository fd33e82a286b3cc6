"""Values of Python as the options of the command line have them, exactly."""

from __future__ import annotations

import functools
import hashlib
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
    try:
        return Fraction(number(value))
    except (ValueError, ZeroDivisionError):
        raise _not_a_number(value) from None


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
