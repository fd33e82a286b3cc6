"""Sweeps, files of results, reports."""

import inspect
import json
import re

import pytest

import conclave as cv

PLAN = {"seed": 3, "trials": 4,
        "run": [{"protocol": "fratricide", "n": [10, 20, 30]},
                {"protocol": "pll", "n": 50, "params": {"m": [6, 8]}}]}


def test_a_sweep_is_that_of_the_command_line(program, tmp_path):
    found = cv.sweep(PLAN, tmp_path / "mine.db", quiet=True)
    (tmp_path / "plan.toml").write_text(
        'seed = 3\ntrials = 4\n[[run]]\nprotocol = "fratricide"\nn = [10, 20, 30]\n'
        '[[run]]\nprotocol = "pll"\nn = 50\nparams = { m = [6, 8] }\n')
    program("sweep", tmp_path / "plan.toml", "-o", tmp_path / "theirs.db", "--quiet")
    told = program("results", tmp_path / "theirs.db", "--format", "csv").stdout
    assert found.csv() == told and len(found) == 20
    assert len(found.cells) == 5 and found.cells[0]["trials"] == 4
    frame = found.frame(where=["protocol=fratricide", "n>=20"])
    assert sorted(set(frame["n"])) == [20, 30] and len(frame) == 8
    assert len(found.frame(where="n=50")) == 8
    again = cv.sweep(tmp_path / "plan.toml", tmp_path / "mine.db")
    assert len(again) == 20
    with pytest.raises(cv.Error, match="unknown field"):
        found.frame(where="nn=3")
    with pytest.raises(cv.Error):
        cv.sweep({"trials": 4, "run": {"protocol": "pil", "n": 5}}, tmp_path / "x.db")
    with pytest.raises(cv.Error):
        cv.Results(tmp_path / "plan.toml")


def test_protocols_of_python_in_a_plan(tmp_path):
    duel = cv.Protocol({("L", "L"): ("L", "F")}, leader="L", init={"L": 10}, name="duel")
    found = cv.sweep({"trials": 3, "run": {"protocol": duel, "n": 10}}, tmp_path / "r.db")
    assert found.frame()["protocol"].tolist() == ["duel.rules"] * 3
    every = cv.Protocol("states L, F\nL + L -> L + F\nleader = L\nstart clean: all of L\n"
                        "stop when count(L) == 1\n", name="every.pp")
    found = cv.sweep({"protocol": every, "n": [10, 20, 40], "trials": 3}, tmp_path / "s.db",
                     law="a*n+b", plot=tmp_path / "growth.svg")
    assert len(found) == 9 and "a*n+b with a = " in found.growth("a*n+b")
    assert (tmp_path / "growth.svg").read_text().startswith("<?xml")
    with pytest.raises(cv.Error, match="unknown variable 'x'"):
        found.growth("a*x")


def test_a_plan_gives_initial_configurations(tmp_path, monkeypatch):
    duel = cv.Protocol({("L", "L"): ("L", "F")}, leader="L", observe={"l": "L"}, name="duel")
    plan = {"n": [10, 20, 41], "until": 0, "protocol": duel}

    def leaders(init, **more):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.db"
        return cv.sweep({**plan, "init": init, **more}, path).frame()["leaders"].tolist()

    assert leaders({"L": 0.5, "F": 0.5}) == [5, 10, 21]
    assert leaders(lambda n: {"L": n // 10, "F": n - n // 10}) == [1, 2, 4]
    assert leaders({"L": 4, "F": 6}, n=10) == [4]
    shares = cv.Protocol({("L", "L"): ("L", "F")}, leader="L", init={"L": 0.2, "F": 0.8})
    several = cv.sweep({**plan, "protocol": [shares, duel, "fratricide"]}, tmp_path / "all.db")
    assert several.frame()["leaders"].tolist() == [2, 4, 8, 10, 20, 41, 10, 20, 41]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.pp").write_text("states L, F\nstart all: all of L\nL + L -> L + F\n"
                                    "leader = L\n")
    assert leaders({"L": 0.5, "F": 0.5}, protocol="my.pp", n=range(10, 40, 10)) == [5, 10, 15]
    assert leaders("all", protocol="my.pp", n=[10]) == [10]
    with pytest.raises(cv.Error, match="^init gives 11 agents, but n = 10$"):
        leaders(lambda n: {"L": n, "F": 1})
    with pytest.raises(cv.Error, match="needs n as numbers"):
        leaders({"L": 0.5, "F": 0.5}, n={"from": 10, "to": 100, "factor": 2})
    with pytest.raises(cv.Error, match="is for protocols of one's own"):
        leaders({"L": 0.5, "F": 0.5}, protocol="pll")


def test_what_a_sweep_refuses_leaves_nothing(tmp_path):
    """Each in a sentence that speaks of the plan, before anything is written."""
    for keys, keywords, sentence in (
            ({"n": {"from": 100, "to": 10, "factor": 2}}, {}, "n: this range is empty: from"),
            ({"n": range(1, 20000)}, {}, "n: this range has more than 10 000 values"),
            ({"n": []}, {}, "n: this list is empty"),
            ({"n": 10}, {"law": "a*foo"}, "the law 'a\\*foo': unknown variable 'foo'"),
            ({"n": 10}, {"plot": "x.gif"}, "'x.gif': a figure ends in"),
            ({"n": 10, "nn": 3}, {}, "unknown key 'nn'"),
            ({"n": 10}, {"shard": "3/2"}, "shard takes PART/PARTS")):
        with pytest.raises(cv.Error, match=f"^{sentence}"):
            cv.sweep({"protocol": "pll", **keys}, tmp_path / "x.db", **keywords)
    assert not list(tmp_path.iterdir())
    found = cv.sweep({"protocol": "fratricide", "n": 10}, tmp_path / "r.db")
    with pytest.raises(cv.Error, match="give page, figures, or both"):
        cv.report(found)
    with pytest.raises(cv.Error, match="^where takes a condition"):
        found.frame(where="n>")
    with pytest.raises(cv.Error, match="as output"):
        cv.sweep({"protocol": "fratricide", "n": 11}, tmp_path / "r.db")


def test_a_report_is_a_page(tmp_path):
    found = cv.sweep({"trials": 5, "run": {"protocol": "fratricide", "n": [10, 20, 40]}},
                     tmp_path / "r.db")
    found.report(tmp_path / "page.html", title="A title")
    assert "A title" in (tmp_path / "page.html").read_text()
    cv.report([found], figures=tmp_path / "figures", kinds=["csv"])
    assert list((tmp_path / "figures").glob("*.csv"))


def test_every_option_of_the_command_line_is_a_keyword(program, tmp_path):
    for command, function in (("sweep", cv.sweep), ("report", cv.report)):
        told = program(command, "--help").stdout
        options = {name.replace("-", "_") for name in re.findall(r"--([a-z][a-z-]+)", told)}
        options -= {"help", "output"}
        names = set(inspect.signature(function).parameters)
        if command == "sweep":  # the options of a run are keys of the plan
            names |= set(inspect.signature(cv.run).parameters)
        missing = {each for each in options if f"--{each.replace('_', '-')} " in told} - names
        assert not missing, (command, missing)
        with pytest.raises(cv.Error, match="has no option"):
            function("x", nonsense=1)


def test_shards_and_estimates(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(
        'trials = 4\n[[run]]\nprotocol = "fratricide"\nn = [10, 20]\n')
    cells = cv.sweep("plan.toml", dry_run=True)
    assert [cell["trials"] for cell in cells] == [4, 4] and cells[0]["is_complete"]
    assert len(cv.sweep("plan.toml")) == 8 and (tmp_path / "plan.db").exists()
    parts = [cv.sweep("plan.toml", shard=f"{part}/3") for part in (1, 2, 3)]
    assert sum(map(len, parts)) == 8 and (tmp_path / "plan.2-of-3.db").exists()
    with pytest.raises(cv.Error, match="where the results are to go"):
        cv.sweep({"trials": 1, "run": {"protocol": "pll", "n": 5}})


def test_the_looks_of_figures(tmp_path):
    found = cv.sweep({"trials": 5, "run": {"protocol": "fratricide", "n": [10, 20, 40]}},
                     tmp_path / "r.db")
    cv.report(found, figures=tmp_path / "a", kinds=["tex"], axes="loglog", no_title=True,
              where="n>=20", size=(500, 300), font_size=8)
    text = "".join(each.read_text() for each in (tmp_path / "a").glob("*.tex"))
    assert "xmode=log" in text and "ymode=log" in text
    with pytest.raises(cv.Error, match="axes"):
        cv.report(found, figures=tmp_path / "b", axes="round")


def test_a_sweep_of_rare_failures_says_what_rare_says(program, tmp_path):
    plan = {"kind": "rare", "repetitions": 3, "particles": 20,
            "run": [{"protocol": "ppl", "n": [4, 8], "way": "timeout",
                     "importance": [["group"], ["group", "second"]],
                     "params": {"t_max": 6, "t_virus": 2, "t_emit": 10}}]}
    found = cv.sweep(plan, tmp_path / "r.db", quiet=True)
    assert len(found) == 12 and set(found.frame()["kind"]) == {"rare"}
    told = program("rare", "ppl", "--n", "8", "--param", "t_max=6", "--param", "t_virus=2",
                   "--param", "t_emit=10", "--way", "timeout", "--importance", "group",
                   "--importance", "second", "--particles", "20", "--repetitions", "3",
                   "--format", "jsonl", "--quiet").stdout
    assert found.estimates()[3] == json.loads(told)
    assert [each["n"] for each in found.estimates(where="n=4")] == [4, 4]
    with pytest.raises(cv.Error, match="add kind"):
        cv.sweep({"run": {"protocol": "ppl", "n": 4, "way": "timeout"}}, tmp_path / "x.db")
