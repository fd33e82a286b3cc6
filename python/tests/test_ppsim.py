"""Names and signatures of ppsim."""

import dataclasses
import pickle
import sys
import types

import numpy
import pytest

from conclave.ppsim import (HistoryPlotter, RateConstantUnits, Simulation, StatePlotter,
                            concentration_to_count, gillespy2_format, reactions_to_dict, species,
                            state_enumeration, time_trials)

A, B, U = "A", "B", "U"
MAJORITY = {(A, B): (U, U), (A, U): (A, A), (B, U): (B, B)}


def test_the_first_example():
    n = 10**6
    sim = Simulation({A: 0.501 * n, B: 0.499 * n}, MAJORITY, seed=1)
    sim.run(2, 0.5)
    frame = sim.history
    assert frame.index.name == "time (n interactions)"
    assert frame.index.tolist() == [0, 0.5, 1, 1.5, 2]
    assert list(frame.columns) == [A, B, U] and (frame.sum(axis=1) == n).all()
    assert frame.iloc[0].tolist() == [501000, 499000, 0]
    assert frame.iloc[-1][U] == pytest.approx(0.317 * n, rel=0.05)
    assert sim.config_array.tolist() == frame.iloc[-1].tolist()
    sim.run(1, 0.1)
    assert sim.time == 3 and len(sim.times) == 15
    assert "A, B  -->  U, U" in sim.reactions and sim.enabled_reactions.count("\n") == 2
    assert 0 < sim.null_probability < 1 and not sim.silent
    again = pickle.loads(pickle.dumps(sim))
    for each in (sim, again):
        each.run(1)
    assert again.config_dict == sim.config_dict


def test_runs_to_silence_and_to_a_condition():
    sim = Simulation({A: 600, B: 400}, MAJORITY, seed=2, simulator_method="Sequential")
    sim.run(lambda config: config.get(U, 0) > 50, stopping_interval=0.1)
    assert sim.config_dict[U] > 50
    sim.run()
    assert sim.silent and sim.config_dict == {A: 1000} and sim.enabled_reactions == ""
    assert sim.null_probability == 1
    sim.set_config({A: 500, B: 500})
    assert sim.config_dict == {A: 500, B: 500} and sim.time > 1
    sim.reset()
    assert sim.time == 0 and sim.config_dict == {A: 600, B: 400} and len(sim.history) == 1
    assert sim.sample_silence_time() > 1
    sim.reset({A: 7, B: 3})
    samples = sim.sample_future_configuration(1, num_samples=5)
    assert len(samples) == 5 and (samples.sum(axis=1) == 10).all()


def test_functions_with_parameters_and_fields():
    def grow(a: int, b: int, most: int):
        return (a, min(b + 1, most)) if a == b else None

    sim = Simulation({0: 50}, grow, most=6, seed=1, transition_order="asymmetric")
    assert sim.state_list == list(range(7))
    assert state_enumeration({0: 1}, lambda a, b: (a, a)) == {0}
    sim.run(5)
    assert sum(state * count for state, count in sim.config_dict.items()) > 0

    @dataclasses.dataclass(unsafe_hash=True)
    class Agent:
        role: str
        level: int = 0

    def climb(a: Agent, b: Agent):
        if a.role == b.role and a.level < 2:
            a.level += 1

    fields = Simulation({Agent("x"): 30, Agent("y"): 20}, climb, seed=3)
    fields.run(3)
    assert fields.history.columns.names == ["role", "level"]
    assert fields.history["x"].sum(axis=1).tolist() == [30] * len(fields.history)
    with pytest.raises(ValueError, match="multibatch or sequential"):
        Simulation({A: 5}, MAJORITY, simulator_method="magic")
    with pytest.raises(TypeError, match="run_until"):
        sim.run("soon")
    with pytest.raises(ValueError, match="strictly positive"):
        sim.run(1, 0)


def test_reactions_have_continuous_time_and_units():
    a, b, u = species("A B U")
    rxns = [(a + b >> 2 * u).k(1), (a + u >> 2 * a).k(1), (b + u >> 2 * b).k(1)]
    sim = Simulation({a: 5100, b: 4900}, rxns, seed=1, time_units="seconds")
    sim.run(2, 0.5)
    assert sim.continuous_time and len(sim.history) == 5 and "days" in str(sim.history.index[1])
    assert sim.config_dict[u] > 1000
    half = Simulation({a: 10**5}, [(a | b).k(1).r(1)], seed=2)
    half.run(12, 4)
    assert half.config_dict[a] == pytest.approx(50000, rel=0.05)
    slow = Simulation({a: 10**4}, [(a + a >> a + b).k(1)], volume=10**5, seed=3)
    slow.run(1)
    assert slow.config_dict[b] == pytest.approx(10**4 * 0.0488, rel=0.2)  # 1 - 1/(1 + 0.05), about
    grown = Simulation({a: 10**4}, [(a + a >> a + b).k(1)], volume=10**5, seed=3)
    for change in (grown.set_config, grown.reset):  # the volume stays
        change({a: 20000.0})
        begin = grown.config_dict[a]
        grown.run(1)
        assert 1 - grown.config_dict[a] / begin == pytest.approx(0.0909, rel=0.1)  # 1 - 1/1.1
    assert concentration_to_count(1e-9, 1e-12) == 602
    (a + b >> 2 * u).k(1e6, RateConstantUnits.mass_action)
    with pytest.raises(ValueError, match="unimolecular"):
        (a >> b).k(1e6, RateConstantUnits.mass_action)


def test_plotters_and_time_trials():
    sim = Simulation({A: 60, B: 40}, MAJORITY, seed=1)
    bars, curves = StatePlotter(), HistoryPlotter(lambda state: "U" if state == U else "decided")
    for each in (bars, curves):
        sim.add_snapshot(each)
    sim.run(3, 0.5)
    assert [bar.get_height() for bar in bars.ax.patches] == sim.config_array.tolist()
    assert curves.categories == ["U", "decided"] and len(curves.ax.lines) == 2
    sim.set_snapshot_time(0)
    assert [bar.get_height() for bar in bars.ax.patches] == [60, 40, 0]
    duel = {("L", "L"): ("L", "F")}
    frame = time_trials(duel, [5, 10], lambda n: {"L": n}, num_trials=200, seed=1)
    means = frame.groupby("n")["time"].mean()
    assert means[5] == pytest.approx(16 / 5, rel=0.25) and means[10] == pytest.approx(8.1, rel=0.25)
    early = time_trials(duel, [20], [{"L": 20}], lambda config: config["L"] <= 10, num_trials=5)
    tenths = early["time"] * 10
    assert len(early) == 5 and numpy.allclose(tenths, tenths.round())


def test_rules_have_continuous_time():
    """The last two leaders of n agents meet at the rate 2 / (n - 1)."""
    times = []
    for seed in range(400):
        sim = Simulation({"L": 2, "F": 9}, {("L", "L"): ("L", "F")}, seed=seed,
                         continuous_time=True)
        sim.run()
        assert sim.config_dict == {"L": 1, "F": 10}
        times.append(sim.time)
    assert len(set(times)) == 400
    mean = sum(times) / 400
    assert abs(mean - 5) < 5 * 5 / 20  # five standard deviations of the mean
    assert Simulation({"L": 5}, {("L", "L"): ("L", "F")}, continuous_time=True).continuous_time
    with pytest.raises(ValueError, match="too many states"):
        Simulation({0: 10}, lambda u, v: (u + 1, v))


def test_reactions_become_rules_of_pairs():
    """Rates per unit of time in which n pairs are drawn: of two molecules (n - 1) / (2 volume)."""
    a, b, c = species("A B C")
    reactions = [(a + b >> 2 * c).k(3), (c >> a).k(2), (a + a | b + c).r(0.5)]
    rules, largest = reactions_to_dict(reactions, 11, 5)
    assert largest == pytest.approx(3) and rules[a, b] == (c, c) == rules[b, a]
    assert rules[c, a] == {(a, a): pytest.approx(2 / 3)}
    assert rules[a, a] == {(b, c): pytest.approx(1 / 3)}
    assert rules[c, b] == {(a, b): pytest.approx(2 / 3), (a, a): pytest.approx(0.5 / 3)}
    with pytest.raises(ValueError, match="does not keep"):
        reactions_to_dict([a >> 2 * a], 10, 10)


def test_gillespy2_gets_the_same_network(monkeypatch):
    """The package is not needed: what it is given is looked at."""
    class Model:
        def __init__(self):
            self.species, self.parameters, self.reactions = [], [], []
            self.add_species = self.species.extend
            self.add_parameter, self.add_reaction = self.parameters.append, self.reactions.append

    def kept(**given):
        return types.SimpleNamespace(**given)

    def hashed(**given):
        return type("Species", (), given)()

    monkeypatch.setitem(sys.modules, "gillespy2", types.SimpleNamespace(
        Model=Model, Species=hashed, Parameter=kept, Reaction=kept))
    a, b = species("A B")
    model = gillespy2_format({a: 10}, [(2 * a >> b).k(3), (b >> a).k(0.5)], volume=2.0)
    assert model.volume == 2 and [each.initial_value for each in model.species] == [10, 0]
    assert [each.expression for each in model.parameters] == [1.5, 0.5]
    assert [{one.name: count for one, count in each.reactants.items()}
            for each in model.reactions] == [{"A": 2}, {"B": 1}]
