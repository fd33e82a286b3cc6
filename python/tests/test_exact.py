"""Verification, exploration, searches, chains."""

import json
from fractions import Fraction

import numpy
import pytest
import scipy.sparse

import conclave as cv
from conclave._core import in_keywords


def test_verify_is_that_of_the_command_line(program):
    found = cv.verify("prl", n=2, param={"N": 3})
    told = json.loads(program("verify", "prl", "--n", 2, "--param", "N=3", "--format", "json",
                              "--quiet").stdout)
    text = json.dumps(told)
    assert found.holds and found.claims and all(claim.name in text for claim in found.claims)
    assert found.worst is not None and found.worst_start in text
    assert found.relative_error < 1e-8
    assert cv.verify("fratricide", n=5, exact=True).exactly == 16
    assert cv.verify("fratricide", n=5, distribution=20).distribution[-1] > 0.5


def test_engines_are_compared_with_the_law(program):
    words = "fratricide --n 6 --against agents,counts --trials 2000 --seed 4"
    told = json.loads(program("verify", *words.split(), "--format", "json", "--quiet").stdout)
    found = cv.verify("fratricide", n=6, against=["agents", "counts"], trials=2000, seed=4)
    assert [(test.engine, test.mean, test.p_value) for test in found.engines] == [
        (each["engine"], each["mean"], each["p_value"]) for each in told["against"]]
    assert found.holds and all(test.agrees and test.compared for test in found.engines)


def test_a_lemma_that_fails_has_a_counterexample():
    found = cv.verify("pll", n=4, param={"c_max": 3, "k": 1, "reading": "printed"})
    failed = [claim for claim in found.claims if not claim.holds]
    assert not found and failed and failed[0].counterexample


def test_mistakes(program):
    for keywords, words in (
            (dict(protocol="prl"), "prl"),
            (dict(protocol="kmpp-async", n=3), "kmpp-async --n 3"),
            (dict(protocol="prl", n=3, from_="some"), "prl --n 3 --from some"),
            (dict(protocol="fratricide", n=3, against="agnets"),
             "fratricide --n 3 --against agnets"),
            (dict(protocol="fratricide", n=3, distribution=0), "fratricide --n 3 --distribution 0"),
            (dict(protocol="fratricide", n=3, target="home"), "fratricide --n 3 --target home")):
        with pytest.raises(cv.Error) as raised:
            cv.verify(**keywords)
        told = program("verify", *words.split(), status=(2,)).stderr
        assert in_keywords(told.rstrip("\n")) == f"conclave: {raised.value}"
    with pytest.raises(cv.Error, match="verify has no option 'exakt'.*'exact'"):
        cv.verify("prl", n=3, exakt=True)


def test_explore_tries_all_schedules(program):
    found = cv.explore("flooding", n=3)
    told = json.loads(program("explore", "flooding", "--n", 3, "--format", "json").stdout)
    assert found.complete and found.holds
    assert found.configurations == told["configurations"]
    assert found.schedules == told["schedules"]
    for keywords, words in ((dict(protocol="pll", n=3), "pll --n 3"),
                            (dict(protocol="flooding", n=3, ids="some"),
                             "flooding --n 3 --ids some"),
                            (dict(protocol="flooding", n=3, max_configurations=0),
                             "flooding --n 3 --max-configurations 0")):
        with pytest.raises(cv.Error) as raised:
            cv.explore(**keywords)
        told = program("explore", *words.split(), status=(2,)).stderr
        assert in_keywords(told.rstrip("\n")) == f"conclave: {raised.value}"
    bad = cv.explore("kmpp-async", n=2, param={"reading": "printed"})
    assert not bad and any(each.counterexample for each in bad.properties)


def test_search_finds_adversaries_of_messages():
    found = cv.search("kmpp-async", n=8, budget=1000, objective="messages")
    assert found.mean > 8 and "woken first" in found.configuration
    with pytest.raises(cv.Error, match="objective is for message passing"):
        cv.search("prl", n=2, budget=1000, objective="time")


def test_search_finds_the_worst_start():
    found = cv.search("prl", n=2, budget=2000, seed=2)
    assert found.mean <= cv.verify("prl", n=2).worst * 1.2
    assert len(found.times) > 100


def walk(n):
    """A fair walk on 0 ... n with a wall at 0: from k it takes n^2 - k^2 steps to n."""
    matrix = scipy.sparse.lil_matrix((n + 1, n + 1))
    matrix[0, 1] = 1
    for k in range(1, n):
        matrix[k, k - 1] = matrix[k, k + 1] = 0.5
    matrix[n, n] = 1
    return matrix


def test_solve_is_certified():
    n = 300
    found = cv.solve(walk(n), [n], variance=True)
    exact = n**2 - numpy.arange(n + 1.0)**2
    assert (abs(found.mean - exact) <= found.relative_error * exact + 1e-300).all()
    assert found.relative_error <= 1e-9 and found.method
    mask = numpy.arange(n + 1) == n
    assert numpy.allclose(cv.solve(walk(n).tocsr(), mask).mean, found.mean, rtol=1e-9)
    half = cv.solve(walk(10), [10], costs=numpy.full(11, 0.5))
    assert half.mean[0] == pytest.approx(50)


def test_solve_gives_fractions():
    third = Fraction(1, 3)
    matrix = [[1 - third, third, 0], [0, 1 - third, third], [0, 0, 1]]
    assert cv.solve(matrix, 2, fractions=True) == [6, 3, 0]
    assert cv.solve(walk(6), 6, fractions=True, start=[0, 3]) == [36, 27]


def test_chains_of_others_are_checked():
    for matrix, target, sentence in (
            ([[0.5, 0.4], [0, 1]], [1], "adds up to"),
            ([[1.5, -0.5], [0, 1]], [1], "no probability"),
            ([[0.5, 0.5], [0, 1]], [5], "the chain has states 0 to 1"),
            ([[0.5, 0.5], [0, 1]], [], "the target is empty"),
            ([[0.5, 0.25, 0.25], [0, 1, 0]], [1], "not square")):
        with pytest.raises(cv.Error, match=sentence):
            cv.solve(numpy.array(matrix), target)
    with pytest.raises(cv.Error, match="adds up to 5/6"):
        cv.solve([[Fraction(1, 2), Fraction(1, 3)], [0, 1]], 1, fractions=True)
    with pytest.raises(cv.Error, match="method"):
        cv.solve(walk(5), 5, method="magic")
