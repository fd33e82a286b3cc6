#!/usr/bin/env python3
"""tools/lint on a tree of three files: what it chooses and finds, what it need not repeat."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

LINT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "lint"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("lint", str(LINT))
lint = importlib.util.module_from_spec(importlib.util.spec_from_loader("lint", loader))
loader.exec_module(lint)

RULES = """Checks: '-*,clang-diagnostic-*,readability-else-after-return'
WarningsAsErrors: '*'
"""
A, B, ALONE = "src/conclave/base/a.cpp", "src/conclave/base/a.hpp", "src/conclave/base/alone.hpp"
CLEAN = {
    ".clang-tidy": RULES,
    A: '#include "conclave/base/a.hpp"\nint a() { return b(); }\n',
    B: "#pragma once\ninline int b() { return 1; }\n",
    ALONE: "#pragma once\ninline int c() { return 1; }\n",
}


def slip(name):
    return (f"int {name}(int x) {{\n  if (x > 0) {{\n    return 1;\n  }} else {{\n"
            "    return 2;\n  }\n}\n")


class LintTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name).resolve()
        cache = unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=str(self.root / "build"))
        cache.start()
        self.addCleanup(cache.stop)
        self.git("init", "-q", "-b", "main")
        for path, content in CLEAN.items():
            self.write(path, content)
        self.write(".gitignore", "/build/\n")
        self.commit()
        # The flags are given; asking CMake for them is not what is tested here.
        self.addCleanup(setattr, lint, "compile_commands", lint.compile_commands)
        lint.compile_commands = lambda root, build: {
            A: ["-std=c++20", f"-I{root / 'src'}"]}

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *arguments],
                       cwd=self.root, check=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")

    def write(self, path, content):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    def lint(self, *arguments):
        """Exit status or sentence, and what was printed."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            try:
                status = lint.main(["--root", str(self.root), *arguments])
            except SystemExit as end:
                status = end.code
        return status, output.getvalue()

    def test_clean_files_are_not_linted_again(self):
        status, output = self.lint("--all")
        self.assertEqual(status, 0, output)
        self.assertIn("3 linted", output)
        self.assertEqual(self.lint("--all"),
                         (0, "lint: 3 of 3 files chosen, 0 linted, 0 with findings\n"))

    def test_finding_in_an_edited_file(self):
        self.lint("--all")
        for path in (A, B, ALONE):
            self.write(path, CLEAN[path] + slip("slip"))
            for _ in range(2):  # a finding is not remembered
                status, output = self.lint()
                self.assertEqual(status, 1, output)
                self.assertIn(f"{path}:", output)
                self.assertIn("[readability-else-after-return]", output)
                self.assertIn("1 of 3 files chosen, 1 linted", output)
            self.write(path, CLEAN[path])

    def test_what_differs_from_main_is_linted(self):
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        for path in (A, B):
            self.write(path, CLEAN[path] + "int d();\n")
            self.commit()
        self.write("src/conclave/base/new.hpp", "#pragma once\n")
        self.assertIn("lint: 3 of 4 files chosen, 3 linted", self.lint()[1])

    def test_where_nothing_differs_the_latest_commits_are_linted(self):
        self.write(B, CLEAN[B] + "int d();\n")
        self.commit()
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        with unittest.mock.patch.object(lint, "RECENT", 1):
            self.assertIn("lint: 1 of 3 files chosen", self.lint()[1])
        with unittest.mock.patch.object(lint, "lint_all", lambda *_: set()):
            self.assertIn("lint: 3 of 3 files chosen, 2 linted", self.lint()[1])

    def test_named_files_are_always_linted(self):
        self.lint("--all")
        self.assertIn("lint: 1 of 3 files chosen, 1 linted", self.lint(str(self.root / A))[1])
        self.assertIn("no C++ file", str(self.lint(str(self.root / ".gitignore"))[0]))

    def test_other_rules_lint_everything(self):
        self.lint("--all")
        self.write(".clang-tidy", RULES + "FormatStyle: file\n")
        self.assertIn("3 linted", self.lint("--all")[1])

    def test_rules_of_a_folder_hold_there(self):
        for path in ("src/conclave/base/slip.hpp", "tests/slip.hpp"):
            self.write(path, "#pragma once\ninline " + slip("slip"))
        self.write("tests/.clang-tidy", "InheritParentConfig: true\n"
                   "Checks: '-readability-*,bugprone-macro-parentheses'\n")
        status, output = self.lint("--all")
        self.assertEqual(status, 1)
        self.assertIn("src/conclave/base/slip.hpp:5:5:", output)
        self.assertNotIn("tests/slip.hpp:", output)
        self.write("tests/.clang-tidy", "InheritParentConfig: true\n")
        self.assertIn("tests/slip.hpp:5:5:", self.lint()[1])

    def test_what_does_not_compile_is_a_finding(self):
        self.write(A, "int a( {}\n")
        status, output = self.lint(str(self.root / A))
        self.assertEqual(status, 1)
        self.assertIn("[clang-diagnostic-error]", output)

    def test_headers_that_do_not_fit_together_are_linted_apart(self):
        self.write("src/conclave/base/other.hpp", "#pragma once\ninline int c() { return 2; }\n")
        status, output = self.lint()
        self.assertNotIn("diagnostic-error", output)
        self.assertNotEqual(status, 1)

    def test_missing_include_is_noticed_among_few_files(self):
        self.write("src/conclave/base/user.hpp", "#pragma once\ninline int d() { return c(); }\n")
        status, output = self.lint()
        self.assertEqual(status, 1)
        self.assertIn("src/conclave/base/user.hpp:2:", output)


if __name__ == "__main__":
    unittest.main()
