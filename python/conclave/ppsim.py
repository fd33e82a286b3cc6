"""The public names of ppsim (Doty and Severson, CMSB 2021) on conclave's engines.

A notebook for ppsim runs with one line changed: `from conclave.ppsim import Simulation, species`.
What differs is on the docs page of the Python package; the law of a trial is the same, the random
numbers are not.

>>> from conclave.ppsim import Simulation
>>> majority = {("A", "B"): ("U", "U"), ("A", "U"): ("A", "A"), ("B", "U"): ("B", "B")}
>>> sim = Simulation({"A": 510, "B": 490}, majority, seed=1)
>>> sim.run(10, 0.5)
>>> sim.time, len(sim.history), sum(sim.config_dict.values())
(10.0, 21, 1000)
"""

from __future__ import annotations

import dataclasses
import enum
import re
import time as _time
from fractions import Fraction
from typing import Any, Callable, Iterable, Iterator, Mapping, Union

from . import _core
from . import reactions as _reactions
from ._optional import needed
from .protocol import Protocol
from .simulation import Simulation as _Simulation

State = Any
ConvergenceDetector = Callable[[dict[State, int]], bool]
avogadro = 6.02214076e23

__all__ = ["Simulation", "Snapshot", "TimeUpdate", "Plotter", "StatePlotter", "HistoryPlotter",
           "time_trials", "species", "Specie", "Expression", "Reaction", "RateConstantUnits",
           "concentration_to_count", "species_in_rxns", "replace_reversible_rxns",
           "state_enumeration", "reactions_to_dict", "gillespy2_format", "avogadro"]


def _natural(value: Any) -> list[Any]:
    """A key that sorts strings with numbers in them by these numbers."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part)
            for part in re.split(r"(\d+)", repr(value)) if part]


class RateConstantUnits(enum.Enum):
    stochastic = "stochastic"
    mass_action = "mass_action"


class Expression:
    """One side of a reaction."""

    def __init__(self, species: Iterable[Any]) -> None:
        self.names = tuple(str(each) for each in species)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    def __str__(self) -> str:
        return "+".join(self.names)

    @property
    def species(self) -> list[Specie]:
        return [Specie(name) for name in self.names]

    def get_species(self) -> set[Specie]:
        return set(self.species)

    def __len__(self) -> int:
        return len(self.names)

    def __add__(self, other: Any) -> Expression:
        return Expression(self.names + other.names)

    def __rmul__(self, times: int) -> Expression:
        return Expression(self.names * times)

    __mul__ = __rmul__

    def __rshift__(self, products: Any) -> Reaction:
        return Reaction(self, products)

    def __or__(self, products: Any) -> Reaction:
        return Reaction(self, products, reversible=True)


class Specie(Expression):
    """A species; a state of the protocol that its reactions become."""

    def __init__(self, name: str) -> None:
        super().__init__([name])

    @property
    def name(self) -> str:
        return self.names[0]

    def __lt__(self, other: Any) -> bool:
        return self.name < str(other)

    def __repr__(self) -> str:
        return f"Specie(name={self.name!r})"


def species(sp: str | Iterable[str]) -> tuple[Specie, ...]:
    """Species by their names: a list, or a string with spaces or commas between them."""
    words = sp.replace(",", " ").split() if isinstance(sp, str) else sp
    return tuple(Specie(word.strip()) for word in words)


class Reaction:
    """Reactants, products and rates; `k` and `r` change the rates and return the reaction."""

    def __init__(self, reactants: Any, products: Any, k: float = 1, r: float = 1,
                 rate_constant_units: RateConstantUnits = RateConstantUnits.stochastic,
                 rate_constant_reverse_units: RateConstantUnits = RateConstantUnits.stochastic,
                 reversible: bool = False) -> None:
        self.reactants = Expression(reactants.names)
        self.products = Expression(products.names)
        self.rate_constant, self.rate_constant_reverse = k, r
        self.rate_constant_units = rate_constant_units
        self.rate_constant_reverse_units = rate_constant_reverse_units
        self.reversible = reversible

    def k(self, coeff: float,
          units: RateConstantUnits = RateConstantUnits.stochastic) -> Reaction:
        if self.is_unimolecular() and units == RateConstantUnits.mass_action:
            raise ValueError("a unimolecular reaction has no mass-action rate constant")
        self.rate_constant, self.rate_constant_units = coeff, units
        return self

    def r(self, coeff: float,
          units: RateConstantUnits = RateConstantUnits.stochastic) -> Reaction:
        if not self.reversible:
            raise ValueError("only a reversible reaction, A | B, has a reverse rate constant")
        self.rate_constant_reverse, self.rate_constant_reverse_units = coeff, units
        return self

    @property
    def rate_constant_stochastic(self) -> float:
        is_plain = self.rate_constant_units == RateConstantUnits.stochastic
        return self.rate_constant if is_plain else self.rate_constant / avogadro

    @property
    def rate_constant_reverse_stochastic(self) -> float:
        is_plain = self.rate_constant_reverse_units == RateConstantUnits.stochastic
        return self.rate_constant_reverse if is_plain else self.rate_constant_reverse / avogadro

    def is_unimolecular(self) -> bool:
        return len(self.reactants) == 1

    def is_bimolecular(self) -> bool:
        return len(self.reactants) == 2

    def symmetric(self) -> bool:
        return self.is_bimolecular() and len(set(self.reactants.names)) == 1

    def num_reactants(self) -> int:
        return len(self.reactants)

    def num_products(self) -> int:
        return len(self.products)

    def is_conservative(self) -> bool:
        return len(self.reactants) == len(self.products)

    def get_species(self) -> set[Specie]:
        return self.reactants.get_species() | self.products.get_species()

    def __str__(self) -> str:
        arrow = "<-->" if self.reversible else "-->"
        return f"{self.reactants} {arrow} {self.products}"

    def __repr__(self) -> str:
        return f"Reaction({self}, k={self.rate_constant})"


def species_in_rxns(rxns: Iterable[Reaction]) -> list[Specie]:
    """All species, in the order in which they appear."""
    names = dict.fromkeys(name for each in rxns for side in (each.reactants, each.products)
                          for name in side.names)
    return [Specie(name) for name in names]


def replace_reversible_rxns(rxns: Iterable[Reaction]) -> list[Reaction]:
    """Two reactions for each reversible one."""
    result = []
    for each in rxns:
        result.append(Reaction(each.reactants, each.products, each.rate_constant,
                               rate_constant_units=each.rate_constant_units))
        if each.reversible:
            result.append(Reaction(each.products, each.reactants, each.rate_constant_reverse,
                                   rate_constant_units=each.rate_constant_reverse_units))
    return result


def reactions_to_dict(reactions: Iterable[Reaction], n: int,
                      volume: float) -> tuple[dict[tuple[Specie, Specie], Any], float]:
    """The results of ordered pairs of n molecules, and the largest rate at which a pair reacts.

    At n draws of a pair per unit of time, a reaction of one molecule happens at its rate where that
    molecule initiates, one of two molecules at (n - 1) / (2 volume) of it in either order. Divided
    by the largest sum over the reactions of a pair, these are probabilities: an outcome that is
    certain is a pair, others are a dict.
    """
    rates: dict[tuple[Specie, Specie], dict[tuple[Specie, Specie], float]] = {}
    rxns = replace_reversible_rxns(reactions)

    def add(pair: tuple[Specie, Specie], result: tuple[Specie, Specie], rate: float) -> None:
        results = rates.setdefault(pair, {})
        results[result] = results.get(result, 0.0) + rate

    for each in rxns:
        if not each.is_conservative() or each.num_reactants() not in (1, 2):
            raise ValueError(f"{each} does not keep one or two molecules")
        products = tuple(each.products.species)
        if each.is_unimolecular():
            for other in species_in_rxns(rxns):
                add((each.reactants.species[0], other), (products[0], other),
                    each.rate_constant_stochastic)
            continue
        first, second = each.reactants.species
        rate = each.rate_constant_stochastic * (n - 1) / (2 * volume)
        add((first, second), (products[0], products[1]), rate)
        if first != second:
            add((second, first), (products[1], products[0]), rate)
    largest = max((sum(results.values()) for results in rates.values()), default=0.0)
    transitions: dict[tuple[Specie, Specie], Any] = {}
    for pair, results in rates.items():
        shares = {result: rate / largest for result, rate in results.items()}
        is_certain = len(shares) == 1 and next(iter(shares.values())) == 1
        transitions[pair] = next(iter(shares)) if is_certain else shares
    return transitions, largest


def gillespy2_format(init_config: Mapping[Specie, int], rxns: Iterable[Reaction],
                     volume: float = 1.0) -> Any:
    """The same network as a model of GillesPy2, if that is installed."""
    gillespy2 = needed("gillespy2", "gillespy2_format()")
    model = gillespy2.Model()
    model.volume = volume
    counts = {str(name): int(count) for name, count in init_config.items()}
    plain = replace_reversible_rxns(rxns)
    known = {each.name: gillespy2.Species(name=each.name, initial_value=counts.get(each.name, 0))
             for each in species_in_rxns(plain)}
    model.add_species(list(known.values()))
    for number, each in enumerate(plain):
        # Its propensity of a pair of equal molecules is x (x - 1) times the rate.
        constant = each.rate_constant / 2 if each.symmetric() else each.rate_constant
        rate = gillespy2.Parameter(name=f"k{number}", expression=float(constant))
        model.add_parameter(rate)
        sides = [{known[name]: side.names.count(name) for name in dict.fromkeys(side.names)}
                 for side in (each.reactants, each.products)]
        model.add_reaction(gillespy2.Reaction(name=f"R{number}", reactants=sides[0],
                                              products=sides[1], rate=rate))
    return model


def concentration_to_count(concentration: float, volume: float) -> int:
    """How many molecules are in a volume (litres) at this concentration (moles per litre)."""
    return round(avogadro * concentration * volume)


def state_enumeration(init_dist: Mapping[State, int],
                      rule: Callable[[State, State], Any]) -> set[State]:
    """All states that the rule reaches from these."""
    return set(Protocol(rule, states=list(init_dist)).states)


def _network(rxns: list[Reaction], n: int, volume: float) -> Protocol:
    """The reactions with rates as decimals of twelve digits, for a volume of n."""
    made = []
    for each in replace_reversible_rxns(rxns):
        factor = n / volume if each.is_bimolecular() else 1
        rate = Fraction(f"{each.rate_constant_stochastic * factor:.12g}")
        made.append(_reactions.Reaction(_reactions.Molecules(each.reactants.names),
                                        _reactions.Molecules(each.products.names), rate))
    return Protocol(made, name="crn")


_METHODS = {"multibatch": "auto", "sequential": "agents"}


class Simulation:
    """A simulation with ppsim's arguments and attributes.

    `rule` is a dict, a function or a list of reactions. `simulator_method` "MultiBatch" is engine
    `auto`, which goes over between batches, jumps and an array of agents; "Sequential" is engine
    `agents`. Without a seed, a new one is drawn from the system and stands in `seed`.
    """

    def __init__(self, init_config: Mapping[State, float], rule: Any,
                 simulator_method: str = "MultiBatch", transition_order: str = "symmetric",
                 seed: int | None = None, volume: float | None = None,
                 continuous_time: bool = False, time_units: str | None = None,
                 **kwargs: Any) -> None:
        if simulator_method.lower() not in _METHODS:
            raise ValueError("simulator_method must be multibatch or sequential")
        numpy = needed("numpy", "conclave.ppsim")
        self.seed = int(numpy.random.SeedSequence().entropy % 2**63) if seed is None else seed
        self.rng = numpy.random.default_rng(self.seed)
        self.simulator_method, self.time_units = simulator_method, time_units
        self.continuous_time = continuous_time
        self._init = {state: int(count) for state, count in init_config.items()}
        self.n = sum(self._init.values())
        self._rule, self._volume = rule, self.n if volume is None else volume
        self._protocol, self._is_network = self._made(rule, transition_order, kwargs)
        self._protocol.give({}, self._init)
        if self._protocol.is_open:
            raise ValueError("the rule reaches too many states to list them, as ppsim does; use "
                             "conclave.Simulation")
        if continuous_time and not self._is_network:
            self._protocol.in_continuous_time()
        self.continuous_time = continuous_time or self._is_network
        self.snapshots: list[Snapshot] = []
        self._begin(self._init)

    def _made(self, rule: Any, order: str, kwargs: dict[str, Any]) -> tuple[Protocol, bool]:
        if callable(rule) or isinstance(rule, Mapping):
            return Protocol(rule, order=order.lower(), params=kwargs, name="rule"), False
        self._rule = list(rule)
        return _network(self._rule, self.n, self._volume), True

    def _begin(self, config: Mapping[State, int], offset: float = 0) -> None:
        if self._is_network and sum(config.values()) != self.n:  # the volume stays
            self._protocol = _network(self._rule, sum(config.values()), self._volume)
        self.n = sum(config.values())
        self._offset = self.time = offset
        self._simulation = _Simulation(self._protocol, {self._key(state): count for state, count
                                                        in config.items()},
                                       seed=self.seed, trial=getattr(self, "_trial", 0),
                                       engine=_METHODS[self.simulator_method.lower()])
        if self._is_network:
            names = self._protocol._names.objects
            self.state_list: list[State] = [Specie(name) for name in names]
        else:
            self.state_list = list(self._protocol.states)
        self.state_list.sort(key=_natural)
        self.state_dict = {state: place for place, state in enumerate(self.state_list)}
        if not offset:
            self.configs: list[Any] = []
            self.times: list[float] = []
        self.add_config()

    def _key(self, state: State) -> State:
        return str(state) if self._is_network else state

    def _state(self, key: Any) -> State:
        return Specie(key) if self._is_network else key

    @property
    def config_dict(self) -> dict[State, int]:
        config = self._simulation.config
        known = {self._state(key): count for key, count in config.items()}
        return {state: known[state] for state in self.state_list if state in known}

    @property
    def config_array(self) -> Any:
        numpy = needed("numpy", "conclave.ppsim")
        counts = numpy.zeros(len(self.state_list), dtype=numpy.int64)
        for state, count in self.config_dict.items():
            counts[self.state_dict[state]] = count
        return counts

    def array_from_dict(self, d: Mapping[State, int]) -> Any:
        numpy = needed("numpy", "conclave.ppsim")
        counts = numpy.zeros(len(self.state_list), dtype=numpy.int64)
        for state, count in d.items():
            counts[self.state_dict[state]] += count
        return counts

    def add_config(self) -> None:
        """Adds the present configuration to the history."""
        self.configs.append(self.config_array)
        self.times.append(self.time)

    def run(self, run_until: Union[float, ConvergenceDetector, None] = None,
            history_interval: Union[float, Callable[[float], float]] = 1.,
            stopping_interval: float = 1., timer: bool = True) -> None:
        """Runs for a time, until a function of the configuration is true (asked every
        `stopping_interval`), or without either until nothing can change any more."""
        if stopping_interval <= 0:
            raise ValueError("stopping_interval must always be strictly positive.")
        if not (run_until is None or callable(run_until) or isinstance(run_until, (int, float))):
            raise TypeError("run_until must be a float, int, function, or None.")
        is_timed = run_until is not None and not callable(run_until)
        end = self.time + float(run_until) if is_timed else None  # type: ignore[arg-type]
        if self._is_over(run_until, end):
            return
        looks = self._look_times(history_interval, end)
        next_look = next(looks)
        while True:
            following = next_look  # silence is noticed at its interaction
            if callable(run_until):
                following = min(next_look, self.time + stopping_interval)
            if end is not None:
                following = min(end, next_look)
            is_silent = self._advance(following, run_until is None)
            is_over = is_silent or (run_until is not None and self._is_over(run_until, end))
            if self.time >= next_look and not is_over:
                self.add_config()
                next_look = next(looks)
            self._show()
            if is_over:
                break
        if self.time > self.times[-1]:
            self.add_config()
        for each in self.snapshots:
            each.update()

    def _advance(self, time: float, to_silence: bool) -> bool:
        """To this time, or to silence if that comes first and is asked for; then true."""
        until = Fraction(repr(time))
        if self._offset:
            until -= Fraction(repr(self._offset))
        if to_silence and self._simulation.run_until("silent", until=until):
            self.time = self._offset + self._simulation.time
            return True
        if not to_silence:
            self._simulation.run(until=until)
        self.time = time
        return False

    def _look_times(self, interval: Union[float, Callable[[float], float]],
                    end: float | None) -> Iterator[float]:
        """Multiples of the interval after now; one that misses the end by rounding is the end."""
        begin, number = self.time, 0
        while True:
            length = interval(self.time) if callable(interval) else interval
            if length <= 0:
                raise ValueError("history_interval must always be strictly positive.")
            number += 1
            look = self.time + length if callable(interval) else begin + number * length
            is_end = end is not None and abs(look - end) < 1e-9 * length
            yield end if is_end and end is not None else look

    def _is_over(self, run_until: Any, end: float | None) -> bool:
        if end is not None:
            return self.time >= end
        if run_until is None:
            return self.silent
        return bool(run_until(self.config_dict))

    def _show(self) -> None:
        now = _time.perf_counter()
        for each in self.snapshots:
            if now >= each.next_snapshot_time:
                each.update()
                each.next_snapshot_time = now + each.update_time

    @property
    def silent(self) -> bool:
        """Whether no two agents can change anything any more."""
        return not self._enabled()

    @property
    def null_probability(self) -> float:
        """The probability that the next interaction changes nothing."""
        config = self.config_dict
        pairs = sum(config[a] * (config[b] - (a == b)) * float(share)
                    for a, b, share in self._enabled())
        return 1 - float(pairs) / (self.n * (self.n - 1))

    def _rules(self) -> list[tuple[State, State, list[tuple[State, State, Fraction]]]]:
        """Ordered pairs with what becomes of them."""
        table = self._protocol._table
        if table is None:
            raise _core.Error("reactions have rates, not probabilities")
        found: dict[tuple[State, State], list[tuple[State, State, Fraction]]] = {}
        for a, b, c, d, share in table.rules():
            found.setdefault((a, b), []).append((c, d, share))
        return [(a, b, outcomes) for (a, b), outcomes in found.items()]

    def _enabled(self) -> list[tuple[State, State, Fraction]]:
        config = self.config_dict
        if self._is_network:
            done = [each for each in self._protocol._reactions or []
                    if all(config.get(Specie(name), 0) >= each.reactants.names.count(name)
                           for name in each.reactants.names)
                    and sorted(each.reactants.names) != sorted(each.products.names)]
            return [(Specie(each.reactants.names[0]), Specie(each.reactants.names[-1]), each.rate)
                    for each in done]
        return [(a, b, sum((share for *_, share in outcomes), Fraction(0)))
                for a, b, outcomes in self._rules()
                if config.get(a, 0) and config.get(b, 0) > (a == b)]

    @property
    def reactions(self) -> str:
        """All transitions that change something, one per line; of the two orders of a pair one."""
        return self._listed(lambda a, b: True)

    @property
    def enabled_reactions(self) -> str:
        """Those of them that two agents of the present configuration can do."""
        enabled = {(a, b) for a, b, _ in self._enabled()}
        return self._listed(lambda a, b: (a, b) in enabled)

    def _listed(self, accepts: Callable[[State, State], bool]) -> str:
        if self._is_network:
            return "\n".join(str(each) for each in self._protocol._reactions or [])
        lines, seen = [], set()
        for a, b, outcomes in self._rules():
            key = frozenset(((a, b), (b, a)))
            if key in seen or not accepts(a, b):
                continue
            seen.add(key)
            for c, d, share in outcomes:
                chance = "" if share == 1 else f"      with probability {float(share):g}"
                lines.append(f"{a}, {b}  -->  {c}, {d}{chance}")
        return "\n".join(lines)

    @property
    def history(self) -> Any:
        """A DataFrame of the configurations recorded, by time; states with several fields have a
        column index of as many levels."""
        pandas = needed("pandas", "history")
        name = "time" if self.continuous_time else "time (n interactions)"
        index = pandas.Index(self.times_in_units(self.times), name=name)
        return pandas.DataFrame(self.configs, index=index, columns=self.column_names)

    @property
    def column_names(self) -> Any:
        first = self.state_list[0]
        fields = getattr(first, "_fields", None)
        if dataclasses.is_dataclass(first):
            fields = [field.name for field in dataclasses.fields(first)]
            tuples = [dataclasses.astuple(state) for state in self.state_list]
        else:
            tuples = self.state_list
        is_split = (fields is not None and len(fields) > 1) or (isinstance(first, tuple)
                                                                and len(first) > 1)
        if not is_split:
            return [str(state) for state in self.state_list]
        pandas = needed("pandas", "history")
        return pandas.MultiIndex.from_tuples(tuples, names=fields)

    def times_in_units(self, times: Iterable[float]) -> Any:
        if not self.time_units:
            return list(times)
        pandas = needed("pandas", "time_units")
        return pandas.to_timedelta(list(times), unit=self.time_units)

    def reset(self, init_config: Mapping[State, int] | None = None) -> None:
        """Begins again at time 0, with other random numbers."""
        self._trial = getattr(self, "_trial", 0) + 1
        if init_config is not None:
            self._init = {state: int(count) for state, count in init_config.items()}
        self._begin(self._init)

    def set_config(self, config: Any) -> None:
        """Sets the states of the agents; time continues."""
        if not isinstance(config, Mapping):
            config = {state: int(config[place]) for place, state in enumerate(self.state_list)}
        self._trial = getattr(self, "_trial", 0) + 1
        self._begin(config, self.time)

    def time_to_steps(self, time: float) -> int:
        return int(time * self.n)

    def sample_silence_time(self) -> float:
        """How long a new run from the first configuration takes until it is silent."""
        self.reset()
        self._simulation.run_until("silent")
        return self._simulation.time

    def sample_future_configuration(self, time: float, num_samples: int = 100) -> Any:
        """Configurations after this time from now, of independent continuations."""
        pandas = needed("pandas", "sample_future_configuration()")
        config = {self._key(state): count for state, count in self.config_dict.items()}
        rows = []
        for _ in range(num_samples):
            self._trial = getattr(self, "_trial", 0) + 1
            sample = _Simulation(self._protocol, config, seed=self.seed, trial=self._trial)
            sample.run(until=time)
            rows.append([sample.config.get(self._key(state), 0) for state in self.state_list])
        return pandas.DataFrame(rows, columns=self.column_names)

    def add_snapshot(self, snap: Snapshot) -> None:
        """Shows the simulation while it runs, and when it has run."""
        snap.simulation = self
        snap.initialize()
        snap.update()
        self.snapshots.append(snap)

    def set_snapshot_index(self, index: int) -> None:
        for each in self.snapshots:
            each.update(index=index)

    def set_snapshot_time(self, time: float) -> None:
        distances = [abs(each - time) for each in self.times]
        self.set_snapshot_index(distances.index(min(distances)))

    def snapshot_slider(self, var: str = "index") -> Any:
        """A slider over the history, for all snapshots, in a notebook with ipywidgets."""
        widgets = needed("ipywidgets", "snapshot_slider()")
        if var.lower() == "index":
            return widgets.interactive(self.set_snapshot_index,
                                       index=widgets.IntSlider(0, 0, len(self.times) - 1))
        if var.lower() == "time":
            return widgets.interactive(self.set_snapshot_time, time=widgets.FloatSlider(
                0, min=self.times[0], max=self.times[-1], step=0.01))
        raise ValueError("var must be either 'index' or 'time'.")

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["snapshots"] = []
        return state


class Snapshot:
    """Something that observes a simulation every `update_time` seconds while it runs."""

    update_time: float = 0.1

    def __init__(self) -> None:
        self.simulation: Simulation
        self.next_snapshot_time = 0.0

    def initialize(self) -> None:
        self.next_snapshot_time = _time.perf_counter() + self.update_time

    def update(self, index: int | None = None) -> None:
        if index is None:
            self.time = self.simulation.time
            self.config = self.simulation.config_array
        else:
            self.time = self.simulation.times[index]
            self.config = self.simulation.configs[index]


class TimeUpdate(Snapshot):
    """Prints the time while the simulation runs."""

    def __init__(self, time_bound: float | None = None, update_time: float = 0.2) -> None:
        super().__init__()
        self.time_bound, self.update_time = time_bound, update_time

    def update(self, index: int | None = None) -> None:
        super().update(index)
        print(f"\r Time: {self.time:.3f}", end="\r")


class Plotter(Snapshot):
    """A snapshot that draws; `state_map` sends states to categories, or to None to leave them
    out."""

    def __init__(self, state_map: Callable[[State], Any] | None = None, update_time: float = 0.5,
                 yscale: str = "linear", sort_by: str = "categories") -> None:
        super().__init__()
        self.state_map, self.update_time = state_map, update_time
        self.yscale, self.sort_by = yscale, sort_by
        self.fig: Any = None
        self.ax: Any = None

    def initialize(self) -> None:
        super().initialize()
        pyplot = needed("matplotlib.pyplot", "a plotter")
        self.fig, self.ax = pyplot.subplots()
        mapped = [self._category(state) for state in self.simulation.state_list]
        self.categories = sorted({each for each in mapped if each is not None}, key=_natural)

    def _category(self, state: State) -> Any:
        return state if self.state_map is None else self.state_map(state)

    def _counted(self, config: Any) -> list[int]:
        counts = dict.fromkeys(self.categories, 0)
        for state, count in zip(self.simulation.state_list, config):
            category = self._category(state)
            if category is not None:
                counts[category] += int(count)
        return list(counts.values())

    def _scale(self, most: float) -> None:
        self.ax.set_yscale(self.yscale)
        self.ax.set_ylim(0, 2 * self.simulation.n if self.yscale in ("symlog", "log") else most)


class StatePlotter(Plotter):
    """Bars: how many agents are in each state or category."""

    def update(self, index: int | None = None) -> None:
        super().update(index)
        self.ax.clear()
        labels = [str(each) for each in self.categories]
        self.ax.bar(range(len(labels)), self._counted(self.config))
        step = 1 + len(labels) // 40  # as many names as there is room for
        self.ax.set_xticks(range(0, len(labels), step), labels[::step])
        if max(map(len, labels)) > 2 or len(labels) > 20:
            self.ax.tick_params(axis="x", rotation=90)
        self._scale(self.simulation.n)
        self.ax.set_title(f"Time {self.time: .3f}")
        self.fig.tight_layout()
        self.fig.canvas.draw()


class HistoryPlotter(Plotter):
    """Curves: how many agents were in each state or category over time."""

    def update(self, index: int | None = None) -> None:
        super().update(index)
        pandas = needed("pandas", "HistoryPlotter")
        self.ax.clear()
        lines = [self._counted(config) for config in self.simulation.configs]
        frame = pandas.DataFrame(lines, columns=[str(each) for each in self.categories],
                                 index=self.simulation.history.index)
        frame.plot(ax=self.ax)
        self._scale(1.1 * self.simulation.n)
        if self.simulation.time_units:
            self.ax.tick_params(axis="x", rotation=45)
        self.fig.tight_layout()
        self.fig.canvas.draw()


def time_trials(rule: Any, ns: list[int], initial_conditions: Any,
                convergence_condition: ConvergenceDetector | None = None,
                convergence_check_interval: float = 0.1, num_trials: int = 100,
                max_wallclock_time: float = 60 * 60 * 24, **kwargs: Any) -> Any:
    """Times until a condition holds, or until silence, for several population sizes: a DataFrame
    with the columns n and time. Times of silence are exact, to the interaction."""
    pandas = needed("pandas", "time_trials()")
    end = _time.perf_counter() + max_wallclock_time
    rows = []
    for place, n in enumerate(ns):
        init = initial_conditions(n) if callable(initial_conditions) else initial_conditions[place]
        sim = Simulation(init, rule, **kwargs)
        now = _time.perf_counter()
        budget = now + max(0.0, end - now) / (len(ns) - place)
        for _ in range(num_trials):
            if _time.perf_counter() >= budget:
                break
            sim.reset(init)
            if convergence_condition is None:
                sim._simulation.run_until("silent")
                sim.time = sim._simulation.time
            else:
                while not convergence_condition(sim.config_dict):
                    sim._advance(sim.time + convergence_check_interval, False)
            rows.append((n, sim.time))
    return pandas.DataFrame(rows, columns=["n", "time"])
