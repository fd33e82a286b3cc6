#!/usr/bin/env python3
"""Runs that end at a time, what is seen of them on the way, and runs that go on from there.

Usage: histories_test.py BINARY [unittest arguments]
"""
import csv
import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BINARY = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
TEXTS = pathlib.Path(__file__).resolve().parent.parent.parent / "protocols"
TOY_PPL = [word for value in ("t_max=6", "t_virus=4", "t_emit=2") for word in ("--param", value)]
MAJORITY = str(TEXTS / "approximate_majority.pp")


def conclave(*words):
    return subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=300)


def jsonl(*words):
    result = conclave("run", *words, "--format", "jsonl")
    return result.stdout, result.returncode


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name):
        return str(self.folder / name)

    def table(self, name):
        with open(self.file(name), encoding="ascii", newline="") as file:
            return list(csv.reader(file))

    def expect_sentence(self, sentence, *words):
        result = conclave(*words)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(sentence, result.stderr)


class Looking(InAFolder):
    """Looking has no consequences: the bytes of the rows are the same with every grid."""

    RUNS = (("fratricide", "--n", "300", "--engine", "agents"),
            ("fratricide", "--n", "3000", "--engine", "events"),
            ("fratricide", "--n", "3e4", "--engine", "counts", "--trials", "2"),
            ("pll", "--n", "5000", "--engine", "counts", "--trials", "3"),
            ("pll", "--n", "2e4", "--engine", "auto", "--trials", "2"),
            ("pll", "--n", "2e4", "--engine", "auto", "--until", "17.23"),
            ("fratricide", "--n", "1e5", "--until", "3.00003"),
            ("pll", "--n", "2e4", "--until", "60", "--fault", "corrupt:1%@5.5"),
            (MAJORITY, "--n", "1e5", "--engine", "auto"),
            (MAJORITY, "--n", "1e5", "--engine", "counts", "--until", "convergence,30"),
            (MAJORITY, "--n", "30", "--graph", "ring", "--until", "25"),
            ("ppl", "--n", "50", "--init", "all-leaders", *TOY_PPL, "--engine", "counts",
             "--until", "40"),
            ("prl", "--n", "60", "--until", "300"),
            ("coalescence", "--n", "64", "--graph", "undirected-ring", "--until", "20"),
            ("electleader", "--n", "16", "--until", "40"))

    def test_never_changes_a_row(self):
        for words in self.RUNS:
            plain, status = jsonl(*words)
            self.assertEqual(status, 0, words)
            self.assertTrue(plain)
            for looks in (["--trace", self.file("t.csv")],
                          ["--trace", self.file("t.csv"), "--every", "0.37"],
                          ["--history", self.file("h.csv"), "--every", "1.1"]):
                if words[0] == "electleader" and "--history" in looks:
                    continue
                self.assertEqual(jsonl(*words, *looks), (plain, 0), (words, looks))

    def test_sees_the_same_whatever_else_is_looked_at(self):
        words = ("pll", "--n", "3e4", "--engine", "counts", "--until", "20")
        jsonl(*words, "--history", self.file("fine.csv"), "--every", "0.01",
              "--history-format", "long")
        jsonl(*words, "--history", self.file("coarse.csv"), "--every", "5",
              "--history-format", "long")
        fine = {tuple(line) for line in self.table("fine.csv")}
        coarse = self.table("coarse.csv")
        self.assertGreater(len(coarse), 50)
        self.assertTrue(all(tuple(line) in fine for line in coarse))

    def test_sees_at_a_time_what_a_run_until_then_comes_to(self):
        words = ("fratricide", "--n", "1e5", "--engine", "counts")
        jsonl(*words, "--until", "8", "--history", self.file("h.csv"), "--every", "0.5")
        row = json.loads(jsonl(*words, "--until", "2.5")[0])
        (leaders,) = [line[2] for line in self.table("h.csv")[1:] if line[1] == "2.5"]
        self.assertEqual(int(leaders), row["leaders"])


class Horizons(InAFolder):
    def test_are_a_success(self):
        output, status = jsonl("fratricide", "--n", "1000", "--until", "50", "--trials", "2")
        self.assertEqual(status, 0)
        for line in output.splitlines():
            row = json.loads(line)
            self.assertEqual((row["converged"], row["interactions"], row["reached"]),
                             (False, 50000, "until"))
            self.assertEqual((row["until"], row["first_convergence"]), (50, None))
            self.assertGreater(row["leaders"], 1)

    def test_go_on_beyond_convergence(self):
        converged = json.loads(jsonl("pll", "--n", "100")[0])["interactions"]
        row = json.loads(jsonl("pll", "--n", "100", "--until", "1e4")[0])
        self.assertEqual((row["interactions"], row["first_convergence"], row["converged"]),
                         (1000000, converged, True))

    def test_end_at_convergence_where_asked(self):
        plain = json.loads(jsonl("pll", "--n", "100")[0])
        row = json.loads(jsonl("pll", "--n", "100", "--until", "convergence,1e4")[0])
        self.assertEqual((row["interactions"], row["reached"]),
                         (plain["interactions"], "convergence"))
        row = json.loads(jsonl("pll", "--n", "100", "--until", "convergence,1")[0])
        self.assertEqual((row["interactions"], row["reached"]), (100, "until"))

    def test_are_exact_products(self):
        for time, n, interactions in (("0.3", "10", 3), ("1/3", "10", 3), ("0.7", "1e6", 700000)):
            row = json.loads(jsonl("fratricide", "--n", n, "--until", time)[0])
            self.assertEqual(row["interactions"], interactions)

    def test_show_the_census_in_the_table(self):
        result = conclave("run", MAJORITY, "--n", "1e5", "--until", "2")
        self.assertEqual(result.returncode, 0)
        self.assertIn("1 of 1 trials ran until time 2; 0 had converged by then", result.stdout)
        self.assertIn("census at the end: 3 states", result.stdout)

    def test_of_a_text_show_the_census_too(self):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "duel.pp"
            text.write_text("states L, F\nleader = L\nstart clean: all of L\nL + L -> L + F\n"
                            "stop when time >= 10\n")
            result = conclave("run", text, "--n", "1000")
        self.assertIn("1 of 1 trials ran until time 10", result.stdout)
        self.assertIn("census at the end: 2 states", result.stdout)

    def test_tell_limits_from_convergence(self):
        words = ("run", "fratricide", "--n", "1000", "--until", "convergence,50",
                 "--max-parallel-time", "10")
        result = conclave(*words)
        self.assertIn("0 of 1 trials ended at convergence, 0 ran until time 50, 1 reached the "
                      "limit", result.stdout)
        summary = json.loads(conclave(*words, "--format", "json").stdout)["summary"]
        self.assertEqual((summary["converged"], summary["limited"]), (0, 1))

    def test_leave_status_3_to_limits(self):
        output, status = jsonl("fratricide", "--n", "1000", "--until", "9", "--max-interactions",
                               "50")
        self.assertEqual((json.loads(output)["reached"], status), ("limit", 3))
        self.assertEqual(jsonl("fratricide", "--n", "1000", "--max-parallel-time", "50")[1], 3)

    def test_refuse_what_makes_no_sense(self):
        pll = ("run", "pll", "--n", "100")
        for sentence, words in (
                ("--until takes a parallel time", ("--until", "soon")),
                ("--until takes a parallel time", ("--until", "convergence")),
                ("--every takes a parallel time", ("--history", "h", "--every", "0")),
                ("less than one interaction", ("--history", "h", "--every", "0.001")),
                ("they need a file each", ("--history", "h", "--final", "h")),
                ("did you mean 'wide'", ("--history", self.file("h"), "--history-format", "wid")),
                ("did you mean 'epoch'", ("--history", self.file("h"), "--history-by", "epoc")),
                ("rand, level_B", ("--history", self.file("h"), "--history-by", "variable")),
                ("contradict each other", ("--init", "clean", "--init-from", "f"))):
            self.expect_sentence(sentence, *pll, *words)
        for option in (["--until", "5"], ["--history", self.file("h")], ["--final", "f"]):
            self.expect_sentence("does not support " + option[0], "run", "kmpp-async", "--n", "8",
                                 *option)
        self.expect_sentence("does not support --final", "run", "electleader", "--n", "16",
                             "--final", "f")


class Histories(InAFolder):
    RUN = ("run", MAJORITY, "--n", "1000", "--trials", "2", "--until", "10", "--every", "2.5")

    def test_count_every_state_at_every_time(self):
        conclave(*self.RUN, "--history", self.file("h.csv"))
        header, *lines = self.table("h.csv")
        self.assertEqual(header[:2], ["trial", "time"])
        self.assertEqual(sorted(header[2:]), ["A", "B", "U"])
        self.assertEqual([line[:2] for line in lines],
                         [[trial, time] for trial in "01" for time in "0 2.5 5 7.5 10".split()])
        self.assertTrue(all(sum(map(int, line[2:])) == 1000 for line in lines))

    def test_are_the_same_in_all_formats(self):
        conclave(*self.RUN, "--history", self.file("wide.csv"))
        conclave(*self.RUN, "--history", self.file("long.csv"), "--history-format", "long")
        conclave(*self.RUN, "--history", self.file("h.npy"))
        header, *wide = self.table("wide.csv")
        cells = {(line[0], line[1], state, count) for line in wide
                 for state, count in zip(header[2:], line[2:]) if count != "0"}
        self.assertEqual(self.table("long.csv")[0], ["trial", "time", "state", "count"])
        self.assertEqual({tuple(line) for line in self.table("long.csv")[1:]}, cells)
        self.check_npy(header, wide)

    def check_npy(self, header, wide):
        """Reads the file by hand, as its format says; NumPy need not be installed."""
        import ast
        import struct
        data = pathlib.Path(self.file("h.npy")).read_bytes()
        self.assertEqual(data[:8], b"\x93NUMPY\x02\x00")
        (length,) = struct.unpack("<I", data[8:12])
        self.assertEqual((12 + length) % 64, 0)
        about = ast.literal_eval(data[12:12 + length].decode("ascii"))
        self.assertEqual([name for name, _ in about["descr"]], header)
        self.assertEqual(about["shape"], (len(wide),))
        row = struct.Struct("<Qd" + "Q" * (len(header) - 2))
        seen = list(row.iter_unpack(data[12 + length:]))
        self.assertEqual(seen, [(int(line[0]), float(line[1]), *map(int, line[2:]))
                                for line in wide])

    def test_count_by_a_field(self):
        conclave("run", "pll", "--n", "1000", "--until", "5", "--every", "1", "--history",
                 self.file("h.csv"), "--history-by", "epoch")
        header, *lines = self.table("h.csv")
        self.assertEqual(header[:3], ["trial", "time", "1"])
        self.assertTrue(all(sum(map(int, line[2:])) == 1000 for line in lines))

    def test_know_every_variable_that_describe_names(self):
        told = json.loads(conclave("describe", "pll", "--format", "json").stdout)
        names = [each["name"] for each in told["variables"]]
        self.assertIn("level_B", names)
        for name in names:  # also those that no agent has so early
            conclave("run", "pll", "--n", "100", "--until", "2", "--every", "1", "--history",
                     self.file("h.csv"), "--history-by", name)
            header, *lines = self.table("h.csv")
            self.assertTrue(all(sum(map(int, line[2:])) == 100 for line in lines), name)


class Configurations(InAFolder):
    def test_go_on_where_another_run_has_ended(self):
        for words in (("pll", "--n", "1000"), (MAJORITY, "--n", "1000"), ("prl", "--n", "20"),
                      ("pll", "--n", "2e4", "--engine", "counts")):
            path = self.file("f.csv")
            _, status = jsonl(*words, "--until", "3", "--final", path)
            self.assertEqual(status, 0)
            output, status = jsonl(words[0], "--init-from", path, "--until", "0",
                                   "--final", self.file("again.csv"))
            row = json.loads(output)
            self.assertEqual((status, row["n"], row["interactions"]),
                             (0, int(float(words[2])), 0))
            self.assertTrue(row["init"].startswith("given:"))
            self.assertEqual(self.table("again.csv"), self.table("f.csv"))
            for engine in ("agents", "events", "counts"):
                if words[0] == "prl" and engine == "counts":
                    continue
                _, status = jsonl(words[0], "--init-from", path, "--until", "1", "--engine", engine)
                self.assertEqual(status, 0)

    def test_of_rings_keep_the_order_of_the_agents(self):
        jsonl("prl", "--n", "30", "--init", "two-leaders", "--until", "0", "--final",
              self.file("f.csv"))
        lines = self.table("f.csv")[1:]
        self.assertEqual(sum(int(count) for _, count in lines), 30)
        places, agent = [], 0
        for state, count in lines:
            if "leader=1" in state:
                places.append(agent)
            agent += int(count)
        self.assertEqual(places, [0, 15])

    def test_of_others_are_refused_with_a_sentence(self):
        for content, sentence in (
                ("", "the first line must be state,count"),
                ("state\nleader=1\n", "the first line must be state,count"),
                ("state,count\n", "no agents follow"),
                ("state,count\nleader=1\n", "another number of fields"),
                ("state,count\nleader=1,0\n", "is no number of agents"),
                ("state,count\nleader=1,-3\n", "is no number of agents"),
                ("state,count\nleader=1,1e30\n", "is no number of agents"),
                ("state,count\nleader=2,5\n", "is no state of fratricide"),
                ("state,count\nking=1,5\n", "is no state of fratricide"),
                ("trial,state,count\n0,leader=1,5\n1,leader=1,5\n", "another trial begins")):
            pathlib.Path(self.file("f.csv")).write_text(content, encoding="ascii")
            self.expect_sentence(sentence, "run", "fratricide", "--init-from", self.file("f.csv"))
        pathlib.Path(self.file("f.csv")).write_text("state,count\nleader=1,5\n", encoding="ascii")
        self.expect_sentence("has 5 agents", "run", "fratricide", "--init-from",
                             self.file("f.csv"), "--n", "6")


class Pictures(InAFolder):
    def setUp(self):
        super().setUp()
        conclave("run", MAJORITY, "--n", "1000", "--trials", "2", "--until", "10", "--every", "1",
                 "--history", self.file("h.csv"))

    def test_show_a_curve_per_state(self):
        result = conclave("plot", self.file("h.csv"), "-o", self.file("h.svg"))
        self.assertEqual(result.returncode, 0, result.stderr)
        picture = pathlib.Path(self.file("h.svg")).read_text()
        for state in "ABU":
            self.assertIn(f"{state} (2 trials)", picture)

    def test_move(self):
        film, picture = self.file("h.gif"), self.file("beside.svg")
        result = conclave("plot", self.file("h.csv"), "--animate", film, "-o", picture)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(pathlib.Path(film).read_bytes().startswith(b"GIF8"))
        self.assertIn("</svg>", pathlib.Path(picture).read_text())

    @unittest.skipUnless(shutil.which("ffmpeg"), "ffmpeg is not installed: no film as .mp4 is made")
    def test_move_with_ffmpeg(self):
        film = self.file("h.mp4")
        result = conclave("plot", self.file("h.csv"), "--animate", film)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"ftyp", pathlib.Path(film).read_bytes()[:12])

    def test_stand_side_by_side_without_ffmpeg(self):
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "gnuplot").symlink_to(shutil.which("gnuplot"))
        result = subprocess.run([BINARY, "plot", self.file("h.csv"), "--animate",
                                 self.file("h.mp4")], capture_output=True, text=True, timeout=300,
                                env={**os.environ, "PATH": str(programs)})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("ffmpeg is not installed", result.stderr)
        self.assertIn("</svg>", pathlib.Path(self.file("h.svg")).read_text())

    def test_show_the_time_of_a_network(self):
        conclave("run", str(TEXTS / "lotka_volterra.crn"), "--n", "1000", "--until", "4", "--every",
                 "1", "--trace", self.file("t.csv"))
        result = conclave("plot", self.file("t.csv"), "-o", self.file("t.svg"))
        self.assertEqual(result.returncode, 0, result.stderr)
        picture = pathlib.Path(self.file("t.svg")).read_text()
        self.assertRegex(picture, r">\s*time\s*<")
        self.assertNotIn("parallel time", picture)
        data = conclave("plot", self.file("t.csv"), "-o", self.file("t2.csv"))
        self.assertEqual(data.returncode, 0, data.stderr)
        self.assertLess(float(self.table("t2.csv")[-1][1]), 5)  # the parallel time is about 8

    def test_of_messages_have_their_data(self):
        conclave("run", "flooding", "--n", "4", "--trace", self.file("m.csv"))
        for name in "m2.csv", "m2.tex":
            result = conclave("plot", self.file("m.csv"), "-o", self.file(name))
            self.assertEqual(result.returncode, 0, result.stderr)
        header, *lines = self.table("m2.csv")
        self.assertEqual(header, ["series", "time", "node", "to_time", "to_node", "phase"])
        series = {line[0] for line in lines}
        self.assertLessEqual({"candidate", "woken", "IDENTIFIER", "is elected"}, series)
        delivered = [line for line in self.table("m.csv") if line[1] == "deliver"]
        drawn = [line for line in lines if line[0] == "IDENTIFIER"]
        self.assertEqual(sorted((d[6], d[4], d[2], d[3]) for d in delivered),
                         sorted(tuple(d[1:5]) for d in drawn))
        tex = pathlib.Path(self.file("m2.tex")).read_text()
        self.assertIn("quiver=", tex)
        self.assertIn("\\addlegendentry{IDENTIFIER}", tex)

    def test_refuse_films_of_other_kinds(self):
        self.expect_sentence("a film ends in .mp4 or .gif", "plot", self.file("h.csv"),
                             "--animate", self.file("h.avi"))


class Progress(unittest.TestCase):
    def test_tells_how_far_a_long_trial_is(self):
        reader, writer = pty.openpty()
        process = subprocess.Popen([BINARY, "run", "fratricide", "--n", "1e12"],
                                   stdout=subprocess.DEVNULL, stderr=writer)
        os.close(writer)
        seen, end = b"", time.monotonic() + 60
        while b"leaders" not in seen and time.monotonic() < end:
            seen += os.read(reader, 4096)
        process.kill()
        process.wait()
        os.close(reader)
        self.assertRegex(seen.decode(), r"time [0-9.e+]+, leaders \d+")


if __name__ == "__main__":
    del sys.argv[1]
    unittest.main()
