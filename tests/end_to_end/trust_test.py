#!/usr/bin/env python3
"""Attacks on the program through the files it reads and writes, and adversity at its outputs.

Every attack was once successful. docs/explanation/trust.md names each with what happens now.

Usage: trust_test.py BINARY [unittest arguments]
"""
import contextlib
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from processes import wait_for_handler, wait_for_stillness, wait_for_work

BINARY = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAN = 'protocol = "fratricide"\nn = [20, 30]\ntrials = 20\n'
LONG = 'protocol = "fratricide"\nn = 3000\ntrials = 100000\n'
HEADER = "trial,interactions,parallel_time,leaders\n"


class Folder(unittest.TestCase):
    """A test in a folder of its own."""
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def conclave(self, *words, **options):
        settings = {"capture_output": True, "text": True, "timeout": 60, "cwd": self.folder}
        return subprocess.run([BINARY, *words], check=False, **(settings | options))

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def names(self):
        return sorted(os.listdir(self.folder))

    def sweep(self, plan=PLAN, file="results.db"):
        result = self.conclave("sweep", self.write("plan.toml", plan), "-o", file)
        self.assertEqual(result.returncode, 0, result.stderr)

    @contextlib.contextmanager
    def database(self, file="results.db"):
        with contextlib.closing(sqlite3.connect(self.folder / file)) as connection:
            yield connection
            connection.commit()

    def assert_refused(self, result, *sentences, status=2):
        """One printable sentence, and the status of a misuse."""
        self.assertEqual(result.returncode, status, result.stderr[-2000:])
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr[-2000:])
        self.assertTrue(result.stderr.rstrip("\n").isprintable(), repr(result.stderr[-2000:]))
        for sentence in sentences:
            self.assertIn(sentence, result.stderr)


class Traces(Folder):
    def test_execute_no_commands(self):
        exploit = 'system "touch marker"; plot \'-\' using 1:2 with steps #'
        for lines in (f"0,0,e,0\n0,0,{exploit},0\n", f"0,0,{exploit},0\n", f"0,0,0,{exploit}\n",
                      f"{exploit},0,0,0\n", '0,0,"`touch marker`",0\n', "0,0,e,0\n"):
            with self.subTest(lines):
                self.write("evil.csv", HEADER + lines)
                result = self.conclave("plot", "evil.csv", "-o", "x.svg")
                self.assert_refused(result, "'evil.csv', line ", "is expected")
                self.assertEqual(self.names(), ["evil.csv"])

    def test_have_columns_with_plain_names(self):
        for name in ("a'b", "`touch marker`", "leaders\x1b[2J", "x" * 301,
                     "'; system 'touch marker"):
            self.write("evil.csv", f"trial,interactions,parallel_time,{name}\n0,0,0,1\n")
            result = self.conclave("plot", "evil.csv", "-o", "x.svg", "--columns", name)
            self.assert_refused(result, "names no column")
        self.assertEqual(self.names(), ["evil.csv"])

    def test_of_messages_execute_no_commands(self):
        header = "trial,event,time,node,peer,message,sent,phase\n"
        for line in ("0,deliver,1,0,1,x'; system 'touch marker,0,\n",
                     "0,phase,1,0,,,,EOD; system 'touch marker'\n",
                     "0,deliver,1,0,1,a\x07b,0,\n", "0,deliver,1,1e30,1,A,0,\n",
                     "0,deliver,nan,0,1,A,0,\n", "0,deliver,1,-1,1,A,0,\n"):
            with self.subTest(line):
                self.write("evil.csv", header + line)
                self.assert_refused(self.conclave("plot", "evil.csv", "-o", "x.svg"), "evil.csv")
                self.assertEqual(self.names(), ["evil.csv"])
        self.write("far.csv", header + "0,wake,1e300,0,,,,0\n")
        self.assertEqual(self.conclave("plot", "far.csv", "-o", "x.svg").returncode, 0)

    def test_titles_are_only_shown(self):
        self.write("trace.csv", HEADER + "0,0,0,5\n0,9,1,1\n")
        title = "'\n system 'touch marker'\n`touch marker` \" \\"
        result = self.conclave("plot", "trace.csv", "-o", "x.svg", "--title", title)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.names(), ["trace.csv", "x.svg"])
        self.assertIn("touch marker", (self.folder / "x.svg").read_text())

    def test_settings_of_the_user_do_not_matter(self):
        self.write(".gnuplot", "system 'touch marker'\n")
        self.write("trace.csv", HEADER + "0,0,0,5\n0,9,1,1\n")
        environment = os.environ | {"HOME": str(self.folder)}
        result = self.conclave("plot", "trace.csv", "-o", "x.svg", env=environment)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertNotIn("marker", self.names())

    def test_pictures_with_odd_names_are_files(self):
        self.write("trace.csv", HEADER + "0,0,0,5\n0,9,1,1\n")
        result = self.conclave("plot", "trace.csv", "-o", "|touch marker #.svg")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.names(), ["trace.csv", "|touch marker #.svg"])


class Gnuplot(Folder):
    def setUp(self):
        super().setUp()
        self.write("trace.csv", HEADER + "0,0,0,5\n0,9,1,1\n")

    def test_missing_is_a_sentence(self):
        self.write("trace.csv", HEADER + "".join(f"0,{i},{i},{i}\n" for i in range(20000)))
        result = self.conclave("plot", "trace.csv", "-o", "x.svg", env={"PATH": str(self.folder)})
        self.assert_refused(result, "is the package gnuplot-nox installed?")
        self.assertEqual(self.names(), ["trace.csv"])

    def fake(self, script):
        self.write("gnuplot", f"#!/bin/sh\n{script}\n")
        (self.folder / "gnuplot").chmod(0o755)
        path = f"{self.folder}:{os.environ['PATH']}"
        return self.conclave("plot", "trace.csv", "-o", "x.svg", env=os.environ | {"PATH": path})

    def test_that_fails_is_a_sentence_and_leaves_nothing(self):
        for script, sentence in (("echo 'no \033[2J font' >&2; exit 1", r"no \x1b[2J font"),
                                 ("echo '<svg>'", "could not draw"), ("kill -9 $$", "could not")):
            self.assert_refused(self.fake(script), sentence)
            self.assertEqual(self.names(), ["gnuplot", "trace.csv"])

    def test_has_its_errors_kept_off_standard_output(self):
        result = self.fake("echo warning >&2; echo '<svg></svg>'")
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertEqual((self.folder / "x.svg").read_text(), "<svg></svg>\n")


class Results(Folder):
    def alter(self, column, change):
        """A copy in which a column of every cell is changed, and no checksum tells so."""
        shutil.copy(self.folder / "results.db", self.folder / "evil.db")
        with self.database("evil.db") as database:
            for cell, value in database.execute(f"SELECT id, {column} FROM cell").fetchall():
                database.execute(f"UPDATE cell SET {column} = ?, checksum = NULL WHERE id = ?",
                                 (change(value), cell))

    def test_execute_no_commands(self):
        self.sweep()
        name = "x'\nsystem 'touch marker'\n#"

        def rename(text):
            return json.dumps(json.loads(text) | {"protocol": name})
        for column in ("request", "head"):
            self.alter(column, rename)
            for words in (("report", "evil.db", "-o", "x.html"), ("results", "evil.db"),
                          ("replay", "evil.db", "--row", "0")):
                self.assert_refused(self.conclave(*words), "'evil.db' is damaged: cell 0: ")
        self.assertEqual(self.names(), ["evil.db", "plan.toml", "results.db"])

    def test_put_nothing_into_pages_but_text(self):
        name = "'<script>alert(1)<script>&\".pp"
        shutil.copy(ROOT / "protocols" / "fratricide.pp", self.folder / name)
        self.sweep(f"protocol = {json.dumps(name)}\nn = [20, 30, 40]\ntrials = 5\n")
        result = self.conclave("report", "results.db", "-o", "x.html", "--figures", "figures")
        self.assertEqual(result.returncode, 0, result.stderr)
        page = (self.folder / "x.html").read_text()
        self.assertNotIn("<script>alert", page)
        self.assertIn("&lt;script&gt;alert", page)
        for figure in (self.folder / "figures").iterdir():
            self.assertNotIn("<script>alert", figure.read_text())

    def test_put_no_escape_sequences_on_the_terminal(self):
        self.sweep()
        with self.database() as database:
            database.execute("UPDATE meta SET value = 'x\x1b]0;gotcha\x07' WHERE key = 'name'")
            database.execute("UPDATE code SET version = 'v\x1b[2J\x9b'")
        for words in (("results", "results.db"), ("results", "results.db", "--format", "json"),
                      ("sweep", "plan.toml", "-o", "results.db")):
            result = self.conclave(*words)
            shown = result.stdout + result.stderr
            self.assertTrue(shown.replace("\n", "").isprintable(), repr(shown[:300]))

    def test_with_damaged_json_are_named(self):
        self.sweep()
        for column, value in (("head", "{}"), ("head", "[]"), ("head", '{"protocol":1}'),
                              ("request", "{}"), ("request", '{"n":[]}'), ("sampling", "{"),
                              ("sampling", '{"trials":-1}'), ("sampling", '{"trials":"many"}'),
                              ("sampling", '{"trials":99999999999999}'), ("id", -5)):
            with self.subTest((column, value)):
                self.alter(column, lambda _, value=value: value) if column != "id" else None
                if column == "id":
                    shutil.copy(self.folder / "results.db", self.folder / "evil.db")
                    with self.database("evil.db") as database:
                        database.execute("UPDATE cell SET id = -5 WHERE id = 1")
                for words in (("results", "evil.db"), ("report", "evil.db", "-o", "x.html"),
                              ("sweep", "plan.toml", "-o", "evil.db")):
                    self.assert_refused(self.conclave(*words), "'evil.db' is damaged: cell ")

    def test_altered_by_hand_are_refused(self):
        self.sweep()
        with self.database() as database:
            database.execute("""UPDATE trial SET row = replace(row, '"leaders":1', '"leaders":2')
                             WHERE cell = 1 AND trial = 7""")
        for words in (("results", "results.db"), ("results", "results.db", "--format", "csv"),
                      ("report", "results.db", "-o", "x.html"),
                      ("merge", "results.db", "-o", "y.db"),
                      ("replay", "results.db", "--cell", "1", "--trial", "7"),
                      ("sweep", "plan.toml", "-o", "results.db")):
            with self.subTest(words):
                self.assert_refused(self.conclave(*words),
                                    "'results.db' is damaged: cell 1, trial 7:", "was altered")
        result = self.conclave("results", "results.db", "--check")
        self.assertEqual(result.returncode, 4)
        self.assertIn("cell 1, trial 7: the checksum", result.stdout)
        self.assertIn("40 rows, 1 damaged", result.stdout)

    def test_rows_of_other_trials_and_cells_are_refused(self):
        for change in ("UPDATE trial SET trial = trial + 1000 WHERE cell = 1",
                       "UPDATE trial SET cell = cell + 1000 WHERE cell = 1 AND trial = 3",
                       "UPDATE trial SET trial = -1 WHERE cell = 1 AND trial = 3",
                       "UPDATE trial SET trial = 1 - trial WHERE cell = 1 AND trial = 4"):
            with self.subTest(change):
                (self.folder / "results.db").unlink(missing_ok=True)
                self.sweep()
                with self.database() as database:
                    database.execute(change)
                result = self.conclave("results", "results.db", "--check")
                self.assertEqual(result.returncode, 4, result.stdout)

    def test_that_are_whole_pass_the_check(self):
        self.sweep()
        result = self.conclave("results", "results.db", "--check")
        self.assertEqual((result.returncode, result.stdout), (0, "40 rows, 0 damaged\n"))

    def test_of_older_versions_are_read_continued_and_told(self):
        self.sweep()
        whole = self.conclave("results", "results.db", "--format", "csv").stdout
        with self.database() as database:
            database.execute("ALTER TABLE trial DROP COLUMN checksum")
            database.execute("ALTER TABLE cell DROP COLUMN checksum")
            database.execute("DELETE FROM trial WHERE trial > 9")
            database.execute("PRAGMA user_version = 1")
        result = self.conclave("results", "results.db", "--check")
        self.assertEqual((result.returncode, result.stdout),
                         (0, "20 rows, 0 damaged; 20 have no checksum, as an older version wrote "
                             "them\n"))
        self.sweep()
        self.assertEqual(self.conclave("results", "results.db", "--format", "csv").stdout, whole)
        self.assertIn("40 rows, 0 damaged; 20 have no checksum",
                      self.conclave("results", "results.db", "--check").stdout)

    def test_with_views_instead_of_tables_do_not_hang(self):
        endless = "WITH RECURSIVE f(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM f) SELECT"
        views = {"cell": f"{endless} 0 AS id, 0 AS run, '' AS head, '' AS request, '' AS sampling, "
                         "0 AS checksum FROM f WHERE x < 0",
                 "trial": f"{endless} 0 AS cell, x AS trial, 1 AS code, '' AS row, 0 AS checksum "
                          "FROM f WHERE x < 0",
                 "meta": f"{endless} '' AS key, '' AS value FROM f WHERE x < 0"}
        for name, view in views.items():
            with self.subTest(name):
                (self.folder / "results.db").unlink(missing_ok=True)
                self.sweep()
                with self.database() as database:
                    database.execute("DROP VIEW result")
                    database.execute(f"DROP TABLE {name}")
                    database.execute(f"CREATE VIEW {name} AS {view}")
                for words in (("results", "results.db"), ("report", "results.db", "-o", "x.html"),
                              ("sweep", "plan.toml", "-o", "results.db")):
                    self.assert_refused(self.conclave(*words),
                                        f"its view '{name}' is none")

    READERS = (("results", "evil.db"), ("results", "evil.db", "--check"),
               ("report", "evil.db", "-o", "x.html"), ("merge", "evil.db", "-o", "y.db"),
               ("sweep", "plan.toml", "-o", "evil.db"))

    def change(self, *statements, file="evil.db"):
        """A copy of the results after these statements of SQL."""
        shutil.copy(self.folder / "results.db", self.folder / file)
        with self.database(file) as database:
            for each in statements:
                database.execute(each)

    def test_with_anything_else_in_their_schema_are_refused(self):
        self.sweep()
        for kind, name, statement in (
                ("index", "evil", "CREATE INDEX evil ON trial(length(zeroblob(500000000)))"),
                ("trigger", "evil", "CREATE TRIGGER evil AFTER INSERT ON trial BEGIN "
                                    "DELETE FROM trial WHERE trial < 5; END"),
                ("view", "evil", "CREATE VIEW evil AS SELECT 1"),
                ("table", "evil", "CREATE TABLE evil (x)"),
                ("table", "sqlite_stat1", "ANALYZE"),
                ("view", "result", "CREATE VIEW result AS SELECT zeroblob(500000000) AS row")):
            with self.subTest(statement):
                self.change(*["DROP VIEW result"] * (name == "result"), statement)
                for words in self.READERS:
                    self.assert_refused(self.conclave(*words), f"its {kind} '{name}' is none")
        self.change("DROP TABLE meta")
        self.assert_refused(self.conclave("results", "evil.db"), "its table meta is missing")

    def with_observables(self, count):
        """A file whose first row has so many, and no checksum."""
        self.sweep()
        with self.database() as database:
            row, = database.execute("SELECT row FROM trial WHERE cell = 0 AND trial = 0").fetchone()
            more = {f"o{i}": i for i in range(count)}
            row = row[:row.rindex("}")] + ',"observables":' + json.dumps(more) + "}"
            database.execute("UPDATE trial SET row = ?, checksum = NULL "
                             "WHERE cell = 0 AND trial = 0", (row,))

    def test_with_many_observables_take_time_in_proportion(self):
        """A search through all names for each name took half a minute for so many."""
        self.with_observables(99_000)

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
        for words in ((), ("--check",), ("--format", "csv"), ("--where", "o70000=1")):
            result = self.conclave("results", "results.db", *words, preexec_fn=limit)
            self.assertEqual(result.returncode, 0, result.stderr[-300:])
        result = self.conclave("report", "results.db", "-o", "x.html", preexec_fn=limit)
        self.assertEqual(result.returncode, 0, result.stderr[-300:])

    def test_with_too_many_observables_are_refused(self):
        self.with_observables(200_000)
        for words in ((), ("--format", "csv")):
            self.assert_refused(self.conclave("results", "results.db", *words),
                                "cell 0, trial 0: it has more than 100000 fields")
        result = self.conclave("results", "results.db", "--check")
        self.assertEqual((result.returncode, result.stdout.splitlines()[0]),
                         (4, "cell 0, trial 0: it has more than 100000 fields"))

    def test_pass_the_check_if_and_only_if_they_can_be_read(self):
        self.sweep()
        row = "cell = 1 AND trial = 19"

        def of(column, value):
            return f"UPDATE trial SET {column} = {value}, checksum = NULL WHERE {row}"
        damages = [
            of("row", "'{}'"), of("row", "'nothing'"), of("row", "row || 'x'"),
            of("row", "substr(row, 1, length(row) - 1)"), of("row", "row || char(10)"),
            of("row", "''"), of("row", """replace(row, '"trial":19', '"trial":18')"""),
            of("row", """substr(row, 1, length(row) - 1) || ',"x":' || """
               "replace(hex(zeroblob(40)), '00', '[[') || replace(hex(zeroblob(40)), '00', ']]')"
               " || '}'"),
            of("trial", "-1"), of("trial", "20"), of("trial", "'x'"), of("trial", "19.5"),
            of("cell", "2"), of("cell", "-1"), of("cell", "1.5"), of("cell", "'1x'"),
            of("code", "77"), f"UPDATE trial SET checksum = 5 WHERE {row}",
            f"UPDATE trial SET row = row || ' ' WHERE {row}"]
        readers = (("results", "evil.db", "--format", "jsonl"),
                   ("merge", "evil.db", "-o", "merged.db"))
        for damage in damages:
            with self.subTest(damage):
                self.change(damage)
                for words in readers:
                    self.assert_refused(self.conclave(*words), "'evil.db' is damaged")
                self.assertIn(self.conclave("results", "evil.db", "--check").returncode, (2, 4))
        for harmless in (of("row", "row"), f"DELETE FROM trial WHERE {row}", "VACUUM"):
            self.change()
            with contextlib.closing(sqlite3.connect(self.folder / "evil.db",
                                                    isolation_level=None)) as database:
                database.execute(harmless)
            for words in (*readers, ("results", "evil.db", "--check")):
                self.assertEqual(self.conclave(*words).returncode, 0, (harmless, words))
            (self.folder / "merged.db").unlink()

    def test_that_are_damaged_are_salvaged_and_the_sweep_goes_on(self):
        plan = 'protocol = "fratricide"\nn = [20, 30]\ntrials = 2000\n'
        self.sweep(plan)
        whole = self.conclave("results", "results.db", "--format", "csv").stdout
        bytes_ = (self.folder / "results.db").read_bytes()
        pages = len(bytes_) // 4096

        def with_pages(*numbers):
            damaged = bytearray(bytes_)
            for number in numbers:
                damaged[number * 4096:(number + 1) * 4096] = b"\xee" * 4096
            return damaged
        cases = {"a page": (with_pages(pages // 2), 3900, 3999),
                 "many pages": (with_pages(*range(pages // 4, pages - 3, 7)), 2000, 3900),
                 "its end": (bytes_[:pages * 4096 * 2 // 3], 500, 3900),
                 "a byte of a row": (bytes_.replace(b'"trial":1234,', b'"trial":1235,'),
                                     3998, 3998)}
        for name, (damaged, least, most) in cases.items():
            with self.subTest(name):
                (self.folder / "evil.db").write_bytes(damaged)
                (self.folder / "new.db").unlink(missing_ok=True)
                self.assertIn(self.conclave("results", "evil.db", "--check").returncode, (2, 4))
                result = self.conclave("results", "evil.db", "--salvage", "new.db")
                self.assertEqual(result.returncode, 0, result.stderr)
                saved = int(re.search(r"(\d+) rows saved", result.stdout)[1])
                self.assertIn(f"{4000 - saved} missing", result.stdout)
                self.assertLessEqual(least, saved)
                self.assertLessEqual(saved, most)
                self.assertEqual(self.conclave("results", "new.db", "--check").stdout,
                                 f"{saved} rows, 0 damaged\n")
                self.sweep(plan, "new.db")
                self.assertEqual(self.conclave("results", "new.db", "--format", "csv").stdout,
                                 whole)
        self.assert_refused(self.conclave("results", "evil.db", "--salvage", "new.db"),
                            "'new.db' is there already")
        (self.folder / "evil.db").write_bytes(bytes_[:100])
        self.assert_refused(self.conclave("results", "evil.db", "--salvage", "other.db"),
                            "'evil.db' is")
        self.assertNotIn("other.db", self.names())

    def test_put_no_formulas_into_spreadsheets(self):
        name = "=cmd(1+1).pp"
        shutil.copy(ROOT / "protocols" / "fratricide.pp", self.folder / name)
        self.sweep(f'protocol = ["{name}", "fratricide"]\nn = [20, 30, 40]\ntrials = 5\n')
        plain = self.conclave("results", "results.db", "--format", "csv").stdout
        self.assertIn(f",{name},", plain)
        quoted = self.conclave("results", "results.db", "--format", "csv", "--quote-formulas")
        self.assertEqual(quoted.stdout, plain.replace(f",{name},", f",'{name},"))
        self.assert_refused(self.conclave("results", "results.db", "--quote-formulas"),
                            "goes with --format csv")
        result = self.conclave("report", "results.db", "-o", "x.html", "--figures", "figures",
                               "--kinds", "csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        cells = [cell for figure in (self.folder / "figures").iterdir()
                 for line in figure.read_text().splitlines() for cell in line.split(",")]
        self.assertFalse([cell for cell in cells if re.match(r'"?[=+@-](?![\d.]|inf)', cell)])


class Plans(Folder):
    OUTSIDE = "lies outside the folder of the plan: add --allow-outside"

    def setUp(self):
        super().setUp()
        self.write("secret", "password = 1234\n")
        self.write("secret.pp", "password = 1234\n")
        self.write("ring.txt", "0 1\n1 0\n")
        for folder in ("inside", "inside/below"):
            (self.folder / folder).mkdir()
            shutil.copy(ROOT / "protocols" / "fratricide.pp", self.folder / folder / "duel.pp")
        os.symlink(self.folder / "secret.pp", self.folder / "inside" / "link.pp")

    def sweep_of(self, line, *words):
        self.write("inside/plan.toml", f"n = 2\n{line}\n")
        return self.conclave("sweep", "inside/plan.toml", "-o", "results.db", *words)

    def test_name_files_in_their_own_folder_only(self):
        for name in ("../secret.pp", str(self.folder / "secret.pp"), "link.pp", "below/../../x.pp",
                     "../missing.pp"):
            result = self.sweep_of(f'protocol = "{name}"')
            self.assert_refused(result, "plan.toml:2: protocol: ", self.OUTSIDE)
            self.assertNotIn("1234", result.stderr)
        for name in ("../secret", "/etc/passwd"):
            result = self.sweep_of(f'protocol = "coalescence"\ngraph = "file:{name}"')
            self.assert_refused(result, "plan.toml:3: graph: ", self.OUTSIDE)
        for name in ("duel.pp", "below/duel.pp", "./below/../duel.pp"):
            self.assertEqual(self.sweep_of(f'protocol = "{name}"', "--quiet").returncode, 0)
            (self.folder / "results.db").unlink()
        self.assert_refused(self.sweep_of('protocol = "missing.pp"'), "missing.pp")

    def test_name_others_where_that_is_allowed(self):
        shutil.move(self.folder / "inside" / "duel.pp", self.folder / "duel.pp")
        line = 'protocol = "../duel.pp"'
        self.assert_refused(self.sweep_of(line), self.OUTSIDE)
        self.assertEqual(self.sweep_of(line, "--allow-outside", "--quiet").returncode, 0)
        line = 'protocol = "coalescence"\ngraph = "file:../ring.txt"'
        (self.folder / "results.db").unlink()
        self.assertEqual(self.sweep_of(line, "--allow-outside", "--quiet").returncode, 0)


class Locks(Folder):
    def start(self, file):
        process = subprocess.Popen([BINARY, "sweep", self.write("plan.toml", LONG), "-o", file],
                                   cwd=self.folder, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for _ in range(6000):
            with contextlib.suppress(sqlite3.OperationalError):
                with contextlib.closing(sqlite3.connect(
                        f"file:{self.folder}/{file}?mode=ro", uri=True)) as database:
                    if database.execute("SELECT count(*) FROM trial").fetchone()[0] > 0:
                        return process
            time.sleep(0.01)
        return self.fail("the sweep has written nothing")

    def test_belong_to_the_file_and_not_to_its_name(self):
        self.start("results.db")
        os.link(self.folder / "results.db", self.folder / "hard.db")
        os.symlink("results.db", self.folder / "soft.db")
        for name in ("hard.db", "soft.db"):
            self.assert_refused(self.conclave("sweep", "plan.toml", "-o", name),
                                f"'{name}' is being written by another process under another name")
        self.assert_refused(self.conclave("sweep", "plan.toml", "-o", "results.db"),
                            "is being written by process ")

    def test_do_not_destroy_what_lies_in_their_place(self):
        self.write("precious", "do not lose me")
        for make in (os.symlink, os.link):
            make(self.folder / "precious", self.folder / "results.db.lock")
            result = self.conclave("sweep", self.write("plan.toml", PLAN), "-o", "results.db")
            self.assert_refused(result, "cannot write 'results.db'")
            self.assertEqual((self.folder / "precious").read_text(), "do not lose me")
            (self.folder / "results.db.lock").unlink()

    def test_are_not_taken_on_devices(self):
        self.write("plan.toml", PLAN)
        os.mkfifo(self.folder / "fifo")
        for name in ("fifo", "."):
            self.assert_refused(self.conclave("sweep", "plan.toml", "-o", name), "cannot write")
        self.assertEqual(self.names(), ["fifo", "plan.toml"])


class Outputs(Folder):
    RUN = ("run", "fratricide", "--n", "50", "--trials", "3", "--format", "csv", "--quiet")

    def setUp(self):
        super().setUp()
        self.rows = self.conclave(*self.RUN).stdout
        self.write("trace.csv", HEADER + "0,0,0,5\n0,9,1,1\n")

    def device(self, name, minor):
        """A device that may be lost: root could replace that of the system."""
        if os.geteuid() != 0:
            return pathlib.Path("/dev") / name
        try:
            os.mknod(self.folder / name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            os.close(os.open(self.folder / name, os.O_WRONLY))
        except OSError:
            self.skipTest("no device can be made here")
        return self.folder / name

    def test_into_devices_leave_the_device(self):
        self.sweep()
        device = self.device("null", 3)
        before = (device.stat().st_ino, device.stat().st_mode)
        for words in ((*self.RUN, "-o"), ("results", "results.db", "-o"), (*self.RUN, "--trace"),
                      ("report", "results.db", "-o")):
            result = self.conclave(*words, device)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual((device.stat().st_ino, device.stat().st_mode), before)
        self.assertFalse([name for name in self.names() if "partial" in name])

    def test_into_a_fifo_arrive(self):
        for words in (self.RUN, ("plot", "trace.csv")):
            fifo = self.folder / ("fifo.svg" if words[0] == "plot" else "fifo")
            os.mkfifo(fifo)
            received = []
            reader = threading.Thread(target=lambda: received.append(fifo.read_text()))
            reader.start()
            result = self.conclave(*words, "-o", fifo)
            reader.join(timeout=60)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(stat.S_ISFIFO(fifo.lstat().st_mode))
            self.assertTrue(received[0] == self.rows or received[0].rstrip().endswith("</svg>"))

    def test_into_open_descriptors_go_on_after_what_is_there(self):
        with open(self.folder / "log", "w", encoding="utf8") as log:
            log.write("before\n")
            log.flush()
            result = self.conclave(*self.RUN, "-o", "/dev/stdout", stdout=log, capture_output=False)
        self.assertEqual(result.returncode, 0)
        self.assertEqual((self.folder / "log").read_text(), "before\n" + self.rows)

    def test_through_links_replace_what_they_lead_to(self):
        self.write("target", "old")
        os.symlink("target", self.folder / "link")
        self.assertEqual(self.conclave(*self.RUN, "-o", "link").returncode, 0)
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertEqual((self.folder / "target").read_text(), self.rows)
        os.symlink("nothing", self.folder / "dangling")
        self.assert_refused(self.conclave(*self.RUN, "-o", "dangling"), "it is a link to nothing")
        self.assertFalse((self.folder / "nothing").exists())

    @unittest.skipIf(os.geteuid() != 0, "only root can make links of others")
    def test_through_links_that_others_have_planted_are_refused(self):
        self.write("target", "old")
        shared = self.folder / "shared"
        shared.mkdir()
        shared.chmod(0o1777)
        os.symlink(self.folder / "target", shared / "link")
        os.lchown(shared / "link", 65534, 65534)
        self.assert_refused(self.conclave(*self.RUN, "-o", "shared/link"), "somebody else has put")
        self.assertEqual((self.folder / "target").read_text(), "old")

    def test_are_not_written_through_names_that_can_be_guessed(self):
        self.write("precious", "do not lose me")
        for name in ("rows.partial", ".rows.partial", "x.svg.partial"):
            os.symlink("precious", self.folder / name)
        self.assertEqual(self.conclave(*self.RUN, "-o", "rows").returncode, 0)
        self.assertEqual(self.conclave("plot", "trace.csv", "-o", "x.svg").returncode, 0)
        self.assertEqual((self.folder / "precious").read_text(), "do not lose me")
        self.assertEqual((self.folder / "rows").read_text(), self.rows)

    def test_have_the_permissions_of_the_umask_or_of_before(self):
        for umask, mode in ((0o022, 0o644), (0o077, 0o600)):
            self.conclave(*self.RUN, "-o", f"new{umask}", umask=umask)
            self.assertEqual(stat.S_IMODE((self.folder / f"new{umask}").stat().st_mode), mode)
        self.write("old", "old")
        (self.folder / "old").chmod(0o640)
        self.conclave(*self.RUN, "-o", "old")
        self.assertEqual(stat.S_IMODE((self.folder / "old").stat().st_mode), 0o640)

    def test_that_cannot_be_written_are_refused_with_a_sentence(self):
        (self.folder / "sub").mkdir()
        for name, sentence in (("sub", "it is a folder"), ("sub/", "it is a folder"),
                               ("no/rows", "No such file"), ("trace.csv/rows", "Not a directory")):
            self.assert_refused(self.conclave(*self.RUN, "-o", name), "cannot write", sentence)
        self.assertEqual(self.names(), ["sub", "trace.csv"])

    def test_of_two_options_must_differ(self):
        os.symlink("o.csv", self.folder / "same.csv")
        for other in ("o.csv", "./o.csv"):
            result = self.conclave(*self.RUN, "--trace", "o.csv", "-o", other)
            self.assert_refused(result, "are both", status=2)
        self.assertEqual(self.names(), ["same.csv", "trace.csv"])

    def test_onto_a_file_that_is_read_are_refused(self):
        self.sweep()
        self.write("own.pp", "states A\nstart all: rest of A\nA + A -> A + A\n")
        self.write("inner.pp", "fields y: bool\nstart all: rest of {y = true}\n")
        self.write("module.pp", "import \"inner.pp\"\nstart all: rest of {y = true}\n")
        self.write("outer.pp", "import \"module.pp\"\nstart all: rest of {y = true}\n")
        self.write("graph", "0 1\n1 0\n")
        self.conclave("run", "pll", "--n", "9", "--until", "1", "--final", "final.csv")
        before = {name: (self.folder / name).read_bytes() for name in self.names()}
        for words in (("results", "results.db", "-o", "./results.db"),
                      ("results", "results.db", "--check", "-o", "results.db"),
                      ("plot", "trace.csv", "-o", "trace.csv"),
                      ("run", "own.pp", "--n", "5", "--until", "1", "-o", "own.pp"),
                      ("verify", "own.pp", "--n", "3", "-o", "own.pp"),
                      ("run", "outer.pp", "--n", "5", "--until", "1", "-o", "module.pp"),
                      ("run", "outer.pp", "--n", "5", "--until", "1", "--trace", "./inner.pp"),
                      ("verify", "outer.pp", "--n", "3", "-o", "inner.pp"),
                      ("run", "coalescence", "--n", "2", "--graph", "file:graph", "--trace",
                       "graph"),
                      ("run", "pll", "--init-from", "final.csv", "-o", "final.csv")):
            with self.subTest(words):
                self.assert_refused(self.conclave(*words), "is read, and would be replaced")
        self.assertEqual({name: (self.folder / name).read_bytes() for name in self.names()}, before)
        for _ in range(2):  # then also with a file that has the name of the protocol
            named = self.conclave("run", "pll", "--n", "9", "-o", "pll")
            self.assertEqual(named.returncode, 0, named.stderr)
        went_on = self.conclave("run", "pll", "--init-from", "final.csv", "--until", "1", "--final",
                                "final.csv")
        self.assertEqual(went_on.returncode, 0, went_on.stderr)

    def test_of_long_work_are_tried_before_it(self):
        for words in (("rare", "ppl", "--n", "8", "--param", "t_max=12", "--param", "t_virus=6",
                       "--param", "t_emit=40", "--particles", "10", "--repetitions", "2"),
                      ("verify", "prl", "--n", "8")):  # which is too large for any machine
            result = self.conclave(*words, "-o", "no/rows")
            self.assert_refused(result, "cannot write 'no/rows'")
        self.assertEqual(self.names(), ["trace.csv"])

    def test_on_a_full_disk_fail_and_leave_nothing(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
        self.sweep()
        full = {"preexec_fn": limit}  # with the signal that goes with it, as after `ulimit -f`
        lines = "".join(f"0,{i},{i},{i % 7}\n" for i in range(60))
        self.write("trace.csv", HEADER + lines)
        self.write("old.html", "old")
        before = self.names()
        for words in (("plot", "trace.csv", "-o", "x.svg"),
                      ("report", "results.db", "-o", "old.html"),
                      ("run", "fratricide", "--n", "50", "--trials", "99", "--format", "csv",
                       "-o", "x")):
            result = self.conclave(*words, **full)
            self.assertNotEqual(result.returncode, 0, words)
            self.assertRegex(result.stderr, "^conclave: .*(File too large|could not draw)")
            self.assertEqual(self.names(), before)
        self.assertEqual((self.folder / "old.html").read_text(), "old")

    def test_into_a_full_device_fail(self):
        self.sweep()
        device = self.device("full", 7)
        for words in (self.RUN, ("results", "results.db", "--format", "csv")):
            result = self.conclave(*words, "-o", device)
            self.assert_refused(result, f"cannot write '{device}': No space left", status=1)


class Streams(Folder):
    RUN = ("run", "pll", "--n", "10", "--trials", "5", "--format", "jsonl")

    def shell(self, redirection, words=RUN):
        command = " ".join(f"'{word}'" for word in (BINARY, *words))
        return subprocess.run(["bash", "-c", f"{command} {redirection}"], capture_output=True,
                              text=True, timeout=60, cwd=self.folder, check=False)

    def test_standard_error_that_is_closed_or_full_changes_nothing(self):
        rows = self.conclave(*self.RUN).stdout
        for redirection in ("2>&-", "2>/dev/full"):
            result = self.shell(redirection)
            self.assertEqual((result.returncode, result.stdout), (0, rows))
            self.assertEqual(self.shell(redirection, ("run", "pll", "--n", "x")).returncode, 2)

    def test_standard_error_that_is_closed_never_becomes_a_file(self):
        words = ("run", "pll", "--n", "10", "-o", "rows", "--format", "csv")
        result = self.shell("2>&- >&-", words)
        self.assertEqual(result.returncode, 0)
        self.assertNotIn("trial,", (self.folder / "rows").read_text().split("\n", 1)[1])
        self.assertNotIn("per second", (self.folder / "rows").read_text())

    def test_standard_output_that_is_closed_or_full_is_a_failure(self):
        for redirection in (">&-", ">/dev/full"):
            for words in (self.RUN, ("list",), ("--help",), ("describe", "pll")):
                result = self.shell(redirection, words)
                self.assertEqual(result.returncode, 1, (redirection, words))
                self.assertIn("cannot write", result.stderr)

    def test_a_reader_who_leaves_is_no_abort(self):
        many = ("run", "fratricide", "--n", "20", "--trials", "20000", "--format", "jsonl",
                "--trace", "trace.csv")
        result = self.shell("| head -1; exit ${PIPESTATUS[0]}", many)
        self.assertEqual(result.returncode, 141)
        self.assertEqual((len(result.stdout.splitlines()), result.stderr), (1, ""))
        self.assertEqual(self.names(), [])

    def test_a_hangup_keeps_finished_rows(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([BINARY, "sweep", self.write("plan.toml", LONG), "-o",
                                        "r.db", "--quiet"], cwd=self.folder)
            wait_for_work(process, 0.5)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=60), 130)
        self.assertIn(", 0 damaged", self.conclave("results", "r.db", "--check").stdout)

    def test_signals_end_what_has_nothing_to_keep(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            for words in (("verify", "prl", "--n", "4", "--param", "N=4"),
                          ("plot", "/dev/stdin", "-o", "x.svg")):
                process = subprocess.Popen([BINARY, *words], cwd=self.folder, stdin=subprocess.PIPE,
                                           stdout=subprocess.DEVNULL)
                if words[0] == "verify":
                    wait_for_work(process, 0.2)
                else:
                    wait_for_stillness(process)
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=60), 130, words)
                process.stdin.close()

    def test_nohup_is_respected(self):
        process = subprocess.Popen(["nohup", BINARY, "run", "fratricide", "--n", "300", "--trials",
                                    "5000", "--quiet"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_handler(process, signal.SIGINT)  # those that it respects are in place then
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(timeout=60), 0)


class Interruption(Folder):
    def interrupted(self, *words):
        with open(self.folder / "rows", "w", encoding="utf8") as rows:  # no pipe, which may be full
            process = subprocess.Popen([BINARY, "run", "fratricide", "--n", "2000", "--trials",
                                        "1000000", *words], cwd=self.folder, stdout=rows,
                                       stderr=subprocess.PIPE, text=True)
            wait_for_work(process, 0.3)
            process.send_signal(signal.SIGINT)
            errors = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130)
        self.assertIn("interrupted: ", errors)
        return (self.folder / "rows").read_text()

    def test_of_a_run_is_marked(self):
        self.assertIn("; interrupted, 1000000 were asked for", self.interrupted())
        document = json.loads(self.interrupted("--format", "json"))
        self.assertEqual(document["summary"]["asked"], 1000000)
        self.assertTrue(document["summary"]["interrupted"])
        trials = [row["trial"] for row in document["rows"]]
        self.assertEqual(trials, list(range(document["summary"]["trials"])))

    def test_of_a_run_is_marked_in_rows(self):
        rows = [json.loads(line) for line in self.interrupted("--format", "jsonl").splitlines()]
        self.assertEqual([row["trial"] for row in rows], list(range(len(rows))))
        self.assertEqual([row.get("interrupted") for row in rows[-2:]], [None, True])
        self.assertEqual(rows[-1]["asked"], 1000000)
        *lines, last = self.interrupted("--format", "csv").splitlines()
        self.assertEqual(last, f"# interrupted: {len(lines) - 1} of 1000000 trials")

    def test_of_a_sweep_is_marked_and_only_the_prefix_is_used(self):
        self.sweep()
        with self.database() as database:
            database.execute("DELETE FROM trial WHERE cell = 1 AND trial IN (10, 15, 16)")
        table = self.conclave("results", "results.db").stdout
        self.assertIn("10 of 20", table)
        self.assertIn("unfinished: 3 trials of 1 cell", table)
        self.conclave("report", "results.db", "-o", "x.html")
        page = (self.folder / "x.html").read_text()
        self.assertIn("<strong>Unfinished: 3 trials are missing.</strong>", page)
        self.assertIn("10 of 20", page)
        rows = [json.loads(line) for line in
                self.conclave("results", "results.db", "--format", "jsonl").stdout.splitlines()]
        self.assertEqual(len(rows), 37)
        marks = [row.get("unfinished") for row in rows]
        self.assertEqual(marks, [None] * 20 + ["prefix"] * 10 + ["beyond"] * 7)
        header, *lines = self.conclave("results", "results.db", "--format",
                                       "csv").stdout.splitlines()
        column = header.split(",").index("unfinished")
        self.assertEqual([line.split(",")[column] or None for line in lines], marks)

    def test_leaves_no_mark_on_a_sweep_that_is_finished(self):
        self.sweep()
        for kind in ("csv", "jsonl", "json"):
            self.assertNotIn("unfinished",
                             self.conclave("results", "results.db", "--format", kind).stdout)


def is_sanitized():
    """Whether the program has the address sanitizer, which reserves terabytes of addresses."""
    return b"__asan_init" in BINARY.read_bytes()


class Appetite(Folder):
    def limited(self, *words):
        """With one gigabyte of memory, which an endless or a deep text must not need."""
        def limit():
            if not is_sanitized():
                resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))
        return self.conclave(*words, preexec_fn=limit)

    def test_plans_may_not_nest_deep(self):
        for text in ("a" + ".a" * 50000 + " = 1\n", "[" + "a." * 50000 + "a]\n",
                     "n = " + "[" * 50000 + "\n", "n = " + "{a=" * 50000 + "\n",
                     "x = { " + '"q".' * 50000 + "q = 1 }\n"):
            result = self.limited("sweep", self.write("plan.toml", PLAN + text), "--dry-run")
            self.assert_refused(result, "plan.toml:4: keys or lists nest too deep here")

    def test_endless_files_are_refused_early(self):
        self.assert_refused(self.limited("sweep", "/dev/zero"), "cannot read '/dev/zero'")
        self.assert_refused(self.limited("plot", "/dev/zero", "-o", "x.svg"), "'/dev/zero'")
        self.assert_refused(self.limited("run", "fratricide", "--n", "5", "--graph",
                                         "file:/dev/zero"), "'/dev/zero', line 1")
        self.assert_refused(self.limited("results", "/dev/zero"), "'/dev/zero'")
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 500_000)

    def test_graphs_are_refused_before_they_are_made(self):
        for graph, sentence in (("gnp:0.5", "has about 5e+09 arcs"),
                                ("regular:99999", "has about 1e+10 arcs"),
                                ("grid:1e30x1e30", "needs R times C"),
                                ("file:/", "it is a folder")):
            result = self.limited("run", "coalescence", "--n", "100000", "--graph", graph)
            self.assert_refused(result, sentence)

    def test_limits_of_files_can_be_raised(self):
        plan = self.write("plan.toml", PLAN + "#" * (17 << 20) + "\n")
        self.assert_refused(self.conclave("sweep", plan, "--dry-run"),
                            "larger than 16 MiB (--max-file-size allows more)")
        for size in ("20MiB", "1e8", "1GiB"):
            result = self.conclave("sweep", plan, "--dry-run", "--max-file-size", size)
            self.assertEqual(result.returncode, 0, result.stderr)
        for size in ("0", "many", "-1", "65TiB", "1e30", "GiB"):
            self.assert_refused(self.conclave("sweep", plan, "--dry-run", "--max-file-size", size),
                                "--max-file-size takes a number of bytes")

    def test_headers_claim_no_memory(self):
        chain = self.write("large.tra", "1000000000 1\n0 0 1\n")
        self.assert_refused(self.limited("solve", chain, "--target", "0"))

    def test_echoes_are_short(self):
        long = "x" * 1_000_000
        cases = ((self.write("graph", f"0 1\n{long}\n"),
                  ("run", "fratricide", "--n", "5", "--graph", "file:graph")),
                 (self.write("short", f"0 {'y' * 900}\n"),
                  ("run", "fratricide", "--n", "5", "--graph", "file:short")),
                 (self.write("key.toml", f"{PLAN}{long} = 1\n"), ("sweep", "key.toml")),
                 (self.write("n.toml", PLAN.replace("[20, 30]", f'"{long}"')), ("sweep", "n.toml")),
                 (self.write("p.toml", PLAN.replace("fratricide", long)), ("sweep", "p.toml")),
                 (self.write("t.csv", f"{long}\n1\n"), ("plot", "t.csv", "-o", "x.svg")),
                 ("", ("run", "y" * 100_000, "--n", "5")))
        for name, words in cases:
            with self.subTest(name):
                result = self.limited(*words)
                self.assert_refused(result)
                self.assertLess(len(result.stderr), 2000)

    def test_errors_put_no_escape_sequences_on_the_terminal(self):
        evil = "\x1b]0;gotcha\x07\x9b2J\u202e"
        self.write("plan.toml", PLAN + '"' + r"\u001b[2J\u0007\u202e" + '" = 1\n')
        self.write("graph", f"0 {evil}\n")
        self.write("text.pp", f"protocol {evil}\n")
        self.write("trace.csv", f"trial,{evil}\n0,1\n")
        self.write("title.pp", f'title "{evil}"\nstates A\nstart all: rest of A\nA + A -> A + A\n')
        for words in (("describe", "title.pp"), ("sweep", "plan.toml"),
                      ("run", "fratricide", "--n", "5", "--graph", "file:graph"),
                      ("run", "text.pp", "--n", "5"), ("run", evil, "--n", "5"),
                      ("plot", "trace.csv", "-o", "x.svg"), ("plot", evil, "-o", "x.svg")):
            with self.subTest(words):
                self.assert_refused(self.conclave(*words))

    def test_rates_of_peers_put_no_escape_sequences_on_the_terminal(self):
        if not BINARY.with_name("conclave-bench").exists():
            self.skipTest("the benchmarks are not built")
        self.write("peers.json", '{"agents": {"\\u001b]0;gotcha\\u0007": "\\u001b[2J"}}')
        self.assert_refused(self.conclave("bench", "agents", "--peers", "peers.json"))
        self.write("peers.json", '{"machine": "\\u001b[2J", "agents": {"1e3": 1}}')
        shown = self.conclave("bench", "agents", "--n", "1000", "--peers", "peers.json",
                              timeout=600).stdout
        self.assertIn(r"measured on \x1b[2J", shown)


class Ranges(Folder):
    def sizes(self, n):
        plan = f'protocol = "fratricide"\nn = {n}\ntrials = 1\nmax_interactions = 1\n'
        self.write("plan.toml", plan)
        (self.folder / "plan.db").unlink(missing_ok=True)
        result = self.conclave("sweep", "plan.toml")
        self.assertIn(result.returncode, (0, 3), result.stderr)
        output = self.conclave("results", "plan.db", "--format", "jsonl").stdout
        return [json.loads(line)["n"] for line in output.splitlines()]

    def test_of_roots_reach_their_end(self):
        self.assertEqual(self.sizes('{ from = 100, to = 1e4, factor = "sqrt(10)" }'),
                         [100, 316, 1000, 3162, 10000])

    def test_of_decimal_factors_have_all_values(self):
        sizes = self.sizes("{ from = 100, to = 1e4, factor = 1.1 }")
        self.assertEqual(sizes, [100 * 11**k // 10**k for k in range(49)])

    def test_large_floats_are_whole_numbers(self):
        self.assertEqual(self.sizes("[1e15, 1e16, 1.5e17]"), [10**15, 10**16, 15 * 10**16])


class SmallOnes(Folder):
    def test_hosts_of_a_cluster_are_names_or_addresses(self):
        for host in ('a"b', "a\nb", "a b"):
            result = self.conclave("cluster", "init", "demo", "--n", "2", "--host", host)
            self.assert_refused(result, "--host takes a name or an address")
        self.assertEqual(self.names(), [])

    def test_byte_order_marks_are_left_out(self):
        mark = "\ufeff"
        own = "states A, B\nstart all: 1 of A, rest of B\nA + B -> A + A\n"
        rows = [self.conclave("run", self.write("own.pp", text), "--n", "20", "--format", "jsonl",
                              "--quiet").stdout for text in (own, mark + own)]
        self.assertEqual(rows[0], rows[1])
        self.assertIn('"converged":true', rows[0])
        self.write("trace.csv", mark + HEADER + "0,0,0,5\n0,9,1,1\n")
        self.write("graph", mark + "0 1\n1 0\n")
        self.write("start.csv", mark + "state,count\nleader=1,3\n")
        for words in (("plot", "trace.csv", "-o", "x.svg"),
                      ("run", "coalescence", "--n", "2", "--graph", "file:graph"),
                      ("run", "fratricide", "--init-from", "start.csv")):
            result = self.conclave(*words)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_threads_that_cannot_be_started_are_named(self):
        if is_sanitized():
            self.skipTest("memory cannot be limited under the address sanitizer")
        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 26, 1 << 26))  # of each thread
            resource.setrlimit(resource.RLIMIT_AS, (2_500_000_000, 2_500_000_000))
        for words in (("run", "fratricide", "--n", "50", "--trials", "100000"),
                      ("sweep", self.write("plan.toml", LONG), "-o", "r.db")):
            result = self.conclave(*words, "--threads", "1024", "--quiet", preexec_fn=limit)
            self.assert_refused(result, "cannot start 1024 threads: ", "--threads", status=1)


class Vendored(unittest.TestCase):
    def test_files_are_those_that_were_released(self):
        folder = ROOT / "third_party" / "uplot"
        sums = dict(reversed(line.split()) for line in
                    (folder / "SHA256SUMS").read_text().splitlines())
        files = {path.name for path in folder.iterdir()} - {"SHA256SUMS", "VERSION"}
        self.assertEqual(set(sums), files)
        for name, checksum in sums.items():
            content = (folder / name).read_bytes()
            self.assertEqual(hashlib.sha256(content).hexdigest(), checksum, name)
        version = (folder / "VERSION").read_text().split()[1].rstrip(",")
        self.assertIn(f"(v{version})", (folder / "uPlot.iife.min.js").read_text()[:200])


class Page(unittest.TestCase):
    def test_names_every_class_of_attacks(self):
        """That the tests it names exist, here or elsewhere, is checked by docs_test.py."""
        page = (ROOT / "docs" / "explanation" / "trust.md").read_text()
        named = set(re.findall(r"`(\w+)(?:\.test_\w+)?`", page))
        there = {name for name, case in globals().items()
                 if isinstance(case, type) and issubclass(case, unittest.TestCase)
                 and any(test.startswith("test_") for test in dir(case))}
        self.assertEqual(there - named - {"Page"}, set())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
