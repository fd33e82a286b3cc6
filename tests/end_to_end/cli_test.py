#!/usr/bin/env python3
"""The command line as its users and their scripts see it.

Usage: cli_test.py BINARY [--rewrite] [unittest arguments]
With --rewrite the golden outputs under tests/golden/cli are written anew: read the diff.
"""
import csv
import fcntl
import io
import json
import math
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import tomllib
import unittest
import xml.etree.ElementTree

from processes import reserved_ports, wait_for_stillness, wait_for_work

BINARY = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
REWRITE = "--rewrite" in sys.argv
TOY_PPL = [word for value in ("t_max=6", "t_virus=4", "t_emit=2") for word in ("--param", value)]
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "cli"


def conclave(*words, **options):
    return subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=300, **options)


def rows(*words):
    """The rows of a run in JSON lines; every one must parse."""
    output = conclave("run", *words, "--format", "jsonl").stdout
    return [json.loads(line) for line in output.splitlines()]


class Rows(unittest.TestCase):
    COMMAND = ("pll", "--n", "1000", "--trials", "100", "--seed", "7")

    def test_every_trial_converges_to_one_leader(self):
        result = rows(*self.COMMAND)
        self.assertEqual([row["trial"] for row in result], list(range(100)))
        self.assertTrue(all(row["converged"] and row["leaders"] == 1 for row in result))
        self.assertEqual({(row["n"], row["seed"], row["params"]["m"]) for row in result},
                         {(1000, 7, 10)})

    def test_have_the_fields_of_the_contract_in_order(self):
        self.assertEqual(list(rows("pll", "--n", "100")[0]),
                         ["protocol", "engine", "n", "params", "init", "seed", "trial", "converged",
                          "interactions", "parallel_time", "leaders", "observables"])

    def test_are_the_same_bytes_for_any_number_of_threads(self):
        outputs = {conclave("run", *self.COMMAND, "--format", form, "--threads", threads).stdout
                   for form in ("jsonl",) for threads in ("1", "2", "3", "16")}
        self.assertEqual(len(outputs), 1)

    def test_do_not_depend_on_the_number_of_trials(self):
        few = conclave("run", "pll", "--n", "500", "--trials", "3", "--format", "jsonl").stdout
        many = conclave("run", "pll", "--n", "500", "--trials", "9", "--format", "jsonl").stdout
        self.assertTrue(many.startswith(few))

    def test_differ_between_seeds_and_between_trials(self):
        times = [row["interactions"] for seed in "12" for row in
                 rows("fratricide", "--n", "200", "--trials", "20", "--seed", seed)]
        self.assertGreater(len(set(times)), 35)

    def test_of_csv_and_json_agree_with_json_lines(self):
        words = ("pll", "--n", "300", "--trials", "5")
        expected = rows(*words)
        table = list(csv.DictReader(io.StringIO(conclave("run", *words, "--format", "csv").stdout)))
        document = json.loads(conclave("run", *words, "--format", "json").stdout)
        self.assertEqual(document["rows"], expected)
        self.assertEqual(document["summary"]["converged"], 5)
        for line, row in zip(table, expected, strict=True):
            self.assertEqual(int(line["interactions"]), row["interactions"])
            self.assertEqual(int(line["params.m"]), row["params"]["m"])
            self.assertEqual(int(line["observables.epoch_at_convergence"]),
                             row["observables"]["epoch_at_convergence"])

    def test_show_parameters_that_were_set(self):
        row = rows("pll", "--n", "5", "--param", "c_max=2", "--param", "k=1",
                   "--param", "reading=printed", "--max-interactions", "1e4")[0]
        self.assertEqual(row["params"], {"m": 3, "c_max": 2, "k": 1, "reading": "printed"})

    def test_parallel_time_is_interactions_per_agent(self):
        row = rows("pll", "--n", "1000")[0]
        self.assertEqual(row["parallel_time"], row["interactions"] / 1000)


class Bench(unittest.TestCase):
    def test_starts_the_program_with_the_benchmarks_that_lies_beside_it(self):
        with tempfile.TemporaryDirectory() as folder:
            program = shutil.copy(BINARY, folder)
            words = [program, "bench", "counts", "--n", "1e4,2^20", "--workload", "pll,clock-10"]
            missing = subprocess.run(words, capture_output=True, text=True, timeout=60)
            self.assertEqual(missing.returncode, 2)
            self.assertIn("the benchmarks are not built; build them with: cmake", missing.stderr)
            beside = pathlib.Path(folder, "conclave-bench")
            beside.write_text('#!/bin/sh\nprintf "<%s>" "$@"\nexit 5\n')
            beside.chmod(0o755)
            started = subprocess.run(words, capture_output=True, text=True, timeout=60)
            self.assertRegex(started.stdout,
                             r"^<counts><10000,1048576><pll,clock-10><0><code=[^>]+>$")
            self.assertEqual(started.returncode, 5)
            words = [program, "bench", "all", "--save", "a.json", "--compare", "b.json"]
            named = subprocess.run(words, capture_output=True, text=True, timeout=60)
            self.assertRegex(named.stdout,
                             r"^<all><><><0><code=[^>]+><save=a.json><compare=b.json>$")


class Limits(unittest.TestCase):
    def test_leave_a_row_and_exit_status_3(self):
        result = conclave("run", "pll", "--n", "1e5", "--max-interactions", "12345",
                          "--format", "jsonl")
        row = json.loads(result.stdout)
        self.assertEqual((result.returncode, row["converged"], row["interactions"]),
                         (3, False, 12345))

    def test_in_parallel_time_are_multiples_of_n(self):
        result = rows("fratricide", "--n", "1000", "--max-parallel-time", "2.5")
        self.assertEqual(result[0]["interactions"], 2500)

    def test_do_not_change_a_trial_that_ends_before(self):
        self.assertEqual(rows("pll", "--n", "100", "--trials", "20"),
                         rows("pll", "--n", "100", "--trials", "20", "--max-parallel-time", "1e9"))

    def test_of_any_size_are_limits(self):
        for time in ("1e19", "1e20", "1e30", "3e36", "1e37", "1e200"):
            row = rows("fratricide", "--n", "10", "--max-parallel-time", time)[0]
            self.assertTrue(row["converged"], time)

    def test_frozen_runs_of_the_printed_reading_end_by_themselves(self):
        result = conclave("run", "pll", "--n", "1000", "--trials", "200", "--param",
                          "reading=printed", "--format", "jsonl")
        frozen = [row for row in map(json.loads, result.stdout.splitlines())
                  if row["observables"]["frozen"]]
        self.assertEqual(result.returncode, 3)
        self.assertGreater(len(frozen), 5)
        self.assertTrue(all(not row["converged"] and row["leaders"] > 1 for row in frozen))


class OwnProtocols(unittest.TestCase):
    EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "protocols"

    def path(self, name):
        return str(self.EXAMPLES / (name + ".pp"))

    def test_of_the_examples_converge_and_are_described(self):
        for path in sorted(self.EXAMPLES.glob("*.pp")):
            description = json.loads(conclave("describe", str(path), "--format", "json").stdout)
            self.assertEqual((description["name"], description["warnings"]), (path.name, []))
            for row in rows(str(path), "--n", "300", "--trials", "5"):
                self.assertTrue(row["converged"])
                self.assertEqual(row["protocol"], path.name)
                self.assertEqual(row["source_hash"], description["source_hash"])
                self.assertEqual(list(row["observables"]),
                                 [o["name"] for o in description["observables"]])

    def test_are_watched_as_they_run(self):
        modulo = self.path("modulo_count")
        for engine in ("agents", "events"):
            words = ("--n", "200", "--trials", "10", "--engine", engine)
            self.assertEqual(rows(modulo, *words, "--check"), rows(modulo, *words))
        wrong = pathlib.Path(modulo).read_text().replace("(u.value + v.value) mod m", "v.value")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "wrong.pp"
            path.write_text(wrong)
            trace = pathlib.Path(folder) / "trace.csv"
            seen = set()
            for threads in "12":
                result = conclave("run", str(path), "--n", "200", "--trials", "5", "--check",
                                  "--format", "jsonl", "--trace", str(trace), "--threads", threads)
                self.assertEqual(result.returncode, 4, result.stderr)
                row, = map(json.loads, result.stdout.splitlines())
                self.assertFalse(row["converged"])
                line = wrong[:wrong.index("mod m == ones")].count("\n") + 1
                self.assertIn(f"conclave: wrong.pp:{line}:", result.stderr)
                self.assertIn("always sum(if active then value else 0) mod m == ones mod m fails "
                              f"in trial 0 after {row['interactions']} interactions",
                              result.stderr)
                last = list(csv.DictReader(io.StringIO(trace.read_text())))[-1]
                self.assertEqual(last["interactions"], str(row["interactions"]))
                seen.add(result.stdout)
            self.assertEqual(len(seen), 1)

    def test_that_cannot_be_watched_are_told_why(self):
        modulo = self.path("modulo_count")
        for words, part in (
                (["pll", "--n", "10"], "--check is for protocol files"),
                ([self.path("epidemic"), "--n", "10"], "epidemic.pp says nothing that --check"),
                ([modulo, "--n", "10", "--until", "5"], "goes neither with --until"),
                ([modulo, "--n", "10", "--fault", "zero:1@3"], "goes neither with --until"),
                ([modulo, "--n", "10", "--param", "hold=1"], "leave out hold=1")):
            with self.subTest(words=words):
                result = conclave("run", *words, "--check")
                self.assertEqual(result.returncode, 2)
                self.assertIn(part, result.stderr)

    def test_take_as_long_as_the_same_protocol_of_the_catalog(self):
        for engine in ("agents", "events"):
            words = ("--n", "200", "--trials", "30", "--engine", engine)
            self.assertEqual([row["interactions"] for row in rows(self.path("fratricide"), *words)],
                             [row["interactions"] for row in rows("fratricide", *words)])

    def test_give_the_same_bytes_for_any_number_of_threads(self):
        words = ("run", self.path("approximate_majority"), "--n", "500", "--trials", "40",
                 "--format", "jsonl", "--fault", "corrupt:20%@3", "--threads")
        self.assertEqual(len({conclave(*words, threads).stdout for threads in "123"}), 1)

    def test_have_parameters_starts_graphs_faults_and_traces(self):
        clock = self.path("phase_clock")
        row = rows(clock, "--n", "100", "--param", "q=12")[0]
        self.assertEqual(row["params"], {"q": 12})
        row = rows(self.path("exact_majority"), "--n", "100", "--init", "biased")[0]
        self.assertEqual((row["init"], row["observables"]["lead_of_a"]), ("biased", 20))
        row = rows(self.path("fratricide"), "--n", "50", "--fault", "make-leaders:4@convergence")[0]
        self.assertEqual((row["faults"][0]["leaders"], row["faults"][0]["recovered"]), (5, True))
        row = rows(self.path("epidemic"), "--n", "30", "--graph", "ring")[0]
        self.assertEqual((row["graph"], row["observables"]["informed"]), ("ring", 30))
        with tempfile.TemporaryDirectory() as folder:
            trace, picture = folder + "/t.csv", folder + "/t.svg"
            rows(self.path("epidemic"), "--n", "1000", "--trace", trace)
            lines = list(csv.DictReader(io.StringIO(pathlib.Path(trace).read_text())))
            self.assertEqual((lines[0]["informed"], lines[-1]["informed"]), ("1", "1000"))
            conclave("plot", trace, "-o", picture, "--columns", "informed")
            self.assertTrue(os.path.exists(picture))

    def test_reach_populations_that_no_array_holds(self):
        row = rows(self.path("epidemic"), "--n", "1e15", "--max-interactions", "1000")[0]
        self.assertEqual((row["engine"], row["n"]), ("auto", 10**15))

    def test_with_mistakes_give_a_sentence_with_the_line_and_a_caret(self):
        cases = [("states L, F\nstart s: all of L\nL + L -> L + G\n",
                  "my.pp:3:14: unknown state 'G' (did you mean 'L'?); known: L, F"),
                 ("states L\nstart s: 3 of L\n", "my.pp:2:7: start s gives states to 3 agents"),
                 ("fields d: 0..3000\nstart s: all of {d = 2999}\nu + v -> u.d = u.d + 1\n",
                  "my.pp:3:20: d becomes 3001, which is not in 0..3000")]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "my.pp"
            for content, sentence in cases:
                path.write_text(content)
                result = conclave("run", str(path), "--n", "10", "--quiet")
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertTrue(result.stderr.startswith("conclave: " + sentence), result.stderr)
                _, line, caret = result.stderr.splitlines()
                number, column = map(int, sentence.split(":")[1:3])
                self.assertEqual(line, "  " + content.splitlines()[number - 1])
                self.assertEqual(caret, " " * (column + 1) + "^")
            path.write_text("states A\nstart s: all of A\nA + A -> A + A\nA + A -> A + A\n")
            self.assertIn("warning: my.pp:4:1: this rule never applies",
                          conclave("run", str(path), "--n", "10").stderr)
        for words, sentence in (((self.path("epidemic"), "--fault", "kill-leaders@1"),
                                 "epidemic.pp does not define who leads"),
                                (("no.pp",), "cannot read 'no.pp'"), (("./",), "it is a folder"),
                                ((self.path("epidemic"), "--init", "on"), "did you mean 'one'?")):
            result = conclave("run", *words, "--n", "10")
            self.assertEqual(result.returncode, 2)
            self.assertIn(sentence, result.stderr)


class Mistakes(unittest.TestCase):
    CASES = [
        (["run", "pl", "--n", "10"], "unknown protocol 'pl' (did you mean 'pll'?); known: "),
        (["describe", "fratrcide"], "did you mean 'fratricide'?"),
        (["cluster", "init", "x", "--hots", "a"],
         "unknown option '--hots' (did you mean '--host'?); known: --help, --n, --cluster, --host"),
        (["cluster", "add"], "try: conclave cluster add --help"),
        (["describe", "pll", "--param", "m=9"], "--param needs --n"),
        (["describe", "kmpp-async", "--n", "9"], "whose nodes are no finite automata"),
        (["search", "prl", "--n", "9", "--objective", "time"],
         "--objective is for message passing"),
        (["verify", "kmpp-async", "--n", "3"],
         "kmpp-async passes messages; to try all its schedules: conclave explore kmpp-async --n 4"),
        (["verify", "electleader", "--n", "4"],
         "too large for an exact computation"),
        (["search", "electleader", "--n", "9"], "electleader has no starts that can be searched"),
        (["run", "pll"], "the population size is missing"),
        (["run", "pll", "--n", "0"], "n = 0: a population has at least 2 agents"),
        (["run", "pll", "--n", "1"], "n = 1: a population has at least 2 agents"),
        (["run", "pll-sym", "--n", "2"],
         "n = 2: pll-sym needs at least 3 agents; two alone never break their tie"),
        (["run", "pll", "--n", "-5"], "--n"),
        (["run", "pll", "--n", "ten"],
         "--n takes a whole number such as 1000, 1e6 or 2^20, not 'ten'"),
        (["run", "pll", "--n", "1.5"], "--n takes a whole number"),
        (["run", "pll", "--n", "1e11", "--engine", "agents"], "too large for engine agents"),
        (["run", "pll", "--n", "1e30"], "at most 2^62"),
        (["run", "pll", "--n", "4e9", "--threads", "64", "--trials", "64", "--engine", "agents"],
         "of memory"),
        (["run", "pll", "--n", "1000", "--param", "m=9"],
         "m = 9 is too small for n = 1000: the paper demands m >= lg n, that is m >= 10"),
        (["run", "pll", "--n", "1000", "--param", "m=0"], "out of range: 1 ... 1598 is allowed"),
        (["run", "pll", "--n", "1000", "--param", "m=x"], "parameter m: 'x' is not a whole number"),
        (["run", "pll", "--n", "1000", "--param", "m"], "--param takes NAME=VALUE"),
        (["run", "pll", "--n", "1000", "--param", "cmax=3"], "did you mean 'c_max'?"),
        (["run", "pll", "--n", "1000", "--param", "m=10", "--param", "m=11"], "was given twice"),
        (["run", "pll", "--n", "9", "--param", "reading=print"], "did you mean 'printed'?"),
        (["run", "prl", "--n", "10", "--param", "N=9"],
         "N = 9 is too small for n = 10: the paper demands N >= n"),
        (["run", "prl", "--n", "10", "--init", "two-leader"], "did you mean 'two-leaders'?"),
        (["run", "fratricide", "--n", "10", "--param", "m=4"], "fratricide has no parameters"),
        (["run", "pll", "--n", "10", "--init", "cleen"], "did you mean 'clean'?"),
        (["run", "pll", "--n", "10", "--engine", "agent"], "did you mean 'agents'?"),
        (["run", "pll", "--n", "10", "--format", "jsnl"], "did you mean 'jsonl'?"),
        (["run", "pll", "--n", "10", "--trials", "0"], "--trials takes a number from 1"),
        (["run", "pll", "--n", "10", "--threads", "0"], "--threads takes a number from 1 to 1024"),
        (["run", "pll", "--n", "10", "--seed", "2^64"], "--seed takes a number from 0"),
        (["run", "pll", "--n", "10", "--max-parallel-time", "-1"], "--max-parallel-time"),
        (["run", "pll", "--n", "10", "--max-interactions", "5", "--max-parallel-time", "1"],
         "contradict each other"),
        (["run", "pll", "--n", "10", "--output", "/nowhere/rows"], "cannot write '/nowhere/rows'"),
        (["run", "pll", "--n", "10", "--output", "/"], "it is a folder"),
        (["run", "pll", "--n", "10", "--n", "20"], "--n was given more than once"),
        (["run", "pll", "--n", "10", "--trails", "5"], "did you mean '--trials'?"),
        (["run", "pll", "--n", "10", "more"], "unexpected word 'more'; try: conclave run --help"),
        (["run", "--n", "10"], "PROTOCOL is required"),
        (["rum", "pll"], "unknown command 'rum' (did you mean 'run'?)"),
        (["--verison"], "did you mean '--version'?"),
        (["version"], "did you mean '--version'?"),
        (["cluster", "ini"], "unknown command 'ini' (did you mean 'init'?); known: init, add, "),
        (["run", "pll", "-x", "10"], "unknown option '-x'; known: --help, --n, "),
        (["list", "--format", "xml"], "unknown format 'xml'"),
        (["list", "--by", "problems"], "did you mean 'problem'?"),
        (["compare", "--table", "pl"], "unknown table 'pl'"),
        (["compare", "--table", "pll", "--format", "jsn"], "did you mean 'json'?"),
        (["compare", "--table", "pll", "--n", "10,x"], "--n takes a whole number"),
        (["compare", "--table", "ppl", "--n", "10", "--init", "all-leader"],
         "did you mean 'all-leaders'?"),
        (["compare", "--table", "pll", "--n", "10", "--delay", "unit"],
         "--delay is for message passing"),
        (["compare", "--n", "10", "--init", "random"], "--init goes with --table"),
        (["compare", "--n", "0"], "needs at least 1 node"),
        (["compare", "--n", "10", "--delay", "units"], "did you mean 'unit'?"),
        (["verify", "prl", "--n", "3", "--memory", "8GB"], "--memory takes a number of bytes"),
        (["run", "timers", "--n", "10", "--param", "N=9"], "N must be an upper bound of n"),
        (["run", "ciw", "--n", "1e8"], "n = 100000000 is too large for ciw"),
        (["run", "optimal-silent", "--n", "10", "--param", "c_D=0"],
         "c_R, c_D and c_E must be positive"),
        (["bench", "agent"], "did you mean 'agents'?"),
        (["bench", "agents", "--n", "10"], "--n takes a number from 1000"),
        (["bench", "counts", "--workload", "epidemics"], "did you mean 'epidemic'?"),
        (["bench", "agents", "--workload", "pll"], "is an option of `conclave bench counts`"),
        (["bench", "texts", "--n", "1000"], "`conclave bench texts` has sizes of its own"),
        (["bench", "all", "--n", "1000"], "`conclave bench all` has sizes of its own"),
        (["bench", "agents", "--save", "a.json"], "are options of `conclave bench all`"),
        (["bench", "texts", "--peers", "a.json"],
         "is an option of `conclave bench agents` and `conclave bench counts`"),
        (["run", "ppl", "--n", "1e5", "--init", "random", "--engine", "events"],
         "more than 4096 agents in different states; use engine agents"),
        (["run", "pll", "--n", "10", "--engine", "event"], "did you mean 'events'?"),
        (["run", "electleader", "--n", "10", "--param", "r=6"],
         "r = 6 is too large for n = 10: the paper demands r <= n/2, that is r <= 5"),
        (["run", "electleader", "--n", "10", "--param", "c_S=fast"],
         "parameter c_S: 'fast' is not a number"),
        (["run", "electleader", "--n", "10", "--param", "c_S=-1"], "out of range: 0 ... 10000"),
        (["run", "electleader", "--n", "10", "--param", "C_max=0"], "must be positive"),
        (["run", "electleader", "--n", "10", "--param", "derandomize=1", "--param", "D_max=4"],
         "D_max is too small for derandomize=1"),
        (["run", "electleader", "--n", "10", "--engine", "events"],
         "engine events cannot run electleader"),
        (["run", "electleader", "--n", "10", "--engine", "dens"], "did you mean 'dense'?"),
        (["run", "electleader", "--n", "10", "--graph", "ring"],
         "electleader is made for the complete graph"),
        (["run", "electleader", "--n", "2000", "--param", "r=1000", "--engine", "dense"],
         "of memory with engine dense"),
        (["run", "assign-ranks", "--n", "10", "--fault", "zero:1@3"],
         "assign-ranks does not support fault injection"),
        (["plot", "/nowhere/trace.csv", "-o", "trace.svg"], "cannot read '/nowhere/trace.csv'"),
        (["run", "pll", "--n"], "--n needs a value: --n N; try: conclave run --help"),
        (["run", "pll", "--n", "10", "--trials"], "--trials needs a value: --trials T"),
        (["explore", "kmpp-async"],
         "the population size is missing, for example: conclave explore kmpp-async --n 4"),
        (["explore", "chang-roberts", "--n", "3", "--graph", "complete"],
         "chang-roberts is made for directed rings: --graph ring, not 'complete'"),
        (["run", "hirschberg-sinclair", "--n", "5", "--graph", "ring"],
         "hirschberg-sinclair is made for undirected rings: --graph undirected-ring, not 'ring'"),
        (["run", "hirschberg-sinclair", "--n", "2"], "needs at least 3 nodes"),
        (["run", "kmpp-sync", "--n", "5", "--graph", "ring"], "is made for complete networks"),
        (["run", "sublinear-sync", "--n", "5", "--wakeup", "one"],
         "sublinear-sync is made for nodes that all start at once: --wakeup all"),
        (["run", "sublinear-sync", "--n", "5", "--ids", "unique"], "known: anonymous"),
        (["run", "flood-max", "--n", "6000"], "at most 5000 nodes"),
        (["run", "flood-max", "--n", "30000", "--graph", "ring"], "needs --param diameter=D"),
        (["compare", "--table", "pll", "--graph", "ring"], "--graph does not go with --table"),
        (["plot", "trace.csv"], "--output is required"),
        (["plot", "-o", "trace.svg"], "TRACE is required"),
        (["run", "", "--n", "10"], "PROTOCOL needs a value, not an empty string"),
        (["run", "pll", "--n", "10", "--param", ""], "--param needs a value, not an empty string"),
        (["run", "pll", "--n", "10", "-o", ""], "--output needs a value, not an empty string"),
        (["run", "pll", "--n", "10", "--init="], "--init needs a value"),
        ([], "a command is missing"),
    ]
    FAULTS = [
        ("corupt:5@3", "unknown fault 'corupt' (did you mean 'corrupt'?); known: "),
        ("kill-leader@3", "did you mean 'kill-leaders'?"),
        ("corrupt:5", "--fault takes WHAT@TIME"),
        ("@3", "unknown fault ''"),
        ("corrupt@3", "lacks how many agents"),
        ("make-leaders@3", "lacks how many agents"),
        ("corrupt:@3", "'' in 'corrupt:@3' is not a number"),
        ("corrupt:x@3", "'x' in 'corrupt:x@3' is not a number"),
        ("corrupt:-5@3", "is not a number"),
        ("corrupt:nan@3", "is not a number"),
        ("corrupt:101%@3", "at most 100% of the agents can be hit"),
        ("corrupt:1.5@3", "a number of agents is a whole number"),
        ("kill-leaders:3@3", "kills all leaders and takes no number"),
        ("corrupt:#x@3", "after # comes the number of an agent"),
        ("corrupt:#99999@3", "the agents are numbered 0 to"),
        ("corrupt:1e9@3", "there are only"),
        ("corrupt:5@", "'' in 'corrupt:5@' is not a number"),
        ("corrupt:5@soon", "'soon' in 'corrupt:5@soon' is not a number"),
        ("corrupt:5@-1", "is not a number"),
        ("corrupt:5@inf", "is not a number"),
        ("corrupt:5@convergence-1", "--fault takes WHAT@TIME"),
        ("corrupt:5@convergence+", "'' in 'corrupt:5@convergence+' is not a number"),
    ]
    GRIDS = [
        ("lg", "unknown grid 'lg' (did you mean 'log'?)"),
        ("linear:0", "a positive step of parallel time, not 'linear:0'"),
        ("linear:-1", "not 'linear:-1'"),
        ("linear:x", "not 'linear:x'"),
        ("log:1", "a factor above 1"),
        ("log:nan", "a factor above 1"),
    ]

    def expect_sentence(self, sentence, *words):
        with self.subTest(" ".join(map(str, words))):
            result = conclave(*words)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(result.stdout, "")
            self.assertTrue(result.stderr.startswith("conclave: "), result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(sentence, result.stderr)

    def test_give_one_clear_sentence_and_exit_status_2(self):
        for words, sentence in self.CASES:
            self.expect_sentence(sentence, *words)

    def test_of_empty_values_give_one_clear_sentence_whatever_the_option(self):
        commands = re.findall("^  ([a-z]+) {5,}", conclave("--help").stdout, re.M)
        tried = 0
        for command in (*commands, "cluster init", "cluster add", "cluster repair"):
            told = conclave(*command.split(), "--help").stdout
            for option in re.findall("^ +(?:-.,)?(--[a-z-]+) [A-Z]", told, re.M):
                # The second mistake is what a program would find that overlooks the first.
                self.expect_sentence(f"{option} needs a value, not an empty string",
                                     *command.split(), option, "", "--mistake")
                tried += 1
        self.assertGreater(tried, 100)

    def test_in_faults_give_one_clear_sentence(self):
        for fault, sentence in self.FAULTS:
            self.expect_sentence(sentence, "run", "prl", "--n", "100", "--fault", fault)

    def test_in_grids_give_one_clear_sentence_and_leave_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            for grid, sentence in self.GRIDS:
                self.expect_sentence(sentence, "run", "pll", "--n", "100", "--trace",
                                     f"{folder}/trace.csv", "--trace-grid", grid)
            self.assertEqual(os.listdir(folder), [])

    def test_in_looks_that_nothing_asks_for_give_one_clear_sentence(self):
        run = ("run", "pll", "--n", "100")
        for option, value, needs in (("--every", "1", "--trace or --history"),
                                     ("--trace-grid", "log", "--trace or --history"),
                                     ("--history-by", "epoch", "--history"),
                                     ("--history-format", "long", "--history")):
            self.expect_sentence(f"{option} needs {needs}", *run, option, value)
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/t.csv"
            self.expect_sentence("contradict each other", *run, "--trace", file, "--every", "1",
                                 "--trace-grid", "log")
            self.expect_sentence(f"--trace and --final are both '{folder}/./t.csv'", *run,
                                 "--trace", file, "--final", f"{folder}/./t.csv")
            self.assertEqual(os.listdir(folder), [])


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_hold_what_standard_output_would(self):
        words = ("run", "pll", "--n", "300", "--trials", "4", "--format", "csv")
        path = self.folder / "rows.csv"
        result = conclave(*words, "--output", path)
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertEqual(path.read_text(), conclave(*words).stdout)
        self.assertEqual(os.listdir(self.folder), ["rows.csv"])

    def test_are_not_left_half_written_after_a_mistake(self):
        conclave("run", "pll", "--n", "300", "--param", "m=1", "--output", self.folder / "rows")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_full_device_is_a_failure_with_a_sentence(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        with open("/dev/full", "w", encoding="ascii") as full:
            result = subprocess.run([BINARY, "run", "pll", "--n", "10", "--format", "jsonl"],
                                    stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write standard output", result.stderr)


class Solve(unittest.TestCase):
    """Three leaders that eliminate each other: (3 - 1)^2 = 4 meetings."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.chain = pathlib.Path(folder.name) / "chain.tra"
        self.chain.write_text("3 4\n0 0 1\n1 0 1/3\n1 1 2/3\n2 1 1\n", "ascii")
        self.chain.with_suffix(".lab").write_text('0="init" 1="done"\n0: 1\n2: 0\n', "ascii")

    def answer(self, *words):
        result = conclave("solve", self.chain, "--format", "json", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_finds_target_and_start_by_their_labels(self):
        answer = self.answer("--variance", "--steps", "3")
        self.assertAlmostEqual(answer["expected"], 4, delta=1e-9)
        self.assertAlmostEqual(answer["variance"], 6, delta=1e-7)
        self.assertEqual((answer["from"], answer["maximum_from"]), (2, 2))
        self.assertLess(answer["relative_error"], 1e-9)
        self.assertEqual(answer["distribution"][:2], [0, 0])
        self.assertAlmostEqual(answer["distribution"][2], 1 / 3, delta=1e-12)
        self.assertAlmostEqual(answer["distribution"][3], 1 / 3 + 2 / 9, delta=1e-12)
        self.assertEqual(answer, self.answer("--variance", "--distribution", "3"))

    def test_reads_what_verify_exports(self):
        for words, expected in ((["fratricide", "--n", "7"], 36),
                                (["coalescence", "--n", "8", "--graph", "ring"], 84),
                                (["coalescence", "--n", "9", "--graph", "undirected-ring"], 120)):
            with self.subTest(words):
                folder = self.chain.parent / "exported"
                result = conclave("verify", *words, "--export", folder)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.chain = folder / "model.tra"
                answer = self.answer("--rewards", folder / "model.srew")
                self.assertAlmostEqual(answer["expected"], expected, delta=1e-9 * expected)
                self.assertLess(answer["row_defect"], 1e-15)

    def test_gives_the_rounds_of_itai_and_rodeh(self):
        script = pathlib.Path(__file__).resolve().parents[2] / "examples/chains/itai_rodeh.py"
        for processes, numbers, rounds in (("3", "8", "64/63"), ("4", "4", "32/27")):
            subprocess.run([sys.executable, script, processes, numbers,
                            self.chain.with_suffix("")], check=True)
            self.assertEqual(self.answer("--exact")["expected"], rounds)

    def test_gives_the_election_of_raft_in_ticks(self):
        script = pathlib.Path(__file__).resolve().parents[2] / "examples/chains/raft_election.py"
        path = self.chain.with_suffix("")
        subprocess.run([sys.executable, script, "2", "1", "10", "10", path], check=True)
        self.assertEqual(self.answer("--exact")["expected"], "293/18")
        terms = self.answer("--rewards", path.with_suffix(".trew"))
        self.assertAlmostEqual(terms["expected"], 10 / 9, delta=1e-9)

    def test_says_how_far_rows_miss_one(self):
        self.chain.write_text("3 5\n0 0 1\n1 0 0.3333333\n1 1 0.3333333\n1 2 0.3333333\n2 0 1\n",
                              "ascii")
        self.assertIn("miss 1 by up to 1e-07", conclave("solve", self.chain).stdout)
        self.assertAlmostEqual(self.answer()["row_defect"], 1e-7, delta=1e-12)

    def test_an_expectation_beyond_doubles_is_a_failure_and_not_infinite(self):
        self.chain.write_text("3 5\n0 0 1\n1 0 1e-200\n1 2 1\n2 1 1e-200\n2 2 1\n", "ascii")
        result = conclave("solve", self.chain)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("too large for doubles", result.stderr)

    def test_gives_fractions(self):
        self.assertEqual(self.answer("--exact", "--from", "1")["expected"], "3")
        self.assertEqual(self.answer("--exact", "--all")["expected_from"], ["0", "3", "4"])

    def test_says_by_which_method_and_why(self):
        answer = self.answer()
        self.assertEqual(answer["method"], "elimination")
        self.assertIn("one division", answer["method_reason"])
        self.assertEqual(answer["method_states"], {"elimination": 2})
        self.assertEqual(self.answer("--exact", "--method", "lifting")["method"], "lifting")
        self.assertRegex(conclave("solve", self.chain).stdout, "(?m)^method +elimination, because ")

    def test_says_where_the_target_may_be_missed(self):
        answer = self.answer("--target", "2", "--from", "1")
        self.assertEqual((answer["expected"], answer["infinite_states"]), ("infinite", 2))

    def test_mistakes_give_one_clear_sentence(self):
        for words, sentence in (
                (["--target", "doen"], "unknown label 'doen' (did you mean 'done'?)"),
                (["--from", "3"], "--from takes a number from 0 to 2"),
                (["--format", "jsn"], "did you mean 'json'?"),
                (["--rewards", "x.rew"], "--rewards takes a .srew or a .trew file"),
                (["--exact", "--rewards", "x.srew"], "cannot be combined"),
                (["--method", "eliminaton"], "(did you mean 'elimination'?); known: auto"),
                (["--method", "multigrid"],
                 "known: auto, sweeps, elimination, bicgstab, clusters, multiprecision"),
                (["--exact", "--method", "refinement"], "known: auto, lifting"),
                (["--method", "clusters"], "applies to no component of this chain")):
            with self.subTest(words):
                result = conclave("solve", self.chain, *words)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(sentence, result.stderr)
        self.assertIn("cannot read", conclave("solve", "none.tra").stderr)


class Interruption(unittest.TestCase):
    def test_after_the_last_trial_is_none(self):
        """The trials are done, and the table waits for its reader when the signal comes."""
        ends = os.pipe()
        os.set_blocking(ends[1], False)
        filled = 0
        try:
            while True:
                filled += os.write(ends[1], b" " * 4096)
        except BlockingIOError:
            os.set_blocking(ends[1], True)
        with subprocess.Popen([BINARY, "run", "fratricide", "--n", "10", "--trials", "3"],
                              stdout=ends[1], stderr=subprocess.PIPE, text=True) as process:
            os.close(ends[1])
            wait_for_stillness(process)
            process.send_signal(signal.SIGINT)
            with os.fdopen(ends[0], "rb") as reader:
                shown = reader.read()[filled:].decode()
            errors = process.stderr.read()
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("3 of 3 trials converged", shown)
        self.assertNotIn("interrupted", shown + errors)

    def test_keeps_finished_rows_and_exits_with_130(self):
        words = ["fratricide", "--n", "3000", "--seed", "3", "--engine", "agents"]
        with tempfile.TemporaryFile("w+") as output:  # no pipe, which may be full
            process = subprocess.Popen([BINARY, "run", *words, "--trials", "1000000", "--quiet",
                                        "--format", "jsonl"], stdout=output)
            wait_for_work(process, 1)
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
            output.seek(0)
            finished = [json.loads(line) for line in output]
        self.assertEqual(process.returncode, 130)
        self.assertGreater(len(finished), 1)
        self.assertEqual([row["trial"] for row in finished], list(range(len(finished))))
        self.assertEqual((finished[-1].pop("interrupted"), finished[-1].pop("asked")),
                         (True, 1000000))
        self.assertEqual(finished, rows(*words, "--trials", str(len(finished))))


class Pipes(unittest.TestCase):
    def test_hold_a_reaction_file_that_says_how_many_molecules_there_are(self):
        text = "A + B -> A + A\ninit A = 5, B = 15\nstop when B == 0\n"
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "fixed.crn")
            os.mkfifo(pipe)
            write = pathlib.Path(pipe).write_text
            threading.Thread(target=write, args=(text,), daemon=True).start()
            # Written once: a second reader would wait for ever.
            result = subprocess.run([BINARY, "run", pipe, "--format", "jsonl", "--quiet"],
                                    capture_output=True, text=True, timeout=120)
        self.assertEqual(json.loads(result.stdout)["n"], 20, result.stderr)


class Rare(unittest.TestCase):
    TOY = [word for value in ("t_max=8", "t_virus=4", "t_emit=8") for word in ("--param", value)]
    COMMAND = ("rare", "ppl", "--n", "8", *TOY, "--particles", "200", "--quiet")

    def test_rows_have_the_fields_of_the_contract_for_any_number_of_threads(self):
        one, three = (conclave(*self.COMMAND, "--format", "jsonl", "--threads", threads).stdout
                      for threads in "13")
        self.assertEqual(one, three)
        row = json.loads(one)
        self.assertEqual(list(row), ["protocol", "n", "params", "init", "seed", "particles",
                                     "ln_holding", "ln_low", "ln_high", "expected_holding",
                                     "confirmed", "ways"])
        self.assertTrue(row["confirmed"])
        self.assertEqual([(way["way"], [each["name"] for each in way["importance"]])
                          for way in row["ways"]],
                         [("timeout", ["group", "mean"]),
                          ("suicide", ["first-moment", "since-emission"])])
        self.assertLess(row["ways"][1]["ln_union_bound"], row["ways"][1]["ln_high"])

    def test_csv_and_json_agree_with_json_lines(self):
        row = json.loads(conclave(*self.COMMAND, "--format", "jsonl").stdout)
        self.assertEqual(json.loads(conclave(*self.COMMAND, "--format", "json").stdout),
                         {"rows": [row]})
        lines = list(csv.DictReader(io.StringIO(conclave(*self.COMMAND, "--format", "csv").stdout)))
        self.assertEqual([line["way"] for line in lines],
                         ["timeout", "timeout", "suicide", "suicide", "all"])
        self.assertEqual(float(lines[-1]["ln_holding"]), row["ln_holding"])

    def test_holds_as_long_as_simulated(self):
        times = [each["observables"]["holding_interactions"] for each in
                 rows("ppl", "--n", "8", *self.TOY, "--init", "safe", "--param", "hold=1",
                      "--trials", "2000")]
        mean = sum(times) / len(times)
        row = json.loads(conclave(*self.COMMAND, "--format", "jsonl").stdout)
        half = (row["ln_high"] - row["ln_low"]) / 2
        self.assertLess(abs(math.log(mean) - row["ln_holding"]), 2 * half + 4 / len(times) ** 0.5)

    def test_tells_how_often_a_detection_is_late(self):
        words = ("--n", "16", "--param", "r=4", "--max-parallel-time", "20")
        effort = ("--particles", "200", "--quiet", "--format")
        row = json.loads(conclave("rare", "detect-collision", *words, *effort, "jsonl").stdout)
        self.assertEqual(list(row), ["protocol", "n", "params", "init", "seed", "particles",
                                     "max_interactions", "ln_probability", "ln_low", "ln_high",
                                     "probability", "confirmed", "ways"])
        self.assertEqual((row["init"], row["max_interactions"]), ("dup", 320))
        self.assertLess(row["ln_low"], row["ln_probability"])
        self.assertLess(row["ln_probability"], row["ln_high"])
        self.assertAlmostEqual(math.log(row["probability"]), row["ln_probability"], 4)
        whole = json.loads(conclave("rare", "electleader", *words, *effort, "jsonl").stdout)
        self.assertEqual(whole["ln_probability"], row["ln_probability"])  # the same detection
        lines = conclave("rare", "detect-collision", *words, *effort, "csv").stdout
        last = list(csv.DictReader(io.StringIO(lines)))[-1]
        self.assertEqual(float(last["ln_probability"]), row["ln_probability"])
        table = conclave("rare", "detect-collision", *words, *effort, "table").stdout
        self.assertIn("attempts of at most 320 interactions", table)
        self.assertIn("ln of the probability that an attempt fails:", table)

    def test_mistakes_give_one_clear_sentence(self):
        for words, sentence in (
                (("fratricide", "--n", "8"), "names no importance functions"),
                (("ppl", "--n", "8", "--way", "timeut"), "did you mean 'timeout'"),
                (("ppl", "--n", "8", "--importance", "grup"), "did you mean 'group'"),
                (("ppl", "--n", "8", "--way", "suicide", "--importance", "group"),
                 "is for the way timeout"),
                (("ppl", "--n", "8", "--importance", "sum(tmer_L)"), "did you mean 'timer_L'"),
                (("ppl", "--n", "8", "--init", "no-leader"), "exactly one leader"),
                (("ppl", "--n", "2"), "takes part in every interaction"),
                (("ppl", "--n", "8", *self.TOY, "--init", "half-timers", "--most-levels", "1"),
                 "timeout by group (leave it out with --way suicide): more than 1 levels are"),
                (("ppl", "--n", "8", "--init", "half-timers", "--importance", "exact"),
                 "too large for an exact computation"),
                (("electleader", "--n", "16", "--max-parallel-time", "20", "--importance", "exact"),
                 "no expressions and no exact times"),
                (("ppl", "--n", "8", "--particles", "1"), "--particles"),
                (("ppl", "--n", "8", "--importance", "group"), "for the way suicide"),
                (("ppl", "--n", "8", "--max-parallel-time", "5"), "takes no limit"),
                (("electleader", "--n", "16"), "--max-parallel-time"),
                (("electleader", "--n", "16", "--max-parallel-time", "20", "--init", "random"),
                 "dup and dupq0"),
                (("electleader", "--n", "16", "--max-parallel-time", "20", "--importance",
                  "count(rank)"), "no expressions and no exact times"),
                (("detect-collision", "--n", "16", "--max-interactions", "320", "--importance",
                  "agee"), "did you mean 'age'"),
                (("detect-collision", "--n", "16", "--max-interactions", "320", "--param",
                  "derandomize=1"), "derandomize=0"),
                (("ppl",), "--n")):
            with self.subTest(words):
                result = conclave("rare", *words)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(sentence, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_that_cannot_happen_are_told_at_once(self):
        """A virus of life 2 dies before it can come back, with timers of any length."""
        small = ("--param", "t_max=6", "--param", "t_virus=2", "--param", "t_emit=4")
        for words, has_time in ((("ppl", "--n", "6", *small), True),
                                (("ppl", "--n", "6", *small, "--way", "suicide"), False),
                                (("ppl", "--n", "64", "--param", "t_virus=2", "--way", "suicide"),
                                 False)):
            with self.subTest(words):
                row = json.loads(conclave("rare", *words, "--quiet", "--format", "jsonl").stdout)
                way = row["ways"][-1]
                self.assertTrue(way["impossible"])
                self.assertIn("cannot happen", way["no_estimate"])
                self.assertEqual((way["ln_holding"], way["importance"]), (None, []))
                self.assertEqual(row["ln_holding"] is not None, has_time)
                self.assertTrue(row["confirmed"])
        # From half-timers everybody has a virus, and those who meet late can kill.
        row = json.loads(conclave("rare", "ppl", "--n", "4", *small, "--init", "half-timers",
                                  "--importance", "exact", "--format", "jsonl").stdout)
        self.assertIsNotNone(row["ways"][1]["ln_holding"])

    def test_of_a_stop_condition_that_cannot_come_true(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "never.pp")
            with open(path, "w", encoding="utf-8") as file:
                file.write("states A, B, D, U, V, C\nstart few: 1 of U, 1 of V, rest of A\n"
                           "A + A -> A + B\nA + B -> A + D\nD + B -> A + A\n"
                           "U + A -> V + A\nV + A -> U + A\nV + B -> U + B\n"
                           "stop when count(C) == 1 and count(B) < n and count(D) < n\n")
            words = ("rare", path, "--importance", "count(V)", "--particles", "100", "--format",
                     "jsonl", "--quiet", "--n")
            self.assertTrue(json.loads(conclave(*words, "9").stdout)["ways"][0]["impossible"])
            row = json.loads(conclave(*words, "70").stdout)  # too many configurations to see it
            self.assertFalse(row["ways"][0]["impossible"])
            self.assertIn("95 % confidence", row["ways"][0]["no_estimate"])
            self.assertEqual(row["ln_holding"], row["ln_low"])
            self.assertNotIn("expected_holding", row)
            self.assertGreater(row["ln_low"], 10)
            self.assertEqual((row["ln_high"], row["confirmed"]), (None, False))

    def test_at_the_papers_constants_timeouts_have_a_bound(self):
        """Timeouts would need thousands of levels; the bound shows that they do not count."""
        row = json.loads(conclave("rare", "ppl", "--n", "8", "--particles", "100", "--repetitions",
                                  "3", "--format", "jsonl", "--quiet").stdout)
        timeout, suicide = row["ways"]
        self.assertIn("thousands of levels", timeout["no_estimate"])
        self.assertEqual((timeout["ln_holding"], timeout["ln_high"]), (None, None))
        self.assertGreater(timeout["ln_low"], suicide["ln_high"] + 100)
        self.assertEqual(row["ln_holding"], suicide["ln_holding"])
        self.assertGreater(suicide["ln_holding"], suicide["ln_union_bound"])
        self.assertFalse(row["confirmed"])
        # Where the bound does count, the sum is one.
        toy = json.loads(conclave("rare", "ppl", "--n", "8", *self.TOY, "--most-levels", "1",
                                  "--format", "jsonl", "--quiet").stdout)
        self.assertIn("more than 1 levels", toy["ways"][0]["no_estimate"])
        self.assertLess(toy["ln_low"], toy["ways"][0]["ln_low"])
        self.assertFalse(toy["confirmed"])

    def test_exact_times_confirm_estimates(self):
        row = json.loads(conclave("rare", "timers", "--n", "6", "--param", "t_max=7",
                                  "--importance", "group", "--importance", "exact", "--format",
                                  "jsonl", "--quiet").stdout)
        group, exact = row["ways"][0]["importance"]
        self.assertEqual(exact["ln_low"], exact["ln_high"])
        self.assertGreater(exact["configurations"], 100)
        self.assertTrue(group["ln_low"] <= exact["ln_holding"] <= group["ln_high"])
        self.assertTrue(row["confirmed"])

    def test_that_are_not_rare_are_counted(self):
        """The quiet set is left by failing only, every second interaction."""
        row = json.loads(conclave("rare", "timers", "--n", "4", "--param", "t_max=1", "--format",
                                  "jsonl").stdout)
        self.assertLess(row["ln_low"], math.log(2))
        self.assertGreater(row["ln_high"], math.log(2))
        self.assertLess(row["ln_high"] - row["ln_low"], 0.1)

    def test_keeps_finished_repetitions_when_interrupted(self):
        words = ["rare", "ppl", "--n", "8", *self.TOY, "--particles", "400", "--repetitions",
                 "100000", "--way", "timeout", "--format", "jsonl"]
        with subprocess.Popen([BINARY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            wait_for_work(process, 0.5)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        row = json.loads(output)
        self.assertTrue(row["interrupted"])
        self.assertGreater(row["ways"][0]["importance"][0]["repetitions"], 1)


def resize(descriptor, columns):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))


END_OF_OUTPUT = b"\x04"


def on_terminal(words, columns, shows="stdout", acts=()):
    """The text that a command shows on a terminal so wide. Acts are pairs of a pattern and of what
    is called with the terminal and the process once it has been shown, one after the other. A
    terminal that is closed may lose what has not been read yet, so this end stays open and says
    when the process has written everything."""
    leader, follower = pty.openpty()
    resize(leader, columns)
    other = "stderr" if shows == "stdout" else "stdout"

    def mark_the_end(process):
        process.wait()
        os.write(follower, END_OF_OUTPUT)

    with subprocess.Popen([BINARY, *words], **{shows: follower, other: subprocess.PIPE}) as process:
        marker = threading.Thread(target=mark_the_end, args=[process])
        marker.start()
        shown, seen, acts = b"", 0, list(acts)
        while not shown.endswith(END_OF_OUTPUT):
            shown += os.read(leader, 4096)
            if acts and (found := re.compile(acts[0][0]).search(shown, seen)):
                seen = found.end()
                acts.pop(0)[1](leader, process)
        rest = getattr(process, other).read().decode()
        marker.join()
    os.close(follower)
    os.close(leader)
    return shown.removesuffix(END_OF_OUTPUT).decode().replace("\r\n", "\n"), rest


def longest_line(text):
    return max(map(len, text.splitlines()), default=0)


class Terminal(unittest.TestCase):
    SLOW = ["run", "fratricide", "--n", "10000", "--trials", "4", "--format", "jsonl", "--engine",
            "agents", "--threads", "1"]
    LONG = ["run", "fratricide", "--n", "5000", "--trials", "9999", "--format", "jsonl", "--engine",
            "agents"]

    def test_shows_a_progress_line_only_on_a_terminal(self):
        silent = conclave(*self.SLOW)
        self.assertNotIn("\r", silent.stderr)
        shown, printed = on_terminal(self.SLOW, 120, "stderr")
        self.assertEqual(printed, silent.stdout)
        self.assertIn("interactions/s", shown)

    def test_is_as_wide_as_progress_lines_may_be(self):
        def narrow(leader, process):
            resize(leader, 30)
            process.send_signal(signal.SIGWINCH)

        def interrupt(_, process):
            process.send_signal(signal.SIGINT)

        for columns, enough in ((40, b"trial [1-9]"), (70, b"about .* left")):
            shown, _ = on_terminal(self.LONG, columns, "stderr", [(enough, interrupt)])
            lines = shown.split("\r\033[K")[1:-1]  # after them, what was done
            self.assertIn("trial", lines[0])
            self.assertLess(max(map(len, lines)), columns)
            self.assertNotIn("...", shown)
        self.assertRegex(shown, r"fratricide n = 5000   trial [1-9]\d* of 9999   about .* left")
        shown, _ = on_terminal(self.LONG, 70, "stderr",
                               [(rb"trial \d", narrow), (rb"\033\[K[^\r]{1,29}\r", interrupt)])
        lengths = [len(line) for line in shown.split("\r\033[K")[1:-1]]
        self.assertGreater(lengths[0], 30)
        self.assertLess(lengths[-1], 30)  # since it was resized

    def test_is_as_wide_as_help_may_be(self):
        """Only commands to be copied stay in one line."""
        listed = re.findall("^  ([a-z]+) {5,}", conclave("--help").stdout, re.M)
        self.assertGreater(len(listed), 15)
        for command in ("", *listed, "cluster init", "cluster repair"):
            shown, _ = on_terminal([*command.split(), "--help"], 80)
            long = [line for line in shown.splitlines() if len(line) > 80
                    and not re.match("  (conclave|mpirun|sqlite3) ", line)]
            self.assertEqual(long, [], command)
            plain = conclave(*command.split(), "--help").stdout
            self.assertEqual(shown.split(), plain.split())

    def test_is_as_wide_as_tables_may_be(self):
        commands = (["list"], ["run", "pll", "--n", "50", "--trials", "3"],
                    ["run", "kmpp-async", "--n", "50", "--trials", "3"],
                    ["compare", "--n", "20", "--trials", "2"], ["describe", "prl"],
                    ["verify", "prl", "--n", "3"], ["cluster", "--n", "3", "--insecure"],
                    ["search", "prl", "--n", "3", "--budget", "1000"])
        for words in commands:
            with self.subTest(" ".join(words)):
                self.assertLessEqual(longest_line(conclave(*words).stdout), 100)
                for columns in (80, 100):
                    shown, _ = on_terminal(words, columns)
                    self.assertLessEqual(longest_line(shown), columns)

    def test_folds_the_heading_of_results(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name)
        (path / "plan.toml").write_text('name = "a name that takes some space"\n[[run]]\n'
                                        'protocol = "fratricide"\nn = 5\ntrials = 2\n', "ascii")
        conclave("sweep", path / "plan.toml", "-o", path / "r.db")
        shown, _ = on_terminal(["results", str(path / "r.db")], 80)
        self.assertLessEqual(longest_line(shown), 80)
        self.assertIn("measure parallel_time", shown)

    def test_too_narrow_for_a_table_gets_its_columns_below_each_other(self):
        shown, _ = on_terminal(["run", "fratricide", "--n", "50", "--trials", "3"], 60)
        lines = [line for line in shown.splitlines() if line.startswith("interactions ")]
        self.assertEqual(len(lines), 2)
        self.assertEqual(len(" ".join(lines).split()), 9)  # the name twice, and seven numbers

    def test_keeps_names_whole_however_narrow_it_is(self):
        for columns in (40, 60, 80):
            shown, _ = on_terminal(["run", "pll", "--n", "50", "--trials", "3"], columns)
            self.assertIn("leaders_after_quick_elimination ", shown)
            self.assertNotRegex(shown, "_ *\r?\n")

    def test_quiet_prints_nothing_on_standard_error(self):
        self.assertEqual(conclave("run", "pll", "--n", "50", "--quiet").stderr, "")


class Vocabulary(unittest.TestCase):
    def test_is_the_same_in_all_commands(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        chain = pathlib.Path(folder.name) / "chain.tra"
        chain.write_text("2 2\n0 0 1\n1 0 1\n", "ascii")
        for words in (["list"], ["describe", "pll"], ["run", "pll", "--n", "9"],
                      ["compare", "--n", "5", "--trials", "1"], ["verify", "prl", "--n", "2"],
                      ["search", "prl", "--n", "3", "--budget", "1000"],
                      ["explore", "flooding", "--n", "2"],
                      ["solve", str(chain), "--target", "0"]):
            with self.subTest(words[0]):
                table = conclave(*words, "--format", "table")
                self.assertEqual(table.returncode, 0, table.stderr)
                self.assertEqual(table.stdout, conclave(*words).stdout)
                wrong = conclave(*words, "--format", "tabel")
                self.assertIn("unknown format 'tabel' (did you mean 'table'?)", wrong.stderr)

    def test_takes_text_for_table(self):
        for words in (["list"], ["cluster", "--n", "2", "--insecure"]):
            text = conclave(*words, "--format", "text")
            self.assertEqual(text.returncode, 0, text.stderr)

    def test_of_comparisons_has_csv(self):
        words = ("compare", "--n", "20", "--trials", "2", "--format")
        lines = list(csv.DictReader(io.StringIO(conclave(*words, "csv").stdout)))
        rows_ = json.loads(conclave(*words, "json").stdout)
        self.assertEqual([line["protocol"] for line in lines], [row["protocol"] for row in rows_])
        for line, row in zip(lines, rows_, strict=True):
            self.assertAlmostEqual(float(line["messages_per_node"]), row["messages_per_node"],
                                   delta=1e-3 * row["messages_per_node"])

    def test_help_is_a_word_as_well(self):
        self.assertEqual(conclave("help", "run").stdout, conclave("run", "--help").stdout)
        self.assertEqual(conclave("help").stdout, conclave("--help").stdout)
        self.assertEqual(conclave("help", "rum").returncode, 2)

    def test_n_may_be_short(self):
        self.assertEqual(conclave("run", "pll", "-n", "50").stdout,
                         conclave("run", "pll", "--n", "50").stdout)
        self.assertEqual(conclave("compare", "-n20", "--trials", "1").stdout,
                         conclave("compare", "--n", "20", "--trials", "1").stdout)


class Intervals(unittest.TestCase):
    def test_of_times_are_positive(self):
        """Two or three trials of a law as wide as its mean."""
        for seed in range(1, 8):
            document = json.loads(conclave("run", "fratricide", "--n", "40", "--trials", "2",
                                           "--seed", str(seed), "--format", "json").stdout)
            time_ = document["summary"]["parallel_time"]
            self.assertGreater(time_["mean_low_95"], 0)
            self.assertLess(time_["mean_low_95"], time_["mean"])


class Holding(unittest.TestCase):
    COMMAND = ("ppl", "--n", "3", "--init", "safe", *TOY_PPL, "--trials", "20000")

    def test_lasts_as_long_as_the_exact_chain_says(self):
        times = [row["observables"]["holding_interactions"]
                 for row in rows(*self.COMMAND, "--param", "hold=1")]
        mean = sum(times) / len(times)
        deviation = (sum((t - mean) ** 2 for t in times) / len(times) ** 2) ** 0.5
        self.assertLess(abs(mean - 13.391531), 4 * deviation)

    def test_is_censored_by_the_limit_which_counts_from_the_start(self):
        for row in rows("ppl", "--n", "8", "--init", "all-leaders", "--trials", "20",
                        "--param", "hold=1", "--max-interactions", "100000"):
            if row["converged"]:
                self.assertEqual(row["observables"]["holding_interactions"],
                                 100000 - row["interactions"])
                self.assertTrue(row["observables"]["holding_censored"])
                self.assertEqual(row["leaders"], 1)
            else:
                self.assertEqual(row["observables"], {})

    def test_is_not_measured_unasked(self):
        self.assertTrue(all(row["interactions"] == 0 and row["observables"] == {}
                            for row in rows(*self.COMMAND)))


class Faults(unittest.TestCase):
    COMMAND = ("prl", "--n", "1000", "--init", "all-leaders",
               "--fault", "corrupt:50%@convergence+100", "--trials", "20")

    def test_are_recovered_from_in_every_trial(self):
        result = rows(*self.COMMAND)
        self.assertEqual(len(result), 20)
        for row in result:
            (fault,) = row["faults"]
            self.assertEqual(list(fault), ["fault", "interactions", "agents", "leaders",
                                           "recovered", "recovery_interactions"])
            self.assertEqual(fault["fault"], "corrupt:50%@convergence+100")
            self.assertEqual(fault["interactions"], row["interactions"] + 100 * 1000)
            self.assertEqual(fault["agents"], 500)
            self.assertTrue(fault["recovered"])
            self.assertGreater(fault["recovery_interactions"], 0)

    def test_come_in_the_order_of_time(self):
        (row,) = rows("prl", "--n", "100", "--fault", "kill-leaders@convergence",
                      "--fault", "make-leaders:3@1.5", "--fault", "zero:10%@0")
        first, second, third = row["faults"]
        self.assertEqual([first["interactions"], first["agents"]], [0, 10])
        self.assertEqual([second["interactions"], second["agents"]], [150, 3])
        self.assertEqual([third["interactions"], third["agents"], third["leaders"]],
                         [row["interactions"], 1, 0])
        self.assertEqual([f["recovered"] for f in row["faults"]], [False, True, True])

    def test_of_a_protocol_that_cannot_recover_are_told(self):
        (row,) = rows("fratricide", "--n", "100", "--fault", "kill-leaders@convergence+1")
        (fault,) = row["faults"]
        self.assertEqual([row["converged"], fault["recovered"], fault["leaders"]],
                         [True, False, 0])
        self.assertNotIn("recovery_interactions", fault)

    def test_are_columns_of_csv(self):
        words = ("run", *self.COMMAND, "--format", "csv")
        table = list(csv.DictReader(io.StringIO(conclave(*words).stdout)))
        for line, row in zip(table, rows(*self.COMMAND), strict=True):
            self.assertEqual(int(line["faults.0.interactions"]), row["faults"][0]["interactions"])
            self.assertEqual(int(line["faults.0.recovery_interactions"]),
                             row["faults"][0]["recovery_interactions"])

    def test_give_the_same_bytes_for_any_number_of_threads(self):
        for words in (self.COMMAND,
                      ("ppl", "--n", "50", "--init", "all-leaders", *TOY_PPL, "--trials", "40",
                       "--fault", "corrupt:10@5", "--fault", "kill-leaders@convergence+3",
                       "--max-parallel-time", "1000")):
            for engine in ("agents", "events"):
                outputs = {conclave("run", *words, "--engine", engine, "--format", "jsonl",
                                    "--threads", threads).stdout for threads in "17"}
                self.assertEqual(len(outputs), 1)
                self.assertGreater(len(outputs.pop()), 1000)


class Representations(unittest.TestCase):
    def test_of_messages_give_the_same_rows(self):
        for protocol, init in (("electleader", "dup"), ("electleader", "random"),
                               ("detect-collision", "dupq0")):
            words = ("run", protocol, "--n", "24", "--param", "r=8", "--init", init, "--trials",
                     "10", "--format", "jsonl")
            fast = conclave(*words).stdout
            dense = conclave(*words, "--engine", "dense").stdout
            self.assertEqual(dense.replace('"engine":"dense"', '"engine":"agents"'), fast)
            self.assertEqual(len(fast.splitlines()), 10)

    def test_show_decimals_as_they_were_given(self):
        (row,) = rows("electleader", "--n", "16", "--param", "c_S=0.5", "--param", "R_max=9")
        self.assertEqual(row["params"], {"r": 8, "R_max": 9, "c_S": 0.5})

    def test_leave_observables_out_that_have_no_value(self):
        (row,) = rows("electleader", "--n", "16")
        self.assertNotIn("first_detection", row["observables"])
        self.assertIn("first_detection", rows("electleader", "--n", "16", "--init", "dup")[0][
            "observables"])

    def test_have_traces_with_every_column(self):
        with tempfile.TemporaryDirectory() as folder:
            conclave("run", "electleader", "--n", "32", "--init", "dup", "--trace",
                     f"{folder}/trace.csv")
            with open(f"{folder}/trace.csv", encoding="ascii") as file:
                table = list(csv.DictReader(file))
        self.assertEqual(table[0]["first_detection"], "")
        self.assertGreater(int(table[-1]["first_detection"]), 0)


class Engines(unittest.TestCase):
    def test_counts_gives_the_same_bytes_for_any_number_of_threads(self):
        for words in (("pll", "--n", "2e4", "--trials", "4"),
                      ("fratricide", "--n", "1e5", "--trials", "10"),
                      ("ppl", "--n", "50", "--init", "all-leaders", *TOY_PPL, "--trials", "20",
                       "--fault", "corrupt:10@5", "--fault", "kill-leaders@convergence+3",
                       "--max-parallel-time", "1000")):
            outputs = {conclave("run", *words, "--engine", "counts", "--format", "jsonl",
                                "--threads", threads).stdout for threads in "13"}
            self.assertEqual(len(outputs), 1)
            self.assertGreater(len(outputs.pop()), 1000)

    def test_counts_draws_the_same_trace_for_any_number_of_threads(self):
        traces = set()
        for threads in "13":
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "trace.csv"
                conclave("run", "pll", "--n", "1e5", "--trials", "3", "--engine", "counts",
                         "--threads", threads, "--trace", str(path))
                traces.add(path.read_text())
        self.assertEqual(len(traces), 1)
        self.assertGreater(traces.pop().count("\n"), 50)

    def test_are_chosen_by_the_user_or_by_the_protocol(self):
        for protocol, words, engine in (
                ("fratricide", [], "events"), ("pll", [], "agents"), ("prl", [], "events"),
                ("fratricide", ["--engine", "agents"], "agents"),
                ("pll", ["--engine", "events"], "events"),
                ("prl", ["--engine", "agents"], "agents")):
            (row,) = rows(protocol, "--n", "100", *words)
            self.assertEqual((row["engine"], row["converged"]), (engine, True))

    def test_of_the_same_name_give_the_same_rows_as_auto(self):
        self.assertEqual(rows("fratricide", "--n", "5000", "--trials", "5"),
                         rows("fratricide", "--n", "5000", "--trials", "5", "--engine", "events"))

    def test_that_jump_tell_how_many_interactions_were_effective(self):
        result = conclave("run", "fratricide", "--n", "10000", "--format", "jsonl")
        self.assertIn("effective", result.stderr)
        self.assertEqual(json.loads(result.stdout)["converged"], True)


class Traces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.trace = self.folder / "trace.csv"

    def run_traced(self, *words):
        result = conclave("run", *words, "--trace", self.trace, "--format", "jsonl")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.trace, encoding="ascii") as file:
            return ([json.loads(line) for line in result.stdout.splitlines()],
                    list(csv.DictReader(file)))

    def test_are_csv_with_the_observables_of_the_protocol(self):
        result, table = self.run_traced("pll", "--n", "1000", "--trials", "3")
        self.assertEqual(list(table[0]), ["trial", "interactions", "parallel_time", "leaders",
                                          *result[0]["observables"]])
        self.assertEqual(os.listdir(self.folder), ["trace.csv"])
        for row in result:
            lines = [line for line in table if int(line["trial"]) == row["trial"]]
            times = [int(line["interactions"]) for line in lines]
            self.assertEqual(times, sorted(times))
            self.assertEqual((times[0], int(lines[0]["leaders"])), (0, 1000))
            self.assertEqual((times[-1], lines[-1]["leaders"]), (row["interactions"], "1"))

    def test_change_no_row_and_no_thread_count_changes_them(self):
        words = ("prl", "--n", "200", "--trials", "5", "--fault", "corrupt:20@convergence+5")
        texts = set()
        for threads in "13":
            result, _ = self.run_traced(*words, "--threads", threads)
            texts.add(self.trace.read_text())
            self.assertEqual(result, rows(*words))
        self.assertEqual(len(texts), 1)

    def test_on_a_linear_grid_have_equal_steps(self):
        result, table = self.run_traced("fratricide", "--n", "100", "--trace-grid", "linear:0.5")
        times = [int(line["interactions"]) for line in table]
        self.assertEqual(times, [*range(0, result[0]["interactions"], 50),
                                 result[0]["interactions"]])

    def test_are_not_left_half_written(self):
        for words in (["--param", "m=1"], ["--fault", "corrupt:5"], ["--output", "/nowhere/x"]):
            result = conclave("run", "pll", "--n", "300", *words, "--trace", self.trace)
            self.assertEqual(result.returncode, 2, result.stderr)
        result = conclave("run", "pll", "--n", "300", "--trace", self.folder / "no" / "trace.csv")
        self.assertEqual(result.returncode, 2)
        self.assertIn("cannot write", result.stderr)
        self.assertEqual(os.listdir(self.folder), [])


class Plots(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.trace = self.folder / "trace.csv"
        conclave("run", "pll", "--n", "1000", "--trials", "4", "--trace", self.trace)

    def curves_of(self, picture):
        """The strokes that gnuplot has drawn inside its plots, apart from axes and key."""
        document = xml.etree.ElementTree.parse(picture)
        name = "{http://www.w3.org/2000/svg}"
        return [stroke for group in document.iter(name + "g")
                if group.get("id", "").startswith("gnuplot_plot")
                for path in group.iter(name + "path")
                for stroke in path.get("d", "").split("M") if stroke.count("L") > 5]

    def test_hold_a_path_for_every_trial(self):
        picture = self.folder / "trace.svg"
        result = conclave("plot", self.trace, "-o", picture)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertEqual(len(self.curves_of(picture)), 4)
        self.assertEqual(sorted(os.listdir(self.folder)), ["trace.csv", "trace.svg"])

    def test_take_columns_and_a_title(self):
        picture = self.folder / "two.svg"
        result = conclave("plot", self.trace, "-o", picture, "--title", "It's <P_LL> & more",
                          "--columns", "leaders,leaders_after_tournament")
        self.assertEqual(result.returncode, 0, result.stderr)
        text = "".join(xml.etree.ElementTree.parse(picture).getroot().itertext())
        self.assertIn("It's <P_LL> & more", text)
        self.assertIn("leaders_after_tournament (4 trials)", text)

    def plot(self, *words):
        result = conclave("plot", self.trace, *words, cwd=self.folder)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def test_come_as_papers_want_them(self):
        title = ("--title", "50 % & more")
        self.plot("-o", "a.svg", "-o", "a.pdf", "-o", "a.csv", "-o", "a.tex", *title, "--size",
                  "450x300", "--font-size", "9", "--axes", "loglog")
        root = xml.etree.ElementTree.parse(self.folder / "a.svg").getroot()
        self.assertEqual((root.get("width"), root.get("height")), ("450", "300"))
        self.assertIn("50 % & more", "".join(root.itertext()))
        self.assertIn('font-size="9', (self.folder / "a.svg").read_text())
        self.assertTrue((self.folder / "a.pdf").read_bytes().startswith(b"%PDF"))
        tex = (self.folder / "a.tex").read_text()
        self.assertIn(r"\begin{axis}[xmode=log, ymode=log", tex)
        self.assertIn(r"title={50 \% \& more}", tex)
        self.assertEqual(tex.count("{"), tex.count("}"))
        self.plot("-o", "b.svg", "-o", "b.tex", *title, "--no-title", "--axes", "linear")
        text = "".join(xml.etree.ElementTree.parse(self.folder / "b.svg").getroot().itertext())
        self.assertNotIn("more", text)
        self.assertIn("xmode=linear, ymode=linear", (self.folder / "b.tex").read_text())

    def test_have_their_data_as_csv(self):
        self.plot("-o", "a.csv")
        drawn = list(csv.DictReader(io.StringIO((self.folder / "a.csv").read_text())))
        traced = list(csv.DictReader(io.StringIO(self.trace.read_text())))
        self.assertEqual([(float(line["x"]), float(line["y"])) for line in drawn],
                         [(float(line["parallel_time"]), float(line["leaders"]))
                          for line in traced])

    def test_of_means_have_a_band(self):
        self.plot("-o", "a.csv", "-o", "a.svg", "-o", "a.tex", "--mean")
        lines = list(csv.DictReader(io.StringIO((self.folder / "a.csv").read_text())))
        first, last = lines[0], lines[-1]
        self.assertEqual((first["series"], first["x"], first["y"]),
                         ("mean leaders, 95 % interval (4 trials)", "0", "1000"))
        self.assertEqual((last["y"], last["low"], last["high"]), ("1", "1", "1"))
        self.assertTrue(all(0 < float(line["low"]) <= float(line["y"]) <= float(line["high"])
                            for line in lines))
        self.assertIn("fill between", (self.folder / "a.tex").read_text())

    def test_without_leaders_show_what_there_is(self):
        epidemic = OwnProtocols.EXAMPLES / "epidemic.pp"
        conclave("run", epidemic, "--n", "1000", "--trials", "2", "--trace", self.trace)
        self.plot("-o", "a.svg")
        text = "".join(xml.etree.ElementTree.parse(self.folder / "a.svg").getroot().itertext())
        self.assertIn("informed (2 trials)", text)

    def test_have_axes_that_suit_what_was_observed(self):
        self.plot("-o", "a.tex")
        self.assertIn("xmode=log, ymode=log", (self.folder / "a.tex").read_text())
        conclave("run", OwnProtocols.EXAMPLES / "rock_paper_scissors.crn", "--n", "1000", "--until",
                 "5", "--every", "0.1", "--trace", self.trace)
        self.plot("-o", "b.tex")
        self.assertIn("xmode=linear, ymode=linear", (self.folder / "b.tex").read_text())

    def test_keep_their_legend_below_the_axes(self):
        self.plot("-o", "a.svg")
        root = xml.etree.ElementTree.parse(self.folder / "a.svg").getroot()
        name = "{http://www.w3.org/2000/svg}"
        heights = {}
        for group in root.iter(name + "g"):
            if place := re.match(r"translate\([\d.]+,([\d.]+)\)", group.get("transform", "")):
                heights["".join(group.itertext())] = float(place[1])
        legend = next(height for text, height in heights.items() if "leaders (4" in text)
        axis = next(height for text, height in heights.items() if "parallel time" in text)
        self.assertGreater(legend, axis)

    def test_object_to_mistakes_and_leave_nothing_behind(self):
        cases = [
            (["trace.csv", "-o", "x.svg", "--columns", "leader"],
             "unknown column 'leader' (did you mean 'leaders'?)"),
            (["none.csv", "-o", "x.svg"], "cannot read 'none.csv'"),
            (["trace.csv", "-o", "x.jpg"], "a figure ends in .svg, .pdf or .png, its data in .csv"),
            (["trace.csv", "-o", "picture"], "a figure ends in .svg, .pdf or .png"),
            (["trace.csv", "-o", "x.svg", "--axes", "logln"], "did you mean 'loglog'?"),
            (["trace.csv", "-o", "x.svg", "--size", "640"], "--size takes WIDTHxHEIGHT"),
            (["trace.csv", "-o", "x.svg", "--font-size", "1"], "--font-size takes points from 4"),
            (["trace.csv", "-o", "x.svg", "--linear-time", "--axes", "loglog"], "contradict"),
            (["results.db", "-o", "x.svg"], "conclave report results.db"),
            (["trace.csv", "-o", "no/x.svg"], "cannot write 'no/x.svg'"),
        ]
        (self.folder / "results.db").write_bytes(b"SQLite format 3\0")
        for words, sentence in cases:
            with self.subTest(" ".join(words)):
                result = conclave("plot", *words, cwd=self.folder)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn(sentence, result.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["results.db", "trace.csv"])


class SpaceTimeDiagrams(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.trace = self.folder / "trace.csv"
        self.picture = self.folder / "trace.svg"

    def marks_of(self, picture):
        """How many arrow heads and points there are under each title, apart from the key."""
        document = xml.etree.ElementTree.parse(picture)
        name = "{http://www.w3.org/2000/svg}"
        return {group.find(name + "title").text:
                sum(1 for shape in ("polygon", "use") for _ in group.iter(name + shape)) - 1
                for group in document.iter(name + "g")
                if group.get("id", "").startswith("gnuplot_plot")}

    def test_show_every_message_phase_and_retirement(self):
        for protocol in ("kmpp-async", "kmpp-sync", "afek-gafni-async", "flooding"):
            with self.subTest(protocol):
                conclave("run", protocol, "--n", "5", "--seed", "4", "--trace", self.trace)
                lines = list(csv.DictReader(io.StringIO(self.trace.read_text())))
                result = conclave("plot", self.trace, "-o", self.picture, "--title", "It's <5>")
                self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
                marks = self.marks_of(self.picture)
                for title, event in (("woken", "wake"), ("phase", "phase"), ("retires", "retire"),
                                     ("is elected", "elect")):
                    count = sum(line["event"] == event for line in lines)
                    self.assertEqual(marks.get(title, 0), count, title)
                for kind in {line["message"] for line in lines if line["event"] == "deliver"}:
                    count = sum(line["message"] == kind for line in lines)
                    self.assertEqual(marks[kind], count, kind)

    def test_give_a_type_of_message_the_same_colour_everywhere(self):
        """Small networks of kmpp-async see fewer types, in another order."""
        colours = {}
        name = "{http://www.w3.org/2000/svg}"
        for n in ("2", "3", "6"):
            conclave("run", "kmpp-async", "--n", n, "--seed", "2", "--trace", self.trace)
            conclave("plot", self.trace, "-o", self.picture)
            for group in xml.etree.ElementTree.parse(self.picture).iter(name + "g"):
                title = group.find(name + "title")
                if title is None or not title.text.isupper():
                    continue
                stroke = next(path.get("stroke") for path in group.iter(name + "path"))
                colours.setdefault(title.text, set()).add(stroke)
        self.assertGreater(len(colours), 4)
        self.assertEqual({len(each) for each in colours.values()}, {1}, colours)
        self.assertEqual(len(set.union(*colours.values())), len(colours))

    def test_show_one_trial_of_few_nodes(self):
        conclave("run", "kmpp-async", "--n", "4", "--trials", "2", "--trace", self.trace)
        result = conclave("plot", self.trace, "-o", self.picture)
        self.assertEqual(result.returncode, 2)
        self.assertIn("use --trials 1", result.stderr)
        conclave("run", "kmpp-async", "--n", "65", "--trace", self.trace)
        result = conclave("plot", self.trace, "-o", self.picture)
        self.assertEqual(result.returncode, 2)
        self.assertIn("at most 64", result.stderr)
        self.assertFalse(self.picture.exists())


class Schedules(unittest.TestCase):
    def explore(self, *words):
        result = conclave("explore", *words, "--format", "json")
        return result.returncode, json.loads(result.stdout)

    def test_all_hold_with_status_0(self):
        for protocol in ("kmpp-async", "kmpp-sync", "afek-gafni-async", "afek-gafni-sync",
                         "flooding"):
            status, found = self.explore(protocol, "--n", "3")
            self.assertEqual(status, 0, protocol)
            self.assertTrue(found["complete"])
            self.assertTrue(all(each["holds"] for each in found["properties"]))
            self.assertGreater(found["schedules"], found["ends"])

    def test_status_4_with_a_shortest_schedule(self):
        status, found = self.explore("kmpp-async", "--n", "2", "--param", "reading=printed")
        self.assertEqual(status, 4)
        failing = [each for each in found["properties"] if not each["holds"]]
        self.assertEqual(len(failing), 1)
        self.assertEqual(len(failing[0]["counterexample"]), 5)

    def test_events_say_what_the_sentences_say(self):
        _, found = self.explore("kmpp-async", "--n", "3", "--param", "reading=chosen-in-c1",
                                "--param", "phases=2", "--param", "referees=1")
        steps = next(each for each in found["properties"] if not each["holds"])["counterexample"]
        under_way = []
        for step in steps[:-1]:
            first, *others = step["events"]
            if first["event"] == "wake":
                self.assertIn(f"node {first['node']} is woken", step["step"])
            else:
                text = " ".join([first["kind"], *(f"{name}={value}" for name, value
                                                  in first["payload"].items())])
                self.assertIn(f"node {first['to']} gets {text} from {first['from']}",
                              step["step"])
                under_way.remove((first["from"], first["to"], text))  # it has been sent
            for event in others:
                if event["event"] == "become":
                    self.assertIn(f"-> {event['standing']}", step["step"])
                    continue
                text = " ".join([event["kind"], *(f"{name}={value}" for name, value
                                                  in event["payload"].items())])
                under_way.append((event["from"], event["to"], text))
                self.assertTrue(any(f"node {event['from']} sends {text} to" in each and
                                    str(event["to"]) in each for each in step["details"]))
        self.assertEqual(steps[-1]["events"], [])

    def test_refuse_what_is_too_large(self):
        for words, part in ((["--n", "7"], "1 ... 6 nodes"),
                            (["--n", "4", "--max-configurations", "1000"], "1000"),
                            (["--n", "3", "--ids", "none"], "known: unique, anonymous"),
                            (["--n", "3", "--param", "phases=0"], "1 ... 64 is allowed")):
            result = conclave("explore", "kmpp-async", *words)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(part, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)
        self.assertIn("not a message-passing protocol",
                      conclave("explore", "pll", "--n", "3").stderr)

    def test_rings_begin_with_every_order_of_identifiers(self):
        status, found = self.explore("chang-roberts", "--n", "3")
        self.assertEqual((status, found["ids"]), (0, "unique"))
        status, found = self.explore("itai-rodeh", "--n", "2")
        self.assertEqual((status, found["ids"], found["schedules"]), (0, "anonymous", None))
        self.assertEqual(found["properties"][-1]["property"],
                         "with probability 1, every schedule comes to an end")
        status, found = self.explore("flood-max", "--n", "4", "--graph", "undirected-ring")
        self.assertEqual((status, found["params"]["diameter"]), (0, 2))

    def test_terms_are_bounded_where_elections_are_repeated(self):
        status, found = self.explore("raft-election", "--n", "2")
        self.assertEqual((status, found["params"]["terms"]), (0, 2))
        self.assertEqual(found["properties"][0]["property"],
                         "at most one node is elected in a term")
        self.assertIn("low = 3.5", conclave("explore", "raft-election", "--n", "2", "--param",
                                            "low=3.5").stdout)


class Comparisons(unittest.TestCase):
    def test_hold_every_message_passing_protocol(self):
        result = conclave("compare", "--n", "100", "--trials", "3", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = {row["protocol"]: row for row in json.loads(result.stdout)}
        self.assertGreaterEqual(set(rows), {"kmpp-async", "kmpp-sync", "afek-gafni-async",
                                            "afek-gafni-sync", "flooding"})
        self.assertTrue(all(row["elected"] == row["trials"] == 3 for row in rows.values()))
        self.assertEqual(rows["sublinear-sync"]["problem"], "implicit election")
        self.assertNotIn("chang-roberts", rows)
        self.assertEqual(rows["flooding"]["messages_per_node"], 99)
        self.assertEqual(rows["afek-gafni-sync"]["time"], 15)

    def test_hold_the_rows_of_a_table_also_those_that_cannot_be_run(self):
        words = "compare", "--table", "pll", "--n", "10,20", "--trials", "4", "--format"
        rows = json.loads(conclave(*words, "json").stdout)
        self.assertEqual([row["n"] for row in rows], [10] * 9 + [20] * 9)
        run = {row["protocol"]: row for row in rows if "protocol" in row}
        self.assertEqual(list(run), ["fratricide", "ag-minions", "pll"])
        self.assertTrue(all(row["converged"] == row["trials"] == 4 for row in run.values()))
        self.assertEqual(run["ag-minions"]["source"], "reconstructed")
        self.assertEqual(run["ag-minions"]["states"], 2 * 5**3 + 1)
        self.assertEqual(run["pll"]["promised"], {"time": "O(log n)", "states": "O(log n)"})
        self.assertTrue(all("not_run" in row for row in rows if "protocol" not in row))
        table = list(csv.DictReader(io.StringIO(conclave(*words, "csv").stdout)))
        self.assertEqual([row["protocol"] for row in table],
                         [row.get("protocol", "") for row in rows])
        for row, expected in zip(table, rows):
            if "protocol" in expected:
                self.assertEqual(float(row["parallel_time"]), expected["parallel_time"])

    def test_are_those_of_run(self):
        table = json.loads(conclave("compare", "--table", "prl", "--n", "9", "--trials", "5",
                                    "--init", "two-leaders", "--format", "json").stdout)
        trials = rows("prl", "--n", "9", "--trials", "5", "--init", "two-leaders")
        mean = sum(row["interactions"] for row in trials) / 5
        run = {row["protocol"]: row for row in table if "protocol" in row}
        self.assertAlmostEqual(run["prl"]["interactions"], mean, places=9)

    def test_are_a_plan_whose_report_holds_the_promises(self):
        words = "compare", "--table", "prl", "--n", "2,8,16", "--trials", "3", "--format"
        table = json.loads(conclave(*words, "json").stdout)
        means = {row["protocol"]: row["interactions"] for row in table
                 if row["n"] == 16 and "protocol" in row}
        with tempfile.TemporaryDirectory() as folder:
            plan, results, page = (os.path.join(folder, name)
                                   for name in ("plan.toml", "results.db", "page.html"))
            with open(plan, "w") as file:
                file.write(conclave(*words, "plan").stdout)
            for command in (["sweep", plan, "-o", results], ["report", results, "-o", page]):
                result = conclave(*command)
                self.assertEqual(result.returncode, 0, result.stderr)
            with open(page) as file:
                text = file.read()
        self.assertIn("not run at n = 2: ", text)  # the plan is part of the page
        self.assertIn("<h2 id=\"table-prl-promises-title\">Promised and measured</h2>", text)
        for row in table:
            self.assertIn(f"<th scope=\"row\">{row['work']}</th>", text)
        for protocol in ("prl", "fischer-jiang"):
            self.assertIn(f"n=16 {means[protocol]:.4g} (", text)
            self.assertIn(f">{protocol}</a></td>", text)
        refused = conclave("compare", "--n", "10", "--format", "plan")
        self.assertIn("unknown format 'plan'", refused.stderr)

    def test_tell_of_trials_that_do_not_end_in_time(self):
        result = conclave("compare", "--table", "pll", "--n", "100", "--max-parallel-time", "12",
                          "--trials", "3", "--format", "json")
        self.assertEqual(result.returncode, 3)
        fratricide = json.loads(result.stdout)[0]
        self.assertEqual((fratricide["converged"], "parallel_time" in fratricide), (0, False))

    def test_name_the_nearest_adversary(self):
        result = conclave("compare", "--delay", "unt")
        self.assertEqual(result.returncode, 2)
        self.assertIn("did you mean 'unit'?", result.stderr)


class Networks(unittest.TestCase):
    ROW = ["protocol", "engine", "n", "params", "init", "seed", "ids", "delay", "wakeup", "trial",
           "converged", "messages", "messages_by_type", "time", "elected", "informed",
           "max_messages_per_edge", "leaders", "observables"]

    def test_have_the_fields_of_the_contract_in_order(self):
        self.assertEqual(list(rows("kmpp-async", "--n", "50")[0]), self.ROW)
        synchronous = [name for name in self.ROW if name != "delay"]
        synchronous.insert(synchronous.index("elected"), "rounds")
        self.assertEqual(list(rows("kmpp-sync", "--n", "50")[0]), synchronous)

    def test_elect_one_leader_known_to_all(self):
        for delay in ("uniform", "slow-leader", "burst"):
            for row in rows("kmpp-async", "--n", "1000", "--trials", "5", "--delay", delay,
                            "--wakeup", "chain"):
                self.assertEqual((row["converged"], row["elected"], row["informed"], row["delay"]),
                                 (True, 1, 1000, delay))
                self.assertEqual(row["messages"], sum(row["messages_by_type"].values()))

    def test_of_one_candidate_cost_what_the_formula_says(self):
        row, = rows("kmpp-async", "--n", "1000", "--wakeup", "one")
        referees = [min(10 * 2 ** i, 200) for i in range(1, 9)]  # K = 9, root 199.65
        self.assertEqual(row["messages"], 2 * sum(referees) + 3 * 999)
        self.assertEqual(row["time"], 18)

    def test_in_csv_agree_with_json_lines(self):
        command = ("kmpp-sync", "--n", "30", "--trials", "4", "--wakeup", "random")
        lines = conclave("run", *command, "--format", "csv").stdout.splitlines()
        table = [dict(zip(lines[0].split(","), line.split(","))) for line in lines[1:]]
        for line, row in zip(table, rows(*command), strict=True):
            self.assertEqual(int(line["messages"]), row["messages"])
            self.assertEqual(int(line["rounds"]), row["rounds"])
            self.assertEqual(int(line["messages_by_type.REPLY"]), row["messages_by_type"]["REPLY"])

    def test_report_anonymous_ties_honestly(self):
        result = conclave("run", "kmpp-async", "--n", "2", "--trials", "200", "--ids", "anonymous",
                          "--format", "jsonl")
        self.assertEqual(result.returncode, 3)
        ends = {(row["converged"], row["elected"])
                for row in map(json.loads, result.stdout.splitlines())}
        self.assertEqual(ends, {(True, 1), (False, 0)})

    def test_count_edges_of_large_networks_only_when_asked(self):
        command = ("kmpp-async", "--n", "100001", "--wakeup", "one")
        self.assertIsNone(rows(*command)[0]["max_messages_per_edge"])
        self.assertGreater(rows(*command, "--count-edges")[0]["max_messages_per_edge"], 2)

    def test_object_to_what_is_not_theirs(self):
        cases = [
            (["kmpp-async", "--n", "9", "--delay", "unifrom"], "did you mean 'uniform'?"),
            (["kmpp-async", "--n", "9", "--wakeup", "chian"], "did you mean 'chain'?"),
            (["kmpp-async", "--n", "9", "--ids", "none"], "unknown kind of identifiers 'none'"),
            (["kmpp-async", "--n", "9", "--max-interactions", "9"], "no interactions to limit"),
            (["kmpp-async", "--n", "9", "--fault", "kill-leaders@3"],
             "kmpp-async does not support fault injection"),
            (["kmpp-sync", "--n", "9", "--delay", "unit"], "kmpp-sync is synchronous"),
            (["kmpp-sync", "--n", "0"], "needs at least 1 node"),
            (["pll", "--n", "9", "--wakeup", "all"], "--wakeup is for message passing"),
        ]
        for words, sentence in cases:
            with self.subTest(" ".join(words)):
                result = conclave("run", *words)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertIn(sentence, result.stderr)


class Reactions(unittest.TestCase):
    """Networks of reactions in continuous time."""
    NETWORK = """A + B -> B + B rate 2.5
B -> C rate 0.3
C <-> A rate 1, 0.5
init A = 990, B = 10
observe b = B
stop when B == 0
"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "my.crn"
        self.path.write_text(self.NETWORK)

    def test_rows_have_a_time_beside_the_interactions(self):
        row = rows(self.path, "--until", "2.5")[0]
        self.assertEqual((row["n"], row["time"], row["reached"]), (1000, 2.5, "until"))
        self.assertEqual(list(row)[9:12], ["interactions", "parallel_time", "time"])
        self.assertAlmostEqual(row["parallel_time"] * 1000, row["interactions"])

    def test_looking_changes_no_trial(self):
        words = (self.path, "--trials", "3", "--max-parallel-time", "40")
        plain = rows(*words)
        for engine_words in ((), ("--engine", "counts")):
            history = self.folder / "history.csv"
            looked = rows(*words, *engine_words, "--every", "0.5", "--history", history)
            if not engine_words:
                self.assertEqual(looked, plain)
            else:
                self.assertEqual(looked, rows(*words, *engine_words))
        times = [float(line.split(",")[1]) for line in history.read_text().splitlines()[1:]]
        self.assertEqual(times[:4], [0, 0.5, 1, 1.5])

    def test_csv_agrees_with_json_lines(self):
        text = conclave("run", self.path, "--until", "1", "--format", "csv").stdout
        row = next(csv.DictReader(io.StringIO(text)))
        self.assertEqual(float(row["time"]), 1)
        self.assertEqual(int(row["interactions"]),
                         rows(self.path, "--until", "1")[0]["interactions"])

    def test_verify_knows_the_continuous_time_and_writes_the_chain(self):
        self.path.write_text("A -> B rate 2\ninit A = 1, B = 1\nstop when A == 0\n")
        result = conclave("verify", self.path, "--format", "json", "--export", self.folder / "out")
        expected = json.loads(result.stdout)["expected"]
        self.assertAlmostEqual(expected["time"], 0.5)
        self.assertAlmostEqual(expected["time_variance"], 0.25)
        chain = (self.folder / "out" / "network.prism").read_text()
        self.assertIn("ctmc", chain)
        self.assertIn("[] n_A>=1 -> 2*n_A : (n_A'=n_A-1) & (n_B'=n_B+1);", chain)

    def test_mistakes_show_their_line(self):
        self.path.write_text("A + B + C -> A rate 1\ninit A = 5\n")
        result = conclave("run", self.path)
        self.assertEqual(result.returncode, 2)
        self.assertIn("my.crn:1:1: a reaction has at most two reactants", result.stderr)
        self.assertIn("\n  A + B + C -> A rate 1\n  ^\n", result.stderr)

    def test_object_to_what_makes_no_sense(self):
        for words, sentence in [
                (("--n", "7"), "start init needs more agents than n = 7"),
                (("--n", "1000", "--graph", "ring"), "it has no --graph"),
                (("--param", "k=1"), "has no parameters")]:
            result = conclave("run", self.path, *words)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(sentence, result.stderr)


class Node(unittest.TestCase):
    """The commands that `conclave node --help` shows work as they are written."""

    def setUp(self):
        self.help = conclave("node", "--help").stdout

    def test_configuration_is_toml(self):
        lines = [line for line in self.help.splitlines() if line.startswith("  ") and " = " in line]
        config = tomllib.loads("\n".join(lines))
        self.assertEqual((config["member"], config["status"]), (0, "member-0.sock"))

    def test_examples_elect_a_leader(self):
        examples = self.help[self.help.index("Examples:"):self.help.index("Members that stay")]
        commands = [line.strip() for line in examples.splitlines()[1:] if line.strip()]
        with tempfile.TemporaryDirectory() as folder, reserved_ports(3) as ports:
            script = "\n".join(commands).replace("--n 3", f"--n 3 --port {ports[0]}")
            result = subprocess.run(
                ["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=100,
                env={**os.environ, "PATH": f"{BINARY.parent}:{os.environ['PATH']}"})
        leaders = [line for line in result.stdout.splitlines() if line.startswith("leader ")]
        self.assertEqual((result.returncode, len(leaders)), (0, 3), result.stderr)
        self.assertEqual(sum(line.endswith("this member") for line in leaders), 1)


class Explorer(unittest.TestCase):
    """The server of the page, with a small page of its own; web/tests/page_test.mjs serves the real
    one with it."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        page = pathlib.Path(self.folder.name) / "page"
        (page / "assets").mkdir(parents=True)
        for name, content in (("index.html", b"<!doctype html>hello"), ("assets/a.js", b"1 + 1"),
                              ("conclave.wasm", b"module"), ("conclave.wasm.br", b"squeezed"),
                              ("notes.txt", b"not for visitors"), ("../secret.html", b"secret")):
            (page / name).write_bytes(content)
        self.process = subprocess.Popen([BINARY, "explorer", "--no-browser", "--page", page],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        line = self.process.stdout.readline()
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", line)[1])

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)
        self.assertEqual(self.process.returncode, 0)

    def ask(self, method, path, host="127.0.0.1", more=""):
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as visitor:
            visitor.sendall(f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode())
            head, _, body = visitor.makefile("rb").read().partition(b"\r\n\r\n")
        return int(head.split()[1]), head.decode(), body

    def status(self, *request):
        return self.ask(*request)[0]

    def test_serves_its_own_files_alone(self):
        _, head, body = self.ask("GET", "/")
        self.assertEqual(body, b"<!doctype html>hello")
        self.assertIn("X-Content-Type-Options: nosniff\r\n", head)
        self.assertEqual(self.ask("GET", "/assets/a.js?x")[2], b"1 + 1")
        for path in ("/../secret.html", "/notes.txt", "/assets", "/conclave.wasm.br", "//x"):
            self.assertEqual(self.status("GET", path), 404, path)
        self.assertEqual(self.status("POST", "/"), 405)

    def test_serves_this_machine_alone(self):
        for host, status in (("elsewhere.example", 403), ("localhost.example", 403), ("", 403),
                             (f"localhost:{self.port}", 200), ("127.0.0.1", 200)):
            self.assertEqual(self.status("GET", "/", host), status, host)

    def test_names_of_headers_may_have_small_letters(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as visitor:
            visitor.sendall(b"GET / HTTP/1.1\r\nhost:127.0.0.1\r\n\r\n")
            self.assertIn(b"200 OK", visitor.makefile("rb").readline())

    def test_visitors_who_say_nothing_or_do_not_read_delay_no_other(self):
        begin = time.monotonic()
        silent = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(80)]
        for visitor in silent[40:]:
            visitor.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        self.assertEqual(self.status("GET", "/"), 200)
        self.assertLess(time.monotonic() - begin, 30)  # two minutes, if each were waited for
        for visitor in silent:
            visitor.close()

    def test_sends_what_is_compressed_to_those_who_take_it(self):
        for codings, content in (("gzip, br", b"squeezed"), ("br", b"squeezed"),
                                 ("gzip", b"module"), ("brr", b"module"), ("x-br", b"module")):
            _, head, body = self.ask("GET", "/conclave.wasm", "127.0.0.1",
                                     f"Accept-Encoding: {codings}\r\n")
            self.assertEqual(body, content, codings)
            self.assertEqual("Content-Encoding: br" in head, content == b"squeezed")
        self.assertEqual(self.ask("GET", "/conclave.wasm")[2], b"module")


class ExplorerWithoutPage(unittest.TestCase):
    BUILT = pathlib.Path(__file__).resolve().parents[2] / "build/web/index.html"

    def test_a_folder_without_a_page_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            result = conclave("explorer", "--no-browser", "--page", folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("holds no explorer", result.stderr)

    @unittest.skipIf(BUILT.exists(), "the explorer is built here")
    def test_is_built_where_somebody_at_a_terminal_agrees(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix = pathlib.Path(folder)
            for part in ("bin", "share/tools"):
                (prefix / part).mkdir(parents=True)
            shutil.copy(BINARY, prefix / "bin/conclave")
            (prefix / "share/tools/page").write_text("#!/bin/sh\ntouch \"$0.was-run\"\nexit 1\n")
            (prefix / "share/tools/page").chmod(0o755)
            for reply, is_run in (("n\n", False), ("y\n", True)):
                ours, theirs = pty.openpty()
                os.write(ours, reply.encode())
                result = subprocess.run([prefix / "bin/conclave", "explorer", "--no-browser"],
                                        stdin=theirs, stdout=subprocess.PIPE, stderr=theirs,
                                        timeout=60)
                said = os.read(ours, 65536).decode()
                os.close(ours)
                os.close(theirs)
                self.assertEqual(result.returncode, 2)
                self.assertIn("[y/N]", said)
                self.assertEqual((prefix / "share/tools/page.was-run").exists(), is_run)
            silent = subprocess.run([prefix / "bin/conclave", "explorer"], capture_output=True,
                                    stdin=subprocess.DEVNULL, text=True, timeout=60)
            self.assertIn("run: tools/page", silent.stderr)


class FaultsOnOneAgent(unittest.TestCase):
    def test_the_agent_that_is_named_is_hit(self):
        row = rows("pll", "--n", "100", "--engine", "agents",
                   "--fault", "make-leaders:#3@convergence+2")[0]
        self.assertEqual((row["faults"][0]["agents"], row["faults"][0]["leaders"]), (1, 2))

    def test_an_engine_that_counts_agents_refuses(self):
        result = conclave("run", "pll", "--n", "100", "--engine", "counts",
                          "--fault", "corrupt:#3@1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("does not know one agent from another", result.stderr)


class Version(unittest.TestCase):
    def test_names_the_commit_where_it_is_known(self):
        self.assertRegex(conclave("--version").stdout,
                         r"^conclave \d+\.\d+\.\d+( \(commit [0-9a-f]+(-dirty)?\))?\n$")


class Golden(unittest.TestCase):
    CASES = {
        "help.txt": ["--help"],
        "help_run.txt": ["run", "--help"],
        "list.txt": ["list"],
        "describe_fratricide.txt": ["describe", "fratricide"],
        "describe_pll.txt": ["describe", "pll"],
        "describe_pll.json": ["describe", "pll", "--format", "json"],
        "describe_pll_sym.txt": ["describe", "pll-sym"],
        "describe_electleader.txt": ["describe", "electleader"],
        "run_electleader.jsonl": ["run", "electleader", "--n", "64", "--param", "r=16", "--param",
                                  "c_S=0.5", "--init", "dup", "--trials", "4", "--format",
                                  "jsonl"],
        "run_pll.jsonl": ["run", "pll", "--n", "1000", "--trials", "5", "--format", "jsonl"],
        "run_pll.csv": ["run", "pll", "--n", "2^11", "--trials", "3", "--seed", "9", "--format",
                        "csv"],
        "run_pll.json": ["run", "pll", "--n", "100", "--trials", "2", "--format", "json"],
        "run_pll_table.txt": ["run", "pll", "--n", "1e3", "--trials", "100"],
        "run_pll_sym.jsonl": ["run", "pll-sym", "--n", "1000", "--trials", "5", "--format",
                              "jsonl"],
        "explore_kmpp_printed.txt": ["explore", "kmpp-async", "--n", "2", "--param",
                                     "reading=printed"],
        "compare.txt": ["compare", "--n", "50", "--trials", "4", "--delay", "uniform"],
        "describe_kmpp_async.txt": ["describe", "kmpp-async"],
        "describe_kmpp_sync.txt": ["describe", "kmpp-sync"],
        "run_kmpp_async.jsonl": ["run", "kmpp-async", "--n", "1000", "--trials", "4", "--delay",
                                 "uniform", "--wakeup", "random", "--format", "jsonl"],
        "run_kmpp_async.csv": ["run", "kmpp-async", "--n", "100", "--trials", "3", "--format",
                               "csv"],
        "run_kmpp_sync.jsonl": ["run", "kmpp-sync", "--n", "1000", "--trials", "4", "--wakeup",
                                "staggered", "--format", "jsonl"],
        "run_kmpp_sync_table.txt": ["run", "kmpp-sync", "--n", "300", "--trials", "50"],
        "describe_ppl.txt": ["describe", "ppl"],
        "describe_prl.txt": ["describe", "prl"],
        "run_ppl.jsonl": ["run", "ppl", "--n", "20", "--trials", "3", "--format", "jsonl"],
        "run_ppl_hold.jsonl": ["run", "ppl", "--n", "3", "--init", "all-leaders", *TOY_PPL,
                               "--param", "hold=1", "--trials", "5", "--format", "jsonl"],
        "run_prl.csv": ["run", "prl", "--n", "50", "--init", "no-leader", "--param", "N=70",
                        "--trials", "3", "--engine", "agents", "--format", "csv"],
        "run_prl.jsonl": ["run", "prl", "--n", "200", "--trials", "5", "--engine", "agents",
                          "--format", "jsonl"],
        "run_fratricide.jsonl": ["run", "fratricide", "--n", "1e3", "--trials", "5", "--format",
                                 "jsonl"],
    }

    def test_every_file_is_compared(self):
        self.assertEqual(sorted(path.name for path in GOLDEN.iterdir()), sorted(self.CASES))

    def test_output_is_as_it_was(self):
        self.maxDiff = None
        for name, words in self.CASES.items():
            with self.subTest(name):
                output = conclave(*words).stdout
                if REWRITE:
                    (GOLDEN / name).write_text(output)
                self.assertEqual(output, (GOLDEN / name).read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + [word for word in sys.argv[2:] if word != "--rewrite"])
