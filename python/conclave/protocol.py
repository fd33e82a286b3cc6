"""Protocols: those of the catalog by name, and those that are written in Python.

A protocol in Python is turned into a protocol file, once, and then is as fast as any other. Its
states may be any hashable objects, dataclasses among them; results show these objects again.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import json
import math
import os
import re
from fractions import Fraction
from typing import Any, Callable, Collection, Hashable, Iterable, Iterator, Mapping, Union

from . import _core
from ._words import label, number, probabilities
from .reactions import Molecules, Reaction, network_text

State = Any
Outcome = Union[tuple[State, State], Mapping[tuple[State, State], Any], None]
Rule = Union[Mapping[tuple[State, State], Outcome], Callable[..., Outcome]]
Init = Union[Mapping[State, Any], Callable[[int], Mapping[State, Any]]]

MOST_STATES = 2048
_CERTAIN = Fraction(1)
_ORDERS = ("asymmetric", "symmetric", "symmetric_enforced")
_RESERVED = frozenset(
    "title paper param let states field fields leader output start stop fail observe when with of "
    "rest all any none count silent evenly randomly n u v and or not mod if then else bool true "
    "false floor ceil unordered in state do step each choose probability import as fun init volume "
    "rate time min max sum mean abs round sqrt log2 lg ln".split())


def _key(state: State) -> Hashable:
    """The state, if it can be distinguished from others."""
    try:
        hash(state)
    except TypeError:
        advice = "; write @dataclass(frozen=True) or @dataclass(unsafe_hash=True)"
        hint = advice if dataclasses.is_dataclass(state) else ""
        raise _core.Error(f"states must be hashable, and {state!r} is not{hint}") from None
    return state  # type: ignore[no-any-return]


def _by_name(things: list[Any]) -> Any:
    """[{"name": "m", ...}] as {"m": ...}; a meaning alone stands for itself."""
    if not all(isinstance(each, dict) and "name" in each for each in things):
        return things
    rest = {each.pop("name"): each for each in things}
    return {name: each["meaning"] if set(each) == {"meaning"} else each
            for name, each in rest.items()}


def _is_plain(value: Any) -> bool:
    """Whether it is made of numbers, texts, lists and dicts alone."""
    if isinstance(value, dict):
        return all(_is_plain(each) for pair in value.items() for each in pair)
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str, Fraction)


def _start(init: Mapping[str, int]) -> str:
    return "start given: " + ", ".join(f"{count} of {name}" for name, count in init.items()) + "\n"


class _TooManyStates(Exception):
    """The rule reaches more than MOST_STATES."""


class _Table:
    """The transitions of a rule between all states that it reaches."""

    def __init__(self, rule: Rule, order: str, params: Mapping[str, Any]) -> None:
        self._rule, self._order, self._params = rule, order, params
        self._by_key: dict[Hashable, Any] | None = None
        if isinstance(rule, Mapping):
            self._by_key = {(_key(a), _key(b)): out for (a, b), out in rule.items()}
        self.states: dict[Hashable, State] = {}
        self.outcomes: dict[tuple[Hashable, Hashable], dict[tuple[Hashable, Hashable], Fraction]]
        self.outcomes = {}
        self._answers: dict[tuple[Hashable, Hashable], Any] = {}  # not yet part of the outcomes

    def given(self) -> dict[str, Any]:
        return {"rules": self._rule, "order": self._order, "params": dict(self._params)}

    def add(self, states: Iterable[State]) -> bool:
        """Adds these and all that their interactions lead to; true if there were new ones."""
        waiting = {_key(state): state for state in states if _key(state) not in self.states}
        if not waiting:
            return False
        self._probe({**self.states, **waiting})
        while waiting:
            key = next(iter(waiting))  # the first that was met
            state = self.states[key] = waiting.pop(key)
            if len(self.states) + len(waiting) > MOST_STATES:
                raise _TooManyStates
            for other_key, other in list(self.states.items()):
                self._meet(key, state, other_key, other, waiting)
                if other_key != key:
                    self._meet(other_key, other, key, state, waiting)
        return True

    def _probe(self, reached: dict[Hashable, State], partners: int = 4) -> None:
        """Lets every state interact with itself and a few others, which finds out soon whether
        there are too many for a table. What was asked is not asked again."""
        if len(reached) > MOST_STATES:
            raise _TooManyStates
        some = list(reached.items())[:partners]
        waiting = list(reached.items())
        while waiting:
            a_key, a = waiting.pop()
            for b_key, b in [*some, (a_key, a)]:
                for pair in (((a_key, a), (b_key, b)), ((b_key, b), (a_key, a))):
                    for key, state in self._results(*pair[0], *pair[1]):
                        if key not in reached:
                            reached[key] = state
                            waiting.append((key, state))
                if len(reached) > MOST_STATES:
                    raise _TooManyStates

    def _results(self, a_key: Hashable, a: State, b_key: Hashable,
                 b: State) -> Iterable[tuple[Hashable, State]]:
        if (a_key, b_key) in self._answers or (a_key in self.states and b_key in self.states):
            return []
        answer = self._answers[a_key, b_key] = self._called(a, b)
        return [(_key(state), state) for pair, _ in answer for state in pair]

    def meet(self, a: State, b: State) -> dict[tuple[Hashable, Hashable], Fraction]:
        """Asks what these two become, with probabilities. Nothing is remembered, and several
        threads may ask at once."""
        alone = copy.copy(self)
        alone.states, alone.outcomes = {_key(a): a, _key(b): b}, {}
        alone._meet(_key(a), a, _key(b), b, {})
        if self._order != "asymmetric":
            alone._meet(_key(b), b, _key(a), a, {})
        return alone._ordered(_key(a), _key(b))

    def _meet(self, a_key: Hashable, a: State, b_key: Hashable, b: State,
              waiting: dict[Hashable, State]) -> None:
        shares: dict[tuple[Hashable, Hashable], Fraction] = {}
        answer = self._answers.pop((a_key, b_key), None)
        for (c, d), share in self._called(a, b) if answer is None else answer:
            pair = (_key(c), _key(d))
            shares[pair] = shares[pair] + share if pair in shares else share
            for key, state in zip(pair, (c, d)):
                if key not in self.states and key not in waiting:
                    waiting[key] = state
        if shares:
            self.outcomes[a_key, b_key] = shares

    def _called(self, a: State, b: State) -> list[tuple[tuple[State, State], Fraction]]:
        if self._by_key is not None:
            outcome = self._by_key.get((a, b))
        else:
            outcome = self._asked(a, b)
        if outcome is None:
            return []
        if isinstance(outcome, Mapping):
            return list(probabilities(outcome).items())
        try:
            c, d = outcome
        except (TypeError, ValueError):
            raise _core.Error(f"a rule gives two states, a dict of pairs with probabilities or "
                              f"None, not {outcome!r} for {a!r}, {b!r}") from None
        return [((c, d), _CERTAIN)]

    def _asked(self, a: State, b: State) -> Outcome:
        rule: Any = self._rule
        if not dataclasses.is_dataclass(a):
            return rule(a, b, **self._params)  # type: ignore[no-any-return]
        u, v = copy.deepcopy(a), copy.deepcopy(b)
        outcome: Outcome = rule(u, v, **self._params)
        return (u, v) if outcome is None else outcome  # it has changed them in place

    def forget(self) -> None:
        self.states, self.outcomes, self._answers = {}, {}, {}

    def rules(self) -> Iterable[tuple[Hashable, Hashable, Hashable, Hashable, Fraction]]:
        """All that changes something, with the order of initiator and responder as asked for."""
        for a in self.states:
            for b in self.states:
                for pair, share in self._ordered(a, b).items():
                    if pair != (a, b) and share:
                        yield a, b, *pair, share

    def _ordered(self, a: Hashable, b: Hashable) -> dict[tuple[Hashable, Hashable], Fraction]:
        own = self._changing(a, b)
        if self._order == "asymmetric":
            return own
        mirrored = {(d, c): share for (c, d), share in self._changing(b, a).items()}
        if not own:
            return mirrored
        if self._order == "symmetric_enforced" and mirrored and own != mirrored:
            unordered = [sorted((sorted(map(repr, pair)), share) for pair, share in each.items())
                         for each in (own, mirrored)]
            if unordered[0] != unordered[1]:
                raise _core.Error(f"the rule depends on who initiates: {self.states[a]!r} and "
                                  f"{self.states[b]!r} have other outcomes the other way round")
        return own

    def _changing(self, a: Hashable, b: Hashable) -> dict[tuple[Hashable, Hashable], Fraction]:
        outcomes = self.outcomes.get((a, b))
        if outcomes is None:
            return {}
        for pair in outcomes:
            if pair != (a, b) and (self._order == "asymmetric" or pair != (b, a)):
                return outcomes
        return {}


class _OpenRule:
    """A rule with too many states for a table: pairs are asked for when they first interact.

    A state is a number that follows from its `repr` alone, so that trials do not depend on the
    order in which states appear; its highest bit is set if it leads."""

    def __init__(self, name: str, table: _Table, leads: Callable[[State], bool]) -> None:
        self._name, self._table, self._leads = name, table, leads
        self.objects: dict[int, State] = {}

    def number_of(self, state: State) -> int:
        text = repr(_key(state))
        if " at 0x" in text:
            raise _core.Error(f"{self._name} reaches more than {MOST_STATES} states, which are "
                              f"distinguished by their repr, and {text} does not say what it is")
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        number_ = int.from_bytes(digest, "big") >> 1 | bool(self._leads(state)) << 63
        if self.objects.setdefault(number_, state) != state:
            raise _core.Error(f"{self._name}: {self.objects[number_]!r} and {state!r} are "
                              "different states with the same repr")
        return number_

    def meet(self, a: int, b: int) -> tuple[int, list[tuple[int, int, int]]]:
        outcomes = self._table.meet(self.objects[a], self.objects[b])
        total = math.lcm(*(share.denominator for share in outcomes.values()))
        if sum(outcomes.values()) > 1 or total >= 2**32:
            raise _core.Error(f"{self._name}: the probabilities of {self.objects[a]!r} and "
                              f"{self.objects[b]!r} add up to more than 1, or need a common "
                              "denominator beyond 2^32")
        return total, [(self.number_of(c), self.number_of(d), int(share * total))
                       for (c, d), share in outcomes.items() if share]


class _Names:
    """A name in a protocol file for every state, readable where the state is a word."""

    def __init__(self) -> None:
        self.of: dict[Hashable, str] = {}
        self.objects: dict[str, State] = {}

    def add(self, key: Hashable, state: State) -> None:
        word = str(state) if isinstance(state, str) else ""
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", word) or word in _RESERVED:
            word = f"s_{word}" if word and re.fullmatch(r"\w+", word, re.ASCII) else "s0"
            if isinstance(state, int) and not isinstance(state, bool) and state >= 0:
                word = f"s{state}"
        stem, place = word, 0
        while word in self.objects:
            place += 1
            word = f"{stem}_{place}"
        self.of[key] = word
        self.objects[word] = state


class Protocol:
    """A protocol, to be used wherever a name of the catalog can be used.

    `rules` is one of

    * a dict `{("a", "b"): ("u", "u")}`: initiator and responder, before and after; where chance
      decides, the value is a dict of pairs with probabilities, exact if they are Fractions;
    * a function `rule(u, v, **params)` that returns such a value, or None where nothing changes. It
      is called once per pair of states that can be reached from `states` or `init`, which may be
      any hashable objects; dataclasses (frozen or with unsafe_hash) it may change in place. A rule
      with more than 2048 states is called when two first interact: it can be run and simulated,
      stops when one leader is left, and has no file to verify or export;
    * a list of reactions, `[(A + B >> 2 * C).k(2.5)]` (see `species`);
    * the content of a `.pp` file, or the path of one, or of a `.crn` or `.rules` file.

    `leader` says who leads: a state, a collection of states or a function of a state. `stop` is a
    condition as in protocol files, such as `"count(leader) == 1"` or `"silent"`. `observe`
    gives names to numbers of agents. With `order="symmetric"`, a pair that no rule names reacts as
    its mirror image does. `init` has counts, shares that add up to 1, or is a function of n.

    >>> import conclave as cv
    >>> majority = cv.Protocol({("A", "B"): ("A", "U"), ("B", "A"): ("B", "U"),
    ...                         ("A", "U"): ("A", "A"), ("B", "U"): ("B", "B")},
    ...                        init={"A": 510, "B": 490}, name="majority")
    >>> run = cv.run(majority, seed=3, final=True)
    >>> run.final()
    {'A': 1000}
    """

    def __init__(self, rules: Any, *, states: Iterable[State] | None = None,
                 init: Init | None = None, name: str | None = None,
                 leader: Any = None, stop: str | None = None,
                 observe: Mapping[str, Any] | None = None, order: str = "asymmetric",
                 params: Mapping[str, Any] | None = None, volume: Any = None) -> None:
        self.init = dict(init) if isinstance(init, Mapping) else init
        self._leader, self._stop, self._observe = leader, stop, dict(observe or {})
        self._volume = volume
        self._names = _Names()
        self._table: _Table | None = None
        self._open_rule: _OpenRule | None = None
        self._is_continuous = False
        self._reactions: list[Reaction] | None = None
        self._text: str | None = None
        self._cores: dict[str | None, Any] = {}
        if order not in _ORDERS:
            raise _core.Error(f"unknown order '{order}'; known: {', '.join(_ORDERS)}")
        self._choose(rules, order, dict(params or {}), name)
        self._add_states([*(states or ()), *self._init_states()])

    def _choose(self, rules: Any, order: str, params: dict[str, Any], name: str | None) -> None:
        if isinstance(rules, os.PathLike) or (isinstance(rules, str) and "\n" not in rules):
            self._open(os.fspath(rules), name)
        elif isinstance(rules, str):
            self._text, self.name = rules, name or "protocol.pp"
            if "." not in self.name:
                self.name += ".pp"
        elif callable(rules) or isinstance(rules, Mapping):
            self._table = _Table(rules, order, params)
            stem = name or getattr(rules, "__name__", "protocol").strip("<>")
            self.name = stem + ".rules"
            if isinstance(rules, Mapping):
                self._add_states(state for pair in rules for state in pair)
        else:
            self._reactions = list(rules)
            if not all(isinstance(each, Reaction) for each in self._reactions):
                raise _core.Error("a protocol is a dict, a function, a list of reactions or "
                                  "a string")
            self.name = (name or "reactions") + ".crn"

    def _open(self, word: str, name: str | None) -> None:
        found = _core.find(word)
        if word.endswith((".pp", ".crn", ".rules")):
            with open(word, encoding="utf-8") as file:
                self._text = file.read()
        self.name = name or word
        self._cores[None] = found

    @property
    def is_network(self) -> bool:
        """Whether it passes messages."""
        return self.is_listed and bool(self.core.is_network)

    @property
    def states(self) -> list[State]:
        """The states of a protocol written in Python, as far as they are known."""
        if self._open_rule is not None:
            return list(self._open_rule.objects.values())
        return list(self._names.objects.values())

    @property
    def core(self) -> Any:
        return self.core_with(self._stop)

    @property
    def is_listed(self) -> bool:
        """Whether it is one of the catalog."""
        return self._text is None and self._table is None and self._reactions is None

    @property
    def is_open(self) -> bool:
        """Whether its rule reaches more states than can be listed."""
        return self._open_rule is not None

    @property
    def runs_for_ever(self) -> bool:
        """Whether nothing but a given time ends a trial."""
        return self._open_rule is not None and self._leader is None

    def core_with(self, stop: str | None, init: Mapping[str, int] | None = None) -> Any:
        """The compiled protocol with another stop condition, and with an initial configuration
        `given` of these agents, by the names of their states. Those of the catalog keep theirs."""
        if self._open_rule is not None:
            return self._open_core(stop, init)
        if init is not None:
            self._refuse_if_listed("an initial configuration")
            return _core.text(os.path.basename(self.name), self.text(stop, init))
        if stop not in self._cores:
            self._refuse_if_listed("a stop condition")
            self._cores[stop] = _core.text(os.path.basename(self.name), self.text(stop))
        return self._cores[stop]

    def _open_core(self, stop: str | None, init: Mapping[str, int] | None) -> Any:
        rule = self._open_rule
        assert rule is not None
        if init is not None:
            raise _core.Error(f"{self.name} reaches more than {MOST_STATES} states: it can be run, "
                              "and not be verified, searched or exported")
        if self._observe or stop not in (None, "false", "count(leader) == 1"):
            raise _core.Error(f"{self.name} reaches more than {MOST_STATES} states, and so has no "
                              "observables and no stop condition but count(leader) == 1")
        stops = self._leader is not None and stop != "false"
        return self._cores.setdefault(stop, _core.rule(self.name, rule.meet, stops))

    def _refuse_if_listed(self, what: str) -> None:
        if self.is_listed:
            raise _core.Error(f"{self.name} has {what} of its own; others are for protocols "
                              "in protocol files or in Python")

    def text(self, stop: str | None = None, init: Mapping[str, int] | None = None) -> str:
        """The protocol as a file of conclave, what a `.pp`, `.rules` or `.crn` file would hold."""
        self._refuse_if_listed("a protocol file")
        if self._open_rule is not None:
            raise _core.Error(f"{self.name} reaches more than {MOST_STATES} states, too many for a "
                              "file that lists interactions; a file with fields may have 2^64")
        if self._text is not None:
            return self._own_text(stop, init)
        if self._reactions is not None:
            text, species = network_text(self._reactions, self._volume, init)
            for each in species:
                if each not in self._names.objects:
                    self._names.add(each, each)
            return text + self._statements(stop)
        return self._table_text(init) + self._statements(stop)

    def _own_text(self, stop: str | None, init: Mapping[str, int] | None) -> str:
        text = str(self._text) if str(self._text).endswith("\n") else f"{self._text}\n"
        if stop is not None:
            text = re.sub(r"^stop\b.*\n([ \t]+.*\n)*", "", text, flags=re.M)
            text += f"stop when {stop}\n"
        return text if init is None else text + _start(init)

    def _table_text(self, init: Mapping[str, int] | None) -> str:
        if self._table is None or not self._names.of:
            raise _core.Error(f"{self.name}: a rule that is a function needs states to begin with; "
                              "give states=... or init=...")
        name = self._names.of
        lines = ["states " + ", ".join(name.values())]
        if self._is_continuous:
            lines += self._continuous_rules()
        else:
            lines += self._discrete_rules()
        first = f"start given: all of {next(iter(name.values()))}\n"
        return "\n".join(lines) + "\n" + (first if init is None else _start(init))

    def _discrete_rules(self) -> Iterator[str]:
        assert self._table is not None
        name = self._names.of
        for a, b, c, d, share in self._table.rules():
            line = f"{name[a]},{name[b]} -> {name[c]},{name[d]}"
            yield line if share is _CERTAIN or share == 1 else f"{line} : {number(share)}"

    def _continuous_rules(self) -> Iterator[str]:
        """Ordered pairs interact at the rate 1 / (n - 1), so that n pairs do per unit of time."""
        assert self._table is not None
        name = self._names.of
        yield "reactions {"
        for a, b, c, d, share in self._table.rules():
            rate = number(2 * share if a == b else share)
            yield f"   {name[a]} + {name[b]} -> {name[c]} + {name[d]} rate {rate}"
        yield "   volume n - 1\n}"

    def in_continuous_time(self) -> None:
        """From now on, pairs interact after exponential waits; for rules, dicts or functions."""
        self._is_continuous = True
        self.name = self.name.removesuffix(".rules") + ".pp"
        self._cores.clear()

    def _statements(self, stop: str | None) -> str:
        lines = []
        if self._leader is not None:
            lines.append(f"leader = {self._set(self._leader)}")
        for name, what in self._observe.items():
            text = what if self._is_text(what) else f"count({self._set(what)})"
            lines.append(f"observe {name} = {text}")
        if stop is not None:
            lines.append(f"stop when {stop}")
        return "\n".join(lines) + "\n" if lines else ""

    def _is_text(self, what: Any) -> bool:
        return isinstance(what, str) and _key(what) not in self._names.of

    def _set(self, what: Any) -> str:
        """A set of states as an expression: a state, several, or a function of a state."""
        if self._is_text(what):
            return str(what)
        if callable(what) and not isinstance(what, (Molecules, type)):
            members = [name for name, state in self._names.objects.items() if what(state)]
        elif isinstance(what, Collection) and not isinstance(what, (str, tuple)):
            members = [self.name_of(state) for state in what]
        else:
            members = [self.name_of(what)]
        if not members:
            raise _core.Error(f"{self.name}: no state belongs to {what!r}")
        return " | ".join(members)

    def _leads(self, state: State) -> bool:
        what = self._leader
        if callable(what) and not isinstance(what, (Molecules, type)):
            return bool(what(state))
        if isinstance(what, Collection) and not isinstance(what, (str, tuple)):
            return state in what
        return what is not None and bool(state == what)

    def _init_states(self) -> list[State]:
        return list(self.init) if isinstance(self.init, Mapping) else []

    def _add_states(self, states: Iterable[State]) -> None:
        if self._table is None:
            return
        states = list(states)
        try:
            if self._open_rule is None and not self._table.add(states):
                return
        except _TooManyStates:
            self._table.forget()
            self._names = _Names()
            self._cores.clear()
            self._open_rule = _OpenRule(self.name, self._table, self._leads)
        if self._open_rule is not None:
            for state in [*self._init_states(), *states]:
                self._open_rule.number_of(state)
            return
        for key, state in self._table.states.items():
            if key not in self._names.of:
                self._names.add(key, state)
        self._cores.clear()

    def name_of(self, state: State) -> str:
        """The name of a state in protocol files."""
        if isinstance(state, Molecules):
            return str(state)
        if self._table is None:
            return str(state)
        if self._open_rule is not None:
            return f"s{self._open_rule.number_of(state):016x}"
        name = self._names.of.get(_key(state))
        if name is None:
            raise _core.Error(f"{self.name} has no state {state!r}")
        return name

    def object_of(self, name: str) -> State:
        """The state of that name."""
        if self._open_rule is not None and re.fullmatch("s[0-9a-f]{16}", name):
            return self._open_rule.objects.get(int(name[1:], 16), name)
        return self._names.objects.get(name, name)

    def give(self, options: dict[str, Any], init: Mapping[State, int]) -> None:
        """Makes a run begin with this configuration."""
        self._add_states(state for state in init)
        given = [(self.name_of(state), int(count)) for state, count in init.items() if count]
        options["given"], options["given_label"] = given, label(given)

    def core_starting(self, options: dict[str, Any]) -> Any:
        """For exact answers, which need a named initial configuration: counts get a name."""
        given = options.pop("given", None)
        if given is None:
            return self.core
        options.pop("given_label")
        options["n"] = str(sum(count for _, count in given))
        options["init"] = "init" if self._reactions is not None else "given"
        return self.core_with(self._stop, dict(given))

    def describe(self) -> dict[str, Any]:
        """Paper, parameters, initial configurations, engines and observables, as `conclave
        describe` has them; things with names are dicts of them."""
        told = json.loads(self.core.describe())
        result = {name: _by_name(value) if isinstance(value, list) else value
                  for name, value in told.items()}
        result["params"], result["starts"] = result.pop("parameters"), result.pop("init")
        return result

    def plain(self) -> Any:
        """Plain data from which `from_plain` makes the same protocol, or the protocol itself where
        it is made of objects of Python."""
        if self.is_listed:
            return {"rules": self.name}
        parts = {"rules": self._text, "name": self.name, "init": self.init, "leader": self._leader,
                 "stop": self._stop, "observe": self._observe, "volume": self._volume}
        if self._table is not None and self._open_rule is None and not self._is_continuous:
            parts |= self._table.given() | {"name": self.name.removesuffix(".rules"),
                                            "states": self.states}
        return parts if parts["rules"] is not None and _is_plain(parts) else self

    @classmethod
    def from_plain(cls, parts: Any) -> Protocol:
        """Throws `Error` for anything that `plain` does not make; reads no file."""
        if isinstance(parts, cls):
            return parts
        known = {"rules", "name", "init", "leader", "stop", "observe", "volume", "order", "params",
                 "states"}
        rules = parts.get("rules") if isinstance(parts, dict) and _is_plain(parts) else None
        is_name = isinstance(rules, str) and set(parts) == {"rules"}
        if not isinstance(rules, (str, dict)) or not known >= set(parts) \
                or (is_name and rules not in _core.names()):
            raise _core.Error("this is no protocol of a pickle")
        if is_name:
            return _listed(str(rules))
        others: dict[str, Any] = {name: each for name, each in parts.items() if name != "rules"}
        if isinstance(rules, str) and "\n" not in rules:
            rules += "\n"  # a text, and never a path
        return cls(rules, **others)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["_cores"] = {}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.is_listed:
            self._cores[None] = _core.find(self.name)

    def __repr__(self) -> str:
        return f"<conclave.Protocol {self.name}>"


@functools.lru_cache(maxsize=64)
def _listed(name: str) -> Protocol:
    return Protocol(name)


def find(protocol: str | os.PathLike[str] | Protocol) -> Protocol:
    """The protocol of that name or path; a Protocol is itself."""
    if isinstance(protocol, Protocol):
        return protocol
    word = os.fspath(protocol)
    return Protocol(word) if os.sep in word or "." in word else _listed(word)
