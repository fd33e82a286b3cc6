#!/usr/bin/env python3
"""The pages say what the program does: consoles, commands, links and --help.

Usage: docs_test.py BINARY [--rewrite] [--all] [PAGE.md]... [unittest arguments]

A fenced block with lines `$ conclave ...` is a console: its commands are run, in the order of the
page and in a folder of its own that has the repository's files, and what they print is compared.
So are scripts, `$ python3 experiments/...`, which find conclave in the PATH, `$ python3 -c` and
all commands of a tutorial. What a command leaves running in the background ends with its page.
Stored results (experiments/results) that a page names lie there unpacked, as NAME.db.
`...` in a line stands for any words, a line `...` for any lines; a command with nothing below it
must only succeed. Comments before a block say what is different about it:

    <!-- not run: 66 s -->      its commands are rehearsed like those in the text, see below
    <!-- varies: [0-9.]+ s -->  what this pattern fits is not compared
    <!-- file: plan.toml -->    the block is the content of a file that commands of the page use

All other commands, in blocks, in the text, in tables and in --help, are rehearsed: options must be
known to the command's --help, and names, parameters and values to the program, which is called with
the smallest limits. With --rewrite the consoles get the current output (read the diff); with --all
the blocks that are not run because of their time are run, too; with PAGEs only their consoles and
commands are looked at.
"""
import contextlib
import difflib
import functools
import json
import lzma
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from typing import NamedTuple

BINARY = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
FLAGS = {"--rewrite", "--all"}
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CHOSEN = [page for page in PAGES if any(page.match(word) for word in sys.argv[2:])] or PAGES
CODE_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
DIRECTIVE = re.compile(r"<!-- (not run|varies|file): (.+) -->$")


class Block(NamedTuple):
    line: int  # of its first line inside the fence, counted from 1
    lines: list
    directives: dict
    is_tutorial: bool


class Step(NamedTuple):
    """A command of a console and what the page says it prints."""
    line: int
    command: str
    output: list


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks_of(page):
    """The fenced blocks of a page."""
    found, directives, opened = [], {}, None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            if opened:
                found.append(opened)
            opened = None if opened else Block(number + 1, [], directives,
                                               page.parent.name == "tutorials")
            directives = {}
        elif opened:
            opened.lines.append(line)
        elif match := DIRECTIVE.match(line.strip()):
            directives[match[1]] = match[2]
        elif line.strip():
            directives = {}
    return found


def prose_of(page):
    """The page with its fenced blocks blanked, line by line."""
    lines = page.read_text().splitlines()
    for block in blocks_of(page):
        for number in range(block.line - 2, block.line + len(block.lines)):
            lines[number] = ""
    return "\n".join(lines)


def steps_of(block):
    """The commands of a console with their outputs; empty for blocks of another kind."""
    steps = []
    for number, line in enumerate(block.lines, block.line):
        if line.startswith("$ "):
            steps.append(Step(number, line[2:], []))
        elif steps and steps[-1].command.endswith("\\"):
            steps[-1] = steps[-1]._replace(command=steps[-1].command[:-1] + line.strip())
        elif steps:
            steps[-1].output.append(line)
    return [step for step in steps if block.is_tutorial or is_ours(step.command)]


def is_conclave(command):
    return re.match(r"(mpirun )?conclave\b", command) is not None


def is_ours(command):
    return is_conclave(command) or re.match(r"python3 (-c|experiments/)", command) is not None


def environment():
    return {**os.environ, "PATH": f"{BINARY.parent}:{os.environ['PATH']}"}


def run(words, folder):
    return subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True,
                          timeout=600)


def printed_by(result):
    """The lines that a console shows: standard output, then errors; timing is not shown."""
    errors = [line for line in result.stderr.splitlines() if line.startswith("conclave: ")]
    return [line.rstrip() for line in result.stdout.splitlines()] + errors


def pattern_of(line):
    return ".*".join(map(re.escape, line.split("...")))


def fits(line, printed):
    return re.fullmatch(pattern_of(line), printed) is not None


def all_fit(expected, printed):
    pattern = "".join("(?:.*\n)*?" if line == "..." else pattern_of(line) + "\n"
                      for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def distance(line, printed):
    """Lines that differ in numbers or some words are taken for the same line, changed."""
    if fits(line, printed):
        return 0
    here, there = (set(re.sub(r"[-\d.e+]*\d", "0", text).split()) for text in (line, printed))
    return 1 if 2 * len(here & there) >= len(here | there) else 5


def aligned(expected, printed):
    """The expected lines beside the printed ones, None where one has no counterpart, such that they
    differ as little as possible; `...` takes any number of lines."""
    best = {(len(expected), len(printed)): (0, None)}
    for i in range(len(expected), -1, -1):
        for j in range(len(printed), -1, -1):
            more, left = i < len(expected), j < len(printed)
            ways = [best[i, j]] if (i, j) in best else []
            if more and expected[i] == "...":
                ways.append((best[i + 1, j][0], (1, 0)))
                ways += [(best[i, j + 1][0], (0, 1))] if left else []
            elif more:
                ways.append((best[i + 1, j][0] + 2, (1, 0)))
                if left:
                    ways.append((best[i + 1, j + 1][0] + distance(expected[i], printed[j]), (1, 1)))
            if left:
                ways.append((best[i, j + 1][0] + 2, (0, 1)))
            best[i, j] = min(ways, key=lambda way: way[0])
    i, j, pairs = 0, 0, []
    while (step := best[i, j][1]) is not None:
        in_gap = i < len(expected) and expected[i] == "..." and best[i, j][0] == \
            best[i + step[0], j + step[1]][0]
        if not in_gap:
            pairs.append((expected[i] if step[0] else None, printed[j] if step[1] else None))
        elif step[0]:
            pairs.append(("...", "..."))
        i, j = i + step[0], j + step[1]
    return pairs


def updated(expected, printed):
    """The output as the page should show it: as it was where that is right."""
    return [line if line is not None and fits(line, now) else now
            for line, now in aligned(expected, printed) if now is not None]


def masked(lines, varying):
    return [re.sub(varying, "~", line) if varying else line for line in lines]


def trimmed(lines):
    """Without blank lines at both ends: a page may set commands apart."""
    text = "\n".join(lines).strip("\n")
    return text.split("\n") if text else []


class Scratch:
    """A folder in which the commands of one page run: the repository's files, and the page's;
    stored results that the page names, unpacked."""

    def __init__(self, page):
        self.page = page
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="conclave-docs-"))
        self.groups = []  # of processes, one for each command
        for name in ("protocols", "experiments", "examples"):
            shutil.copytree(ROOT / name, self.folder / name)
        for packed in (ROOT / "experiments" / "results").glob("*.db.xz"):
            if re.search(rf"\b{packed.stem}\b", page.read_text()):
                (self.folder / packed.stem).write_bytes(lzma.decompress(packed.read_bytes()))
        for block in blocks_of(page):
            if "file" in block.directives:
                (self.folder / block.directives["file"]).write_text("\n".join(block.lines) + "\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for group in self.groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        shutil.rmtree(self.folder)

    def run(self, command):
        with subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as process:
            self.groups.append(process.pid)
            output, errors = process.communicate(timeout=600)
        return subprocess.CompletedProcess(command, process.returncode, output, errors)

    def complaint(self, step, varying):
        """The first mistake in a step, as text, and the output that it should have."""
        result = self.run(step.command)
        place = f"{name_of(self.page)}:{step.line}: $ {step.command}"
        expected, printed = trimmed(step.output), trimmed(printed_by(result))
        is_refusal = any(line.startswith("conclave: ") for line in expected)
        allowed = (1, 2, 4) if is_refusal else (0, 3, 4) if expected else (0,)
        if result.returncode not in allowed:
            return f"{place}\n  status {result.returncode}: {result.stderr.strip()}", printed
        said, seen = masked(expected, varying), masked(printed, varying)
        if not expected or all_fit(said, seen):
            return None, expected
        diff = difflib.unified_diff(said, updated(said, seen), "the page", "the program",
                                    lineterm="")
        return "\n".join([place, *diff]), updated(expected, printed)


def is_run(block):
    """Whether a console is; with --all also where only its time, "66 s", is against it."""
    reason = block.directives.get("not run")
    return reason is None or ("--all" in sys.argv and reason[0].isdigit())


class Consoles(unittest.TestCase):
    def test_show_what_the_commands_print(self):
        for page in CHOSEN:
            with Scratch(page) as scratch:
                self.check(page, scratch)

    def check(self, page, scratch):
        changes = []
        for block in blocks_of(page):
            if not is_run(block):
                continue
            for step in steps_of(block):
                with self.subTest(f"{name_of(page)}:{step.line}"):
                    fault, output = scratch.complaint(step, block.directives.get("varies"))
                    if fault and "--rewrite" not in sys.argv:
                        self.fail("\n" + fault)
                    elif fault:
                        changes.append((step, output))
        if "--rewrite" in sys.argv:
            rewrite(page, changes)


def rewrite(page, changes):
    lines = page.read_text().split("\n")
    for step, output in reversed(changes):
        first = step.line
        while lines[first - 1].endswith("\\"):
            first += 1
        blank = [""] if step.output and not step.output[-1] else []
        lines[first:first + len(step.output)] = output + blank
    page.write_text("\n".join(lines))


@functools.lru_cache(None)
def help_of(*command):
    return run([BINARY, *command, "--help"], ROOT).stdout


@functools.lru_cache(None)
def commands():
    listed = help_of().split("\n\n\n")[0].split("exit\n\n")[1]
    return re.findall(r"^  (\S+)", listed, re.M)


@functools.lru_cache(None)
def networks():
    """Protocol -> its network; those of message passing end in `synchronous`."""
    listed = json.loads(run([BINARY, "list", "--format", "json"], ROOT).stdout)
    return {entry["name"]: entry["network"] for entry in listed}


@functools.lru_cache(None)
def names_of_the_catalog():
    """--init, --engine, --delay, --wakeup and the parameters that take names -> these names."""
    known = {"--engine": {"auto", "gpu"}}  # gpu: where it was built
    for protocol in networks():
        told = json.loads(run([BINARY, "describe", protocol, "--format", "json"], ROOT).stdout)
        for option, key in (("--init", "init"), ("--engine", "engines"), ("--delay", "delays"),
                            ("--wakeup", "wakeups"), ("--ids", "ids")):
            known.setdefault(option, {"auto"}).update(each["name"] for each in told.get(key, []))
        for parameter in told["parameters"]:
            if " | " in parameter["allowed"]:
                known.setdefault(parameter["name"], set()).update(
                    parameter["allowed"].split(" | "))
    return known


SUBCOMMANDS = [["cluster", name]
               for name in ("init", "repair", "add", "remove", "renew", "backup", "restore")]


def options_of(command):
    listed = re.findall(r"^  (-\S+)", help_of(*command), re.M)
    return set(",".join(listed).split(","))


def is_placeholder(word):
    return bool(re.fullmatch(r"(\w+=)?[A-Z][A-Z_]*(,?\.\.\.)?|.*\.\.\..*|[a-z]+(\|[a-z]+)+", word))


def without(words, *names):
    """The words without these options and their values."""
    kept, skip = [], False
    for word in words:
        if not skip and word not in names:
            kept.append(word)
        skip = not skip and word in names
    return kept


def value_of(words, name, default=None):
    return words[words.index(name) + 1] if name in words[:-1] else default


def rehearsal(command, words):
    """The command with the smallest limits, and what it may end with: statuses, or a refusal that
    comes after everything has been understood. None where nothing cheap can be asked."""
    if command in ("list", "describe"):
        return words, (0,), None
    if command == "run" and "synchronous" in networks().get(words[0], ""):
        return [*without(words, "--trials", "--n", "--trace", "--output", "-o"), "--n",
                "2" if value_of(words, "--n") == "2" else "50"], (0, 3), None
    if command == "run" and value_of(words, "--engine") == "gpu":
        return words, (), "built without engine gpu"  # or on a machine without a device
    if command == "run":
        limits = "--max-interactions", "--max-parallel-time"
        return [*without(words, "--trials", "--trace", "--output", "-o", *limits),
                "--max-interactions", "1"], (0, 3), None
    if command == "verify":
        return [*without(words, "--memory", "--export"), "--memory", "1"], (0, 4), "too large"
    if command == "explore":
        return [*without(words, "--max-configurations"), "--max-configurations", "1"], (0, 4), \
            "too large"
    if command == "search":
        return [*without(words, "--budget"), "--budget", "1000"], (0,), None
    if command == "rare":
        effort = "--particles", "--repetitions", "--most-levels", "--output", "-o"
        return [*without(words, *effort), "--particles", "10", "--repetitions", "2",
                "--most-levels", "1"], (0,), "levels are needed"
    if command == "compare":
        return [*without(words, "--n", "--trials"), "--n", "10", "--trials", "1"], (0,), None
    if command == "sweep" and "/" in words[0]:
        return [*without(words, "-o", "--output"), "--dry-run"], (0,), None
    if command == "bench" and "--workload" in words:
        return [*without(words, "--n"), "--n", "1"], (), "--n takes"
    return None


def fault_of_names(command, words):
    """Names that commands take which would run for minutes: --help lists them."""
    names = [value_of(words, "--only", "")] if command == "reproduce" else \
        words[:1] if command == "bench" else []
    unknown = set(",".join(names).split(",")) - set(re.findall(r"\w+", help_of(command))) - {""}
    return f"`conclave {command} --help` does not know {', '.join(unknown)}" if unknown else None


class Rehearsed:
    """Understands commands as they are written on a page and says what is wrong with them."""

    def __init__(self, folder):
        self.folder = folder
        self.known = {}

    def fault(self, text):
        if text not in self.known:
            self.known[text] = self.find_fault(text)
        return self.known[text]

    def find_fault(self, text):
        try:
            lexer = shlex.shlex(text, posix=True, punctuation_chars="<>&|;")
            lexer.whitespace_split = True
            tokens = list(lexer)
        except ValueError as error:
            return f"cannot be read by a shell: {error}"
        simple, faults = [], []
        for token in [*tokens, ";"]:
            if token in ("&&", ";", "|"):
                faults.append(self.fault_of_words(simple))
                simple = []
            else:
                simple.append(token)
        return next(filter(None, faults), None)

    def fault_of_words(self, words):
        if words and words[0] == "mpirun":
            words = words[1:]
        if not words or words[0] != "conclave" or len(words) == 1:
            return None
        if any(set(word) <= {"<", ">"} for word in words):
            if any(word == ">" and words[at + 1].startswith("=") for at, word in enumerate(words)):
                return "a shell takes > for a redirection: quote the condition"
            words = words[:next(at for at, word in enumerate(words) if set(word) <= {"<", ">"})]
        return self.fault_of_command(words[1:])

    def fault_of_command(self, words):
        if words[0] in ("--help", "--version") or is_placeholder(words[0]):
            return None
        if words[0] not in commands():
            return f"no command {words[0]!r}"
        command = words[:2] if words[:2] in SUBCOMMANDS else words[:1]
        rest = words[len(command):]
        named = [re.split("[=|]", word.strip("[]"))[0] for word in rest if re.match(r"\[?-", word)]
        missing = [name for name in named if name not in options_of(command)]
        if missing:
            return f"`conclave {' '.join(command)} --help` does not know {', '.join(missing)}"
        if any("[" in word or is_placeholder(word) for word in rest):
            return None  # a synopsis
        if fault := fault_of_names(command[0], rest):
            return fault
        return self.fault_of_rehearsal(command[0], rest)

    def fault_of_rehearsal(self, command, words):
        if words and re.search(r"\.(pp|rules|toml)$", words[0]) and "/" not in words[0] \
                and not (self.folder / words[0]).exists():
            return None  # the reader's own file
        plan = rehearsal(command, words) if words else None
        if plan is None:
            return None
        quiet = ["--quiet"] if command in ("run", "verify", "search", "sweep") else []
        result = run([BINARY, command, *plan[0], *quiet], self.folder)
        if result.returncode in plan[1] or (plan[2] and plan[2] in result.stderr):
            return None
        return f"status {result.returncode}: {result.stderr.strip()}"


def is_command(text):
    """`conclave run ...`, and the short forms of tables: `explore ...`, `electleader --n ...`."""
    return is_conclave(text) or bool(re.match(r"[a-z-]+( [\w./-]+)? --", text)) and \
        text.split()[0] in {*commands(), *networks()}


def whole_command(text):
    first = text.split()[0]
    return text if is_conclave(text) else \
        f"conclave {text}" if first in commands() else f"conclave run {text}"


def written_commands(page):
    """All commands of a page that no console compares: (line, command)."""
    for block in blocks_of(page):
        if steps_of(block) and "not run" not in block.directives:
            continue
        joined = "\n".join(line.removeprefix("$ ") for line in block.lines)
        joined = re.sub(r"\\\n\s*", lambda match: " \0", joined)
        line = block.line
        for text in joined.split("\n"):
            if is_conclave(text):
                yield line, text.replace("\0", "")
            line += 1 + text.count("\0")
    prose = prose_of(page)
    for match in re.finditer(r"^    (conclave .*)$", prose, re.M):
        yield prose.count("\n", 0, match.start()) + 1, match[1]
    for line, text in spans_of(prose):
        if is_command(text):
            yield line, whole_command(text)


def spans_of(prose):
    """Code in backticks, also across lines: (line, text)."""
    for match in CODE_SPAN.finditer(prose):
        if "\n\n" not in match[1]:
            yield prose.count("\n", 0, match.start()) + 1, \
                re.sub(r"\s+", " ", match[1].replace("\\|", "|")).strip()


class Commands(unittest.TestCase):
    def test_of_all_pages_are_understood(self):
        for page in CHOSEN:
            with Scratch(page) as scratch:
                rehearsed = Rehearsed(scratch.folder)
                for line, text in written_commands(page):
                    with self.subTest(f"{name_of(page)}:{line}"):
                        if fault := rehearsed.fault(text):
                            self.fail(f"\n{name_of(page)}:{line}: {text}\n  {fault}")

    def test_and_options_in_the_text_exist(self):
        known = set().union(*(options_of([name]) for name in commands()),
                            *map(options_of, SUBCOMMANDS), options_of([]))
        foreign = {"--unix-socket", "--array", "--wrap", "--preset", "--install", "--prefix",
                   "--build", "--rewrite", "--all", "--record", "--seconds", "--lease-ms",
                   "--times", "--fixed", "--few", "--draw", "--report", "--silent",
                   "--clock-control",
                   "--launch-skip"}  # curl, sbatch, CMake, our tools, ncu
        for page in PAGES:
            for line, text in spans_of(prose_of(page)):
                for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text):
                    if option not in known | foreign:
                        self.fail(f"{name_of(page)}:{line}: no command has {option}: {text}")

    def test_and_names_in_the_text_are_of_the_catalog(self):
        """Parts of commands, such as `--init dup` or `reading=printed`."""
        for page in PAGES:
            for line, text in spans_of(prose_of(page)):
                if is_command(text):
                    continue  # rehearsed
                pairs = re.findall(r"(--\w+(?= )|\b\w+(?==))[ =](\w[\w-]*)(?![\w:-])", text)
                for name, value in pairs:
                    known = names_of_the_catalog().get(name)
                    if known and value not in known and not is_placeholder(value):
                        self.fail(f"{name_of(page)}:{line}: {name} takes {known}: {text}")


class Readme(unittest.TestCase):
    """The commands of the README do what it says as they are written, one after the other."""

    # They serve until Ctrl-C, or need what ./demo does not build; other tests run them.
    NOT_RUN = ("conclave explorer", "conclave bench")

    def test_commands_work_as_written(self):
        text = (ROOT / "README.md").read_text()
        written = [command for command in CODE_SPAN.findall(text) +
                   re.findall(r"^    (conclave .*|PYTHONPATH.*)$", text, re.M)
                   if command.startswith(("conclave ", "PYTHONPATH=")) and "NAME" not in command]
        written = [command for command in written if not command.startswith(self.NOT_RUN)]
        self.assertGreater(len(written), 12)
        built = BINARY.parent
        with Scratch(ROOT / "README.md") as scratch:
            for command in written:
                if re.fullmatch(r"conclave \w+", command):
                    continue  # the name of a command
                command = command.replace("build/release/python", str(built / "python"))
                with self.subTest(command):
                    result = run(["bash", "-c", command], scratch.folder)
                    self.assertEqual(result.returncode, 0, result.stderr)


class Help(unittest.TestCase):
    def test_of_every_command_has_examples_that_are_understood(self):
        with Scratch(ROOT / "README.md") as scratch:
            rehearsed = Rehearsed(scratch.folder)
            for command in commands():
                examples = re.findall(r"^  ((?:mpirun )?conclave .*?)(?:   .*)?$",
                                      help_of(command), re.M)
                self.assertTrue(examples, f"conclave {command} --help has no example")
                for text in examples:
                    with self.subTest(command):
                        if fault := rehearsed.fault(text):
                            self.fail(f"conclave {command} --help: {text}\n  {fault}")

    def test_fits_a_terminal(self):
        for command in [[], ["cluster", "init"], *([name] for name in commands())]:
            for line in help_of(*command).splitlines():
                self.assertLessEqual(len(line), 100, f"conclave {command} --help: {line}")

    def test_and_the_page_of_the_command_line_name_the_same_options(self):
        page = (ROOT / "docs" / "reference" / "command-line.md").read_text()
        table = run([BINARY, "options"], ROOT).stdout
        self.assertIn(table, page, "command-line.md lacks what `conclave options` prints")
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page))
        for command in commands():
            self.assertTrue(f"conclave {command}" in page,
                            f"command-line.md does not name {command}")
            for option in options_of([command]):
                self.assertTrue(option in named | {"--help"} or option[1] != "-",
                                f"command-line.md does not name {command} {option}")


def anchors_of(page):
    """The anchors that GitHub gives to the headings of a page."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", prose_of(page), re.M):
        text = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.append(text if text not in found else f"{text}-{found.count(text)}")
    return found


def links_of(page):
    prose = CODE_SPAN.sub(lambda match: re.sub(r"[^\n]", "`", match[0]), prose_of(page))
    for match in re.finditer(r"\]\(([^)\s]+)\)", prose):
        if not match[1].startswith(("http:", "https:")):
            yield prose.count("\n", 0, match.start()) + 1, match[1]


def targets_of(page):
    return {(page.parent / link.partition("#")[0]).resolve() for _, link in links_of(page)}


class Links(unittest.TestCase):
    def test_lead_somewhere(self):
        for page in PAGES:
            for line, link in links_of(page):
                path, _, anchor = link.partition("#")
                target = (page.parent / path).resolve() if path else page
                with self.subTest(f"{name_of(page)}:{line}"):
                    self.assertTrue(target.exists(), f"{name_of(page)}:{line}: no file {link}")
                    if anchor:
                        self.assertIn(anchor, anchors_of(target),
                                      f"{name_of(page)}:{line}: no heading for {link}")

    def test_of_the_index_name_every_page_and_those_of_pages_every_picture(self):
        index = ROOT / "docs" / "README.md"
        shown = set().union(*map(targets_of, PAGES))
        for page in set(PAGES) - {index, ROOT / "README.md"}:
            self.assertTrue(page in targets_of(index), f"docs/README.md does not name {page.name}")
        for picture in (ROOT / "docs" / "pictures").iterdir():
            self.assertTrue(picture in shown, f"no page shows {picture.name}")
        self.assertTrue(index in targets_of(ROOT / "README.md"))

    def test_are_not_the_only_paths_that_exist(self):
        homes = ROOT, ROOT / "src" / "conclave"
        for page in PAGES:
            for line, text in spans_of(prose_of(page)):
                top = text.split("/")[0]
                if re.fullmatch(r"(?!build/)[\w-]+/[\w./-]*", text) \
                        and any((at / top).is_dir() for at in homes):
                    self.assertTrue(any((at / text).exists() for at in homes),
                                    f"{name_of(page)}:{line}: there is no {text}")


@functools.cache
def test_sources():
    return [path.read_text() for ending in ("py", "cpp", "cu")
            for folder in ("tests", "election/tests")
            for path in (ROOT / folder).rglob(f"*.{ending}")]


def is_test(group, name):
    """Whether there is TEST(Group, Name), or test_name() in a file that has class Group."""
    if name.startswith("test_"):
        patterns = rf"(?m)^class {group}\b", rf"def {name}\("
    else:
        patterns = (rf"TEST(_F|_P)?\(\s*{group},\s*{name}\)",)
    return any(all(re.search(pattern, text) for pattern in patterns) for text in test_sources())


class Tests(unittest.TestCase):
    def test_that_pages_name_exist(self):
        named = 0
        for page in PAGES:
            for line, text in spans_of(prose_of(page)):
                found = re.fullmatch(r"([A-Z]\w+)\.(test_\w+|[A-Z]\w+[a-z])", text)
                if found:
                    named += 1
                    self.assertTrue(is_test(*found.groups()),
                                    f"{name_of(page)}:{line}: there is no test {text}")
        self.assertGreater(named, 40)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + [word for word in sys.argv[2:]
                                       if word not in FLAGS and not word.endswith(".md")])
