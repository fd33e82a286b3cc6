#!/usr/bin/env python3
"""The command line as its users and their scripts see it.

Usage: cli_test.py BINARY [--rewrite] [unittest arguments]
With --rewrite the golden outputs under tests/golden/cli are written anew: read the diff.
"""
import csv
import io
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BINARY = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
REWRITE = "--rewrite" in sys.argv
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "cli"


def conclave(*words, **options):
    return subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=300, **options)


def rows(*words):
    """The rows of a run in JSON lines; every one must parse."""
    output = conclave("run", *words, "--format", "jsonl").stdout
    return [json.loads(line) for line in output.splitlines()]


class Rows(unittest.TestCase):
    COMMAND = ("pll", "--n", "10000", "--trials", "400", "--seed", "7")

    def test_every_trial_converges_to_one_leader(self):
        result = rows(*self.COMMAND)
        self.assertEqual([row["trial"] for row in result], list(range(400)))
        self.assertTrue(all(row["converged"] and row["leaders"] == 1 for row in result))
        self.assertEqual({(row["n"], row["seed"], row["params"]["m"]) for row in result},
                         {(10000, 7, 14)})

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

    def test_frozen_runs_of_the_printed_reading_end_by_themselves(self):
        result = conclave("run", "pll", "--n", "1000", "--trials", "200", "--param",
                          "reading=printed", "--format", "jsonl")
        frozen = [row for row in map(json.loads, result.stdout.splitlines())
                  if row["observables"]["frozen"]]
        self.assertEqual(result.returncode, 3)
        self.assertGreater(len(frozen), 5)
        self.assertTrue(all(not row["converged"] and row["leaders"] > 1 for row in frozen))


class Mistakes(unittest.TestCase):
    CASES = [
        (["run", "pl", "--n", "10"], "unknown protocol 'pl' (did you mean 'pll'?); known: "),
        (["describe", "fratrcide"], "did you mean 'fratricide'?"),
        (["run", "pll"], "the population size is missing"),
        (["run", "pll", "--n", "0"], "n = 0: a population has at least 2 agents"),
        (["run", "pll", "--n", "1"], "n = 1: a population has at least 2 agents"),
        (["run", "pll", "--n", "-5"], "--n"),
        (["run", "pll", "--n", "ten"],
         "--n takes a whole number such as 1000, 1e6 or 2^20, not 'ten'"),
        (["run", "pll", "--n", "1.5"], "--n takes a whole number"),
        (["run", "pll", "--n", "1e11"], "too large for engine agents"),
        (["run", "pll", "--n", "1e30"], "at most 2^62"),
        (["run", "pll", "--n", "4e9", "--threads", "64", "--trials", "64"], "of memory"),
        (["run", "pll", "--n", "1000", "--param", "m=9"],
         "m = 9 is too small for n = 1000: the paper demands m >= lg n, that is m >= 10"),
        (["run", "pll", "--n", "1000", "--param", "m=0"], "out of range: 1 ... 1598 is allowed"),
        (["run", "pll", "--n", "1000", "--param", "m=x"], "parameter m: 'x' is not a whole number"),
        (["run", "pll", "--n", "1000", "--param", "m"], "--param takes NAME=VALUE"),
        (["run", "pll", "--n", "1000", "--param", "cmax=3"], "did you mean 'c_max'?"),
        (["run", "pll", "--n", "1000", "--param", "m=10", "--param", "m=11"], "was given twice"),
        (["run", "pll", "--n", "9", "--param", "reading=print"], "did you mean 'printed'?"),
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
        (["run", "pll", "--n", "10", "more"], "unexpected word 'more'"),
        (["run", "--n", "10"], "PROTOCOL is required"),
        (["rum", "pll"], "unknown command 'rum' (did you mean 'run'?)"),
        (["--verison"], "did you mean '--version'?"),
        (["list", "--format", "xml"], "unknown format 'xml'"),
        (["bench", "agent"], "did you mean 'agents'?"),
        (["bench", "agents", "--n", "10"], "--n takes a number from 1000"),
        ([], "a command is missing"),
    ]

    def test_give_one_clear_sentence_and_exit_status_2(self):
        for words, sentence in self.CASES:
            with self.subTest(" ".join(words)):
                result = conclave(*words)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(result.stdout, "")
                self.assertTrue(result.stderr.startswith("conclave: "), result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn(sentence, result.stderr)


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


class Interruption(unittest.TestCase):
    def test_keeps_finished_rows_and_exits_with_130(self):
        words = ["run", "fratricide", "--n", "20000", "--trials", "100000", "--format", "jsonl",
                 "--seed", "3"]
        with subprocess.Popen([BINARY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            time.sleep(4)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=60)
        finished = [json.loads(line) for line in output.splitlines()]
        self.assertEqual(process.returncode, 130)
        self.assertEqual([row["trial"] for row in finished], list(range(len(finished))))
        if finished:
            self.assertEqual(finished[:1], rows("fratricide", "--n", "20000", "--seed", "3"))


class Terminal(unittest.TestCase):
    def test_shows_a_progress_line_only_on_a_terminal(self):
        words = [BINARY, "run", "fratricide", "--n", "10000", "--trials", "8", "--format", "jsonl"]
        silent = subprocess.run(words, capture_output=True, text=True)
        self.assertNotIn("\r", silent.stderr)
        leader, follower = pty.openpty()
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=follower) as process:
            os.close(follower)
            shown = b""
            try:
                while piece := os.read(leader, 4096):
                    shown += piece
            except OSError:  # the other end is closed
                pass
            self.assertEqual(process.stdout.read().decode(), silent.stdout)
        os.close(leader)
        self.assertIn(b"interactions/s", shown)

    def test_quiet_prints_nothing_on_standard_error(self):
        self.assertEqual(conclave("run", "pll", "--n", "50", "--quiet").stderr, "")


class Golden(unittest.TestCase):
    CASES = {
        "version.txt": ["--version"],
        "help.txt": ["--help"],
        "help_run.txt": ["run", "--help"],
        "list.txt": ["list"],
        "describe_fratricide.txt": ["describe", "fratricide"],
        "describe_pll.txt": ["describe", "pll"],
        "describe_pll.json": ["describe", "pll", "--format", "json"],
        "run_pll.jsonl": ["run", "pll", "--n", "1000", "--trials", "5", "--format", "jsonl"],
        "run_pll.csv": ["run", "pll", "--n", "2^11", "--trials", "3", "--seed", "9", "--format",
                        "csv"],
        "run_pll.json": ["run", "pll", "--n", "100", "--trials", "2", "--format", "json"],
        "run_pll_table.txt": ["run", "pll", "--n", "1e3", "--trials", "100"],
        "run_fratricide.jsonl": ["run", "fratricide", "--n", "1e3", "--trials", "5", "--format",
                                 "jsonl"],
    }

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
