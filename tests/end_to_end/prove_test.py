#!/usr/bin/env python3
"""`conclave prove` and `conclave-check`: what must not be proved, certificates that must be
rejected, and agreement with exhaustive exploration.

Usage: prove_test.py BINARY CHECKER [unittest arguments]
"""
import copy
import itertools
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY, CHECKER = (pathlib.Path(each).resolve() for each in sys.argv[1:3])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
SHIPPED = SOURCE / "protocols"
PROOFS = SHIPPED / "proofs"
SOLVERS = [each for each in ("cvc5", "z3") if shutil.which(each)]

MAJORITY = """states A, B, a, b
{start}
unordered A + B -> a + b
unordered A + b -> A + a
{rule}
output A = A | a
output B = B | b
stop when {stop}
"""
BACK = "unordered B + a -> B + b"
FLOCK = """param ones = {default} in {least}..{most}
fields value: 0..4
start some: ones of {{value = 1}}, rest of {{value = 0}}
u + v do {{
   let s = u.value + v.value
   if s >= 4 {{ u.value = 4, v.value = 4 }}
   else if u.value > 0 and v.value > 0 {{ u.value = 0, v.value = s }}
}}
stop when {stop}
"""
# None of these is true for every n.
WRONG = {
    "both leaders resign": "states L, F\nleader = L\nstart s: all of L\nL + L -> F + F\n",
    "impossible goal": "states L, F\nleader = L\nstart s: all of L\nL + L -> L + F\n"
                       "stop when count(leader) == 2\n",
    "nobody informed": "states S, I\nstart s: all of S\nS + I -> I + I\nstop when all(I)\n",
    "approximate is exact": "states A, B, U\nstart s: n/2 + 1 of A, rest of B\nA + B -> A + U\n"
                            "B + A -> B + U\nA + U -> A + A\nB + U -> B + B\nstop when all(A)\n",
    "majority with ties": MAJORITY.format(start="start s: n/2 of A, rest of B", rule=BACK,
                                          stop="all(output == A) or all(output == B)"),
    "a rule is missing": MAJORITY.format(start="start s: n/2 + 1 of B, rest of A", rule="",
                                         stop="all(output == A) or all(output == B)"),
    "flock one too few": FLOCK.format(default="n", least=3, most="n", stop="all(value == 4)"),
    "flock one too many": FLOCK.format(default="min(n, 4)", least=0, most=4,
                                       stop="none(value == 4)"),
    "false remainder": "fields active: bool, value: 0..2\nparam ones = floor(n/2) in 0..n\n"
                       "start s: ones of {active = true, value = 1}, rest of {active = true}\n"
                       "u + v do {\n if u.active and v.active {\n"
                       "  u.value = (u.value + v.value) mod 3\n  v.active = false\n }\n"
                       " if u.active { v.value = u.value }\n"
                       " else if v.active { u.value = v.value }\n}\n"
                       "stop when count(active) == 1 and all(value == (ones + 1) mod 3)\n",
    "the winner does not grow": "fields lead: bool, value: 1..3\nleader = lead\n"
                                "start s: all of {lead = true, value = 1}\nu + v do {\n"
                                " let top = max(u.value, v.value)\n"
                                " let u_stays = u.lead and u.value == top\n"
                                " let v_stays = v.lead and v.value > u.value\n"
                                " u.lead = u_stays, v.lead = v_stays\n"
                                " u.value = top, v.value = top\n}\n",
}
PROVED = [("fratricide.pp",), ("epidemic.pp",), ("exact_majority.pp",),
          ("approximate_majority.pp",), ("majority_with_ties.pp",), ("modulo_count.pp", "m=3"),
          ("rumor_with_cancel.pp",),
          ("lottery.pp", "top=2")]


def run(*words):
    return subprocess.run([str(each) for each in words], capture_output=True, text=True,
                          timeout=600, check=False)


def prove(path, *words):
    return run(BINARY, "prove", path, *words, "--quiet")


def check(certificate, solver):
    return run(CHECKER, certificate, "--solver", solver)


def params(words):
    return [word for each in words for word in ("--param", each)]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def certificate(self, name, *given):
        path = self.folder / "proof.json"
        result = prove(SHIPPED / name, *params(given), "--certificate", path)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return json.loads(path.read_text())


class Verdicts(Folder):
    def test_wrong_claims_are_not_proved(self):
        for name, text in WRONG.items():
            with self.subTest(name):
                path = self.folder / "wrong.pp"
                path.write_text(text)
                result = prove(path, "--certificate", self.folder / "wrong.json")
                self.assertIn(result.returncode, (3, 4), result.stdout + result.stderr)
                self.assertIn("not proved", result.stdout)
                self.assertFalse((self.folder / "wrong.json").exists())

    def test_a_refutation_shows_a_run(self):
        path = self.folder / "resign.pp"
        path.write_text(WRONG["both leaders resign"])
        result = prove(path)
        self.assertEqual(result.returncode, 4, result.stdout)
        self.assertIn("refuted  at n = 2", result.stdout)
        self.assertIn("[L L]", result.stdout)

    def test_contradictory_initial_configurations_are_vacuous(self):
        path = self.folder / "empty.pp"
        path.write_text("param k = n in n + 1..n + 2\nstates A, B\nstart s: k of A, rest of B\n"
                        "A + B -> A + A\nstop when all(A)\n")
        result = prove(path, "--param", "k=any")
        self.assertNotEqual(result.returncode, 0)

    def test_what_is_not_supported_is_one_sentence(self):
        for words, part in ((["ranking.pp"], "depends on n"), (["lottery.pp"], "depends on n"),
                            (["cascade.crn"], "network of reactions"),
                            (["fratricide.pp", "--target", "max(1) > 1"], "max(1) > 1"),
                            (["fratricide.pp", "--init", "none"], "unknown initial configuration")):
            with self.subTest(words[0]):
                result = prove(SHIPPED / words[0], *words[1:])
                self.assertEqual(result.returncode, 2, result.stdout)
                self.assertIn(part, result.stderr)

    def test_the_same_file_gives_the_same_certificate(self):
        for name, *given in PROVED:
            with self.subTest(name):
                first, second = (self.certificate(name, *given) for _ in range(2))
                self.assertEqual(first, second)

    def test_what_holds_always_is_proved_and_what_does_not_is_refuted(self):
        text = (SHIPPED / "modulo_count.pp").read_text()
        wrong = self.folder / "wrong.pp"
        for old, new, verdicts in (
                ("", "", ["proved", "proved"]),
                ("(u.value + v.value) mod m", "v.value", ["proved", "refuted"]),
                ("v.active = false", "u.active = false, v.active = false", ["refuted", "refuted"]),
                ("mod m == ones mod m\n", "mod m == (ones + 1) mod m\n", ["proved", "refuted"])):
            with self.subTest(new):
                wrong.write_text(text.replace(old, new, 1))
                result = prove(wrong, "--format", "json")
                found = json.loads(result.stdout)["always"]
                self.assertEqual([each["verdict"] for each in found], verdicts)
                self.assertEqual(result.returncode, 4 if "refuted" in verdicts else 0)

    def test_a_property_is_proved_where_convergence_is_not(self):
        path, proof = self.folder / "part.pp", self.folder / "part.json"
        text = ("states L, F\nleader = L\nstart s: all of L\nL + L -> L + F\n"
                "stop when count(leader) == 2\nalways any(leader)\nalways count(F) < n\n"
                "always max(1) == 1\n")
        path.write_text(text)
        result = prove(path, "--certificate", proof)
        self.assertEqual(result.returncode, 4, result.stdout)
        for line in ("proved  always any(leader)", "proved  always count(F) < n",
                     "not proved  always max(1) == 1", "not proved  count(leader) == 2 with"):
            self.assertIn(line, result.stdout)
        certificate = json.loads(proof.read_text())
        self.assertEqual((certificate["always"], certificate["result"]), ([0, 1], "not proved"))
        for solver in SOLVERS:
            accepted = check(proof, solver)
            self.assertEqual(accepted.returncode, 0, accepted.stdout)
            self.assertIn("always any(leader); always count(F) < n", accepted.stdout)
        for name, change in (("nothing", {"always": []}), ("not linear", {"always": [2]}),
                             ("out of range", {"always": [3]}), ("no list", {"always": 0}),
                             ("no invariants", {"invariants": []}), ("stays", {"result": "stays"}),
                             ("another property", {"protocol": {
                                 "name": "part.pp", "content": text.replace("< n", "< n - 1")}})):
            with self.subTest(name):
                proof.write_text(json.dumps({**certificate, **change}))
                self.assertEqual(check(proof, SOLVERS[-1]).returncode, 4)

    def test_a_target_of_ones_own(self):
        result = prove(SHIPPED / "fratricide.pp", "--target", "count(F) == n - 1")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        result = prove(SHIPPED / "fratricide.pp", "--target", "count(F) == n", "--format", "json")
        self.assertEqual(json.loads(result.stdout)["verdict"], "not proved")


def bad_certificates(good):
    """Changes of a certificate of majority_with_ties.pp, each with its name. None is right."""
    def changed(name, change):
        copied = copy.deepcopy(good)
        change(copied)
        return name, json.dumps(copied)

    def stage(rule):
        return next(i for i, each in enumerate(good["stages"]) if each["rule"] == rule)

    rank, terminal = stage("rank"), stage("terminal")
    other = "states S, I\nstart one: 1 of I, rest of S\nS + I -> I + I\nstop when all(I)\n"
    content = good["protocol"]["content"]
    yield changed("a transition added", lambda c: c["transitions"].append([[0, 0], [1, 1]]))
    yield changed("a transition left out", lambda c: c["transitions"].pop())
    yield changed("a state renamed", lambda c: c["states"].__setitem__(0, "X"))
    yield changed("another protocol", lambda c: c["protocol"].update(content=other))
    yield changed("a rule removed", lambda c: c["protocol"].update(
        content=content.replace("T + T -> T + t\n", "")))
    yield changed("another start", lambda c: c.update(init="ahead"))
    yield changed("a wider start", lambda c: c["protocol"].update(
        content=content.replace("start tied:", "start tied: randomly\nstart old:")))
    yield changed("a stronger condition", lambda c: c.update(target="silent and none(t)"))
    yield changed("no invariants", lambda c: c.update(invariants=[]))
    yield changed("an invariant that is none", lambda c: c["invariants"].append(
        {"kind": "linear", "w": [0, 0, 0, 1, 0, 0]}))
    yield changed("a trap that is none", lambda c: c["invariants"].append(
        {"kind": "trap", "y": [0]}))
    yield changed("a follower that is none", lambda c: c["invariants"].append(
        {"kind": "follow", "z": [5], "y": []}))
    yield changed("a modulus that is none", lambda c: c["invariants"].append(
        {"kind": "modular", "p": 3, "w": [1, 0, 0, 0, 0, 0]}))
    yield changed("a modulus of 0", lambda c: c["invariants"].append(
        {"kind": "modular", "p": 0, "w": [0, 0, 0, 0, 0, 0]}))
    yield changed("an unknown invariant", lambda c: c["invariants"].append(
        {"kind": "axiom", "w": [0, 0, 0, 0, 0, 0]}))
    yield changed("a formula as an invariant", lambda c: c["invariants"].append(
        {"kind": "linear", "w": ["0))(assert false", 0, 0, 0, 0, 0]}))
    yield changed("everything never fires", lambda c: c.update(
        never=list(range(len(c["transitions"])))))
    yield changed("everything is dead", lambda c: c["stages"][0].update(
        dead=list(range(len(c["transitions"])))))
    yield changed("a stage out of range", lambda c: c["stages"][rank].update(children=[99]))
    yield changed("a stage is its own child", lambda c: c["stages"][rank].update(children=[rank]))
    yield changed("a stage called terminal", lambda c: c["stages"][rank].update(rule="terminal"))
    yield changed("a stage of an unknown rule", lambda c: c["stages"][terminal].update(
        rule="trust me"))
    yield changed("a stage without a parent", lambda c: c["stages"].append(
        {"rule": "terminal"}))
    yield changed("no stages", lambda c: c.update(stages=[]))
    yield changed("a constant ranking", lambda c: c["stages"][rank].update(
        weights=[0] * len(c["states"])))
    yield changed("a ranking that grows", lambda c: c["stages"][rank].update(
        weights=[0, 0, 0, 1, 1, 1]))
    yield changed("a negative ranking", lambda c: c["stages"][rank].update(
        weights=[-1] + c["stages"][rank]["weights"][1:]))
    yield changed("a ranking of huge weights", lambda c: c["stages"][rank].update(
        weights=[2**62] * len(c["states"])))
    yield changed("too few weights", lambda c: c["stages"][rank]["weights"].pop())
    yield changed("a bag without a path", lambda c: c["stages"][rank].update(
        more=[{"bag": [[3, 1]], "path": []}]))
    yield changed("a bag whose path cannot be fired", lambda c: c["stages"][rank].update(
        more=[{"bag": [[3, 1]], "path": [0]}]))
    yield changed("a split that is none", lambda c: c["stages"].__setitem__(
        0, {"rule": "split", "set": [0, 3], "children": [1, 2]}))
    yield changed("a weak stage with constant weights", lambda c: c["stages"].__setitem__(
        0, {"rule": "weak", "weights": [0] * 6}))
    yield changed("a faster class", lambda c: c.update(bound="n log n"))
    yield changed("a faster class in its stage, too", lambda c: (c.update(bound="n^2"), [
        each.update(speed="n^2") for each in c["stages"] if "speed" in each]))
    yield changed("an unknown result", lambda c: c.update(result="always"))
    yield changed("another format", lambda c: c.update(format="conclave-proof 2"))
    yield changed("another kind", lambda c: c.update(kind="faith"))
    yield changed("a parameter of nobody", lambda c: c.update(params={"m": "3"}))
    yield changed("a command as a target", lambda c: c.update(target="true))(exit)"))
    yield changed("a command as a name", lambda c: c["protocol"].update(
        content=content.replace("tied:", "tied|)(exit):")))
    yield "deeply nested", "[" * 100000 + "]" * 100000
    yield "no JSON", json.dumps(good)[:-5]
    yield "no object", "[1, 2]"
    yield "empty", "{}"


class Certificates(Folder):
    def test_damaged_certificates_are_rejected(self):
        good = self.certificate("majority_with_ties.pp")
        path = self.folder / "bad.json"
        kinds = list(bad_certificates(good))
        self.assertGreaterEqual(len(kinds), 40)
        for name, text in kinds:
            with self.subTest(name):
                path.write_text(text)
                result = check(path, SOLVERS[-1])
                self.assertEqual(result.returncode, 4, f"{name}: {result.stdout} {result.stderr}")

    def test_both_solvers_accept(self):
        for name, *given in PROVED:
            self.certificate(name, *given)
            for solver in SOLVERS:
                with self.subTest(f"{name}, {solver}"):
                    result = check(self.folder / "proof.json", solver)
                    self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_stored_certificates_are_accepted_and_those_of_the_files(self):
        stored = sorted(PROOFS.glob("*.json"))
        self.assertGreaterEqual(len(stored), 8)
        for path in stored:
            proof = json.loads(path.read_text())
            file = SHIPPED / proof["protocol"]["name"]
            self.assertEqual(proof["protocol"]["content"], file.read_text(), f"{path}: prove anew")
            for solver in SOLVERS:
                with self.subTest(f"{path.name}, {solver}"):
                    result = check(path, solver)
                    self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_a_missing_solver_or_file_is_one_sentence(self):
        self.certificate("epidemic.pp")
        self.assertEqual(check(self.folder / "proof.json", "yices").returncode, 1)
        self.assertEqual(check(self.folder / "nothing.json", SOLVERS[0]).returncode, 1)
        self.assertEqual(run(CHECKER).returncode, 2)


def holds(invariant, first, now):
    occupied = lambda set_, counts: any(counts[q] for q in set_)
    if invariant["kind"] == "trap":
        return not occupied(invariant["y"], first) or occupied(invariant["y"], now)
    if invariant["kind"] == "follow":
        return (occupied(invariant["z"], first) or not occupied(invariant["z"], now)
                or occupied(invariant["y"], now))
    change = sum(w * (b - a) for w, a, b in zip(invariant["w"], first, now))
    return change <= 0 if invariant["kind"] == "linear" else change % invariant["p"] == 0


def reachable(first, transitions):
    """All configurations that can be reached, by a search of its own."""
    seen, open_ = {first}, [first]
    for counts in open_:
        for pre, post in transitions:
            after = list(counts)
            for q in pre:
                after[q] -= 1
            if min(after) < 0:
                continue
            for q in post:
                after[q] += 1
            if tuple(after) not in seen:
                seen.add(tuple(after))
                open_.append(tuple(after))
    return seen


class Agreement(Folder):
    def test_what_is_proved_holds_in_small_populations(self):
        for name, *given in PROVED:
            self.certificate(name, *given)
            for n in (2, 3, 4):
                with self.subTest(f"{name}, n = {n}"):
                    result = run(BINARY, "verify", SHIPPED / name, "--n", n, *params(given),
                                 "--from", "start", "--format", "json", "--quiet")
                    if result.returncode == 2:
                        continue  # the initial configuration does not fit this n
                    self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_invariants_hold_wherever_transitions_lead(self):
        for name, *given in PROVED:
            proof = self.certificate(name, *given)
            live = [each for t, each in enumerate(proof["transitions"]) if t not in proof["never"]]
            states = len(proof["states"])
            for n in (2, 3, 4):
                for agents in itertools.combinations_with_replacement(range(states), n):
                    first = tuple(agents.count(q) for q in range(states))
                    for now in reachable(first, live) if n < 4 or states < 7 else ():
                        for each in proof["invariants"]:
                            self.assertTrue(holds(each, first, now), f"{name} {each} {first} {now}")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
