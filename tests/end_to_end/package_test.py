#!/usr/bin/env python3
"""The program and the library as others use them: installed; the library found by CMake and
linked with the example programs.

Usage: package_test.py BUILD_FOLDER EXAMPLES_FOLDER
"""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from processes import reserved_ports

BUILD, EXAMPLES = (pathlib.Path(word).resolve() for word in sys.argv[1:3])


def run(*words):
    subprocess.run(words, check=True, capture_output=True, text=True, timeout=200)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        run("cmake", "--install", BUILD, "--prefix", cls.folder / "prefix")

    def build(self, example):
        folder = self.folder / example
        run("cmake", "-S", EXAMPLES / example, "-B", folder,
            f"-DCMAKE_PREFIX_PATH={self.folder / 'prefix'}")
        run("cmake", "--build", folder)
        return folder / example

    def test_program_runs_where_it_is_installed(self):
        run(self.folder / "prefix/bin/conclave", "list")

    def test_program_finds_the_texts_that_were_installed_with_it(self):
        """Not those of the source tree, nor of the folder that the build was made for."""
        shipped = self.folder / "prefix/share/conclave/protocols"
        (shipped / "my_coin.pp").write_text((shipped / "synthetic_coin.pp").read_text())
        text = (shipped / "junta_election.pp").read_text()
        mine = self.folder / "mine.pp"
        mine.write_text(text.replace('"synthetic_coin.pp"', '"my_coin.pp"'))
        self.assertNotEqual(mine.read_text(), text)
        run(self.folder / "prefix/bin/conclave", "run", mine, "--n", "50")
        (shipped / "my_coin.pp").unlink()
        with self.assertRaises(subprocess.CalledProcessError):
            run(self.folder / "prefix/bin/conclave", "run", mine, "--n", "50")

    def test_carries_protocols_plans_pages_and_manual(self):
        share = self.folder / "prefix/share"
        for name in ("conclave/protocols/fratricide.pp", "conclave/experiments/pll.toml",
                     "doc/conclave/docs/reference/command-line.md", "doc/conclave/CHANGELOG.md",
                     "doc/conclave/CITATION.cff", "man/man1/conclave.1", "man/man1/conclave-run.1",
                     "man/man1/conclave-cluster-init.1", "zsh/site-functions/_conclave",
                     "bash-completion/completions/conclave",
                     "fish/vendor_completions.d/conclave.fish"):
            self.assertTrue((share / name).is_file(), name)
        page = (share / "man/man1/conclave-run.1").read_text()
        self.assertIn("\\fB\\-\\-trials\\fR \\fIT\\fR\nNumber of trials", page)
        sweep = (share / "man/man1/conclave-sweep.1").read_text()
        self.assertIn(".SH DESCRIPTION\nRun a protocol over sizes and parameters, or a plan; stop "
                      "and resume it at will.\n.PP\n", sweep)
        for section in ("NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"):
            self.assertIn(f"\n.SH {section}\n", sweep)
        self.assertIn(".PP\n.nf\n  seed = 3\n", sweep)
        self.assertIn("\n.fi\nA run with kind = ", sweep)
        first = (share / "man/man1/conclave.1").read_text()
        self.assertIn("\nconclave \\- a laboratory for randomized leader election\n", first)

    def complete(self, *words):
        """The words that bash offers after these."""
        script = self.folder / "prefix/share/bash-completion/completions/conclave"
        given = " ".join(f"'{word}'" for word in words)
        program = self.folder / "prefix/bin/conclave"
        result = subprocess.run(
            ["bash", "-c", f"source {script}; COMP_WORDS=(conclave {given}); "
             f"COMP_CWORD={len(words)}; compopt() {{ COMPREPLY=(no files); }}; "
             f"_conclave '{program}'; echo ${{COMPREPLY[@]}}"],
            capture_output=True, text=True, timeout=20, check=True)
        return result.stdout.split()

    def test_completes_commands_options_and_values(self):
        self.assertEqual(self.complete("repr"), ["reproduce"])
        self.assertEqual(self.complete("run", "pll", "--tri"), ["--trials"])
        self.assertEqual(self.complete("run", "pll", "--format", "js"), ["jsonl", "json"])
        self.assertEqual(self.complete("run", "flo"), ["flood-max", "flooding"])
        self.assertEqual(self.complete("cluster", "init", "--da"), ["--days"])
        self.assertEqual(self.complete("bench", "p"), ["pairing"])
        self.assertEqual(self.complete("help", "repr"), ["reproduce"])
        self.assertNotIn("generate", self.complete(""))

    def test_completes_what_the_protocol_on_the_line_names(self):
        self.assertEqual(self.complete("run", "pll", "--engine", ""),
                         ["auto", "agents", "events", "counts"])
        self.assertEqual(self.complete("run", "--n", "9", "electleader", "--init", "tri"),
                         ["triggered"])
        self.assertEqual(self.complete("rare", "ppl", "--way", ""), ["timeout", "suicide"])
        self.assertEqual(self.complete("run", "kmpp-async", "--delay", "slow"),
                         ["slow-decide", "slow-leader"])
        self.assertEqual(self.complete("run", "flood-max", "--wakeup", ""), ["all"])
        self.assertEqual(self.complete("compare", "--wakeup", "three"), ["three-waves"])
        self.assertEqual(self.complete("cluster", "--wakeup", ""), ["all", "one"])

    def test_completes_files_only_where_a_file_is_meant(self):
        for words in (("run", "pll", "--n"), ("run", "pll", "-n"), ("run", "my.pp", "--init"),
                      ("run", "pll", "--delay"), ("run", "ppl", "--param"),
                      ("cluster", "init", "--days")):
            self.assertEqual(self.complete(*words, ""), ["no", "files"], words)
        for words in (("run", "pll", "-o"), ("run", "pll", "--init-from"), ("bench", "--peers"),
                      ("report", "--figures"), ("sweep",), ("plot", "t.csv", "--animate")):
            self.assertEqual(self.complete(*words, ""), [], words)  # then bash takes files

    def test_completions_are_scripts_of_their_shells(self):
        share = self.folder / "prefix/share"
        for shell, name in (("bash", "bash-completion/completions/conclave"),
                            ("zsh", "zsh/site-functions/_conclave"),
                            ("fish", "fish/vendor_completions.d/conclave.fish")):
            if shutil.which(shell):
                run(shell, "-n", share / name)

    def test_debian_packages_are_installed_run_and_removed(self):
        """Into a folder of their own: dpkg with another root, without scripts."""
        run("cpack", "-G", "DEB", "-B", self.folder / "deb", "--config",
            BUILD / "CPackConfig.cmake")
        packages = {path.name.split("_")[0]: path for path in (self.folder / "deb").glob("*.deb")}
        module = list((BUILD / "python/conclave").glob("_core*.so"))
        python = {"python3-conclave"} if module else set()
        self.assertEqual(set(packages), {"conclave", "libconclave-election-dev"} | python)
        fields = subprocess.run(["dpkg-deb", "--field", packages["conclave"]], check=True,
                                capture_output=True, text=True).stdout
        depends = re.search("^Depends: (.*)$", fields, re.M)[1]
        for library in ("libc6", "libssl3", "libsqlite3-0", "libfmt"):
            self.assertIn(library, depends)
        self.assertIn("Recommends: gnuplot-nox", fields)
        self.assertIn("explorer", re.search("^Description: (?s:.*)", fields, re.M)[0])
        root = self.folder / "root"
        for name in ("updates", "info"):
            (root / "var/lib/dpkg" / name).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        dpkg = ("dpkg", f"--root={root}", "--force-not-root", "--force-depends", "--log=/dev/null",
                "--force-bad-path")
        run(*dpkg, "--install", packages["conclave"], packages["libconclave-election-dev"])
        run(root / "usr/bin/conclave", "run", "fratricide", "--n", "50")
        self.assertTrue((root / "usr/share/man/man1/conclave.1").is_file())
        self.assertTrue((root / "usr/share/conclave/experiments/quick/pll.toml").is_file())
        self.assertEqual(list((root / "usr/share/conclave").rglob("*.db.xz")), [])
        self.assertTrue((root / "usr/include/conclave/election/election.hpp").is_file())
        if python:
            run(*dpkg, "--install", packages["python3-conclave"])
            code = "import conclave; conclave.run('fratricide', n=50)"
            run("/usr/bin/python3", "-c", f"import sys; sys.path.insert(0, sys.argv[1]); {code}",
                root / "usr/lib/python3/dist-packages")
        run(*dpkg, "--remove", "conclave", "libconclave-election-dev", *python)
        self.assertFalse((root / "usr/bin/conclave").exists())

    def test_a_tarball_knows_its_commit(self):
        """revision.cmake in a copy without git, with and without what `git archive` puts there."""
        scripts = EXAMPLES.parent / "cmake"
        for content, expected in (("a1b2c3d4e5\n", "a1b2c3d4e5"), ("$Format:%h$\n", "")):
            source = self.folder / f"tarball-{expected}"
            (source / "cmake").mkdir(parents=True)
            (source / "cmake/archive-revision.txt").write_text(content)
            header = source / "revision.hpp"
            run("cmake", f"-DSOURCE={source}", "-DVERSION=1.2.3", f"-DOUTPUT={header}", "-P",
                scripts / "revision.cmake")
            self.assertIn(f'CONCLAVE_REVISION "{expected}"', header.read_text())

    def test_bill_of_materials_names_what_the_program_is_made_of(self):
        bill = json.loads((self.folder / "prefix/share/doc/conclave/sbom.cdx.json").read_text())
        versions = {part["name"]: part["version"] for part in bill["components"]}
        for name in ("libssl3", "libsqlite3-0", "libcli11-dev",
                     "third_party/uplot/uPlot.iife.min.js"):
            self.assertIn(name, versions)
        self.assertTrue(all(versions[name] for name in versions if name.startswith("lib")))

    def test_building_the_program_builds_all_that_is_installed(self):
        """So that `cmake --install` works after ./demo, which builds one target."""
        inputs = subprocess.run(["ninja", "-C", BUILD, "-t", "inputs", "conclave"], check=True,
                                capture_output=True, text=True, timeout=100).stdout.split()
        self.assertIn("package/libconclave_election.a", inputs)

    def test_installs_one_header(self):
        self.assertEqual([path.name for path in (self.folder / "prefix/include").rglob("*.hpp")],
                         ["election.hpp"])

    def test_example_elects_one_leader(self):
        self.elect(self.build("elect"), 3)

    def test_example_with_a_fence_keeps_former_leaders_out(self):
        program, store = self.build("fenced"), self.folder / "store"
        members = self.addresses(3)
        processes = [subprocess.Popen([program, str(index), store, *members], text=True,
                                      stdout=subprocess.PIPE) for index in range(3)]
        self.addCleanup(lambda: [process.kill() for process in processes])
        first = self.await_token(store, 1)
        store.write_text(f"{first + 1} 1000\n")  # as if a later leader had been there
        time.sleep(1)
        self.assertEqual(store.read_text(), f"{first + 1} 1000\n")
        for process in processes:  # each leads in its turn, or never, and hands over
            process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
        outputs = [process.communicate(timeout=100)[0] for process in processes]
        self.assertEqual([process.returncode for process in processes], [0, 0, 0])
        self.assertIn(f"refused at 1000 with token {first}", "".join(outputs))

    def addresses(self, count):
        return [f"127.0.0.1:{port}" for port in self.enterContext(reserved_ports(count))]

    def await_token(self, store, least):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if store.exists() and (words := store.read_text().split()) and int(words[0]) >= least:
                return int(words[0])
            time.sleep(0.05)
        return self.fail("no leader has written")

    def elect(self, program, count):
        members = self.addresses(count)
        processes = [subprocess.Popen([program, str(self_index), *members], text=True,
                                      stdout=subprocess.PIPE) for self_index in range(count)]
        lines = [process.communicate(timeout=100)[0].strip() for process in processes]
        self.assertEqual([process.returncode for process in processes], [0] * count, lines)
        winner = next(index for index, line in enumerate(lines) if line.startswith("won term "))
        term = lines[winner].split()[-1]
        for index, line in enumerate(lines):
            if index != winner:
                self.assertEqual(line, f"lost term {term} to {winner}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
