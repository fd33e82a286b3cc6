"""Chemical reactions as expressions of Python.

>>> A, B, C = species("A B C")
>>> reaction = (A + B >> 2 * C).k(2.5)
>>> print(reaction)
A + B -> C + C rate 5/2
>>> print((A | B).k(1).r(0.5))
A <-> B rate 1, 1/2
>>> print(0 >> A, A >> 0, sep="; ")
-> A rate 1; A ->  rate 1
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Iterable, Mapping

from . import _core
from ._words import fraction, number


class Molecules:
    """One side of a reaction: a sum of species."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def __add__(self, other: Molecules) -> Molecules:
        if not isinstance(other, Molecules):
            return NotImplemented
        return Molecules(self.names + other.names)

    def __rmul__(self, times: int) -> Molecules:
        return Molecules(self.names * times)

    __mul__ = __rmul__

    def __rshift__(self, products: Molecules | int) -> Reaction:
        if products == 0:
            products = Molecules(())  # they vanish
        if not isinstance(products, Molecules):
            return NotImplemented
        return Reaction(self, products)

    def __rrshift__(self, nothing: int) -> Reaction:
        if nothing != 0:
            return NotImplemented
        return Reaction(Molecules(()), self)

    def __or__(self, products: Molecules) -> Reaction:
        if not isinstance(products, Molecules):
            return NotImplemented
        return Reaction(self, products, reverse_rate=Fraction(1))

    def __str__(self) -> str:
        return " + ".join(self.names)

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Molecules) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)


class Species(Molecules):
    """One species; a state of the protocol that its reactions become."""

    def __init__(self, name: str) -> None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise _core.Error(f"a species is called by letters, digits and _, not '{name}'")
        super().__init__((name,))

    @property
    def name(self) -> str:
        return self.names[0]


class Reaction:
    """Reactants and products with a rate, and a second rate if it is reversible."""

    def __init__(self, reactants: Molecules, products: Molecules,
                 rate: Fraction = Fraction(1), reverse_rate: Fraction | None = None) -> None:
        self.reactants, self.products = reactants, products
        self.rate, self.reverse_rate = rate, reverse_rate

    def k(self, rate: Any) -> Reaction:
        """The same with this rate; floats are taken as they are written, 0.1 as 1/10."""
        return Reaction(self.reactants, self.products, fraction(rate), self.reverse_rate)

    def r(self, rate: Any) -> Reaction:
        """The same with this rate of the way back."""
        return Reaction(self.reactants, self.products, self.rate, fraction(rate))

    @property
    def is_reversible(self) -> bool:
        return self.reverse_rate is not None

    def species(self) -> list[str]:
        return list(dict.fromkeys(self.reactants.names + self.products.names))

    def __str__(self) -> str:
        if self.reverse_rate is None:
            return f"{self.reactants} -> {self.products} rate {number(self.rate)}".lstrip()
        return (f"{self.reactants} <-> {self.products} rate {number(self.rate)}, "
                f"{number(self.reverse_rate)}")

    def __repr__(self) -> str:
        return f"<{self}>"


def species(names: str | Iterable[str]) -> tuple[Species, ...]:
    """Species by their names: a list, or a string with spaces or commas between them."""
    words = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    return tuple(Species(word) for word in words)


def network_text(reactions: Iterable[Reaction], volume: Any,
                 init: Mapping[str, int] | None) -> tuple[str, list[str]]:
    """The content of a .crn file and its species in order."""
    lines, known = [], {}
    for reaction in reactions:
        lines.append(str(reaction))
        known.update(dict.fromkeys(reaction.species()))
    if volume is not None:
        lines.append(f"volume {number(volume)}")
    names = list(known)
    counts = [f"{name} = {count}" for name, count in (init or {}).items()]
    lines.append("init " + ", ".join(counts or [f"{names[0]} = rest"]))
    return "\n".join(lines) + "\n", names
