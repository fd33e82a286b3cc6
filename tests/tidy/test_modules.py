#!/usr/bin/env python3
"""tools/modules on a tree of three modules: the drawing, the page that names them, the table."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "modules"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("modules", str(TOOL))
modules = importlib.util.module_from_spec(importlib.util.spec_from_loader("modules", loader))
loader.exec_module(modules)

FILES = {
    "CONTRIBUTING.md": "## Layers\n| `base` | | |\n| `model` | base | |\n"
                       "| `cli` | model, base | |\n",
    "docs/explanation/architecture.md":
        "`src/conclave/base/`, `src/conclave/model/`, `src/conclave/cli/`\n",
    "src/conclave/base/a.hpp": "// A.\n#pragma once\n\nint a();\n",
    "src/conclave/model/b.hpp": '// B.\n#pragma once\n#include "conclave/base/a.hpp"\n',
    "src/conclave/cli/a.cpp": "// C.\n",
}


class ModulesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for path, content in FILES.items():
            self.write(path, content)

    def write(self, path, content):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(content)

    def run_tool(self, *arguments):
        """Exit status, and what was printed."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = modules.main(["--root", str(self.root), *arguments])
        return status, output.getvalue()

    def test_an_arrow_is_left_out_where_a_longer_way_leads(self):
        table = {"base": set(), "model": {"base"}, "cli": {"model", "base"}}
        self.assertEqual(modules.reduced(table), {"base": [], "model": ["base"], "cli": ["model"]})
        self.assertEqual(modules.levels(modules.reduced(table)), [["base"], ["model"], ["cli"]])

    def test_the_drawing_must_be_up_to_date(self):
        self.assertEqual(self.run_tool("--check")[0], 1)
        self.run_tool("--draw")
        self.assertEqual(self.run_tool("--check")[0], 0)
        table = FILES["CONTRIBUTING.md"].replace("model, base", "base")
        self.write("CONTRIBUTING.md", table)
        self.assertIn("tools/modules --draw", self.run_tool("--check")[1])

    def test_every_folder_is_on_the_page(self):
        self.run_tool("--draw")
        self.write("src/conclave/plot/d.hpp", "// D.\n")
        self.write("web/e.ts", "\n")
        self.assertEqual(self.run_tool("--check"), (
            1, "docs/explanation/architecture.md does not mention the folder `src/conclave/plot/`\n"
               "docs/explanation/architecture.md does not mention the folder `web/`\n"))

    def test_what_the_page_names_is_in_the_code(self):
        self.run_tool("--draw")
        self.write("src/conclave/cli/a.cpp", "// C.\nint Engine = advance();\n")
        page = FILES["docs/explanation/architecture.md"]
        self.write("docs/explanation/architecture.md", page + "`cli/a.cpp`, `Engine::advance`\n")
        self.assertEqual(self.run_tool("--check")[0], 0)
        self.write("docs/explanation/architecture.md", page + "`cli/b.cpp`, `Engine::retreat`\n")
        self.assertEqual(self.run_tool("--check"), (
            1, "".join(f"docs/explanation/architecture.md speaks of `{name}`, which is not there\n"
                       for name in ("cli/b.cpp", "Engine::retreat"))))

    def test_table_and_report(self):
        self.assertIn("base               4      1        1     33.3%       100%\n",
                      self.run_tool()[1])
        report = self.run_tool("--report")[1]
        self.assertIn("a: in base, cli\n", report)
        self.assertIn("src/conclave/base/a.hpp: one user\n", report)
        self.assertIn("src/conclave/cli/a.cpp: 1 lines\n", report)

    def test_contracts_of_public_names(self):
        self.write("src/conclave/protocols/b.hpp", HEADER)
        self.write("src/conclave/protocols/detail/c.hpp", "// C.\nvoid c();\nvoid d();\n")
        self.assertRegex(self.run_tool()[1], r"protocols .* 67%\n")
        self.assertRegex(self.run_tool()[1], r"cli .* -\n")
        silent = [line.partition(": ")[2] for line in self.run_tool("--silent")[1].splitlines()]
        self.assertEqual(silent, ["late", "after_body", "Other", "Engine"])


HEADER = """// B.
#pragma once
namespace conclave {
// Ends.
template <class T>
concept Runs = requires(T& t) {
  { t.run(1) };
};

// Grouped.
int first(int a, int b = f(1));
int second(const std::vector<int>& all);
int second(int one);

int late();
// Has a body.
inline int body(int a) {
  return a;
}
inline int after_body(int a) { return a; }
struct Other;
struct Other {
  int value = 0;
};
struct Fields {
  int value = 0;  // in ms
};
// An engine.
class Keeper {
 public:
  explicit Keeper(int kept) : kept_(kept) {}
  Keeper(const Keeper&) = delete;
  int kept() const { return kept_; }
  bool operator==(const Keeper&) const;
  void run(int);  // asked for
  int count(int);  // how many
 private:
  void hidden();
  int kept_ = 0;
};
template <class E>
class Engine {
 public:
  explicit Engine(E& engine) : engine_(engine) {}  // which must outlive it
  void run(int number) const { engine_.run(number); }
};
namespace { void local(); }
namespace detail { void local(); }
}  // namespace conclave
"""


if __name__ == "__main__":
    unittest.main()
