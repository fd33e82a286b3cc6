"""Sweeps, files of results, reports."""

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


def test_a_report_is_a_page(tmp_path):
    found = cv.sweep({"trials": 5, "run": {"protocol": "fratricide", "n": [10, 20, 40]}},
                     tmp_path / "r.db")
    found.report(tmp_path / "page.html", title="A title")
    assert "A title" in (tmp_path / "page.html").read_text()
    cv.report([found], figures=tmp_path / "figures", kinds=["csv"])
    assert list((tmp_path / "figures").glob("*.csv"))
