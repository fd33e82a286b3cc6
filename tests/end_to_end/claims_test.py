#!/usr/bin/env python3
"""The pages that judge the papers: their counts, their figures, and the laws behind them.

Usage: claims_test.py BINARY [unittest arguments]
"""
import collections
import contextlib
import io
import itertools
import json
import lzma
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "experiments"))
import exact_tails  # noqa: E402
import inequalities  # noqa: E402
import pll_laws  # noqa: E402
import ppl_holding  # noqa: E402


def conclave(*words):
    run = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=300)
    return run.returncode, run.stdout


def rows_of(protocol, n, trials, seed, *options):
    """The trials of `conclave run`, as dictionaries."""
    text = conclave("run", protocol, "--n", str(n), "--trials", str(trials), "--seed", str(seed),
                    "--format", "jsonl", "--quiet", *options)[1]
    return [json.loads(line) for line in text.splitlines()]


def page(name):
    """A page of docs/explanation as one line."""
    return re.sub(r"\s+", " ", (ROOT / "docs" / "explanation" / name).read_text())


def scientific(logarithm, digits=1):
    """As pages write it: 2.5·10^-6."""
    power, rest = divmod(logarithm / math.log(10), 1)
    return f"{10 ** rest:.{digits}f}·10^{int(power)}"


class ExactTails(unittest.TestCase):
    """Against sums over all outcomes and over all configurations."""

    def assert_log(self, logarithm, probability):
        self.assertAlmostEqual(math.exp(logarithm) / probability, 1, 10)

    def test_of_binomials_are_sums_of_their_terms(self):
        for trials, p in ((20, 0.5), (37, 0.1), (60, 0.03)):
            law = [math.comb(trials, k) * p ** k * (1 - p) ** (trials - k)
                   for k in range(trials + 1)]
            for k in range(1, trials):
                self.assert_log(exact_tails.at_least(k, trials, p), math.fsum(law[k:]))
                self.assert_log(exact_tails.at_most(k, trials, p), math.fsum(law[:k + 1]))

    def test_of_epidemics_are_those_of_the_chain(self):
        for n, m, steps in ((20, 20, 200), (20, 10, 400), (21, 21, 300), (10, 2, 80), (16, 8, 90)):
            law = [0.0, 1.0] + [0.0] * (m - 1)
            for _ in range(steps):
                infects = [j * (m - j) * 2 / (n * (n - 1)) for j in range(m + 1)]
                law = [law[j] * (1 - infects[j]) + (law[j - 1] * infects[j - 1] if j else 0)
                       for j in range(m + 1)]
            self.assert_log(exact_tails.epidemic(n, steps, m), math.fsum(law[:m]))

    def test_of_rounds_are_those_of_the_chain(self):
        for n, count, steps in ((8, 1, 40), (8, 3, 100), (16, 5, 600)):
            self.assert_log(exact_tails.rounds(n, count, steps), self.rounds(n, count, steps - 1))
        self.assert_log(exact_tails.untouched(8, 39), self.rounds(8, 1, 39))

    def rounds(self, n, count, steps):
        law = {(count, n): 1.0}  # rounds to go, agents that have not interacted in this one
        for _ in range(steps):
            after = collections.defaultdict(float)
            for (left, s), p in law.items():
                both, one = s * (s - 1) / (n * (n - 1)), 2 * s * (n - s) / (n * (n - 1))
                for fewer, chance in ((0, 1 - both - one), (1, one), (2, both)):
                    next_left, next_s = (left - 1, n) if s == fewer else (left, s - fewer)
                    if chance > 0 and next_left > 0:
                        after[next_left, next_s] += p * chance
            law = after
        return math.fsum(law.values())


    def test_of_two_samples_without_a_common_one_are_sums_over_all_samples(self):
        samples = [set(each) for each in itertools.product(range(4), repeat=2)]
        others = [set(each) for each in itertools.product(range(4), repeat=3)]
        apart = sum(not one & other for one in samples for other in others) / 4 ** 5
        self.assert_log(inequalities.avoided(4, 2, 3), apart)


class Inequalities(unittest.TestCase):
    def test_fail_where_a_kind_of_failure_is_named_and_only_there(self):
        for name, entries in inequalities.PAPERS.items():
            for entry in entries:
                self.assertEqual(inequalities.worst(entry).holds, not entry.kind,
                                 f"{name}, {entry.place}: {entry.text}")

    def test_are_on_the_page_and_in_the_file_as_the_script_prints_them(self):
        page_of = (ROOT / "docs" / "explanation" / "inequalities.md").read_text()
        for words, stored in ((("--failing",), page_of),
                              ((), (ROOT / "experiments" / "inequalities.txt").read_text())):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                inequalities.main(*words)
            self.assertIn(printed.getvalue(), stored)

    def test_of_papers_that_the_pages_correct_are_corrected_there(self):
        for name, place, repair in (
                ("errata-pll.md", "L_2", "LateLeaderWithHeadOutlivesTheFirstOne"),
                ("errata-electleader.md", "D.5, D.8", "become recipients first"),
                ("errata-kmpp.md", "Lemma 3", "RequestsMayWaitForTwoDecisions"),
                ("errata-kmpp.md", "Lemma 6", "15/16"),
                ("errata-kmpp.md", "F1. A reading", "The order that the paper excludes"),
                ("errata-kmpp.md", "F2. The prose against Alg 3", "is right"),
                ("errata-prl.md", "Lemma 10 [text]", "LemmaTenNeedsTheCeiling"),
                ("errata-pll.md", "L2. Line 46", "only if it has lost its lead by line 47"),
                ("errata-pll.md", "Lemma 13", "A misprint")):
            self.assertIn(place, page(name))
            self.assertIn(repair, page(name))


class Figures(unittest.TestCase):
    """Numbers of corrections, computed anew and looked for where the pages have them."""

    def assert_shown(self, name, text):
        self.assertTrue(text in page(name), f"{name} does not say: {text}")

    def test_of_lemma_d9_and_a1_of_electleader(self):
        n_of = {64: "64", 1024: "1024", 10 ** 6: "10^6"}
        early = [math.exp(math.log(n) + exact_tails.at_least(
            12.3 * math.log(n), 4.1 * n * math.log(n), 2 / n)) for n in n_of]
        bounds = ", ".join(scientific(-3.1 * math.log(n)) for n in n_of)
        self.assert_shown("errata-electleader.md", ", ".join(f"{x:.2f}" for x in early) +
                          " agents beyond the limit are expected at n = 64, 1024, 10^6, where the "
                          f"bound says {bounds}")
        exact = exact_tails.at_least(117, 1065, 2 / 64)
        self.assert_shown("errata-electleader.md", f"{scientific(exact)} is exact for alpha = 7, n "
                          f"= 64, the printed bound {scientific(-36 * 1065 / (8 * 64))}")
        self.assert_shown("errata-electleader.md",
                          f"7 < alpha < {1 / (2 * (1 - math.sqrt(0.9))):.2f}")

    def test_of_lemma_e3_of_electleader(self):
        """The least probability over all groups is 4/(9m) or so, and 6 m log m are enough."""
        m = 12
        least = min(self.equal_ranks(pairs, triples, m - pairs - triples)
                    for pairs in range(m + 1) for triples in range(m - pairs + 1)
                    if 2 * pairs + 3 * triples >= m)
        self.assertAlmostEqual(least, 4 / (9 * m - 6))
        self.assertLess(least, 1 / (2 * m))
        self.assertLess(6 * m * math.log(m) * math.log1p(-least), -8 / 3 * math.log(m))
        self.assert_shown("errata-electleader.md", "6 m log m give m^(-8/3) = o(m^-2)")

    def equal_ranks(self, pairs, triples, single):
        agents = 2 * pairs + 3 * triples + single
        return (pairs + 3 * triples) / math.comb(agents, 2)

    def test_of_the_rounds_and_of_lemma_19_of_ppl(self):
        one = exact_tails.at_most(18000, 1152000, 2 / 64) / math.log(10)
        self.assert_shown("claims.md", f"10^{one:.1f} for one agent at n = 64")
        some = exact_tails.rounds(64, 17, 13056) / math.log(10)
        self.assert_shown("claims.md", f"10^{some:.0f} for i = 17, where "
                          f"{64 * math.exp(-17 / 4):.2f} is allowed")
        all_of_them = exact_tails.rounds(64, 300, 230400) / math.log(10)
        self.assert_shown("claims.md", f"n = 64: 10^{all_of_them:.0f}, where")

    def test_of_lemma_9_of_pll(self):
        self.assert_shown("errata-pll.md", f"n^-{4 / 3 / math.log(2):.2f}; the union over the "
                          f"leaders is n^-{4 / 3 / math.log(2) - 1:.2f}")
        repaired = 4.5 * (1 - 2 / math.log(2) / 9) ** 2 - 1
        self.assert_shown("errata-pll.md", f"it is n^-{repaired:.2f}")


class CertifiedHolding(unittest.TestCase):
    def test_is_what_the_pages_say(self):
        for n in (64, 1024):
            bound = ppl_holding.holding(n, *ppl_holding.paper(n))
            self.assertGreater(bound, n ** 11)
            for name in ("claims.md", "claims-ppl.md"):
                self.assertIn(ppl_holding.scientific(bound), page(name), f"docs/{name}, n = {n}")

    def test_is_above_the_promise_and_just_below_every_estimate_at_the_constants_of_the_paper(self):
        stored = (ROOT / "experiments" / "rare" / "ppl.jsonl").read_text().splitlines()
        rows = [row for row in map(json.loads, stored) if set(row["params"]) <= {"N", "c"}]
        self.assertEqual(len(rows), 34)
        for row in rows:
            n, c = row["n"], row["params"].get("c", 1)
            bound = ppl_holding.logarithm(ppl_holding.holding(n, *ppl_holding.paper(n, c)))
            self.assertTrue((10 * c + 1) * math.log(n) < bound < row["ln_low"], (n, c))
            self.assertLess(row["ln_holding"] - bound, 6.2, (n, c))

    def test_is_below_the_exact_holding_times_of_three_agents(self):
        for constants in ((14, 2, 3), (12, 3, 12)):
            options = [word for name, value in zip(("t_max", "t_virus", "t_emit"), constants)
                       for word in ("--param", f"{name}={value}")]
            text = conclave("verify", "ppl", "--n", "3", *options, "--init", "safe", "--from",
                            "start", "--quiet")[1]
            shortest = float(re.search(r"shortest expected holding: (\S+)", text)[1])
            safe = float(re.search(r"holding from safe: (\S+)", text)[1])
            self.assertTrue(10 < ppl_holding.holding(3, *constants) < shortest, constants)
            self.assertTrue(10 < ppl_holding.holding(3, *constants, "safe") < safe, constants)

    def test_bounds_both_kinds_of_failure_by_those_of_the_chain(self):
        """Sums over all schedules of few steps, without the inequalities of the proof."""
        for n in (3, 4):
            for x in (2, 1.5):
                joins, going = ppl_holding.traced_back(n, x, float)
                self.assertGreater(joins, self.traced_back(n, x, 14 if n == 3 else 9))
                self.assertGreater(going, joins)

    def traced_back(self, n, x, steps):
        """E x^cost where the leader, agent 0, is met within so many steps back; all schedules."""
        pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
        law, total = {(math.inf,) * (n - 2) + (0,): 1.0}, 0.0
        for _ in range(steps):
            after = collections.defaultdict(float)
            for costs, p in law.items():
                for a, b in pairs:
                    share = p / len(pairs)
                    if a == 0:
                        met = costs[b - 1]
                        total += share * x ** met if met < math.inf else 0
                        if met < math.inf:
                            continue
                        after[costs] += share
                    else:
                        least, now = min(costs[a - 1], costs[b - 1]) + 1, list(costs)
                        now[a - 1] = now[b - 1] = least
                        after[tuple(now)] += share
            law = after
        return total


class PllLaws(unittest.TestCase):
    def test_of_the_leaders_are_those_of_small_populations(self):
        # Three agents make one leader; of four, the last two meet each other first or do not.
        self.assertEqual(pll_laws.leaders_law(3), {1: 1.0})
        law = pll_laws.leaders_law(4)
        self.assertAlmostEqual(law[2], 1 / 5)  # one pair of the five that give a status
        mean = sum(leaders * p for leaders, p in pll_laws.leaders_law(256).items())
        self.assertAlmostEqual(mean, 256 / 4 + 1 / 8, 2)

    def test_of_the_winners_are_those_of_two_players_and_near_the_limit(self):
        self.assertAlmostEqual(pll_laws.winners_law(2)[1], 1 / 3)
        self.assertAlmostEqual(sum(pll_laws.winners_law(20)), 1)
        for i, p in enumerate(pll_laws.winners(1024)[:5], 1):
            self.assertAlmostEqual(p, pll_laws.limit(i), 4)

    def test_fit_fresh_trials_and_other_laws_do_not(self):
        law = pll_laws.winners(256)
        rows = rows_of("pll", 256, 6000, 33)
        won = collections.Counter(row["observables"]["leaders_after_quick_elimination"]
                                  for row in rows)
        self.assertGreater(pll_laws.fit(won, law), 1e-6)
        doubled = [2.0 ** -i for i in range(1, 41)]  # what Lemma 9 allows, made a law
        self.assertLess(pll_laws.fit(won, doubled), 1e-6)
        epochs = collections.Counter(row["observables"]["epoch_at_convergence"] for row in rows)
        last = pll_laws.share_of_epoch_3(law, 8)
        self.assertGreater(pll_laws.fit(epochs, [law[0], 1 - law[0] - last, last, 0, 0]), 1e-6)
        twice = [law[0], 1 - law[0] - 2 * last, 2 * last, 0, 0]
        self.assertLess(pll_laws.fit(epochs, twice), 1e-6)


def claims():
    """Paper -> rows of its table, each a list of five cells."""
    text, found = (ROOT / "docs" / "explanation" / "claims.md").read_text(), {}
    for name in inequalities.PAPERS:
        section = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
        lines = [line for line in section.splitlines() if line.startswith("| ")]
        found[name] = [[cell.strip() for cell in line.strip("|").split(" | ")]
                       for line in lines[1:]]
    return found


def errata(name):
    """The errata that `describe` lists of a protocol, of kmpp those of kmpp-async."""
    name = "kmpp-async" if name == "kmpp" else name
    return json.loads(conclave("describe", name, "--format", "json")[1])["errata"]


KINDS = "every n", "these n", "exact", "measured", "refuted", "argued"


class Claims(unittest.TestCase):
    def test_have_five_cells_and_say_how_far_they_reach(self):
        for name, rows in claims().items():
            for row in rows:
                self.assertEqual(len(row), 5, row)
                pattern = r"(every n|these n: .+|exact(: .+)?|measured: \d+ \++|refuted.*|argued)"
                self.assertRegex(row[3], f"^{pattern}$", row)

    def test_are_as_many_as_the_table_says(self):
        text = (ROOT / "docs" / "explanation" / "claims.md").read_text()
        table = {cells[0]: [int(cell) for cell in cells[1:]] for cells in (
            [cell.strip(" `") for cell in re.sub(r"\[(.+?)\]\(.+?\)", r"\1", line)[1:-1].split("|")]
            for line in text.split("\n## ")[0].splitlines() if re.match(r"\| (\[`|all)", line))}
        total = collections.Counter()
        for name, rows in claims().items():
            counted = [len(rows), *(sum(row[3].startswith(kind) for row in rows) for kind in KINDS),
                       sum("**a step**" in row[2].lower() for row in rows)]
            self.assertEqual(table[name], counted, name)
            total.update(dict(enumerate(counted)))
        self.assertEqual(table["all"], [total[i] for i in range(len(KINDS) + 2)])

    def test_that_are_proved_or_refuted_have_a_command(self):
        for rows in claims().values():
            for row in rows:
                if row[3].startswith(("these n", "refuted")):
                    self.assertRegex(row[4], "`|^as |findings.md", row)

    def test_refer_to_rows_that_have_what_they_refer_to(self):
        """A row that says `as Lemma 3` borrows the command, so it must stand on the same ground."""
        for rows in claims().values():
            grounds = {row[0]: row[3].split(":")[0] for row in rows}
            for row in rows:
                if match := re.fullmatch(r"as (.+)", row[4]):
                    alike = [place for place in grounds if place.startswith(match[1])]
                    self.assertTrue(alike or match[1] == "these", row)
                    self.assertNotIn("every n", [grounds[place] for place in alike], row)

    def test_for_every_n_are_those_of_the_prover(self):
        """The prover's own tests hold that it proves each of its lemmas."""
        for name in ("pll", "ppl", "prl"):
            theory = (ROOT / "src" / "conclave" / "prove" / "theories" / f"{name}.cpp").read_text()
            proved = set(re.findall(r'\(lemma "(Lemma \d+)"', theory))
            if name == "prl":
                proved -= {"Lemma 5", "Lemma 6", "Lemma 8"}  # of these two neighbours only
            rows = {row[0] for row in claims()[name] if row[3] == "every n"}
            self.assertEqual(rows, proved, name)

    def test_that_are_refuted_are_among_the_errata_of_describe(self):
        for name, rows in claims().items():
            places = " ".join(each["place"] for each in errata(name))
            for row in rows:
                if row[3].startswith("refuted"):
                    place = row[0].split(",")[0]
                    self.assertRegex(places, rf"{place}\b", f"{name} lacks {place}")

    def test_and_errata_of_describe_are_on_the_pages(self):
        for name in ("pll", "pll-sym", "ppl", "prl", "electleader"):
            for each in errata(name):
                self.assertRegex(page(f"errata-{name}.md"), rf"\b{each['id']}\b", each)
        for name in ("kmpp-async", "kmpp-sync"):
            for each in errata(name):
                self.assertRegex(page("errata-kmpp.md"), rf"\*\*{each['id']}\.", each)

    def test_of_electleader_are_proved_where_its_theorem_speaks(self):
        for row in claims()["electleader"]:
            if row[0].startswith(("Lemma 6", "Lemma F", "Observations F")):
                self.assertNotRegex(" ".join(row[2:]), r"n = 2\b", row)

    def test_include_bounds_of_introductions_and_inner_claims(self):
        named = {(name, row[0], row[1]) for name, rows in claims().items() for row in rows}
        for name, place, part in (("pll", "Table 2", "lower bounds"),
                                  ("prl", "Section 1.1", "o(n²)"),
                                  ("electleader", "Lemma F.4, Claim 1", "three consecutive"),
                                  ("electleader", "Lemma F.4, Claims 2, 3", "probation"),
                                  ("electleader", "Corollary C.3", "states"),
                                  ("electleader", "Lemma D.1", "states"),
                                  ("electleader", "Lemma D.10", "states")):
            self.assertTrue(any((name, place) == each[:2] and part in each[2] for each in named),
                            f"{name} has no row for {place}: {part}")

    def test_about_older_protocols_know_the_catalog(self):
        self.assertIn("fischer-jiang", conclave("list")[1])
        self.assertNotIn("none of them is in the catalog", page("claims-prl.md"))


class Scale(unittest.TestCase):
    """The table of the largest sizes against the stored results."""

    def test_has_as_many_rows_as_the_results(self):
        text = (ROOT / "docs" / "explanation" / "claims.md").read_text()
        table = re.findall(r"(?m)^\| `(\w+)` \| (\d+) \| (\d+) \|", text)
        self.assertEqual(len(table), 6)
        with tempfile.TemporaryDirectory() as folder:
            for name, n, rows in table:
                path = pathlib.Path(folder) / f"{name}.db"
                stored = ROOT / "experiments" / "results" / f"{name}.db.xz"
                path.write_bytes(lzma.decompress(stored.read_bytes()))
                text = conclave("results", str(path), "--where", f"n={n}", "--format", "csv")[1]
                self.assertEqual(len(text.splitlines()) - 1, int(rows), (name, n))
                larger = conclave("results", str(path), "--where", f"n>{n}", "--format", "csv")[1]
                has_larger = len(larger.splitlines()) > 1
                self.assertEqual(has_larger, (name, n) == ("ppl_gpu", "100000"), (name, n))


class Proofs(unittest.TestCase):
    """Runs behind rows that other tests do not play."""

    def test_of_ppl_with_three_agents(self):
        status, text = conclave("verify", "ppl", "--n", "3", "--param", "t_max=3", "--param",
                                "t_virus=2", "--param", "t_emit=1", "--quiet")
        self.assertEqual(status, 0)
        for lemma in (3, 14, 17, 18):
            self.assertRegex(text, rf"(?m)^holds  Lemma {lemma} ")

    def test_of_electleader_with_three_agents(self):
        short = [word for each in ("R_max=1", "D_max=1", "c_LE=1", "c_labels=1", "c_sleep=1",
                                   "P_max=1", "C_max=2.8", "identifiers=2")
                 for word in ("--param", each)]
        for start in ("triggered", "dup", "dormant", "mixed-generations", "three-generations"):
            status, text = conclave("verify", "electleader", "--n", "3", *short, "--init", start,
                                    "--from", "start", "--quiet")
            self.assertEqual(status, 0, start)
            self.assertEqual(len(re.findall(r"(?m)^holds ", text)), 13, start)


class KmppErrata(unittest.TestCase):
    def test_as_printed_a_candidate_stops_in_some_phase_of_which_k_is_the_last(self):
        """Footnote 9: a candidate is no member of S before phase K, so it need not stop in 2."""
        rows = rows_of("kmpp-async", 65536, 20, 1, "--wakeup", "one", "--param", "reading=printed",
                       "--param", "watch=1")
        last = [row["observables"]["last_phase"] for row in rows]
        self.assertTrue(3 < max(last) <= 12, last)  # K = 12
        self.assertTrue(all(row["elected"] == 0 for row in rows))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
