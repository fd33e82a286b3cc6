#!/usr/bin/env python3
"""The report page as a browser and a reader without one see it.

Usage: report_test.py BINARY [unittest arguments]
"""
import html.parser
import json
import lzma
import pathlib
import re
import shlex
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import xml.etree.ElementTree

BINARY = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
RESULTS = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "results"
PLAN = """
name = "small"
seed = 3
trials = 40
[[run]]
protocol = "pll"
n = [64, 128, 256, 512]
[[run]]
protocol = "prl"
n = [16, 32, 64]
init = ["random", "no-leader-distL-zero"]
params = { N = ["n", "4*n"] }
[[run]]
protocol = "kmpp-sync"
n = [64, 128, 256]
"""
VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(html.parser.HTMLParser):
    """Elements, ids and addresses of a page; `problems` is what is not well-formed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.problems, self.ids, self.elements, self.loads = [], [], [], [], []
        self.tables_without_caption, self.texts, self.charts = 0, [], []
        self.feed(text)
        self.close()
        self.problems += [f"{tag} is not closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.elements.append((tag, values))
        self.ids += [values["id"]] if "id" in values else []
        self.loads += [value for name, value in attributes if name in ("src", "href")]
        if self.open and self.open[-1] == "table" and tag != "caption":
            self.tables_without_caption += self.elements[-2][0] == "table"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"{tag} closes nothing, {self.getpos()}")

    def handle_data(self, data):
        if self.open[-1:] == ["script"] and self.elements[-1][1].get("type", "").endswith("json"):
            self.charts.append(json.loads(data))
        elif self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    def count(self, tag):
        return sum(name == tag for name, _ in self.elements)


def conclave(*words, folder=None):
    return subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=200,
                          cwd=folder)


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.results = cls.folder / "small.db"
        cls.sweep("small", PLAN)
        written = conclave("report", "small.db", "-o", "page.html", "--figures", "figures",
                           folder=cls.folder)
        assert written.returncode == 0, written.stderr
        cls.text = (cls.folder / "page.html").read_text()
        cls.page = Page(cls.text)
        cls.figures = {path.stem: path.read_text() for path in (cls.folder / "figures").iterdir()}

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def sweep(cls, name, plan):
        (cls.folder / f"{name}.toml").write_text(plan)
        done = conclave("sweep", f"{name}.toml", "-o", f"{name}.db", "--quiet", folder=cls.folder)
        assert done.returncode == 0, done.stderr

    def report(self, *files):
        result = conclave("report", *files, "-o", "other.html", folder=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        page = Page((self.folder / "other.html").read_text())
        self.assertEqual(page.problems, [])
        return page

    def objection(self, *words):
        result = conclave("report", *words, folder=self.folder)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        return result.stderr

    def test_are_well_formed(self):
        self.assertEqual(self.page.problems, [])
        self.assertEqual(len(self.page.ids), len(set(self.page.ids)))

    def test_cells_link_to_the_explorer_where_its_address_is_given(self):
        result = conclave("report", "small.db", "-o", "linked.html", "--explorer",
                          'https://lab.example/a"b<c>/explorer.html', folder=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        page = Page((self.folder / "linked.html").read_text())
        self.assertEqual(page.problems, [])
        links = [address for address in page.loads if address.startswith("https:")]
        self.assertGreaterEqual(len(links), 19)
        begin = 'https://lab.example/a"b<c>/explorer.html#run/'
        self.assertTrue(all(address.startswith(begin) for address in links))
        view = next(a for a in links if "#run/prl?" in a).partition("?")[2]
        words = urllib.parse.parse_qs(view)
        self.assertEqual((words["n"], words["param"], words["seed"]), (["16"], ["N=16"], ["3"]))

    def test_cells_name_the_command_that_shows_them_otherwise(self):
        self.assertNotIn("https:", [a.partition("/")[0] for a in self.page.loads])
        texts = "".join(self.page.texts)
        self.assertIn("conclave explorer --open 'run/pll?n=64&seed=3'", texts)

    def test_an_address_that_runs_a_script_is_refused(self):
        for address in ("javascript:alert(1)", "data:text/html,x", " javascript:alert(1)"):
            words = ("small.db", "-o", "x.html", "--explorer", address)
            self.assertIn("http:", self.objection(*words))

    def test_load_nothing(self):
        self.assertEqual([a for a in self.page.loads if not a.startswith(("data:", "#"))], [])
        self.assertEqual(self.page.count("link") + self.page.count("iframe"), 0)
        self.assertNotIn("@import", self.text)
        self.assertNotRegex(self.text, r"url\(\s*['\"]?(?!data:)")

    def test_can_be_read_without_seeing(self):
        images = [values for tag, values in self.page.elements if tag == "img"]
        self.assertTrue(all(len(values["alt"]) > 20 for values in images))
        self.assertEqual(self.page.tables_without_caption, 0)
        self.assertGreaterEqual(self.page.count("caption"), 6)
        self.assertEqual(self.page.count("h1"), 1)
        self.assertIn("viewport", [values.get("name") for _, values in self.page.elements])

    def test_fit_figures_on_a_phone_and_scroll_tables_sideways(self):
        self.assertNotIn("min-width: 3", self.text)
        self.assertRegex(self.text, r"figure img \{[^}]*width: 100%")
        for tag, values in self.page.elements:
            if tag == "img":  # letters shrink by less than a third on 350 pixels
                self.assertLessEqual(int(values["width"]), 500)
        wide = [(values, inside) for (tag, values), (inside, _) in
                zip(self.page.elements, self.page.elements[1:]) if inside in ("img", "table")]
        self.assertGreater(len(wide), len(self.figures))
        for values, inside in wide:
            self.assertEqual(values["class"], {"img": "picture", "table": "scroll"}[inside])
            self.assertEqual((values["tabindex"], values["role"]), ("0", "region"))
            self.assertTrue(values["aria-label"])

    def test_have_figures_that_are_files_as_well(self):
        shown = {values["id"] for tag, values in self.page.elements if tag == "figure"}
        self.assertEqual(shown, set(self.figures))
        for kind in ("pll-parallel-time-growth", "pll-parallel-time-residuals",
                     "prl-interactions-distribution", "quickelimination-chances", "rounds-growth",
                     "overview-parallel-time"):
            self.assertTrue(any(kind in name for name in shown), kind)
        for name, picture in self.figures.items():
            root = xml.etree.ElementTree.fromstring(picture)
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            self.assertNotRegex(picture, r"(?:href|src)=\"http")

    def test_carry_the_numbers_of_every_figure(self):
        self.assertEqual(len(self.page.charts), len(self.figures))
        for chart in self.page.charts:
            self.assertTrue(all(len(each["x"]) == len(each["y"]) > 0 for each in chart["series"]))

    def test_offer_the_data_of_every_figure(self):
        links = [values for tag, values in self.page.elements
                 if tag == "a" and "download" in values]
        self.assertEqual({values["download"] for values in links},
                         {name + ".csv" for name in self.figures})
        for values in links:
            kind, _, data = values["href"].partition(",")
            lines = urllib.parse.unquote(data).splitlines()
            self.assertEqual((kind, lines[0]),
                             ("data:text/csv;charset=utf-8", "series,x,y,low,high"))
            self.assertGreater(len(lines), 1)

    def test_carry_intervals_for_readers_who_zoom(self):
        growth = next(chart for chart in self.page.charts if chart["x"]["title"] == "n"
                      and any(each["style"] == "marks" for each in chart["series"]))
        marks = next(each for each in growth["series"] if each["style"] == "marks")
        for low, y, high in zip(marks["low"], marks["y"], marks["high"], strict=True):
            self.assertTrue(0 < low < y < high)

    def test_figures_come_in_every_kind(self):
        name = next(name for name in self.figures if name.endswith("pll-parallel-time-growth"))
        result = conclave("report", "small.db", "--figures", "kinds", "--only", name, "--kinds",
                          "svg,pdf,png,csv,tex", "--no-title", "--bands", "--axes", "loglog",
                          "--size", "300x200", folder=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        files = {path.suffix: path.read_bytes() for path in (self.folder / "kinds").iterdir()}
        self.assertEqual(set(files), {".svg", ".pdf", ".png", ".csv", ".tex"})
        self.assertTrue(files[".pdf"].startswith(b"%PDF") and files[".png"][1:4] == b"PNG")
        self.assertIn(b"fill between", files[".tex"])
        self.assertIn(b'width="300"', files[".svg"])
        self.assertNotIn(b"pll: parallel time", files[".svg"])

    def test_draw_one_figure_again(self):
        command = next(text for text in self.page.texts if "--only" in text and "growth" in text)
        words = shlex.split(command)
        self.assertEqual(words[:2], ["conclave", "report"])
        words[words.index("--figures") + 1] = "again"
        self.assertEqual(conclave(*words[1:], folder=self.folder).returncode, 0)
        again = list((self.folder / "again").iterdir())
        self.assertEqual([path.stem for path in again], [words[-1]])
        self.assertEqual(again[0].read_text(), self.figures[words[-1]])

    def test_name_the_command_of_every_cell(self):
        commands = [line for text in self.page.texts for line in text.splitlines()
                    if line.startswith("conclave run ")]
        self.assertEqual(len(commands), 4 + 12 + 3)
        command = next(line for line in commands if "pll" in line and "--n 256" in line)
        rows = conclave(*shlex.split(command)[1:], "--format", "jsonl").stdout.splitlines()
        mean = statistics.fmean(json.loads(row)["parallel_time"] for row in rows)
        self.assertEqual(len(rows), 40)
        shown = re.search(r"n=256</th><td>40</td><td>[^<]*</td><td>([\d.]+)</td>", self.text)
        self.assertAlmostEqual(float(shown[1]), mean, delta=1e-3 * mean)

    def test_name_the_law_promised(self):
        text = " ".join(self.page.texts)
        self.assertIn("O(log n) in expectation (Theorem 1)", text)
        self.assertRegex(text, r"[Oo]f \d+ laws, (none can be called the best: )?[\d.e]+ \S+")
        self.assertRegex(text, r"sizes left out")
        self.assertIn("9 rounds", json.dumps(self.page.charts))

    def test_say_where_they_come_from(self):
        text = " ".join(self.page.texts)
        self.assertIn("seed = 3", text)
        self.assertIn("small.db", text)
        self.assertRegex(text, r"computed by conclave \d+\.\d+")

    def test_list_their_sections_in_order(self):
        self.sweep("table-pll", 'name = "table-pll"\ntrials = 3\n[[run]]\nprotocol = "pll"\n'
                                "n = [16, 32]\n")
        for files in (["small.db"], ["table-pll.db"], ["small.db", "table-pll.db"]):
            page = self.report(*files)
            text = (self.folder / "other.html").read_text()
            listed = re.findall('href="#([^"]*)"', re.search("<nav.*?</nav>", text, re.S)[0])
            self.assertEqual(listed, re.findall('<section id="([^"]*)"', text))
            self.assertEqual(len(set(listed)), len(listed))
            self.assertLessEqual(set(listed), set(page.ids))
        self.assertIn("table-pll-promises", listed)

    def test_are_the_same_bytes_again(self):
        conclave("report", "small.db", "-o", "page2.html", folder=self.folder)
        self.assertEqual((self.folder / "page2.html").read_text(), self.text)

    def test_of_several_files_stand_together(self):
        self.sweep("other", 'name = "other <&>"\ntrials = 5\n[[run]]\nprotocol = "fratricide"\n'
                            "n = [16, 32, 64]\n")
        page = self.report("small.db", "other.db")
        self.assertIn("other <&>", " ".join(page.texts))
        self.assertIn("fratricide", json.dumps(page.charts[0]))

    def test_of_conditional_means_use_only_those_rows(self):
        where = ("--where", "protocol=pll", "--where", "epoch_at_convergence=1")
        page = self.report("small.db", *where)
        text = " ".join(page.texts)
        self.assertIn("rows with protocol=pll and epoch_at_convergence=1", text)
        self.assertNotIn("conclave run prl", text)
        rows = conclave("results", "small.db", *where, "--where", "n=256", "--format", "jsonl",
                        folder=self.folder).stdout.splitlines()
        shown = re.search(r"n=256</th><td>(\d+)</td>", (self.folder / "other.html").read_text())
        self.assertEqual(int(shown[1]), len(rows))
        self.assertLess(len(rows), 40)
        self.assertIn("no row satisfies all conditions",
                      self.objection("small.db", "-o", "x.html", "--where", "n=3"))

    def test_of_mixtures_take_the_cases_apart(self):
        page = self.report("small.db", "--where", "protocol=pll", "--by", "epoch_at_convergence")
        text = " ".join(page.texts)
        self.assertIn("parallel time where epoch_at_convergence=1", text)
        self.assertRegex(text, r"A mixture of [\d.]+ % of the trials with epoch_at_convergence=1, ")
        rows = conclave("results", "small.db", "--where", "protocol=pll", "--where",
                        "epoch_at_convergence=1", "--format", "jsonl",
                        folder=self.folder).stdout.splitlines()
        everything = conclave("results", "small.db", "--where", "protocol=pll", "--format", "jsonl",
                              folder=self.folder).stdout.splitlines()
        share = float(re.search(r"A mixture of ([\d.]+) % of the trials", text)[1])
        self.assertAlmostEqual(share, 100 * len(rows) / len(everything), delta=0.6)
        self.assertIn("--by epoch_at_convergence --figures", text)
        self.assertIn("more than 12 values", self.objection("small.db", "-o", "x.html", "--where",
                                                            "protocol=pll", "--by", "interactions"))
        self.assertIn("did you mean 'leaders'",
                      self.objection("small.db", "-o", "x.html", "--by", "leader"))

    def test_runs_that_differ_in_n_and_trials_share_a_law(self):
        self.sweep("few", 'name = "few"\n' + "".join(
            f'[[run]]\nprotocol = "fratricide"\nn = {n}\ntrials = {trials}\n'
            for n, trials in ((16, 9), (32, 7), (64, 5))))
        page = self.report("few.db")
        sections = [name for name in page.ids if re.fullmatch(r"few-\d+-fratricide", name)]
        self.assertEqual(len(sections), 1)
        self.assertIn("Seen for n from 16 to 64 only", " ".join(page.texts))

    def test_values_of_a_parameter_that_no_law_names_have_laws_of_their_own(self):
        (self.folder / "duel.pp").write_text(
            "param p = 1/2 in 0..1\nstates L, F\nleader = L\nstart all: all of L\n"
            "L + L -> L + F with p\n")
        self.sweep("slow", 'name = "slow"\ntrials = 30\n[[run]]\nprotocol = "duel.pp"\n'
                           'n = [16, 32, 64, 128]\nparams = { p = [0.05, 1] }\n')
        page = self.report("slow.db")
        growth = next(chart for chart in page.charts if chart["y"]["title"] == "parallel time")
        slow, slow_law, fast, fast_law = growth["series"]
        self.assertEqual((slow["name"], fast["name"]), ("p=0.05", "p=1"))
        for measured, law in ((slow, slow_law), (fast, fast_law)):
            for mean, fitted in zip(measured["y"], law["y"]):
                self.assertLess(abs(mean / fitted - 1), 0.5)
        self.assertIn("p=0.05: of 6 laws", " ".join(page.texts))

    def test_without_a_promise_draw_the_laws_that_predict_best(self):
        (self.folder / "linear.pp").write_text(
            "states L, F\nleader = L\nstart all: all of L\nL + L -> L + F\n")
        self.sweep("linear", 'name = "linear"\ntrials = 30\n[[run]]\nprotocol = "linear.pp"\n'
                             'n = [16, 64, 256, 1024]\n')
        charts = self.report("linear.db").charts
        growth = next(chart for chart in charts if chart["y"]["title"] == "parallel time")
        for law in growth["series"][1:]:
            self.assertNotRegex(law["name"], r"^[\d.]+ log2 n$")

    def test_of_reactions_show_the_time_of_their_rates(self):
        for name, rate in (("slow", "1/1000"), ("fast", "1")):
            (self.folder / f"{name}.crn").write_text(
                f"A -> B rate {rate}\ninit A = n\nstop when A == 0\n")
        self.sweep("decay", 'name = "decay"\ntrials = 30\n[[run]]\n'
                            'protocol = ["slow.crn", "fast.crn"]\nn = [16, 64, 256]\n')
        charts = self.report("decay.db").charts
        slow, fast = (chart["series"][0]["y"] for chart in charts
                      if chart["y"]["title"] == "time (units of the rates)")
        for one, thousand in zip(fast, slow):
            self.assertAlmostEqual(thousand / one / 1000, 1, delta=0.5)
        titles = [chart["y"]["title"] for chart in charts]
        self.assertNotIn("time (longest delay = 1)", titles)

    def test_of_one_cell_have_a_distribution_but_no_law(self):
        self.sweep("one", 'name = "one"\ntrials = 5\n[[run]]\nprotocol = "fratricide"\nn = 16\n')
        page = self.report("one.db")
        self.assertEqual(len(page.charts), 1)
        self.assertIn("no law is fitted", " ".join(page.texts))

    def test_of_one_trial_have_no_interval(self):
        self.sweep("single", 'name = "single"\n[[run]]\nprotocol = "pll"\nn = [16, 32, 64]\n')
        self.assertNotIn("nan", " ".join(self.report("single.db").texts))

    def test_of_starts_without_an_axis_have_distributions(self):
        self.sweep("starts", 'name = "starts"\ntrials = 5\n[[run]]\nprotocol = "prl"\nn = 16\n'
                             'init = ["random", "all-leaders"]\n')
        page = self.report("starts.db")
        self.assertEqual([chart["x"]["title"] for chart in page.charts], ["interactions"])
        self.assertIn("init=all-leaders", json.dumps(page.charts))

    def test_of_failing_trials_say_so(self):
        (self.folder / "hard.toml").write_text('name = "hard"\ntrials = 20\n[[run]]\n'
                                               'protocol = "fratricide"\nn = [16, 32, 64]\n'
                                               'max_parallel_time = 16\n')
        done = conclave("sweep", "hard.toml", "-o", "hard.db", "--quiet", folder=self.folder)
        self.assertEqual(done.returncode, 3)
        self.assertIn("where others did not", " ".join(self.report("hard.db").texts))

    def test_of_results_that_are_not_complete(self):
        for name, where, message in (("partial", "WHERE cell = 1 OR trial > 30", "31 of 40"),
                                     ("empty", "", "There are no results yet")):
            with self.subTest(name):
                copy = self.folder / f"{name}.db"
                copy.write_bytes(self.results.read_bytes())
                with sqlite3.connect(copy) as database:
                    database.execute(f"DELETE FROM trial {where}")
                database.close()
                self.assertIn(message, " ".join(self.report(copy).texts))

    def test_a_doctored_value_does_not_keep_a_figure_from_ending(self):
        copy = self.folder / "doctored.db"
        copy.write_bytes(self.results.read_bytes())
        with sqlite3.connect(copy) as database:
            changed = database.execute(
                "UPDATE trial SET row = replace(row, '\"leaders_after_quick_elimination\":1,', "
                "'\"leaders_after_quick_elimination\":1000000000000,'), "
                "checksum = NULL WHERE cell = 0")
            self.assertGreater(changed.rowcount, 0)
        database.close()
        self.report(copy)  # counting up to that value would take days

    def test_object_to_files_without_results(self):
        (self.folder / "text.db").write_text("no results\n")
        self.assertIn("missing.db", self.objection("missing.db", "-o", "x.html"))
        self.assertIn("text.db", self.objection("text.db", "-o", "x.html"))
        self.assertFalse((self.folder / "x.html").exists())

    def test_object_to_mistakes(self):
        self.assertIn("nothing to write", self.objection("small.db"))
        self.assertIn("the page is HTML, so its name ends in .html; figures become .svg, .pdf",
                      self.objection("small.db", "-o", "a.pdf"))
        self.assertIn("did you mean 'pdf'",
                      self.objection("small.db", "--figures", "f", "--kinds", "pdg"))
        self.assertIn("did you mean 'overview-parallel-time'",
                      self.objection("small.db", "--figures", "f", "--only", "overview-parallel"))
        self.assertIn("no/such", self.objection("small.db", "-o", "no/such/page.html"))
        (self.folder / "file").write_text("")
        self.assertIn("cannot make the folder 'file': Not a directory",
                      self.objection("small.db", "--figures", "file"))
        self.assertIn("cannot make the folder 'file/figures': Not a directory",
                      self.objection("small.db", "--figures", "file/figures"))


class Reproduction(unittest.TestCase):
    def test_writes_plans_results_figures_and_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            words = ("reproduce", "--only", "prl", "-o", folder, "--quiet")
            self.assertEqual(conclave(*words).returncode, 0)
            names = {path.name for path in pathlib.Path(folder).iterdir()}
            self.assertEqual(names, {"prl.toml", "prl.db", "figures", "report.html"})
            page = (pathlib.Path(folder) / "report.html").read_text()
            self.assertEqual(Page(page).problems, [])
            self.assertIn("O(n N) in expectation", page)
            self.assertEqual(conclave(*words).returncode, 0)  # there is nothing left to run
            self.assertEqual((pathlib.Path(folder) / "report.html").read_text(), page)

    def test_says_what_is_left_and_writes_nothing(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            words = ("reproduce", "--full", "--dry-run", "--only", "prl", "-o", folder)
            fresh = conclave(*words).stdout.splitlines()
            self.assertEqual(list(folder.iterdir()), [])
            self.assertRegex(fresh[1], r"prl +31 +10654 +10654  (about|more than) \d")
            packed = RESULTS / "prl.db.xz"
            (folder / "prl.db").write_bytes(lzma.decompress(packed.read_bytes()))
            stored = conclave(*words).stdout.splitlines()
            self.assertRegex(stored[1], r"prl +31 +10654 +0  none$")
            self.assertEqual([path.name for path in folder.iterdir()], ["prl.db"])
            quick = conclave("reproduce", "--dry-run", "--only", "prl", "-o", folder)
            self.assertEqual(quick.returncode, 2)
            self.assertIn("is of another plan", quick.stderr)

    def test_stored_results_are_those_of_the_plans(self):
        """So that `reproduce --full` goes on with them, and has nothing to do."""
        with tempfile.TemporaryDirectory() as scratch:
            plans = sorted(path.name.split(".")[0] for path in RESULTS.glob("*.db.xz")
                           if path.name != "ppl_gpu.db.xz")
            for name in plans:
                (pathlib.Path(scratch) / f"{name}.db").write_bytes(
                    lzma.decompress((RESULTS / f"{name}.db.xz").read_bytes()))
            result = conclave("reproduce", "--full", "--dry-run", "--only", ",".join(plans), "-o",
                              scratch)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertRegex(result.stdout.splitlines()[-1], r"^all +\d+ +\d+ +0  none$")
            self.assertGreater(len(plans), 4)

    def test_objects_to_unknown_plans(self):
        result = conclave("reproduce", "--only", "pl", "-o", "/nowhere")
        self.assertEqual(result.returncode, 2)
        self.assertIn("did you mean 'pll'", result.stderr)
        self.assertFalse(pathlib.Path("/nowhere").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
