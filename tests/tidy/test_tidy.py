#!/usr/bin/env python3
"""Each rule of tools/tidy.py is broken once, in a small tree that is clean otherwise."""
import contextlib
import importlib.util
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TIDY = pathlib.Path(__file__).resolve().parents[2] / "tools" / "tidy.py"
sys.dont_write_bytecode = True
specification = importlib.util.spec_from_file_location("tidy", TIDY)
tidy = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tidy)

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # hundreds of trees, soon gone
MODULES = ("model", "population", "network", "exact", "catalog", "sweep", "mpi",
           "experiment", "cli")
TABLE = """## Layers

| module | may include | and of libraries |
|---|---|---|
| `base` | | Random123, fmt |
| `model`, `population`, `network`, `exact` | base | |
| `protocols` | model, base | |
| `election` | base | Asio |
| `catalog` | protocols, base | nlohmann/json |
| `sweep` | catalog, base | toml++, SQLite |
| `mpi` | sweep | MPI |
| `experiment`, `cli` | | CLI11 |
| `bench` | base | fmt |

## Rules
"""

CLEAN = {
    **{f"src/conclave/{module}/notes.txt": "A module.\n" for module in MODULES},
    "bench/notes.txt": "Benchmarks.\n",
    "election/notes.txt": "A library beside the others.\n",
    "CONTRIBUTING.md": TABLE,
    "README.md": "See [the design](docs/design.md).\n",
    "docs/design.md": "The design; more in [the notes](notes.md#one).\n",
    "docs/notes.md": "Notes.\n",
    "CMakeLists.txt": "add_library(base src/conclave/base/check.cpp)  # no other.cpp\n",
    "src/conclave/base/check.hpp": "// Checks.\n#pragma once\n\nvoid check();\n",
    "src/conclave/base/check.cpp": '#include "conclave/base/check.hpp"\n\nvoid check() {}\n',
    "src/conclave/protocols/population/duel.hpp":
        '// A protocol.\n#pragma once\n\n#include "conclave/base/check.hpp"\n',
    "tests/unit/base/check_test.cpp":
        '#include <gtest/gtest.h>\n\n#include "conclave/base/check.hpp"\n',
}


def source(path, body):
    """A file at `path` whose line 3 is the first line of `body`, with the standard headers that it
    needs at its end, and its name for CMake."""
    head = "// Subject.\n#pragma once\n" if path.endswith(".hpp") else "// Subject.\n\n"
    headers = {tidy.STANDARD[name][0] for name in tidy.STANDARD_NAME.findall(body)
               if name in tidy.STANDARD}
    body += "".join(f"#include <{header}>\n" for header in sorted(headers))
    names = CLEAN["CMakeLists.txt"]
    if path.endswith(".cpp"):
        names += f"target_sources(base PRIVATE {pathlib.PurePosixPath(path).name})\n"
    return {path: head + body, "CMakeLists.txt": names}


def write_tree(folder, changes):
    """The clean tree with `changes`."""
    for path, content in {**CLEAN, **changes}.items():
        file = pathlib.Path(folder, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


class TidyTest(unittest.TestCase):
    def run_tidy(self, changes, with_git=False):
        """The exit status and the output for the clean tree with `changes`."""
        output = io.StringIO()
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder, contextlib.redirect_stdout(output):
            write_tree(folder, changes)
            if with_git:
                subprocess.run(["git", "init", "-q", folder], check=True)
            return tidy.main(["--root", folder]), output.getvalue()

    def accepts(self, changes, **options):
        status, output = self.run_tidy(changes, **options)
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"^tidy: \d+ files, no violations\n$")

    def rejects(self, changes, *expected):
        """Exactly the violations whose lines begin with `expected`, in this order."""
        status, output = self.run_tidy(changes)
        found = output.splitlines()
        self.assertEqual([re.match(r"[^:]*:\d+: [\w-]+(?=: \S)", line)[0] for line in found],
                         list(expected), output)
        self.assertEqual(status, 1)

    def test_clean_tree_passes(self):
        self.accepts({})

    def test_command_line(self):
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            for changes, status, output in (
                    ({}, 0, f"tidy: {len(CLEAN)} files, no violations\n"),
                    ({"a.txt": "a"}, 1, "a.txt:1: leftover: no newline at the end\n")):
                write_tree(folder, changes)
                run = subprocess.run([sys.executable, TIDY, "--root", folder], check=False,
                                     capture_output=True, text=True)
                self.assertEqual((run.returncode, run.stdout, run.stderr), (status, output, ""))

    def test_what_git_ignores_is_not_checked(self):
        if not shutil.which("git"):
            self.skipTest("no git")
        self.accepts({".gitignore": "out/\n", "out/a.txt": "a \n"}, with_git=True)
        self.rejects({".gitignore": "out/\n", "out/a.txt": "a \n"}, "out/a.txt:1: leftover")

    # Layers.

    def test_lower_module_includes_higher(self):
        duel = "src/conclave/protocols/population/duel.hpp"
        self.rejects({**source("src/conclave/population/trial.hpp",
                               '\n#include "conclave/protocols/population/duel.hpp"\n'),
                      duel: CLEAN[duel] + '#include "conclave/population/trial.hpp"\n'},
                     "src/conclave/population/trial.hpp:4: layers", f"{duel}:5: layers")

    def test_higher_module_includes_lower(self):
        self.accepts(source("src/conclave/catalog/list.cpp",
                            '#include "conclave/protocols/population/duel.hpp"\n'))

    def test_mpi_does_not_reach_below_the_catalog(self):
        self.rejects(source("src/conclave/mpi/executor.cpp",
                            '#include "conclave/protocols/population/duel.hpp"\n'),
                     "src/conclave/mpi/executor.cpp:3: layers")

    def test_engines_do_not_include_each_other(self):
        self.rejects({**source("src/conclave/exact/chain.cpp",
                               '#include "conclave/network/queue.hpp"\n'),
                      "src/conclave/network/queue.hpp": "// A queue.\n#pragma once\n"},
                     "src/conclave/exact/chain.cpp:3: layers")

    def test_bench_includes_everything_but_cli(self):
        self.rejects({**source("bench/run_bench.cpp", '#include "conclave/cli/run.hpp"\n'
                                                      '#include "conclave/base/check.hpp"\n'),
                      "src/conclave/cli/run.hpp": "// Run.\n#pragma once\n"},
                     "bench/run_bench.cpp:3: layers")

    def test_layers_are_those_of_the_page(self):
        include = source("src/conclave/model/node.cpp",
                         '#include "conclave/base/check.hpp"\n#include <fmt/format.h>\n')
        row = "| `model`, `population`, `network`, `exact` | base | |\n"
        self.rejects(include, "src/conclave/model/node.cpp:4: third-party")
        with_fmt = TABLE.replace(row, row.replace("| |", "| fmt |"))
        self.accepts({**include, "CONTRIBUTING.md": with_fmt})
        self.rejects({**include, "CONTRIBUTING.md": TABLE.replace(row, row.replace("base", ""))},
                     "src/conclave/model/node.cpp:3: layers",
                     "src/conclave/model/node.cpp:4: third-party")

    def test_mistakes_in_the_table(self):
        for row, line in (("| `ghost` | base | |\n", 14), ("| `bench` | base | Qt |\n", 14),
                          ("| `bench` | ghost | |\n", 1)):
            table = TABLE.replace("\n\n## Rules", f"\n{row}\n## Rules")
            self.rejects({"CONTRIBUTING.md": table}, f"CONTRIBUTING.md:{line}: layers")
        status, output = self.run_tidy({"CONTRIBUTING.md": "## Layers\n"})
        self.assertEqual(status, 1)
        self.assertIn("CONTRIBUTING.md:1: layers: no table under ## Layers\n", output)

    def test_unknown_module(self):
        self.rejects(source("src/conclave/extras/list.cpp", ""),
                     "src/conclave/extras/list.cpp:1: layers")
        self.rejects(source("src/list.cpp", ""), "src/list.cpp:1: layers")

    def test_detail_is_private(self):
        hidden = {"src/conclave/base/detail/lanes.hpp":
                  "// Lanes.\n#pragma once\nnamespace conclave::detail {}\n"}
        include = '#include "conclave/base/detail/lanes.hpp"\n'
        self.rejects({**source("src/conclave/network/queue.cpp", include), **hidden},
                     "src/conclave/network/queue.cpp:3: layers")
        self.rejects({"tests/unit/exact/lanes_test.cpp": include, **hidden},
                     "tests/unit/exact/lanes_test.cpp:1: layers")
        self.rejects({**source("src/conclave/population/agents.cpp", include), **hidden},
                     "src/conclave/population/agents.cpp:3: layers")
        for path in ("src/conclave/base/random.cpp", "tests/unit/base/lanes_test.cpp"):
            self.accepts({**source(path, include), **hidden})

    def test_quoted_includes_start_with_conclave(self):
        self.rejects(source("src/conclave/base/random.cpp", '#include "check.hpp"\n'),
                     "src/conclave/base/random.cpp:3: layers")
        self.rejects(source("src/conclave/base/random.cpp", '#include "tests/check.hpp"\n'),
                     "src/conclave/base/random.cpp:3: layers")
        self.accepts({"tests/unit/base/a_test.cpp": '#include "tests/check.hpp"\n'})

    def test_protocols_have_no_clock_thread_or_file(self):
        for header in ("thread", "chrono", "iostream", "fstream"):
            self.rejects(source("src/conclave/protocols/message/ring.hpp",
                                f"#include <{header}>\n#include <vector>\n"),
                         "src/conclave/protocols/message/ring.hpp:3: layers")

    def test_commented_include_does_not_count(self):
        self.accepts(source("src/conclave/base/random.cpp",
                            '// #include "conclave/cli/run.hpp"\n/*\n#include "a.hpp"\n*/\n'))

    # Third-party headers.

    def test_third_party_header_in_wrong_module(self):
        for header in ("Random123/philox.h", "fmt/format.h", "nlohmann/json.hpp", "CLI/CLI.hpp",
                       "toml++/toml.h", "sqlite3.h", "Eigen/Sparse", "asio.hpp", "openssl/ssl.h",
                       "gtest/gtest.h", "boost/math/distributions.hpp", "hwy/highway.h",
                       "unheard/of.hpp"):
            self.rejects(source("src/conclave/model/node.cpp", f"#include <{header}>\n"),
                         "src/conclave/model/node.cpp:3: third-party")

    def test_third_party_header_in_its_module(self):
        for module, header in (("base", "Random123/philox.h"), ("cli", "CLI/CLI.hpp"),
                               ("base", "fmt/format.h"), ("catalog", "nlohmann/json.hpp"),
                               ("sweep", "toml++/toml.h"), ("mpi", "mpi.h"),
                               ("sweep", "sqlite3.h"), ("population", "sys/mman.h")):
            self.accepts(source(f"src/conclave/{module}/a.cpp", f"#include <{header}>\n"))
        self.accepts(source("bench/a_bench.cpp", "#include <fmt/format.h>\n"))
        self.accepts(source("election/a.cpp", "#include <asio.hpp>\n"))

    def test_the_library_beside_the_others(self):
        own = {"election/detail/link.hpp":
               "// A link.\n#pragma once\nnamespace election::detail {}\n"}
        include = '#include "election/detail/link.hpp"\n'
        for path in ("election/a.cpp", "election/tests/a_test.cpp"):
            self.accepts({**source(path, include), **own})
        self.rejects({**source("src/conclave/cli/a.cpp", include), **own},
                     "src/conclave/cli/a.cpp:3: layers")
        self.rejects(source("election/a.cpp", '#include "conclave/catalog/list.hpp"\n'),
                     "election/a.cpp:3: layers")
        self.rejects(source("election/a.cpp", "void get_on();\n"), "election/a.cpp:3: banned")
        self.rejects({"election/b.cpp": "// It is not built.\n"}, "election/b.cpp:1: dead")

    # Banned names.

    def test_standard_randomness_is_banned_everywhere(self):
        for code in ("std::mt19937 g;", "std::mt19937_64 g;", "std::random_device d;",
                     "int x = rand();", "x = a & rand();", "return rand ();", "std::srand(1);",
                     "srand(1);", "std::uniform_int_distribution<int> d;"):
            for path in ("src/conclave/cli/a.cpp", "bench/a_bench.cpp", "tests/unit/base/a.cpp"):
                self.rejects(source(path, f"int y;\n{code}\n"), f"{path}:4: banned")

    def test_clock_is_banned_below_experiment(self):
        for code in ("std::chrono::seconds s;", "clock_gettime(id, &spec);", "x = time(nullptr);",
                     "x = std::time(&y);", "time(&y);"):
            for module in ("base", "model", "network", "catalog"):
                path = f"src/conclave/{module}/a.cpp"
                self.rejects(source(path, code + "\n"), f"{path}:3: banned")
            self.accepts(source("src/conclave/experiment/a.cpp", code + "\n"))

    def test_library_neither_prints_nor_exits(self):
        for code in ("std::cout << 1;", "std::cerr << 1;", "printf(s);", "std::fprintf(f, s);",
                     "fmt::print(s);", "exit(1);", "std::exit(1);", "x = getenv(s);"):
            path = "src/conclave/experiment/a.cpp"
            self.rejects(source(path, code + "\n"), f"{path}:3: banned")
            for path in ("src/conclave/cli/a.cpp", "src/conclave/base/check.cpp"):
                self.accepts(source(path, code + "\n"))

    def test_libm_decides_no_row(self):
        for code in ("x = std::pow(a, b);", "x = log2(a);", "return std::exp (a);", "f(sin(a));",
                     "x = std::lgamma(a);", "double x = logf(a);"):
            for module in ("protocols", "network", "base"):
                path = f"src/conclave/{module}/a.cpp"
                self.rejects(source(path, code + "\n"), f"{path}:3: banned")
            for path in ("src/conclave/experiment/a.cpp", "src/conclave/base/statistics.cpp"):
                self.accepts(source(path, code + "\n"))

    def test_what_ieee_754_fixes_may_decide_rows(self):
        self.accepts(source("src/conclave/base/a.cpp",
                            "x = std::sqrt(a) + std::ceil(b) + log_of(c) + f.log(d);\n"))

    def test_prefetching_is_always_inlined(self):
        path = "src/conclave/base/a.cpp"
        body = "void prefetch(int a) const { __builtin_prefetch(&b[a]); }\n"
        self.rejects(source(path, body), f"{path}:3: banned")
        self.accepts(source(path, "[[gnu::always_inline]] " + body))
        self.accepts(source(path, "void prefetch(int a) const;\n"))

    def test_names_that_say_nothing(self):
        for code in ("int get_size();", "class FileManager;", "class Helper;", "struct RunUtil;",
                     "class RunImpl;"):
            self.rejects(source("src/conclave/base/a.cpp", code + "\n"),
                         "src/conclave/base/a.cpp:3: banned")

    def test_banned_names_are_seen_in_code_only(self):
        self.accepts(source("src/conclave/base/a.cpp", r'''// std::mt19937, rand() and exit(1)
const char* a = "std::cout // \" rand()";
const char* b = R"x(std::cerr " )" rand())x";
/* std::random_device
   time(0) */
int c = 1'000'000; char d = '"'; int e = 2'000;
double time() const; std::uint16_t& rand() { return rand_; } int operand(int strand);
int f = u.rand() + parallel_time(0) + std::get_if(v) + json.get_to(x) + snprintf(a, b);
'''))

    def test_folder_detail_is_the_namespace_detail(self):
        path = "src/conclave/base/detail/a.cpp"
        self.rejects(source(path, "namespace conclave {\nint a;\n}\n"), f"{path}:1: detail")
        self.accepts(source(path, "namespace conclave::detail {\nint a;\n}\n"))

    def test_comments_begin_with_plain_sentences(self):
        for path, comment in (("src/conclave/base/a.cpp", "// What is done."),
                              ("tests/support/a.hpp", "  // Nobody knows."),
                              ("python/a.py", '    """Of two, the larger."""'),
                              ("web/src/a.ts", "// Of two, the larger.")):
            self.rejects(source(path, f"\n{comment}\n"), f"{path}:4: comment")
            self.accepts(source(path, f"\n{comment.replace('What', 'This')}\n"
                                .replace("Nobody", "None").replace("Of", "From")))
        self.accepts(source("src/conclave/base/a.cpp", "\n// It is here.\n// What else?\n"))

    # Lengths.

    def test_long_line(self):
        self.rejects(source("src/conclave/base/a.cpp", f"// {'a' * 97}\n// {'a' * 98}\n"),
                     "src/conclave/base/a.cpp:4: length")
        self.rejects({"tools/a.py": "#" * 101 + "\n"}, "tools/a.py:1: length")
        self.accepts(source("src/conclave/base/a.cpp", f"// https://{'a' * 98}\n"))

    def test_long_file(self):
        path = "src/conclave/base/a.cpp"
        self.accepts(source(path, "int a;\n" * 398))
        self.rejects(source(path, "int a;\n" * 399), f"{path}:1: length")
        self.accepts(source(path, "// It is long because of its tables.\n" + "int a;\n" * 400))

    def test_long_function(self):
        path = "src/conclave/base/a.cpp"
        for head in ("void f() {", "template <class T = int> auto C<T>::f(int a = 1) -> A<B> {",
                     "C::C(int a) : B<C>(a), a_{a}, b_{{1}} {", "TEST(A, B) {",
                     "bool operator==(const A& a, const B& b) noexcept(true) {",
                     "A& operator=(const A& a) {", "struct A f(B b = {}) {",
                     "[[nodiscard]] constexpr int f(int a) requires A<B> {"):
            for before, after in (("", ""), ("namespace a {\nclass A : B {\n public:\n", "};\n}\n"),
                                  ('extern "C" {\nMACRO(a)\nnamespace {\n', "}\n}\n")):
                body, line = "  a();\n" * 70, 3 + before.count("\n")
                self.accepts(source(path, f"{before}{head}\n{body}}}\n{after}"))
                self.rejects(source(path, f"{before}{head}\n\n{body}}}\n{after}"),
                             f"{path}:{line}: length")

    def test_long_lambda_counts_with_its_function_once(self):
        path, body = "src/conclave/base/a.cpp", "    a();\n" * 71
        self.rejects(source(path, "void f() {\n  g([&](int a) {\n" + body + "  });\n}\n"),
                     f"{path}:3: length")

    def test_what_is_long_but_no_function(self):
        rows = "    {1, f(2), [] { return 3; }},\n" * 80
        members = "  int f(int a) { return a; }\n" * 80
        for head, body in (
                ("namespace a {", members),
                ("struct alignas(64) A final : B<C> {", members),
                ("template <class T> requires(C<T>) class A {", members),
                ("template <class T>\n  requires requires { T::a; }\nstruct A<T> {", members),
                ("MACRO(a)\nclass __attribute__((packed)) A {", members),
                ("enum class A : int {", "  a,\n" * 80),
                ("constexpr A table[] = {", rows),
                ("const std::array<A, 3> table{{", rows),
                ("void f(int a);\nstatic constexpr B info{", rows),
                ("auto f = [](int a) {", "  a;\n" * 80),
                ("concept A = B<T> && requires(T a) {", "  { a } -> B;\n" * 80)):
            end = "}};\n" if head.endswith("{{") else "};\n"
            self.accepts(source("src/conclave/base/a.cpp", f"{head}\n{body}{end}"))

    def test_braces_in_branches_of_the_preprocessor(self):
        path = "src/conclave/base/a.cpp"
        self.accepts(source(path, "namespace a {\n#ifdef A\nvoid f() {\n#elif B\nvoid g() {\n"
                                  "#else\nvoid h() {\n#endif\n}\n#define A(b) \\\n  void i() {\n"
                            + "void j() { a(); }\n" * 80 + "}\n}\n}\n"))

    # Leftovers. The words are put together here so that this file has none of them.

    def test_leftovers(self):
        for line in ("TO" + "DO: more", "# FIX" + "ME", "X" * 3, "a  ", "a\tb", "a\r",
                     "in /ho" + "me/me/a", '"/wo' + 'rk/a"', "<" * 7 + " mine", ">" * 7 + " his"):
            self.rejects({"notes.txt": f"a\n{line}\nb\n"}, "notes.txt:2: leftover")

    def test_what_only_looks_like_a_leftover(self):
        self.accepts({"notes.txt": "mktemp aXXXXXX\nTO" + "DOS\n${A}/wo" + "rk/b src/ho" + "me/\n",
                      "Makefile": "all:\n\ttrue\n", "empty.txt": "", "picture.png": b"\x89\0 \n\t"})

    def test_missing_final_newline(self):
        self.rejects({"notes.txt": "a\nb"}, "notes.txt:2: leftover")

    # Dead files.

    def test_source_that_is_not_built(self):
        for path in ("src/conclave/base/other.cpp", "bench/other.cpp"):
            self.rejects({path: "// Only a comment of CMake names it.\n"}, f"{path}:1: dead")

    def test_source_that_is_globbed(self):
        other = {"src/conclave/cli/other.cpp": "// Globbed.\n"}
        self.accepts({**other, "src/conclave/cli/CMakeLists.txt": "file(GLOB sources *.cpp)\n"})
        self.accepts({**other, "cmake/a.cmake":
                      "file(GLOB sources CONFIGURE_DEPENDS\n  ${A}/src/conclave/cli/*.cpp)\n"})
        self.rejects({**other, "src/conclave/cli/CMakeLists.txt": "file(GLOB headers *.hpp)\n"},
                     "src/conclave/cli/other.cpp:1: dead")

    def test_header_that_nobody_includes(self):
        header = {"src/conclave/base/other.hpp": "// Other.\n#pragma once\n"}
        self.rejects(header, "src/conclave/base/other.hpp:1: dead")
        self.accepts({**header, "cmake/protocol.cpp.in": '#include "conclave/base/other.hpp"\n'})

    def test_page_that_nobody_links_to(self):
        self.rejects({"docs/other.md": "[Myself](other.md).\n"}, "docs/other.md:1: dead")

    # Headers.

    def test_header_without_pragma_once(self):
        self.rejects({"src/conclave/base/check.hpp": "// Checks; #pragma once is missing.\n"},
                     "src/conclave/base/check.hpp:1: header")

    def test_file_without_opening_comment(self):
        self.rejects({"src/conclave/base/check.hpp": "#pragma once\n"},
                     "src/conclave/base/check.hpp:1: header")
        self.rejects({"src/conclave/base/check.cpp": "#include <vector>\n"},
                     "src/conclave/base/check.cpp:1: header")

    # Files that include what they need, which builds of several sources as one do not notice.

    def test_name_of_the_standard_library_without_its_header(self):
        path = "src/conclave/base/check.cpp"
        own = '#include "conclave/base/check.hpp"\n'
        for code, header in (("std::vector<int> a;", "vector"), ("std::uint8_t a;", "cstdint"),
                             ("int a = std::ranges::sort(b);", "algorithm")):
            self.rejects({path: f"{own}\n{code}\n"}, f"{path}:3: standalone")
            self.accepts({path: f"{own}#include <{header}>\n{code}\n"})
            through = CLEAN["src/conclave/base/check.hpp"] + f"#include <{header}>\n"
            self.accepts({path: f"{own}\n{code}\n", "src/conclave/base/check.hpp": through})
        self.accepts({path: f"{own}// std::vector is not used here\n"})

    def test_type_without_the_header_that_defines_it(self):
        path, header = "src/conclave/base/check.cpp", "src/conclave/base/check.hpp"
        defined = {header: "// Checks.\n#pragma once\n\nstruct Checked {\n};\n"}
        for definition in ("class Checked final {", "enum class Checked : int {",
                           "using Checked = int;", "template <class T>\nclass Checked {",
                           "template <class T>\nconcept Checked = true;"):
            changes = {header: f"// Checks.\n#pragma once\n\n{definition}\n"}
            self.rejects({**changes, path: "// Lacks its header.\nChecked a;\n"},
                         f"{path}:2: standalone")
            self.accepts({**changes, path: '#include "conclave/base/check.hpp"\nChecked a;\n'})
        for other in ("template <class Checked>\nvoid f(Checked);", "class Checked;\nChecked* a;",
                      "TEST(Checked, Twice) {}", "int a = b.Checked + c->Checked;"):
            self.accepts({**defined, path: f"// Means another thing by it.\n{other}\n"})


if __name__ == "__main__":
    unittest.main()
