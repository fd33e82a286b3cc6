"""Protocols written in Python: dicts, functions, reactions, texts."""

import dataclasses
import pickle
import statistics
from fractions import Fraction

import pytest

import conclave as cv


def test_a_dict_is_the_text_that_says_the_same(texts):
    rules = {("L", "L"): ("L", "F")}
    mine = cv.Protocol(rules, leader="L", name="mine")
    theirs = cv.Protocol("states L, F\nleader = L\nstart clean: all of L\nL + L -> L + F\n")
    for engine in ("agents", "events", "counts"):
        a = cv.run(mine, init={"L": 200}, trials=5, engine=engine)
        b = cv.run(theirs, n=200, trials=5, engine=engine)
        c = cv.run("fratricide", n=200, trials=5, engine=engine)
        assert [row["interactions"] for row in a] == [row["interactions"] for row in b] \
            == [row["interactions"] for row in c]


def test_probabilities_are_exact():
    p = Fraction(1, 7)
    biased = cv.Protocol({("L", "L"): {("F", "L"): p, ("L", "F"): 1 - p}}, leader="L")
    assert "L,L -> F,L : 1/7" in biased.text()
    assert cv.verify(biased, init={"L": 4}, exact=True).exactly == 9
    lazy = cv.Protocol({("L", "L"): {("L", "F"): 0.1}}, leader="L")
    assert cv.verify(lazy, init={"L": 4}, exact=True).exactly == 90


def test_a_function_is_called_once_per_pair_of_reachable_states():
    calls = []

    def clock(u, v, *, q):
        calls.append((u, v))
        if (v - u) % q in (0, 1):
            return (u + 1) % q, v
        return None

    protocol = cv.Protocol(clock, states=[0, 1], params={"q": 5})
    assert set(protocol.states) == set(range(5))
    assert len(calls) == len(set(calls)) == 25
    sim = cv.Simulation(protocol, {0: 50, 1: 50}, seed=1)
    sim.run(until=5)
    assert set(sim.config) <= set(range(5)) and sum(sim.config.values()) == 100
    assert len(calls) == 25


@dataclasses.dataclass(unsafe_hash=True)
class Agent:
    opinion: str
    strength: int = 1


def test_a_rule_may_change_dataclasses_in_place():
    def cancel(u: Agent, v: Agent):
        if u.opinion != v.opinion and u.strength and v.strength:
            u.strength = v.strength = 0
        elif u.strength and not v.strength:
            v.opinion = u.opinion

    protocol = cv.Protocol(cancel, init={Agent("A"): 60, Agent("B"): 40})
    assert len(protocol.states) == 4
    sim = cv.Simulation(protocol, seed=1)
    sim.run()
    assert sim.config == {Agent("A", 1): 20, Agent("A", 0): 80}


@dataclasses.dataclass
class NoHash:
    value: int


@dataclasses.dataclass(frozen=True)
class Frozen:
    opinion: str
    strength: int = 1


def test_states_keep_their_objects_in_results():
    def cancel(u: Frozen, v: Frozen):
        if u.opinion != v.opinion and u.strength and v.strength:
            return dataclasses.replace(u, strength=0), dataclasses.replace(v, strength=0)
        if u.strength and not v.strength:
            return u, dataclasses.replace(v, opinion=u.opinion)
        return None

    protocol = cv.Protocol(cancel, init={Frozen("A"): 60, Frozen("B"): 40},
                           leader=lambda state: state.strength == 1,
                           observe={"for_a": lambda state: state.opinion == "A"})
    run = cv.run(protocol, until=200, final=True, history=True, every=50)
    assert set(run.final()) == {Frozen("A", 1), Frozen("A", 0)}
    assert run.final()[Frozen("A", 1)] == 20 == run.rows[0]["leaders"]
    assert run.rows[0]["observables"]["for_a"] == 100
    assert Frozen("B") in run.history().columns


def test_a_symmetric_rule_does_not_ask_who_initiates():
    one_way = {("A", "B"): ("A", "A")}
    slow = cv.Protocol(one_way, stop="all(A)")
    fast = cv.Protocol(one_way, stop="all(A)", order="symmetric")
    exact = [cv.verify(each, init={"A": 1, "B": 3}, exact=True).exactly for each in (slow, fast)]
    assert exact == [11, Fraction(11, 2)]
    with pytest.raises(cv.Error, match="depends on who initiates"):
        cv.Protocol({("A", "B"): ("A", "A"), ("B", "A"): ("B", "B")},
                    order="symmetric_enforced").text()
    with pytest.raises(cv.Error, match="unknown order"):
        cv.Protocol(one_way, order="sideways")


def test_mistakes_and_exceptions_of_a_rule_surface(monkeypatch):
    def broken(u, v):
        raise LookupError("what is this")

    with pytest.raises(LookupError, match="what is this"):
        cv.Protocol(broken, states=["a"])
    with pytest.raises(cv.Error, match="a rule gives two states"):
        cv.Protocol(lambda u, v: 7, states=["a"])
    monkeypatch.setattr("conclave.protocol.MOST_STATES", 50)
    many = cv.Protocol(lambda u, v: ((u + 1) % 60, v), states=[0])
    with pytest.raises(cv.Error, match="more than 50 states"):
        many.text()
    with pytest.raises(cv.Error, match="needs states to begin with"):
        cv.run(cv.Protocol(lambda u, v: None), n=10)
    with pytest.raises(cv.Error, match="must be hashable"):
        cv.Protocol(lambda u, v: None, states=[[]])
    with pytest.raises(cv.Error, match="frozen=True"):
        cv.Protocol(lambda u, v: None, states=[NoHash(1)])
    with pytest.raises(cv.Error, match="3/2 is no probability"):
        cv.run(cv.Protocol({("a", "a"): {("a", "b"): Fraction(3, 2)}}), init={"a": 5})
    inert = cv.Protocol({("A", "B"): ("A", "A")})
    assert cv.run(inert, init={"A": 1, "B": 1, "C": 5}, final=True).final() == {"A": 2, "C": 5}
    with pytest.raises(cv.Error, match="a dict, a function, a list of reactions or a string"):
        cv.Protocol([1, 2])


def test_words_of_the_language_may_be_states():
    protocol = cv.Protocol({("n", "stop"): ("n", "n"), ("u", 3): ("u", "u")})
    run = cv.run(protocol, init={"n": 5, "stop": 5, "u": 1, 3: 4}, final=True)
    assert run.final() == {"n": 10, "u": 5}


def test_reactions_are_the_network_of_their_text(texts):
    A, B, C = cv.species("A B C")
    mine = cv.Protocol([(A + B >> 2 * B).k(2.5), (B >> C).k(0.3), (C | A).k(1).r(0.5)],
                       init={A: 990, B: 10}, name="mine", stop="B == 0",
                       observe={"infected": "B"})
    text = ("A + B -> B + B rate 2.5\nB -> C rate 0.3\nC <-> A rate 1, 0.5\n"
            "init A = 990, B = 10\nobserve infected = B\nstop when B == 0\n")
    theirs = cv.Protocol(text, name="theirs.crn")
    a, b = (cv.run(each, until=3, trials=3, seed=5) for each in (mine, theirs))
    for one, other in zip(a, b):
        assert one["time"] == other["time"] == 3
        assert one["interactions"] == other["interactions"]
        assert one["observables"] == other["observables"]
    assert cv.verify(cv.Protocol([(2 * A | 2 * B).k(1).r(0.5)], volume=2, stop="A == 0",
                                 init={A: 4}), exact=True).exactly == Fraction(15, 2)
    with pytest.raises(cv.Error, match="never falls silent, for no molecule dies"):
        cv.run(cv.Protocol([A >> A + A]), init={A: 5})
    with pytest.raises(cv.Error, match="letters, digits"):
        cv.species("A B-1")
    born = cv.Protocol([(0 >> A).k(5), A >> 0, (A >> 2 * A).k(0.5)], init={A: 3}, name="born")
    same = cv.Protocol("-> A rate 5\nA -> rate 1\nA -> 2 A rate 1/2\ninit A = 3\n", name="born.crn")
    counts = [[row["interactions"] for row in cv.run(each, trials=5, until=3, init={"A": 3})]
              for each in (born, same)]
    assert counts[0] == counts[1]


def test_texts_and_pickles(texts):
    path = cv.Protocol("protocols/epidemic.pp")
    text = cv.Protocol((texts / "epidemic.pp").read_text(), name="epidemic.pp")
    rows = [cv.run(each, n=100, trials=3).csv() for each in (path, text)]
    assert rows[0] == rows[1]
    for each in (path, text, cv.Protocol("pll"), cv.Protocol({("a", "b"): ("b", "b")})):
        again = pickle.loads(pickle.dumps(each))
        assert again.name == each.name
    with pytest.raises(cv.Error, match="unknown state 'G'"):
        cv.run(cv.Protocol("states L, F\nL + L -> L + G\nstart s: all of L\n"), n=5)


def test_verify_search_and_export_take_them(tmp_path):
    duel = cv.Protocol({("L", "L"): ("L", "F")}, leader="L", init={"L": 5})
    found = cv.verify(duel, export=tmp_path / "chain")
    assert found.holds and found.mean == pytest.approx(16)
    assert (tmp_path / "chain" / "census.prism").exists()
    worst = cv.search(duel, n=6, budget=2000)
    assert worst.mean > 0 and worst.trials <= 2500


def highest(u, v):
    """More states than a table has room for: the largest number wins, and its owner leads."""
    top = max(u[0], v[0])
    return (top, u[1] and u[0] == top), (top, v[1] and v[0] == top)


def test_a_rule_may_have_more_states_than_a_table():
    init = {(number, True): 1 for number in range(3000)}
    protocol = cv.Protocol(highest, init=init, leader=leads)
    run = cv.run(protocol, trials=4, seed=2, until=40, final=True, threads=2)
    assert run.final(1) == {(2999, False): 2999, (2999, True): 1}
    again = cv.Protocol(highest, init=init, leader=leads)
    assert cv.run(again, trials=4, seed=2, until=40, threads=1).csv() == run.csv()
    sim = cv.Simulation(protocol, seed=1)
    sim.run(until=2, every=1)
    assert sim.history.shape[0] == 3 and sum(sim.config.values()) == 3000
    assert sim.copy().config == sim.config == pickle.loads(pickle.dumps(sim)).config


def leads(state):
    return state[1]


def ticks(u, v, most):
    """A timer that runs at every other meeting; whoever is at its end is no leader any more."""
    return {((min(u[0] + 1, most), u[1] and u[0] < most), v): Fraction(1, 2)}


def test_a_large_rule_has_the_law_of_its_table():
    """With fewer states the same rule has a table; times agree in mean."""
    means = []
    for most in (2000, 2100):
        init = {(most - 20, True): 40}
        protocol = cv.Protocol(ticks, init=init, params={"most": most},
                               states=[(0, True)] if most > 2048 else (),
                               leader=leads, stop="count(leader) == 1")
        times = [row["interactions"] for row in cv.run(protocol, trials=400)]
        means.append((statistics.mean(times), statistics.stdev(times) / 20))
    assert abs(means[0][0] - means[1][0]) < 5 * (means[0][1] + means[1][1])


def test_what_a_large_rule_refuses():
    def count(u, v):
        return (u + 1) % 5000, v

    protocol = cv.Protocol(count, init={0: 10})
    for call, sentence in ((lambda: cv.run(protocol), "give until"),
                           (lambda: cv.verify(protocol), "can be run"),
                           (lambda: protocol.text(), "too many for a file"),
                           (lambda: cv.run(protocol, until=1, fault="corrupt:1@0"), "fault")):
        with pytest.raises(cv.Error, match=sentence):
            call()

    def broken(u, v):
        return (u + 1, v) if u < 3000 else 1 / 0

    with pytest.raises(ZeroDivisionError):
        cv.run(cv.Protocol(broken, init={0: 2}), until=10**5)
    with pytest.raises(cv.Error, match="does not say what it is"):
        cv.run(cv.Protocol(lambda u, v: (object(), v), init={0: 2}), until=10)
