#!/usr/bin/env python3
"""`conclave verify` and `conclave search` as their users and their scripts see them.

Usage: verify_test.py BINARY [unittest arguments]
"""
import itertools
import json
import math
import os
import pathlib
import pty
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

from processes import wait_for_work

BINARY = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
PRINTED = ["pll", "--n", "4", "--param", "c_max=3", "--param", "k=1", "--param", "reading=printed"]
TOY_DETECTION = ["detect-collision", "--n", "3", "--param", "r=3", "--param", "c_M=0.3",
                 "--param", "c_S=1", "--param"]
TOY_ELECTLEADER = ["electleader", "--n", "2", *(word for value in (
    "R_max=1", "D_max=1", "c_LE=1", "c_labels=1", "c_sleep=1", "identifiers=2", "P_max=1",
    "C_max=2.8") for word in ("--param", value))]
TOY_PPL = [word for value in ("t_max=6", "t_virus=4", "t_emit=2") for word in ("--param", value)]


def conclave(*words):
    return subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=300,
                          check=False)


def verify(*words):
    """The report in JSON; everything must hold."""
    result = conclave("verify", *words, "--format", "json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


class Report(unittest.TestCase):
    def test_has_the_fields_of_the_contract(self):
        report = verify("prl", "--n", "3", "--param", "N=3")
        for field in ("configurations", "transitions", "properties", "expected", "maximum",
                      "residual"):
            self.assertIn(field, report)
        self.assertEqual(report["configurations_before_symmetry"], 96 ** 3)
        lemmas = {f"Lemma {i}" for i in range(1, 9)}
        self.assertLessEqual(lemmas, {p["name"] for p in report["properties"] if p["holds"]})
        self.assertEqual(report["maximum"]["configuration"], "L-S.0 L-S.0 L-S.0")
        self.assertLess(report["relative_error"], 1e-9)

    def test_averages_over_random_starts(self):
        report = verify("prl", "--n", "2", "--init", "random")
        named = verify("prl", "--n", "2", "--init", "one-leader-own-live")
        self.assertAlmostEqual(named["expected"]["interactions"], 6, 12)
        self.assertAlmostEqual(named["expected"]["variance"], 6, 10)
        self.assertLess(report["expected"]["interactions"], 6)

    def test_follows_the_start_alone_if_asked(self):
        report = verify("ppl", "--n", "3", *TOY_PPL, "--init", "safe", "--from", "start")
        self.assertEqual(report["scope"], "reachable")
        self.assertAlmostEqual(report["holding"], 13.391531, 6)
        self.assertEqual(report["expected"]["interactions"], 0)

    def test_knows_the_parts_of_electleader(self):
        toy = ["propagate-reset", "--n", "3", "--param", "R_max=1", "--param", "D_max=2"]
        report = verify(*toy, "--against", "agents")
        self.assertNotIn("safe_set", report)
        stuck = conclave("verify", *toy, "--param", "reading=negative-delay")
        self.assertEqual(stuck.returncode, 4)
        self.assertIn("R0.0 R0.0 R0.0", stuck.stdout)
        # Two agents of eight identifiers elect two sheriffs if they draw the same.
        report = verify("assign-ranks", "--n", "2", "--param", "r=1", "--param", "c_LE=2")
        self.assertAlmostEqual(report["expected"]["probability"], 7 / 8, 12)

    def test_knows_how_badges_are_handed_on(self):
        """Observation D.1; another reading of who becomes a recipient throws a badge away."""
        toy = ["assign-ranks", "--n", "3", "--param", "r=1", "--param", "c_LE=1", "--param",
               "c_sleep=1"]
        holding = {p["name"] for p in verify(*toy)["properties"] if p["holds"]}
        self.assertLessEqual({f"Observation D.1({part})" for part in "abcde"}, holding)
        printed = conclave("verify", *toy, "--param", "reading=other-recipient")
        self.assertEqual(printed.returncode, 4)
        self.assertIn("FAILS    Observation D.1(e)", printed.stdout)

    def test_knows_electleader_as_a_whole(self):
        """Two agents, one group each: every state is visited, and all of Appendix F holds."""
        report = verify(*TOY_ELECTLEADER)
        names = {p["name"] for p in report["properties"] if p["holds"]}
        self.assertLessEqual({f"Lemma 6.{i}" for i in (1, 2, 3)}, names)
        self.assertLessEqual({f"Lemma F.{i}" for i in range(1, 7)}, names)
        self.assertAlmostEqual(report["maximum"]["interactions"], 14, 9)
        # Without the lost `return` of Protocol 2, soft resets become full ones: C_safe is left.
        printed = conclave("verify", *TOY_ELECTLEADER, "--param", "reading=no-return")
        self.assertEqual(printed.returncode, 4)
        self.assertIn("FAILS  Lemma 6.1", printed.stdout)
        # A probation of one meeting is over before the next error: soft resets without end.
        hasty = conclave("verify", *TOY_ELECTLEADER[:-4], "--param", "P_max=0.7", "--param",
                         "C_max=2.8")
        self.assertEqual(hasty.returncode, 4)
        self.assertIn("FAILS  Lemma F.6", hasty.stdout)

    def test_knows_electleader_with_messages(self):
        """One group of two ranks, whose messages were wrong: a soft reset, and the ranks stay."""
        toy = [*TOY_ELECTLEADER[:-4], "--param", "r=2", "--param", "c_M=0.5", "--param",
               "signatures=2", "--param", "P_max=2", "--param", "C_max=5.6", "--from", "start"]
        report = verify(*toy, "--init", "correct-corrupt")
        verdicts = {p["name"]: p for p in report["properties"]}
        self.assertTrue(verdicts["Lemma 6.1"]["holds"])
        self.assertTrue(verdicts["Observation F.2"]["holds"])
        self.assertEqual(report["expected"]["interactions"], 0)
        self.assertAlmostEqual(verify(*toy, "--init", "dup")["expected"]["interactions"], 12, 9)

    def test_knows_when_collisions_are_detected(self):
        """Three agents of ranks 1, 2, 1, one message each, a new signature of s at every meeting:
        T = 1 + (2/3) X, X = 1 + (1/3) X + (1/3)(1/s) X, where X begins with a stamped message."""
        for s in (2, 3):
            report = verify(*TOY_DETECTION, f"signatures={s}", "--exact", "--against",
                            "agents,dense", "--trials", "3000")
            self.assertEqual(Fraction(report["expected"]["exactly"]),
                             Fraction(4 * s - 1, 2 * s - 1))
            self.assertEqual([test["engine"] for test in report["against"]], ["agents", "dense"])
        report = verify(*TOY_DETECTION, "signatures=2", "--init", "correct-one-corrupt", "--exact")
        self.assertEqual(report["expected"]["exactly"], "3")  # its governor must meet the holder

    def test_knows_that_a_correct_ranking_raises_no_error(self):
        report = verify(*TOY_DETECTION, "signatures=2", "--init", "correct")
        verdicts = {p["name"]: p["verdict"] for p in report["properties"]}
        self.assertTrue(all(p["holds"] for p in report["properties"]))
        for claim in ("Lemma E.1(a)", "Observation 2", "q_0,DC"):
            self.assertEqual(verdicts[claim], "holds")
        for claim in ("Lemma E.1(b)", "error"):  # no collision, no error: nothing to say
            self.assertEqual(verdicts[claim], "vacuous")
        self.assertEqual(report["expected"]["probability"], 0)
        pair = ["detect-collision", "--n", "2", "--param", "r=2", "--param", "c_M=0.5", "--param",
                "signatures=2"]
        report = verify(*pair, "--init", "correct-corrupt", "--against", "agents,dense",
                        "--trials", "2000")  # both messages may be right by chance
        self.assertAlmostEqual(report["expected"]["probability"], 3 / 4, 12)
        report = verify(*pair, "--from", "all", "--within", "collision")
        self.assertEqual(report["maximum"]["interactions"], 1)
        self.assertGreater(report["configurations_before_symmetry"], 256 ** 2)

    def test_gives_fractions(self):
        report = verify("pll-sym", "--n", "3", "--exact")
        self.assertEqual(report["expected"]["exactly"], "9/2")
        report = verify("prl", "--n", "2", "--exact")
        self.assertAlmostEqual(float(Fraction(report["expected"]["exactly"])),
                               report["expected"]["interactions"], 12)

    def test_gives_the_distribution(self):
        law = verify("ppl", "--n", "2", "--param", "t_max=20", "--param", "t_virus=4", "--param",
                     "t_emit=3", "--init", "all-leaders", "--from", "start", "--distribution",
                     "6")["distribution"]
        self.assertEqual(law, [0, 0, 0, 0, 1])  # exactly t_emit + 1 steps, then all is said

    def test_says_that_a_claim_is_vacuous(self):
        """Three agents of pll-sym never get a coin."""
        lines = conclave("verify", "pll-sym", "--n", "3").stdout.splitlines()
        self.assertIn("vacuous  Section 4      there are as many heads as tails", lines)
        self.assertIn("holds    Lemma 11       there is always a leader", lines)

    def test_of_distributions_have_two_names(self):
        words = ("fratricide", "--n", "3")
        self.assertEqual(verify(*words, "--steps", "4"), verify(*words, "--distribution", "4"))

    def test_in_words_names_every_lemma(self):
        text = conclave("verify", "prl", "--n", "2").stdout
        self.assertIn("holds  Lemma 8", text)
        self.assertIn("largest expected interactions: 6\n", text)

    def test_counts_the_agents_of_large_configurations(self):
        for n, shown in (("20", " ".join(["L"] * 20)), ("21", "21 x L")):
            self.assertEqual(verify("fratricide", "--n", n)["maximum"]["configuration"], shown)
        epidemic = pathlib.Path(__file__).resolve().parents[2] / "protocols" / "epidemic.pp"
        self.assertIn("from [I 29 x S]\n", conclave("verify", epidemic, "--n", "30").stdout)


class Failures(unittest.TestCase):
    def test_come_with_a_trace_and_status_4(self):
        result = conclave("verify", *PRINTED, "--format", "json")
        self.assertEqual(result.returncode, 4)
        report = json.loads(result.stdout)
        failed = [p for p in report["properties"] if not p["holds"]]
        self.assertEqual([p["name"] for p in failed], ["stabilization"])
        trace = failed[0]["counterexample"]
        self.assertEqual(trace[0], {"interaction": "",
                                    "configuration": "LX1a.0 LX1a.0 LX1a.0 LX1a.0"})
        self.assertTrue(all(line["interaction"] for line in trace[1:]))
        self.assertAlmostEqual(report["expected"]["probability"], 0.904266, 6)
        self.assertEqual(report["expected"]["interactions"], "infinite")

    def test_show_how_messages_get_lost(self):
        """Erratum 33: loops that end at ID r_u^2."""
        result = conclave("verify", *TOY_DETECTION, "signatures=2", "--init", "correct", "--param",
                          "reading=half-of-ids", "--format", "json")
        self.assertEqual(result.returncode, 4)
        failed = [p for p in json.loads(result.stdout)["properties"] if not p["holds"]]
        self.assertEqual([p["name"] for p in failed],
                         ["Observation 2", "Section 3.1", "Lemma E.1(a)", "inconsistency"])
        self.assertEqual([line["interaction"] for line in failed[0]["counterexample"]],
                         ["", "(0,1)"])

    def test_of_users_are_told_in_one_sentence(self):
        for words, message in (
                (["detect-collision", "--n", "3", "--param", "r=3"], "72 contents of 8 bits"),
                ([*TOY_DETECTION, "signatures=2", "--from", "all"], "10368 states"),
                (["detect-collision", "--n", "3", "--param", "r=4"], "at most n ranks"),
                (["detect-collision", "--n", "3", "--param", "c_M=0"], "c_M must be positive"),
                ([*TOY_DETECTION, "reading=half-of-ids", "--against", "agents"],
                 "--engine dense"),
                (["prl", "--n", "12"], "too large for an exact computation"),
                # As soon as its states are listed, not once all pairs of the 10701 that
                # interactions make of them have been tried.
                (["optimal-silent", "--n", "6", "--memory", "256MiB"], "with 429 states"),
                (["optimal-silent", "--n", "12"], "allow more with --memory"),
                (["pll", "--n", "100000"], "configurations can be reached"),
                (["pll", "--n", "20"], "configurations can be reached"),
                # Two halves joined pair by pair.
                (["ag-minions", "--n", "8"], "more than 3.5e+07 configurations"),
                (["pll", "--n", "4"], "4 GiB are allowed"),
                (["pll", "--n", "5"], "configurations can be reached"),
                (["prl", "--n", "4", "--memory", "1e8"], "1.64e+07 configurations"),
                (["prl", "--n", "3", "--target", "CNI"], "did you mean 'C_NI'?"),
                (["prl", "--n", "3", "--graph", "complete"], "made for the directed ring"),
                (["prl", "--n", "3", "--from", "everywhere"], "known: all, start"),
                (["pll", "--n", "3", "--against", "agent"], "did you mean 'agents'?"),
                (["fratricide", "--n", "3", "--against", "agents,,counts"],
                 "one is empty in 'agents,,counts'"),
                (["pll"], "the population size is missing")):
            result = conclave("verify", *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertIn(message, result.stderr)


class Engines(unittest.TestCase):
    def test_agree_where_convergence_is_not_certain(self):
        """Trials that never converge are a case of their own; trials end where the law does."""
        toy_ranks = ["assign-ranks", "--n", "2", "--param", "r=1", "--param", "c_LE=2", "--param",
                     "c_sleep=2"]
        for words, engines, status in ((toy_ranks, "agents", 0), (PRINTED, "agents,events", 4)):
            result = conclave("verify", *words, "--against", engines, "--trials", "4000",
                              "--format", "json")
            self.assertEqual(result.returncode, status, result.stderr)
            report = json.loads(result.stdout)
            never = 4000 * (1 - report["expected"]["probability"])
            self.assertGreater(never, 300)
            for test in report["against"]:
                self.assertTrue(test["agrees"])
                self.assertGreaterEqual(test["horizon"], 1000)
                self.assertLess(test["horizon"], 10000)
                self.assertAlmostEqual(test["later_or_never"]["expected"], never, delta=5)
                self.assertAlmostEqual(test["later_or_never"]["found"], never, delta=130)

    def test_of_texts_agree_where_convergence_is_not_certain(self):
        """Three agents in state A: the first that changes decides what the others become."""
        text = ("states A, B, C\nstart s: all of A\nA + A -> B + A with 1/2 or C + A with 1/2\n"
                "B + A -> B + B\nC + A -> C + C\nstop when all(B)\n")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "either.pp"
            path.write_text(text)
            result = conclave("verify", str(path), "--n", "3", "--against", "agents,events,counts",
                              "--trials", "4000")
        self.assertEqual(result.returncode, 4)  # the stop condition may be missed
        self.assertEqual(result.stdout.count(": agrees"), 3, result.stdout + result.stderr)
        self.assertIn("later or never", result.stdout)

    def test_agree_with_the_exact_law(self):
        for words in (["fratricide", "--n", "7"], ["prl", "--n", "3"],
                      ["coalescence", "--n", "6", "--graph", "undirected-ring"], PRINTED[:-2]):
            tests = verify(*words, "--against", "agents,events", "--trials", "5000")["against"]
            self.assertEqual([test["engine"] for test in tests], ["agents", "events"])
            self.assertTrue(all(test["agrees"] and test["trials"] == 5000 for test in tests))

    def test_are_compared_however_short_the_distribution_is(self):
        """Before time 19 no two of 20 agents are left alone: 5 steps compare nothing."""
        report = verify("fratricide", "--n", "20", "--distribution", "5", "--against", "agents")
        self.assertEqual(report["distribution"], [0] * 6)
        test = report["against"][0]
        self.assertGreater(test["horizon"], 1000)
        self.assertLess(test["later_or_never"]["expected"], 5)
        self.assertGreater(test["chi_square"], 0)

    def test_say_so_where_trials_are_too_few(self):
        words = ("fratricide", "--n", "5", "--against", "agents", "--trials", "8")
        self.assertIn("8 trials are too few to be compared with the law",
                      conclave("verify", *words).stdout)
        self.assertFalse(verify(*words)["against"][0]["compared"])
        certain = verify("fratricide", "--n", "2", "--against", "agents", "--trials", "8")
        self.assertTrue(certain["against"][0]["compared"])  # one interaction is always enough


class Interruption(unittest.TestCase):
    def test_ends_every_phase_at_once(self):
        for words in (["prl", "--n", "4"],  # explores 16 million configurations
                      ["fratricide", "--n", "20", "--against", "agents", "--trials", "1e12"]):
            process = subprocess.Popen([BINARY, "verify", *words], stdout=subprocess.PIPE)
            wait_for_work(process, 1)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.communicate(timeout=60)[0], b"")
            self.assertEqual(process.returncode, 130)


def read_rows(path):
    """The transitions of a .tra file, by state."""
    lines = path.read_text().splitlines()
    rows = [{} for _ in range(int(lines[0].split()[0]))]
    for line in lines[1:]:
        source, to, probability = line.split()
        rows[int(source)][int(to)] = float(probability)
    return rows


def read_label(path, name):
    header, *lines = path.read_text().splitlines()
    numbers = dict(reversed(word.split("=")) for word in header.split())
    number = numbers[f'"{name}"']
    return {int(state) for state, _, labels in (line.partition(":") for line in lines)
            if number in labels.split()}


def expected_steps(rows, target, sweeps=20000):
    """Gauss and Seidel, knowing nothing of what wrote the files."""
    times = [0.0] * len(rows)
    for _ in range(sweeps):
        change = 0
        for state, row in enumerate(rows):
            if state in target:
                continue
            leaving = 1 - row.get(state, 0)
            value = (1 + sum(p * times[to] for to, p in row.items() if to != state)) / leaving
            change = max(change, abs(value - times[state]))
            times[state] = value
        if change < 1e-13:
            break
    return times


class Export(unittest.TestCase):
    def test_with_fractions_are_solved_without_error(self):
        with tempfile.TemporaryDirectory() as folder:
            verify("coalescence", "--n", "7", "--graph", "ring", "--exact", "--export", folder)
            solved = conclave("solve", f"{folder}/model.tra", "--exact", "--format", "json")
            self.assertEqual(json.loads(solved.stdout)["expected"], "56")  # C(n + 1, 3)

    def test_can_be_read_back_and_solved(self):
        with tempfile.TemporaryDirectory() as folder:
            report = verify("coalescence", "--n", "6", "--graph", "ring", "--export", folder)
            files = pathlib.Path(folder)
            rows = read_rows(files / "model.tra")
            times = expected_steps(rows, read_label(files / "model.lab", "converged"))
            start = read_label(files / "model.lab", "init")
            self.assertEqual(len(rows), report["configurations"])
            self.assertAlmostEqual(times[min(start)], 35, 9)  # C(7, 3)
            self.assertAlmostEqual(max(times), report["maximum"]["interactions"], 9)
            self.assertIn("digraph", (files / "model.dot").read_text())


class Census:
    """A module of PRISM's language as `--export` writes it, read well enough to solve it."""

    def __init__(self, text):
        self.start = {name: int(count) for name, count in
                      re.findall(r"^  (\w+) : \[0\.\.n\] init (\d+);", text, re.M)}
        self.constants = {"n": int(re.search(r"const int n = (\d+);", text)[1]),
                          "min": min, "max": max}
        product = re.search(r"const int all = (.*);", text)[1]
        self.constants["all"] = eval(product, dict(self.constants))
        self.rules = re.findall(r"^    \((.*)\)/all : (.*?) [+]$", text, re.M)
        self.target = python(re.search(r'label "target" = (.*);', text)[1])

    def value(self, expression, census):
        return eval(expression, {**self.constants, **census})

    def successors(self, census):
        for pairs, updates in self.rules:
            weight = self.value(pairs, census)
            if weight == 0:
                continue
            after = dict(census)
            for name, change in re.findall(r"\((\w+)'=(.*?\))\)", updates):
                after[name] = self.value(change, census)
            yield Fraction(weight, self.constants["all"]), after

    def mean_time(self):
        """By elimination: the mean of a state is 1 plus those of its successors, weighed."""
        rows = {}
        todo = [self.start]
        while todo:
            census = todo.pop()
            key = tuple(census.values())
            if key in rows or self.value(self.target, census):
                continue
            row = {key: Fraction(0), "one": Fraction(1)}
            for probability, after in self.successors(census):
                row[key] += probability
                if not self.value(self.target, after):
                    other = tuple(after.values())
                    row[other] = row.get(other, 0) - probability
                    todo.append(after)
            rows[key] = row
        first = tuple(self.start.values())
        for key in [key for key in rows if key != first] + [first]:
            row = rows.pop(key)
            pivot = row.pop(key)
            row = {other: value / pivot for other, value in row.items()}
            if key == first:
                return row["one"]
            for target in rows.values():
                factor = target.pop(key, 0)
                for other, value in row.items():
                    target[other] = target.get(other, 0) - factor * value
        return Fraction(0)


def python(expression):
    """PRISM's words for conditions as Python's."""
    expression = re.sub(r"(?<![<>!=])=(?!=)", "==", expression)
    return expression.replace("&", " and ").replace("|", " or ")


def computes(rules, n, predicate):
    """Whether A's output, yes, or that of B and C, no, is right in the end, for every input."""
    def reach(first):
        seen, open_ = {first}, [first]
        for now in open_:
            for i, j in itertools.permutations(range(n), 2):
                post = rules.get(now[i] + now[j])
                if post is None:
                    continue
                after = list(now)
                after[i], after[j] = post
                after = "".join(sorted(after))
                if after not in seen:
                    seen.add(after)
                    open_.append(after)
        return seen

    for a in range(n + 1):
        right = predicate(a, n - a)
        agrees = lambda now: all((agent == "A") == right for agent in now)
        for now in reach("A" * a + "B" * (n - a)):
            if not any(all(map(agrees, reach(later))) for later in reach(now)):
                return False
    return True


class OwnProtocols(unittest.TestCase):
    FOLDER = pathlib.Path(__file__).resolve().parents[2] / "protocols"

    def path(self, name):
        return str(self.FOLDER / (name + ".pp"))

    def mutant(self, folder, name, rule, wrong):
        """A copy of a shipped file in which this rule, which it has once, is another one."""
        text = pathlib.Path(self.path(name)).read_text()
        self.assertEqual(text.count(rule), 1, rule)
        path = pathlib.Path(folder) / "mutant.pp"
        path.write_text(text.replace(rule, wrong))
        return path

    def test_are_verified_like_those_of_the_catalog(self):
        own = verify(self.path("fratricide"), "--n", "6", "--exact")
        listed = verify("fratricide", "--n", "6", "--exact")
        self.assertEqual(own["expected"]["exactly"], "25")
        for field in ("configurations", "transitions", "expected", "safe_set"):
            self.assertEqual(own[field], listed[field])

    def test_without_leaders_have_exact_times_but_no_safe_set(self):
        report = verify(self.path("approximate_majority"), "--n", "5", "--init", "tied", "--exact")
        self.assertNotIn("safe_set", report)
        self.assertEqual([p["name"] for p in report["properties"]], ["stop condition", "always"])
        own = verify(self.path("epidemic"), "--n", "4", "--exact")
        self.assertEqual(own["expected"]["exactly"], "11")  # 12/3 + 12/4 + 12/3

    def test_that_may_miss_their_stop_condition_show_how(self):
        result = conclave("verify", self.path("exact_majority"), "--n", "4", "--from", "all")
        self.assertEqual(result.returncode, 4)
        self.assertIn("from here it is never reached", result.stdout)

    def test_may_say_what_holds_always(self):
        report = verify(self.path("modulo_count"), "--n", "5")
        self.assertEqual([(p["name"], p["statement"], p["verdict"])
                          for p in report["properties"][1:]],
                         [("always", "any(active)", "holds"),
                          ("always", "sum(if active then value else 0) mod m == ones mod m",
                           "holds")])
        mutants = {  # each breaks the property of that number
            ("modulo_count", "u.value = (u.value + v.value) mod m", "u.value = v.value"): 2,
            ("modulo_count", "v.active = false", "u.active = false, v.active = false"): 1,
            ("approximate_majority", "A + B -> A + U", "A + B -> U + U"): 1,
            ("lottery", "u.heads = v.heads, u.lead = false",
             "u.heads = v.heads, u.lead = false, v.lead = false"): 1,
            ("lottery", "u.lead and v.lead { v.lead = false }",
             "u.lead and v.lead { u.lead = false, v.lead = false }"): 1}
        with tempfile.TemporaryDirectory() as folder:
            for (name, rule, wrong), broken in mutants.items():
                mutant = self.mutant(folder, name, rule, wrong)
                words = ("--param", "top=2") if name == "lottery" else ()
                words += ("--init", "tied") if name == "approximate_majority" else ()
                result = conclave("verify", str(mutant), "--n", "4", *words, "--format", "json")
                self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
                found = [each for each in json.loads(result.stdout)["properties"]
                         if each["name"] == "always"]
                self.assertEqual(found[broken - 1]["verdict"], "fails", rule)
                trace = found[broken - 1]["counterexample"]
                self.assertEqual(trace[0]["interaction"], "")
                self.assertGreater(len(trace), 1)

    def test_may_say_what_is_reached(self):
        text = ("states A, B, C\nstart s: all of A\nA + A -> B + A\nB + B -> C + B\n"
                "stop when silent\n")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "my.pp"
            for goal, verdict in (("count(A) == 1", "holds"), ("none(B)", "fails"),
                                  ("count(B) <= 1", "holds"), ("count(A) == 3", "fails")):
                path.write_text(text + f"eventually {goal}\n")
                result = conclave("verify", str(path), "--n", "4", "--format", "json")
                claim = json.loads(result.stdout)["properties"][-1]
                self.assertEqual((claim["name"], claim["statement"], claim["verdict"]),
                                 ("eventually", goal, verdict))
                self.assertEqual(result.returncode, 0 if verdict == "holds" else 4)

    def test_may_say_what_they_compute(self):
        for name, n in (("exact_majority", 5), ("exact_majority", 6), ("majority_with_ties", 4)):
            report = verify(self.path(name), "--n", str(n), "--init",
                            "one_ahead" if name == "exact_majority" else "tied")
            self.assertEqual([(p["name"], p["verdict"]) for p in report["properties"]],
                             [("stop condition", "holds"), ("computes", "holds")])
        mutants = {("exact_majority", " when A != B", ""): "A B",
                   ("exact_majority", "unordered B + a -> B + b\n", ""): "A B B",
                   ("majority_with_ties", "unordered T + a|b -> T + t\n", ""): "",
                   ("majority_with_ties", "else if B > A then B", "else if B >= A then B"): "A B"}
        with tempfile.TemporaryDirectory() as folder:
            for (name, rule, wrong), first in mutants.items():
                mutant = self.mutant(folder, name, rule, wrong)
                words = ["--init", "A=1,B=rest"]
                claims = [p for n in ("2", "3", "4") for p in json.loads(conclave(
                    "verify", str(mutant), "--n", n, *words, "--format", "json").stdout)[
                        "properties"] if p["name"] == "computes" and not p["holds"]]
                self.assertTrue(claims, rule)
                trace = claims[0]["counterexample"]
                self.assertTrue(trace[0]["configuration"].startswith(first), trace)
                self.assertIn("from here the outputs never become", claims[0]["problem"])

    def test_what_they_compute_agrees_with_a_search_of_its_own(self):
        draw = random.Random(7)
        verdicts = []
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "random.pp"
            for _ in range(40):
                states, rules = "ABC", {}
                for _ in range(draw.randint(1, 4)):
                    pre, post = (draw.choice(states) + draw.choice(states) for _ in range(2))
                    rules[pre] = post
                condition = draw.choice(["A > B", "A >= 2", "A + B >= 3", "(A - B) mod 2 == 0"])
                path.write_text(
                    "states A, B, C\nstart s: all of A\noutput yes = A\noutput no = B | C\n"
                    + "".join(f"{pre[0]} + {pre[1]} -> {post[0]} + {post[1]}\n"
                              for pre, post in rules.items()) +
                    f"computes {condition} over A, B\n")
                for n in (2, 3, 4):
                    result = conclave("verify", str(path), "--n", str(n), "--format", "json")
                    claim = json.loads(result.stdout)["properties"][-1]
                    python = condition.replace("mod", "%")
                    expected = computes(rules, n, lambda a, b: eval(python, {"A": a, "B": b}))
                    self.assertEqual(claim["holds"], expected, path.read_text())
                    verdicts.append(expected)
        self.assertGreater(verdicts.count(True), 3)
        self.assertGreater(verdicts.count(False), 3)

    def test_agree_with_the_engines(self):
        for name in ("epidemic", "fratricide"):
            result = conclave("verify", self.path(name), "--n", "6", "--against",
                              "agents,events,counts", "--trials", "3000")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertEqual(result.stdout.count(": agrees"), 3)

    def test_are_exported_as_a_census_module(self):
        lazy = ("states L, F\nleader = L\nstart s: all of L\n"
                "L + L -> L + F with 2/3 or F + L with 1/6\n")
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "lazy.pp"
            text.write_text(lazy)
            for path, *more in ((self.path("fratricide"),),
                                (self.path("approximate_majority"), "--init", "tied"),
                                (str(text),)):
                report = verify(path, "--n", "4", "--exact", "--export", folder, *more)
                module = pathlib.Path(folder) / "census.prism"
                census = Census(module.read_text())
                module.unlink()
                self.assertEqual(str(census.mean_time()), report["expected"]["exactly"], path)

    def test_of_papers_stop_with_probability_one(self):
        for name, n, more, exactly in (
                ("lottery", 3, ("top=2",), "1859149/295680"),
                ("ranking", 4, (), None),
                ("junta_clock", 2, ("m=4", "top=1"), "7"),
                ("junta_election", 2, ("clock_m=4", "clock_top=1", "bits=4"), "1"),
                ("majority_with_ties", 6, (), "194612009/4127760"),
                ("modulo_count", 5, (), "2658827/85050"),
                ("rumor_with_cancel", 6, (), "914219/70875"),
                ("synthetic_coin", 6, (), "1")):
            words = [word for each in more for word in ("--param", each)]
            report = verify(self.path(name), "--n", str(n), "--exact", *words)
            self.assertTrue(all(p["holds"] for p in report["properties"]), name)
            if exactly:
                self.assertEqual(report["expected"]["exactly"], exactly, name)

    def test_with_many_states_are_verified_as_far_as_they_occur(self):
        report = verify(self.path("phase_clock"), "--n", "2", "--param", "q=2000", "--exact")
        self.assertEqual(report["configurations"], 4000)
        self.assertEqual(report["expected"]["exactly"], "3000")

    def test_have_worst_starts(self):
        words = ("--n", "8", "--budget", "4000", "--format", "json")
        found = json.loads(conclave("search", self.path("epidemic"), *words).stdout)
        self.assertEqual(found["interactions"], "infinite")  # silent at once: nobody is informed
        self.assertEqual(found["configuration"], "8 x S")
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "sort.pp"
            text.write_text("states A, B\nstart s: all of B\nA + * -> B + *\nstop when all(B)\n")
            found = json.loads(conclave("search", str(text), *words, "--seed", "2").stdout)
            exact = verify(str(text), "--n", "8", "--from", "all")["maximum"]
        self.assertEqual(found["configuration"], "8 x A")
        self.assertEqual(exact["configuration"], " ".join(8 * "A"))
        self.assertLess(found["interactions"]["low"], exact["interactions"])
        self.assertGreater(found["interactions"]["high"], exact["interactions"])


class Search(unittest.TestCase):
    def test_reports_the_worst_start_with_an_interval(self):
        result = conclave("search", "prl", "--n", "10", "--budget", "2000", "--format", "json")
        found = json.loads(result.stdout)
        self.assertEqual(result.returncode, 0)
        self.assertLess(found["interactions"]["low"], found["interactions"]["mean"])
        self.assertLess(found["interactions"]["mean"], found["interactions"]["high"])
        self.assertEqual(result.stdout, conclave("search", "prl", "--n", "10", "--budget", "2000",
                                                 "--format", "json").stdout)

    def test_finds_adversaries_of_message_passing(self):
        """The best table is at least as bad as those it begins with: unit delays, for example."""
        words = ("search", "kmpp-async", "--n", "12", "--budget", "1000", "--format", "json")
        found = json.loads(conclave(*words).stdout)
        unit = conclave("run", "kmpp-async", "--n", "12", "--trials", "50", "--format", "jsonl")
        plain = sum(json.loads(row)["time"] for row in unit.stdout.splitlines()) / 50
        self.assertGreaterEqual(found["time"]["high"], plain)
        self.assertIn("woken first: ", found["configuration"])
        costly = json.loads(conclave(*words, "--objective", "messages").stdout)
        self.assertGreater(costly["messages"]["mean"], found["time"]["mean"])
        for wrong, why in ((["kmpp-async", "--n", "9", "--objective", "bits"],
                            "known: time, messages"),
                           (["kmpp-async", "--n", "1e6"], "at most 100000 nodes"),
                           (["kmpp-sync", "--n", "9"], "kmpp-sync is synchronous")):
            result = conclave("search", *wrong)
            self.assertEqual(result.returncode, 2)
            self.assertIn(why, result.stderr)

    def test_prints_the_seed_that_it_uses(self):
        words = ("search", "prl", "--n", "4", "--budget", "1000", "--format", "json", "--seed")
        for text, seed in (("1e3", 1000), ("2^20", 2 ** 20)):
            found = json.loads(conclave(*words, text).stdout)
            self.assertEqual(found["seed"], seed)
            self.assertEqual(found, json.loads(conclave(*words, str(seed)).stdout))

    def test_prints_the_worst_start_so_far_when_interrupted(self):
        for form in ("text", "json"):
            words = [BINARY, "search", "prl", "--n", "20", "--budget", "1e9", "--format", form]
            process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
            wait_for_work(process, 1)
            process.send_signal(signal.SIGINT)
            output = process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 130)
            if form == "text":
                self.assertRegex(output, r"^interrupted; the worst of \d+ initial")
                self.assertIn("biased upwards", output)
                continue
            found = json.loads(output)
            self.assertTrue(found["interrupted"])
            self.assertTrue(found["configuration"])
            self.assertGreaterEqual(found["choosing_trials"], 8)

    # Tokens change hands for ever: neither the stop condition nor silence comes.
    ENDLESS = "states A, B\nstart s: all of A\nA + B -> B + A\nA + A -> B + B\nB + B -> A + A\n" \
              "stop when none(A) and none(B)\n"

    def test_asks_for_a_limit_where_trials_do_not_end(self):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "endless.pp"
            text.write_text(self.ENDLESS)
            words = ("search", str(text), "--n", "5")
            refused = conclave(*words, "--budget", "1e6")
            self.assertEqual(refused.returncode, 2)
            self.assertIn("say with --max-interactions how long one may take", refused.stderr)
            limited = conclave(*words, "--budget", "1000", "--max-interactions", "50",
                               "--format", "json")
            self.assertEqual(json.loads(limited.stdout)["interactions"]["mean"], 50)

    def test_can_be_interrupted_within_a_trial(self):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "endless.pp"
            text.write_text(self.ENDLESS)
            words = [BINARY, "search", str(text), "--n", "5", "--max-interactions", "1e18"]
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
            wait_for_work(process, 0.3)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=60), 130)


class Exploration(unittest.TestCase):
    def test_shows_its_progress_on_a_terminal(self):
        terminal, error = pty.openpty()
        process = subprocess.Popen([BINARY, "explore", "kmpp-async", "--n", "6"], stderr=error,
                                   stdout=subprocess.DEVNULL)
        os.close(error)
        shown = b""
        while b"exploring the configurations found so far" not in shown:
            shown += os.read(terminal, 1000)  # fails where the process ends without a word
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)
        os.close(terminal)


# Algorithm 1 of ppl once more, as a protocol file.
PPL = """
param t_max = 12 in 1..1000
param t_virus = 4 in 1..1000
param t_emit = 10 in 1..1000
fields lead: bool, shield: bool, virus: 0..t_virus, timer_L: 0..t_max, timer_I: 0..t_emit
leader = lead
start safe: 1 of {lead = true, shield = true, timer_L = t_max, timer_I = t_emit},
  rest of {timer_L = t_max, timer_I = t_emit}
u + v do {
  let longer = max(max(u.timer_L, v.timer_L) - 1, 0)
  u.timer_L = longer, v.timer_L = longer
  each { if timer_L == 0 { lead = true } }
  if u.lead or v.lead { u.timer_L = t_max, v.timer_L = t_max }
  let life = max(max(u.virus, v.virus) - 1, 0)
  u.virus = life, v.virus = life
  each { if virus > 0 and lead and not shield { lead = false } }
  each { timer_I = max(timer_I - 1, 0) }
  if u.timer_I == 0 and u.lead { u.virus = t_virus, u.shield = true }
  if v.timer_I == 0 and v.lead { v.shield = false }
  each { if timer_I == 0 { timer_I = t_emit } }
}
stop when count(lead) == 1 and none(2 * timer_L < t_max) and
  (count(lead and shield and 2 * timer_I >= t_emit) == 1 or none(virus > 0))
hold while count(lead) == 1
"""


class HoldingTimes(unittest.TestCase):
    """A protocol file has those of the same protocol in C++, and the mean that is computed."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "mine.pp"
        self.file.write_text(PPL)

    def held(self, protocol, *words):
        rows = conclave("run", protocol, "--init", "safe", "--param", "hold=1", "--engine",
                        "agents", "--format", "jsonl", "--quiet", *words).stdout.splitlines()
        return [json.loads(row)["observables"]["holding_interactions"] for row in rows]

    def test_are_those_of_ppl(self):
        for seed in ("1", "2"):
            words = ["--n", "6", "--trials", "200", "--seed", seed, "--param", "t_max=12",
                     "--param", "t_virus=4", "--param", "t_emit=10"]
            found = self.held(self.file, *words)
            self.assertEqual(found, self.held("ppl", *words))
            self.assertEqual(len(found), 200)
        self.file.write_text(PPL.replace("max(timer_I - 1, 0)", "max(timer_I - 2, 0)"))  # a mistake
        self.assertNotEqual(self.held(self.file, *words), found)

    def test_have_the_mean_that_verify_computes(self):
        toy = ["--n", "3", "--param", "t_max=4", "--param", "t_virus=2", "--param", "t_emit=3"]
        exact = verify(self.file, *toy)["holding"]
        self.assertAlmostEqual(exact, verify("ppl", *toy, "--init", "safe")["holding"], 9)
        times = self.held(self.file, *toy, "--trials", "20000")
        mean = statistics.fmean(times)
        error = statistics.stdev(times) / math.sqrt(len(times))
        self.assertLess(abs(mean - exact), 5 * error)
        self.assertGreater(abs(mean - 1.1 * exact), 5 * error)

    def test_keep_the_names_of_parameters(self):
        """They were those of a compiled file that was gone."""
        told = conclave("verify", self.file, "--n", "3", "--param", "t_max=2", "--param",
                        "t_virus=1", "--param", "t_emit=2", "--from", "all").stdout
        self.assertIn("n = 3, t_max = 2, t_virus = 1, t_emit = 2", told)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
