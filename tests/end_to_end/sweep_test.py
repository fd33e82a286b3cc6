#!/usr/bin/env python3
"""Sweeps as their users see them: plans, results that survive whatever happens, shards, MPI.

Usage: sweep_test.py BINARY [unittest arguments]
"""
import csv
import functools
import io
import json
import math
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

from processes import wait_for_end, wait_until

BINARY = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
PROTOCOLS = pathlib.Path(__file__).resolve().parents[2] / "protocols"
SMOKE = """
name = "smoke"
seed = 3
trials = 200
[[run]]
protocol = "pll"
n = [500, 1000, 2000]
[[run]]
protocol = "prl"
n = [50, 100]
init = ["random", "all-leaders"]
params = { N = ["n", "4*n"] }
"""
# A plan that takes about a second, with sanitizers a few.
IS_SANITIZED = BINARY is not None and b"__asan_init" in BINARY.read_bytes()
LONG_TRIALS = 300 if IS_SANITIZED else 1500
LONG = f"""
seed = 5
trials = {LONG_TRIALS}
[[run]]
protocol = "prl"
n = [30, 200, 300]
[[run]]
protocol = "pll"
n = 1000
precision = "1%"
max_trials = {LONG_TRIALS}
"""


@functools.cache
def undisturbed():
    """The dump of the long plan, and how many seconds it takes."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "plan.toml").write_text(LONG)
        begin = time.monotonic()
        subprocess.run([BINARY, "sweep", "plan.toml", "--quiet"], cwd=folder, check=True)
        seconds = time.monotonic() - begin
        return subprocess.run([BINARY, "results", "plan.db", "--format", "csv"], cwd=folder,
                              check=True, capture_output=True, text=True).stdout, seconds


@functools.cache
def smoke():
    """The results of the plan of this name."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "plan.toml").write_text(SMOKE)
        subprocess.run([BINARY, "sweep", "plan.toml", "--quiet"], cwd=folder, check=True)
        return (pathlib.Path(folder) / "plan.db").read_bytes()


class WithoutPlanTest(unittest.TestCase):
    """A protocol over sizes and parameters, from one command."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        (pathlib.Path(self.folder.name) / "my.pp").write_text(
            "param T = 1 in 1..1e6\nstates L, F\nleader = L\nstart clean: all of L\n"
            "start two: 2 of L, rest of F\nL + L -> L + F with 1/T\n"
            "stop when count(leader) == 1\n")

    def conclave(self, *words, status=0):
        done = subprocess.run([BINARY, *map(str, words)], cwd=self.folder.name, text=True,
                              capture_output=True, timeout=300)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def test_one_command_draws_the_growth(self):
        words = ["sweep", "my.pp", "--n", "16..64:2,100", "--trials", 20, "--param",
                 "T=2*ceil(lg(n))", "--law", "a*n+b", "--plot", "growth.csv"]
        said = self.conclave(*words)
        self.assertIn("a*n+b with a = ", " ".join(said.split()))
        with open(pathlib.Path(self.folder.name) / "growth.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        label = "T=2*ceil(lg(n)): mean, 95 % interval"
        self.assertEqual([float(row["x"]) for row in rows if row["series"] == label],
                         [16, 32, 64, 100])
        self.assertEqual(self.conclave(*words), said)  # nothing is run again
        table = self.conclave("results", "my.db", "--format", "csv")
        found = {(row["n"], row["params.T"]) for row in csv.DictReader(io.StringIO(table))}
        self.assertEqual(found, {("16", "8"), ("32", "10"), ("64", "12"), ("100", "14")})

    def test_a_run_of_several_sizes_has_the_rows_of_each(self):
        many = self.conclave("run", "pll", "--n", "20,40", "--trials", 3, "--format", "jsonl")
        each = [self.conclave("run", "pll", "--n", n, "--trials", 3, "--format", "jsonl")
                for n in (20, 40)]
        self.assertEqual(many, "".join(each))
        both = json.loads(self.conclave("run", "pll", "--n", "20,40", "--format", "json"))
        self.assertEqual([row["n"] for row in both["rows"]], [20, 40])
        self.assertEqual(len(both["summaries"]), 2)
        rows = self.conclave("run", "my.pp", "--n", "16,100", "--param", "T=4*ceil(lg(n))",
                             "--format", "jsonl").splitlines()
        self.assertEqual([json.loads(row)["params"]["T"] for row in rows], [16, 28])

    def test_a_network_that_explodes_leaves_nothing(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "boom.crn").write_text("R -> 9 R rate 1000\ninit R = 1000\n")
        before = sorted(folder.iterdir())
        for words in (["run", "--trials", 2, "-o", "r.csv", "--history", "h.csv", "--every", 1],
                      ["sweep", "--n", 1000, "--trials", 2, "-o", "r.db"]):
            said = self.conclave(words[0], "boom.crn", "--until", 1000, *words[1:], status=2)
            self.assertIn("it grows without bound", said)
            self.assertEqual(sorted(folder.iterdir()), before)

    def test_a_law_that_has_no_value_is_named(self):
        said = self.conclave("sweep", "my.pp", "--n", "10,20,40,80", "--trials", 9, "--law",
                             "a*sqrt(n-20)")
        self.assertIn("a*sqrt(n-20) is not fitted", " ".join(said.split()))

    def test_shares_are_an_initial_configuration(self):
        for words, n in ((["L=3,F=7"], 10), (["L=30%,F=70%", "--n", 10], 10),
                         (["L=3,F=rest", "--n", 10], 10), (["L=33.4%,F=66.6%", "--n", 11], 11)):
            row = json.loads(self.conclave("run", "my.pp", "--init", *words, "--format", "jsonl"))
            self.assertEqual((row["n"], row["init"]), (n, words[0]))
        self.assertIn("reachable", self.conclave("verify", "my.pp", "--init", "L=2,F=1"))
        torus = self.conclave("run", "my.pp", "--init", "L=2,F=7", "--graph", "torus:3x3",
                              "--until", 5)
        self.assertIn("1 of 1 trials ran until time 5", torus)

    def test_mistakes_are_sentences_and_write_nothing(self):
        plan = pathlib.Path(self.folder.name) / "plan.toml"
        plan.write_text('protocol = "my.pp"\nn = 10\n')
        for words, sentence in [
                (["sweep", "my.pp", "--n", "100..10"], "--n: this range is empty"),
                (["sweep", "my.pp", "--n", "1..1e6:+1"], "--n: this range has more than 10 000"),
                (["sweep", "my.pp", "--n", "10", "--law", "a*m"], "unknown variable 'm'"),
                (["sweep", "plan.toml", "--law", "a*T+b*m"], "unknown variable 'm'"),
                (["sweep", "my.pp"], "the sizes are missing"),
                (["run", "my.pp", "--n", "9", "--param", "T=n,(n+1)"], "belong to a sweep"),
                (["run", "my.pp", "--n", "9", "--param", "T=4*m(n)"], "--param T: '4*m(n)'"),
                (["sweep", "my.pp", "--n", "1..9:x"], "unknown name 'x'\n"),
                (["sweep", "my.pp", "--n", "10", "--param", "T=n*"], "--param T: "),
                (["sweep", "my.pp", "--n", "10", "--plot", "growth.gif"], "growth.gif"),
                (["sweep", "plan.toml", "--engine", "agents"], "--engine belongs to the sweep"),
                (["run", "my.pp", "--n", "10,20", "--trace", "t.csv"], "--trace is about one"),
                (["run", "my.pp", "--n", "10", "--init", "L=3,F=5"],
                 "--init L=3,F=5: start L=3,F=5 gives states to 8 agents, but n = 10"),
                (["run", "my.pp", "--n", "10", "--init", "L=60%,F=30%"], "states to 9 agents"),
                (["run", "my.pp", "--init", "L=3,G=5"], "unknown state 'G'"),
                (["run", "my.pp", "--init", "L="], "--init takes a name of the file"),
                (["run", "pll", "--n", "10", "--init", "L=10"],
                 "unknown initial configuration of pll 'L=10'"),
                (["run", "my.pp", "--n", "9", "--placement", "random"], "is for graphs")]:
            self.assertIn(sentence, self.conclave(*words, status=2))
        self.assertEqual(sorted(each.name for each in pathlib.Path(self.folder.name).iterdir()),
                         ["my.pp", "plan.toml"])

    def test_a_stop_that_can_be_undone_is_said_to_be(self):
        path = pathlib.Path(self.folder.name) / "my.pp"
        safe = self.conclave("run", "my.pp", "--n", 20, "--trials", 3)
        self.assertNotIn("undone", safe)
        path.write_text(path.read_text() + "F + F -> F + L with 1/50\n")
        said = self.conclave("run", "my.pp", "--n", 20, "--trials", 3)
        self.assertIn("can be undone later", said)
        command = re.search(r"conclave (verify my.pp --n \d+)", said)[1].split()
        self.assertIn("converged but not safe", self.conclave(*command))
        held = self.conclave("run", "my.pp", "--n", 20, "--param", "hold=1")
        self.assertNotIn("can be undone", held)
        rows = self.conclave("run", "my.pp", "--n", 20, "--param", "hold=1", "--format", "csv")
        self.assertIn("observables.holding_interactions", rows)


class Folder(unittest.TestCase):
    """A test in a folder of its own."""
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def conclave(self, *words, **options):
        return subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=120,
                              cwd=self.folder, check=False, **options)

    def plan(self, text, name="plan.toml"):
        (self.folder / name).write_text(text)
        return name

    def sweep(self, text, *words, output="results.db", status=0, **options):
        result = self.conclave("sweep", self.plan(text), "-o", output, *words, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def take_smoke(self):
        """As if it had been swept here."""
        self.plan(SMOKE)
        (self.folder / "results.db").write_bytes(smoke())

    def dump(self, file="results.db"):
        result = self.conclave("results", file, "--format", "csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def rows(self, *words, file="results.db"):
        output = self.conclave("results", file, "--format", "jsonl", *words).stdout
        return [json.loads(line) for line in output.splitlines()]

    def committed(self):
        """The number of rows in results.db."""
        try:
            with sqlite3.connect(f"file:{self.folder}/results.db?mode=ro", uri=True) as database:
                return database.execute("SELECT count(*) FROM trial").fetchone()[0]
        except sqlite3.OperationalError:  # not there yet, or in the middle of a commit
            return 0

    def wait_for_rows(self):
        wait_until(self.committed, "committed rows")

    def assert_refused(self, result, *sentences, status=2):
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for sentence in sentences:
            self.assertIn(sentence, result.stderr)


class Plans(Folder):
    def test_rows_are_those_of_run_in_the_order_of_cells_and_trials(self):
        self.sweep(SMOKE)
        lines = list(csv.DictReader(io.StringIO(self.dump())))
        self.assertEqual([int(line["row"]) for line in lines], list(range(2200)))
        places = [(int(line["cell"]), int(line["trial"])) for line in lines]
        self.assertEqual(places, [(cell, trial) for cell in range(11) for trial in range(200)])
        self.assertFalse([name for name in lines[0] if re.search("second|elapsed|wall", name)])
        expected = self.conclave("run", "prl", "--n", "100", "--param", "N=400", "--init", "random",
                                 "--trials", "200", "--seed", "3", "--format", "jsonl").stdout
        stored = self.conclave("results", "results.db", "--format", "jsonl", "--where", "cell=8")
        self.assertEqual(stored.stdout, expected)

    def test_are_independent_of_threads(self):
        for threads in ("1", "3"):
            self.sweep(SMOKE, "--threads", threads, output=f"{threads}.db")
        self.assertEqual(self.dump("1.db"), self.dump("3.db"))

    def test_have_ranges_expressions_defaults_and_alternatives_of_everything(self):
        self.sweep("""
            engine = "agents"
            [[run]]
            protocol = "ppl"
            max_parallel_time = "1000*n"
            n = { from = 4, to = 16, factor = 2 }
            params = { t_max = "10*ceil(lg(n))", t_virus = "t_max/3", t_emit = [2, "n"] }
            init = "random"
            [[run]]
            protocol = "prl"
            n = [{ from = 10, to = 20, step = 5 }, "2^5"]
            faults = [[], ["corrupt:50%@convergence+10", "kill-leaders@1000"]]
            [[run]]
            protocol = ["kmpp-async", "afek-gafni-async"]
            n = 20
            engine = "auto"
            delay = ["unit", "exponential"]
            wakeup = "one"
            """, status=0)
        cells = {}
        for row in self.rows():
            cells.setdefault(row["protocol"], []).append(row)
        self.assertEqual([(r["n"], r["params"]["t_max"], r["params"]["t_virus"],
                           r["params"]["t_emit"]) for r in cells["ppl"]],
                         [(4, 20, 6, 2), (4, 20, 6, 4), (8, 30, 10, 2), (8, 30, 10, 8),
                          (16, 40, 13, 2), (16, 40, 13, 16)])
        self.assertEqual([(r["n"], len(r.get("faults", []))) for r in cells["prl"]],
                         [(n, faults) for n in (10, 15, 20, 32) for faults in (0, 2)])
        self.assertEqual([r["delay"] for r in cells["kmpp-async"]], ["unit", "exponential"])
        self.assertEqual(len(cells["afek-gafni-async"]), 2)

    def test_may_give_every_cell_a_seed_of_its_own(self):
        text = 'seed = 3\ncell_seeds = "different"\nprotocol = "prl"\nn = [10, 20, 30]\n'
        self.sweep(text)
        seeds = {row["n"]: row["seed"] for row in self.rows()}
        self.assertEqual(len(set(seeds.values())), 3)
        self.sweep(text.replace("10, ", ""), output="fewer.db")
        self.assertEqual({row["n"]: row["seed"] for row in self.rows(file="fewer.db")},
                         {n: seeds[n] for n in (20, 30)})

    def test_notice_that_a_graph_has_changed(self):
        graph = "".join(f"{i} {(i + 1) % 10}\n{(i + 1) % 10} {i}\n" for i in range(10))
        (self.folder / "ring.txt").write_text(graph)
        text = 'protocol = "coalescence"\nn = 10\ntrials = 3\ngraph = "file:ring.txt"\n'
        self.sweep(text)
        self.assertEqual(len(self.rows("--where", "graph=file:ring.txt")), 3)
        (self.folder / "ring.txt").write_text(graph + "0 5\n")
        self.assert_refused(self.conclave("sweep", "plan.toml", "-o", "results.db"),
                            "a file that it names is another one")

    def test_without_tables_of_runs_are_one_run(self):
        self.sweep('protocol = "fratricide"\nn = 1e2\ntrials = 3\nmax_interactions = "n"', status=3)
        self.assertEqual([r["interactions"] for r in self.rows()], [100] * 3)

    def test_keep_the_protocol_texts_they_name(self):
        shutil.copy(PROTOCOLS / "epidemic.pp", self.folder / "mine.pp")
        self.sweep('protocol = "mine.pp"\nn = [100, 200]\ntrials = 5')
        (self.folder / "mine.pp").unlink()
        self.assertEqual(self.conclave("replay", "results.db", "--row", "7").returncode, 0)
        text = (PROTOCOLS / "epidemic.pp").read_text()
        (self.folder / "mine.pp").write_text(text + "\n# changed\n")
        result = self.conclave("sweep", "plan.toml", "-o", "results.db")
        self.assert_refused(result, "the plan has changed", "source_hash")

    def test_give_texts_fractions_where_they_take_them(self):
        (self.folder / "mine.pp").write_text(
            "param t = n in 1..1000\nparam half = t/2 in 0..t\nparam p = 1/2 in 0..1\n"
            "states L, F\nleader = L\nstart all: all of L\nL + L -> L + F with p\n")
        self.sweep('protocol = "mine.pp"\nn = 10\n'
                   'params = { t = ["n/3", 5], half = "t/2", p = ["1/3", "2/n", 0.3] }')
        self.assertEqual([r["params"] for r in self.rows()], [
            {"t": t, "half": half, "p": p} for t, half in ((3, 1.5), (5, 2.5))
            for p in ("1/3", 0.2, 0.3)])

    def test_tell_cells_with_different_horizons_apart(self):
        self.sweep('protocol = "fratricide"\nn = 10\nuntil = [2, "convergence,5"]')
        shown = self.conclave("results", "results.db").stdout
        for cell in ("until=2 ", "until=convergence,5 "):
            self.assertIn(cell, shown)

    def test_keep_networks_of_reactions_as_well(self):
        (self.folder / "below").mkdir()
        network = self.folder / "below" / "decay.crn"
        network.write_text("A -> B rate 2\ninit A = n\nstop when A == 0\n")
        plan = self.plan('protocol = "decay.crn"\nn = [10, 20]\ntrials = 5', "below/plan.toml")
        swept = self.conclave("sweep", plan, "-o", "results.db")
        self.assertEqual(swept.returncode, 0, swept.stderr)
        network.unlink()
        self.assertEqual(len(self.rows("--where", "time>0")), 10)
        self.assertEqual(self.conclave("replay", "results.db", "--row", "7").returncode, 0)

    def test_point_to_line_and_key_of_mistakes(self):
        head = '[[run]]\nprotocol = "prl"\nn = 10\n'
        for text, *sentences in (
                (head + 'inti = "random"', "plan.toml:4: unknown key 'inti'", "'init'"),
                (head + 'init = "rondom"', "plan.toml:4: init:", "'random'"),
                (head + '[run.params]\nM = 3', "plan.toml:5: params.M:", "'N'"),
                (head + 'params = { N = "4*m" }', "plan.toml:4: params.N:", "'n'"),
                (head + 'params = { N = "n/2" }', "plan.toml:4: params.N:", "N >= n"),
                (head + 'engine = "event"', "plan.toml:4: engine:", "'events'"),
                (head + 'delay = "unit"', "plan.toml:4: delay:", "message passing"),
                (head + 'faults = ["corrupt@3"]', "plan.toml:4: faults:"),
                (head + 'trials = 0', "plan.toml:4: trials takes a number from 1"),
                (head + 'trials = 9\nprecision = 0.1', "plan.toml:5: precision:", "max_trials"),
                (head + 'precision = "200%"', "plan.toml:4: precision:", "0.02"),
                (head + 'precision = 0.1\ninit = "random"\nmeasure = "messages"',
                 "plan.toml:6: measure:", "interactions"),
                (head + 'seed = -1', "plan.toml:4: seed:"),
                (head + 'init = []', "plan.toml:4: init: this list is empty"),
                ('[[run]]\nn = 3\nprotocol = "pl"', "plan.toml:3: protocol:", "'pll'"),
                ('[[run]]\nprotocol = "pll"', "plan.toml:1: this run has no n"),
                ('[run]\nprotocol = "pll"\nn = 3', "plan.toml:1: run: write [[run]]"),
                ('protocol = "pll"\nn = { from = 9, to = 3, step = 1 }', "plan.toml:2: n: ",
                 "empty"),
                ('protocol = "pll"\nn = { from = 9, too = 3 }', "plan.toml:2: n:", "'to'"),
                ('protocol = "pll"\nn = 2.5', "plan.toml:2: n: '2.5' is no whole number"),
                ('protocol = "pll"\nn = 1', "plan.toml:2:", "at least 2 agents"),
                ('protocol = "missing.pp"\nn = 9', "plan.toml:1: protocol: cannot read"),
                ('n = [1, \n', "plan.toml:1: ", "array"),
                ("", "plan.toml:1: this run has no protocol")):
            with self.subTest(text):
                result = self.conclave("sweep", self.plan(text), "-o", "no.db")
                self.assert_refused(result, *sentences)
                self.assertFalse((self.folder / "no.db").exists())

    def test_dry_run_prints_cells_and_work_and_writes_nothing(self):
        result = self.conclave("sweep", self.plan(SMOKE), "--dry-run")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(re.findall(r"(?m)^ +\d+ +200 ", result.stdout)), 11)
        self.assertIn("prl n=100 N=400 init=all-leaders", result.stdout)
        self.assertEqual(os.listdir(self.folder), ["plan.toml"])

    def test_stop_at_the_precision_they_ask_for_and_not_before(self):
        self.sweep("""
            seed = 2
            precision = 0.05
            batch = 50
            max_trials = 5000
            protocol = "prl"
            n = [20, 40]
            """, "--threads", "3")
        for cell in ("0", "1"):
            times = [row["interactions"] for row in self.rows("--where", f"cell={cell}")]
            self.assertEqual(len(times) % 50, 0)

            def half_width(sample):
                return 1.96 * statistics.stdev(sample) / math.sqrt(len(sample))
            self.assertLessEqual(half_width(times), 0.05 * statistics.mean(times))
            for end in range(50, len(times), 50):
                # Student's quantiles are larger than 1.96, by less than 3 % from 50 trials on.
                self.assertGreater(1.03 * half_width(times[:end]),
                                   0.05 * statistics.mean(times[:end]))


class Results(Folder):
    def test_are_listed_filtered_and_exported(self):
        self.take_smoke()
        table = self.conclave("results", "results.db").stdout
        self.assertEqual(len(re.findall(r"(?m)^ +\d+  pr?l", table)), 11)
        self.assertEqual({(r["protocol"], r["n"]) for r in self.rows("--where", "protocol=pll",
                                                                    "--where", "n>=1e3")},
                         {("pll", 1000), ("pll", 2000)})
        self.assertEqual({r["params"]["N"] for r in self.rows("--where", "N>100")}, {200, 400})
        self.assertEqual(self.rows("--where", " N  > 100 "), self.rows("--where", "N>100"))
        self.assertEqual(self.rows("--where", "converged=false"), [])
        document = json.loads(self.conclave("results", "results.db", "--format", "json", "--where",
                                            "leaders_created<1").stdout)
        self.assertTrue(all(r["observables"]["leaders_created"] == 0 for r in document["rows"]))
        for words, sentence in ((("--where", "nn=3"), "did you mean 'n'"),
                                (("--where", "n"), "protocol=pll"),
                                (("--measure", "leader"), "did you mean 'leaders'"),
                                (("--measure", "interactions / nodes"), "unknown field 'nodes'"),
                                (("--measure", "n / / n"), "--measure 'n / / n': expected"),
                                (("--measure", "2 * 3"), "names no field"),
                                (("--measure", "half(n)"), "half"),
                                (("--format", "xml"), "unknown format")):
            self.assert_refused(self.conclave("results", "results.db", *words), sentence)

    def test_are_measured_by_expressions_in_their_fields(self):
        self.take_smoke()
        where = "--where", "protocol=pll", "--where", "n=500"
        shown = self.conclave("results", "results.db", *where, "--measure",
                              "(interactions - n) / n^2").stdout
        self.assertIn("measure (interactions - n) / n^2", shown)
        times = [r["interactions"] for r in self.rows(*where)]
        mean = float(re.search(r"(?m)^ +\d+  pll +500 .*? (?:\d+) +([\d.e+-]+) ", shown)[1])
        self.assertAlmostEqual(mean, (statistics.mean(times) - 500) / 500 ** 2, delta=1e-4 * mean)

    def test_are_pleasant_in_sql(self):
        self.take_smoke()
        with sqlite3.connect(self.folder / "results.db") as database:
            means = dict(database.execute("SELECT n, avg(interactions) FROM result "
                                          "WHERE protocol = 'pll' AND converged GROUP BY n"))
            version, = database.execute("PRAGMA user_version").fetchone()
            codes = {code for code, in database.execute("SELECT code FROM result")}
        mine = [r["interactions"] for r in self.rows("--where", "protocol=pll", "--where", "n=500")]
        self.assertAlmostEqual(means[500], statistics.mean(mine))
        self.assertEqual(version, 2)
        self.assertEqual(len(codes), 1)

    def test_are_replayed_byte_for_byte(self):
        self.take_smoke()
        for row in ("0", "777", "2199"):
            self.assertEqual(self.conclave("replay", "results.db", "--row", row).returncode, 0)
        with sqlite3.connect(self.folder / "results.db") as database:
            database.execute("UPDATE trial SET row = replace(row, 'true', 'false'), "
                             "checksum = NULL WHERE cell = 3 AND trial = 5")
        result = self.conclave("replay", "results.db", "--cell", "3", "--trial", "5")
        self.assertEqual(result.returncode, 4)
        self.assertIn('- {"protocol":"prl"', result.stdout)
        for words in ((), ("--row", "2200"), ("--cell", "3"), ("--cell", "11", "--trial", "0")):
            self.assertEqual(self.conclave("replay", "results.db", *words).returncode, 2)


RARE = """
kind = "rare"
protocol = "ppl"
n = [4, 8]
params = { t_max = 8, t_virus = 3, t_emit = 18 }
particles = 200
repetitions = 12
seed = 5
"""


class RareFailures(Folder):
    """Plans of kind "rare": rows are repetitions of what `conclave rare` estimates."""
    def commands(self, *words):
        return "".join(self.conclave(
            "rare", "ppl", "--n", n, "--param", "t_max=8", "--param", "t_virus=3", "--param",
            "t_emit=18", "--particles", "200", "--repetitions", "12", "--seed", "5", "--quiet",
            *words).stdout for n in ("4", "8"))

    def estimates(self, file="results.db", format_="jsonl"):
        return self.conclave("results", file, "--estimates", "--format", format_).stdout

    def test_cells_say_what_the_command_says(self):
        self.sweep(RARE)
        self.assertEqual(self.estimates(), self.commands("--format", "jsonl"))
        header, *lines = self.estimates(format_="csv").splitlines(True)
        told = self.commands("--format", "csv").splitlines(True)
        self.assertEqual(lines, [line for line in told if line != header])
        self.assertEqual(len(json.loads(self.estimates(format_="json"))["rows"]), 2)
        table = self.conclave("results", "results.db").stdout
        for row in map(json.loads, self.estimates().splitlines()):
            verdict = "yes" if row["confirmed"] else "no"
            self.assertRegex(table, rf"all +{row['ln_holding']:.4f} +{row['ln_low']:.4f} "
                                    rf"+{row['ln_high']:.4f}  {verdict}\n")
        self.assertEqual(len(self.rows()), 24)

    def test_interrupts_kills_threads_and_shards_change_nothing(self):
        self.sweep(RARE, "--threads", "1", output="whole.db")
        begin = time.monotonic()
        self.sweep(RARE, "--threads", "2", output="again.db")
        seconds = time.monotonic() - begin
        self.assertEqual(self.dump("again.db"), self.dump("whole.db"))
        draw = random.Random(3)
        for end in (signal.SIGINT, signal.SIGKILL) * 3:
            process = subprocess.Popen([BINARY, "sweep", "plan.toml", "-o", "cut.db", "--quiet"],
                                       cwd=self.folder)
            time.sleep(draw.uniform(0.2, 0.9) * seconds)
            process.send_signal(end)
            process.wait()
        self.sweep(RARE, output="cut.db")
        self.assertEqual(self.dump("cut.db"), self.dump("whole.db"))
        for part in ("1/2", "2/2"):
            self.sweep(RARE, "--shard", part, output=f"{part[0]}.db")
        self.conclave("merge", "2.db", "1.db", "-o", "merged.db")
        self.assertEqual(self.dump("merged.db"), self.dump("whole.db"))

    def test_are_replayed_extended_and_reported(self):
        self.sweep(RARE)
        replayed = self.conclave("replay", "results.db", "--cell", "1", "--trial", "11")
        self.assertIn("the same, byte for byte", replayed.stderr)
        self.sweep(RARE.replace("= 12", "= 14"), "--extend")
        self.assertEqual([json.loads(line)["ways"][0]["importance"][0]["repetitions"]
                          for line in self.estimates().splitlines()], [14, 14])
        dry = self.conclave("sweep", "plan.toml", "--dry-run").stdout
        self.assertIn("rare ppl n=8", dry)
        result = self.conclave("report", "results.db", "--figures", "figures", "--kinds", "csv",
                               "-o", "page.html")
        self.assertEqual(result.returncode, 0, result.stderr)
        page = (self.folder / "page.html").read_text()
        self.assertIn("conclave rare ppl --n 8 --param t_max=8", page)
        drawn = [float(line["y"]) for each in (self.folder / "figures").iterdir()
                 for line in csv.DictReader(io.StringIO(each.read_text()))]
        for row in map(json.loads, self.estimates().splitlines()):
            self.assertIn(f"<td>{row['ln_low']:.4f} to {row['ln_high']:.4f}</td>", page)
            self.assertTrue(any(abs(y - row["ln_holding"]) < 1e-4 for y in drawn), drawn)

    def test_of_texts_and_beside_trials(self):
        (self.folder / "epidemic.pp").write_text(
            "states S, I\nstart all: all of I\nI + S -> I + I\nI + I -> S + I\n"
            "stop when count(I) == 1\n")
        self.sweep("""
            [[run]]
            kind = "rare"
            protocol = "epidemic.pp"
            n = 12
            importance = ["count(S)", "-ln(count(I))"]
            particles = 50
            [[run]]
            protocol = "fratricide"
            n = 10
            trials = 3
            """)
        told = self.conclave("rare", "epidemic.pp", "--n", "12", "--importance", "count(S)",
                             "--importance", "-ln(count(I))", "--particles", "50", "--format",
                             "jsonl", "--quiet").stdout
        self.assertEqual(self.estimates(), told)
        table = self.conclave("results", "results.db").stdout
        self.assertIn("fratricide", table)
        self.assertIn("-ln(count(I))", table)
        self.sweep('protocol = "fratricide"\nn = 10\n', output="trials.db")
        self.assert_refused(self.conclave("results", "trials.db", "--estimates", "--format",
                                          "jsonl"), "no estimates")


class Interruptions(Folder):
    def start(self, file="results.db", plan=LONG):
        return subprocess.Popen([BINARY, "sweep", self.plan(plan), "-o", file], cwd=self.folder,
                                stderr=subprocess.DEVNULL)

    def kill_often(self, file, kills, longest):
        """False where the sweep has ended before so many kills."""
        moments = random.Random(1)
        for _ in range(kills):
            process = self.start(file)
            time.sleep(moments.uniform(0, longest))
            process.kill()
            if process.wait() != -signal.SIGKILL:
                return False
        return True

    def test_kill_9_at_random_moments_changes_nothing(self):
        whole, seconds = undisturbed()
        # The speed of a busy machine changes: shorter lives, where these were too long.
        file = next(file for file, longest in (("1.db", seconds / 10), ("2.db", seconds / 20),
                                               ("3.db", seconds / 40), ("4.db", seconds / 80))
                    if self.kill_often(file, 22, longest))
        self.sweep(LONG, output=file)
        self.assertEqual(self.dump(file), whole)

    def test_a_file_whose_creation_was_cut_short_is_begun_anew(self):
        """Nothing was committed, but there is a journal, and pages of the file are written."""
        with sqlite3.connect(self.folder / "cut.db", isolation_level=None) as database:
            database.execute("PRAGMA cache_size = 5")
            database.execute("BEGIN")
            database.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
            for i in range(100):
                database.execute("INSERT INTO meta VALUES (?, ?)", (f"key {i}", "x" * 1000))
            for end in ("", "-journal"):  # what the kill leaves
                shutil.copy(self.folder / f"cut.db{end}", self.folder / f"results.db{end}")
        self.assertGreater((self.folder / "results.db").stat().st_size, 0)
        self.sweep('protocol = "fratricide"\nn = 10\ntrials = 3\n')
        self.assertEqual(self.committed(), 3)

    def test_an_interrupt_keeps_what_is_finished(self):
        for _ in range(5):  # a busy machine may give us no time before the sweep has ended
            (self.folder / "results.db").unlink(missing_ok=True)
            process = self.start()
            self.wait_for_rows()
            process.send_signal(signal.SIGINT)
            if process.wait() != 0:
                break
        self.assertEqual(process.returncode, 130)
        before = self.committed()
        result = self.sweep(LONG)
        self.assertIn(f", {before} there from before", result.stderr)
        self.assertEqual(self.dump(), undisturbed()[0])

    def test_a_second_writer_is_refused_and_readers_are_not(self):
        process = self.start(plan='protocol = "fratricide"\nn = 3000\ntrials = 1000000\n')
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.wait_for_rows()
        result = self.conclave("sweep", "plan.toml", "-o", "results.db")
        self.assert_refused(result, f"is being written by process {process.pid}")
        self.assertEqual(self.conclave("results", "results.db").returncode, 0)

    def test_a_reader_that_takes_its_time_does_not_stop_the_sweep(self):
        self.sweep(Adversity.SMALL)
        with sqlite3.connect(self.folder / "results.db") as database:
            database.execute("DELETE FROM trial WHERE trial > 1")
        reader = sqlite3.connect(self.folder / "results.db")
        self.addCleanup(reader.close)
        cursor = reader.execute("SELECT trial FROM trial")
        cursor.fetchone()
        process = subprocess.Popen([BINARY, "sweep", "plan.toml", "-o", "results.db"],
                                   cwd=self.folder, stderr=subprocess.DEVNULL)
        time.sleep(1)
        self.assertIsNone(process.poll())
        cursor.close()
        self.assertEqual(process.wait(timeout=100), 0)
        self.assertEqual(self.committed(), 1000)

    def test_a_changed_plan_is_noticed(self):
        self.take_smoke()
        before = self.dump()
        for old, new, sentence in (
                ("500, ", "", "cell 0 was pll n=500 seed=3, and is now pll n=1000 seed=3"),
                ("seed = 3", "seed = 4", "seed=4"),
                ("seed = 3", "seed = 3\nmax_interactions = 1e9",
                 "and is now pll n=500 max-interactions=1000000000 seed=3"),
                ("200", "300", '{"trials":200}, and is now {"trials":300}'),
                ('"4*n"', '"4*n", "5*n"', "cell 5 was prl n=50 N=50"),
                (", 100]", ", 100, 150]", "it had 11 cells, and has now 15")):
            result = self.conclave("sweep", self.plan(SMOKE.replace(old, new, 1)), "-o",
                                   "results.db")
            self.assert_refused(result, "the plan has changed since", sentence, "--extend")
        self.sweep("# a comment changes nothing\n" + SMOKE)
        self.assertEqual(self.dump(), before)

    def test_a_plan_that_has_grown_keeps_its_rows(self):
        small = SMOKE.replace("500, ", "").replace("200", "50", 1)
        self.sweep(small)
        before = self.committed()
        result = self.sweep(SMOKE, "--extend")
        self.assertIn(f", {before} there from before", result.stderr)
        (self.folder / "new.db").write_bytes(smoke())
        self.assertEqual(self.dump(), self.dump("new.db"))
        for shrunk in (SMOKE.replace("500, ", ""), SMOKE.replace("200", "199", 1),
                       SMOKE.replace("seed = 3", "seed = 4")):
            result = self.conclave("sweep", self.plan(shrunk), "-o", "results.db", "--extend")
            self.assert_refused(result, "--extend keeps all rows")
        self.assertEqual(self.dump(), self.dump("new.db"))


class Adversity(Folder):
    SMALL = 'protocol = "prl"\nn = [20, 30]\ntrials = 500\n'

    def test_disk_full_keeps_what_was_committed(self):
        """A file system of its own where mounting is permitted, otherwise a limit on files."""
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], check=False,
            stderr=subprocess.DEVNULL).returncode == 0
        if mounted:
            self.addCleanup(subprocess.run, ["umount", disk], check=True)

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))
        options = {} if mounted else {"preexec_fn": limit}
        plan = 'protocol = "prl"\nn = 20\ntrials = 20000\n'
        result = self.sweep(plan, "--threads", "1", output="disk/results.db", status=1, **options)
        self.assertRegex(result.stderr, "cannot write 'disk/results.db': .*committed is kept")
        rows = len(self.rows(file="disk/results.db"))
        self.assertGreater(rows, 0)
        shutil.copy(disk / "results.db", self.folder / "results.db")
        with sqlite3.connect(self.folder / "results.db") as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        result = self.sweep(plan)
        self.assertIn(f", {rows} there from before", result.stderr)

    def test_folders_that_may_not_be_entered_are_a_sentence(self):
        self.sweep(self.SMALL)
        (self.folder / "closed").mkdir(mode=0)
        self.folder.chmod(0o755)
        (self.folder / "results.db").chmod(0o644)
        nobody = {"user": 65534} if os.geteuid() == 0 else {}
        for words in (("results", "closed/results.db"),
                      ("report", "results.db", "--figures", "closed/figures"),
                      ("reproduce", "-o", "closed/folder", "--dry-run")):
            with self.subTest(words):
                try:
                    result = self.conclave(*words, **nobody)
                except PermissionError:
                    self.skipTest("the binary lies where others may not go")
                self.assert_refused(result, "conclave: cannot ", "'closed/", "Permission denied")

    def test_read_only_files_are_read_and_not_written(self):
        self.sweep(self.SMALL)
        (self.folder / "results.db").chmod(0o444)
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        nobody = {"user": 65534} if os.geteuid() == 0 else {}
        try:
            read = self.conclave("results", "results.db", **nobody)
        except PermissionError:
            self.skipTest("the binary lies where others may not go")
        self.assertEqual(read.returncode, 0, read.stderr)
        self.assert_refused(self.conclave("sweep", "plan.toml", "-o", "results.db", **nobody),
                            "cannot write 'results.db'")

    def test_files_that_are_damaged_or_no_results_are_left_as_they_are(self):
        self.sweep(self.SMALL)
        whole = (self.folder / "results.db").read_bytes()
        middle = len(whole) // 2
        damaged = (
            (b"not a database at all, but long enough to be one" * 40, "is no file of results"),
            (whole[:middle], "is damaged"),
            (whole[:4096] + os.urandom(len(whole) - 4096), "is damaged"),
            (whole[:middle] + b"\xff" * 8192 + whole[middle + 8192:], "is damaged"))
        for content, sentence in damaged:
            (self.folder / "results.db").write_bytes(content)
            self.assert_refused(self.conclave("sweep", "plan.toml", "-o", "results.db"), sentence)
            self.assertEqual((self.folder / "results.db").read_bytes(), content)
            self.assertIn(self.conclave("results", "results.db").returncode, (0, 1, 2))
        with sqlite3.connect(self.folder / "other.db") as database:
            database.execute("CREATE TABLE trial (cell, trial, row)")
        for command in (("sweep", "plan.toml", "-o"), ("results",), ("replay", "--row", "0")):
            self.assert_refused(self.conclave(*command, "other.db"), "is no file of results")

    def test_other_schemas_are_refused_and_kept(self):
        self.sweep(self.SMALL)
        for version in (0, 3):
            with sqlite3.connect(self.folder / "results.db") as database:
                database.execute(f"PRAGMA user_version = {version}")
            content = (self.folder / "results.db").read_bytes()
            for command in (("sweep", "plan.toml", "-o"), ("results",)):
                self.assert_refused(self.conclave(*command, "results.db"), f"has schema {version},",
                                    "schema 2")
            self.assertEqual((self.folder / "results.db").read_bytes(), content)

    def test_another_version_goes_on_only_when_told_so(self):
        self.sweep(self.SMALL)
        with sqlite3.connect(self.folder / "results.db") as database:
            database.execute("UPDATE code SET version = '0.0.1'")
            database.execute("DELETE FROM trial WHERE cell = 1")
        self.assert_refused(self.conclave("sweep", "plan.toml", "-o", "results.db"),
                            "was begun by conclave 0.0.1", "--mix-versions")
        self.sweep(self.SMALL, "--mix-versions")
        with sqlite3.connect(self.folder / "results.db") as database:
            self.assertEqual(len(set(database.execute("SELECT cell, code FROM result"))), 2)

    def test_an_empty_file_is_a_new_one(self):
        (self.folder / "results.db").touch()
        self.sweep(self.SMALL)
        self.assertEqual(len(self.rows()), 1000)


class Shards(Folder):
    def test_merged_are_the_whole(self):
        text = SMOKE + '[[run]]\nprotocol = "prl"\nn = [10, 20]\nprecision = 0.1\n'
        self.sweep(text, output="whole.db")
        for part in (1, 2, 3):
            self.sweep(text, "--shard", f"{part}/3", output=f"{part}.db")
        sizes = [len(self.rows(file=f"{part}.db")) for part in (1, 2, 3)]
        self.assertLess(max(sizes) - min(sizes), 500)
        self.assertIn("   67  ", self.conclave("results", "1.db").stdout)
        partly = self.conclave("merge", "1.db", "3.db", "-o", "all.db")
        self.assertIn("are missing", partly.stderr)
        self.sweep(text, output="all.db")
        self.assertEqual(self.dump("all.db"), self.dump("whole.db"))
        merged = self.conclave("merge", "1.db", "2.db", "3.db", "-o", "merged.db")
        self.assertEqual(merged.returncode, 0)
        self.assertNotIn("missing", merged.stderr)
        self.assertEqual(self.dump("merged.db"), self.dump("whole.db"))

    def test_of_different_plans_or_contents_are_not_merged(self):
        small = Adversity.SMALL
        self.sweep(small, "--shard", "0/2", output="a.db")
        self.sweep(small, "--shard", "1/2", output="b.db")
        self.sweep(small.replace("30]", "40]"), "--shard", "1/2", output="c.db")
        self.assert_refused(self.conclave("merge", "a.db", "c.db", "-o", "d.db"),
                            "are not of one plan: cell 1 was prl n=40")
        self.assert_refused(self.conclave("merge", "a.db", "b.db", "-o", "a.db"), "both")
        with sqlite3.connect(self.folder / "b.db") as database:
            database.execute("INSERT INTO trial SELECT 0, 0, code, replace(replace(row, "
                             "'\"trial\":1,', '\"trial\":0,'), 'true', 'false'), NULL FROM trial "
                             "WHERE cell = 0 AND trial = 1")
        self.assert_refused(self.conclave("merge", "a.db", "b.db", "-o", "d.db"),
                            "two rows of cell 0, trial 0 differ")
        for shard in ("3/2", "1", "a/b", "1/0"):
            self.assert_refused(self.conclave("sweep", "plan.toml", "--shard", shard), "1/3")


@unittest.skipUnless(shutil.which("mpirun"), "Open MPI is not installed")
class Ranks(Folder):
    MPIRUN = ["mpirun", "--oversubscribe"]
    # Open MPI leaks at its end, which the address sanitizer would take for ours.
    ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "ASAN_OPTIONS": "detect_leaks=0"}

    def mpirun(self, ranks, *words):
        return subprocess.run([*self.MPIRUN, "-n", ranks, BINARY, *words], env=self.ENVIRONMENT,
                              capture_output=True, text=True, timeout=120, cwd=self.folder,
                              check=False)

    def test_any_number_of_them_gives_the_same_rows(self):
        shutil.copy(PROTOCOLS / "epidemic.pp", self.folder / "mine.pp")
        text = SMOKE.replace("200", "50", 1) \
            + '[[run]]\nprotocol = "mine.pp"\nn = 100\nprecision = 0.02\n'
        self.sweep(text, output="0.db")
        for ranks in ("2", "3"):
            result = self.mpirun(ranks, "sweep", "plan.toml", "-o", f"{ranks}.db")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.dump(f"{ranks}.db"), self.dump("0.db"))

    def test_one_that_dies_loses_no_committed_row(self):
        self.plan(LONG)
        process = subprocess.Popen([*self.MPIRUN, "-n", "3", BINARY, "sweep", "plan.toml", "-o",
                                    "results.db"], env=self.ENVIRONMENT, cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        writer, _, victim = [self.wait_for_rank(process.pid, rank) for rank in range(3)]
        self.wait_for_rows()
        os.kill(victim, signal.SIGKILL)
        self.assertNotEqual(process.wait(timeout=60), 0)
        wait_for_end(writer)  # mpirun does not wait for those that it ends
        before = self.committed()
        self.assertGreater(before, 0)
        result = self.sweep(LONG)
        self.assertIn(f", {before} there from before", result.stderr)
        self.assertEqual(self.dump(), undisturbed()[0])

    def test_say_what_is_wrong_once(self):
        self.plan('protocol = "pl"\nn = 3')
        result = self.mpirun("3", "sweep", "plan.toml")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("conclave: plan.toml:1: protocol:"), 1)

    @staticmethod
    def wait_for_rank(launcher, rank):
        """The process id of a rank, once mpirun has started it."""
        for _ in range(10000):
            for folder in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    environment = (folder / "environ").read_bytes().split(b"\0")
                    parent = re.search(r"PPid:\s+(\d+)", (folder / "status").read_text())[1]
                    is_it = f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment
                    if is_it and int(parent) == launcher:
                        return int(folder.name)
                except OSError:
                    pass  # it has ended since
            time.sleep(0.01)
        raise AssertionError("mpirun has not started its ranks")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
