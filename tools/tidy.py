#!/usr/bin/env python3
"""The style check that runs as a test: what neither the compiler nor clang-tidy can see.

Prints `path:line: rule: sentence` per violation, then exits 1. The tables below are the rules, and
that of the layers in CONTRIBUTING.md.
"""
import argparse
import pathlib
import re
import subprocess
import sys
from posixpath import dirname, join, normpath

# The layers are the table of CONTRIBUTING.md: module, the modules it may include besides itself,
# and the libraries. Only how a library's headers begin is said here. Tests may include any.
LAYERS_PAGE, LAYERS_HEADING = "CONTRIBUTING.md", "## Layers"
LIBRARIES = {
    "Random123": "Random123/", "Highway": "hwy/", "Boost.Math": "boost/math", "fmt": "fmt/",
    "nlohmann/json": "nlohmann/", "toml++": "toml++", "CLI11": "CLI/", "SQLite": "sqlite3.h",
    "Eigen": "Eigen/", "GMP": "gmpxx.h", "Asio": "asio", "OpenSSL": "openssl/", "MPI": "mpi.h",
    "CUDA": "cuda", "Z3": "z3++.h", "pybind11": "pybind11/", "GoogleTest": "gtest",
}
FORBIDDEN_HEADERS = {"protocols": {"thread", "chrono", "iostream", "fstream"}}
SYSTEM_HEADER = re.compile(r"[^/]+|(?:sys|net|netinet|arpa|linux)/.*")

# Banned names: (pattern, where, except where, sentence). Places are beginnings of paths. CALL is
# what stands before the name of a called function, so that `Ticks time() const` is no call.
CALL = r"(?:^|[=(,;{}+\-%/?!|^<~[]|[^:]:|\breturn|\s[&*>]|\bstd::)\s*(?:(?<![\w:])::)?"
HOMES = {"tests": ("tests/", "bench/", "election/"), "bench": ("bench/",),
         "cli": ("bench/", "election/"), "election": ("election/",),
         "python": ("python/", "election/"), "web": ("web/",)}  # and conclave/
OURS = re.compile(r"(?:conclave/|(?=(?:bench|election)/))(\w+)/(detail/)?")
ALL_CODE = ("src/", "election/", "tests/", "bench/", "python/", "web/")
LIBRARY, ITS_TESTS = ("src/", "election/"), "election/tests/"
BELOW_EXPERIMENT = tuple(f"src/conclave/{module}/" for module in (
    "base", "model", "protocols", "text", "population", "network", "gpu", "chain", "exact",
    "schedules", "catalog"))
FRONT_ENDS = ("src/conclave/cli/", "src/conclave/check/main.cpp", "src/conclave/base/check.cpp",
              "election/local_cluster.cpp")  # ends processes that it has forked
# Rows are decided with operations that IEEE 754 fixes to the bit. Those are + - * /, and
# sqrt, ceil, floor and the like, so they are allowed; the functions below are not among them, and
# differ between libraries and machines; base/whole_numbers.hpp has some of them. The exception:
DECIDES_ROWS = tuple(f"src/conclave/{module}/" for module in (
    "base", "model", "protocols", "text", "population", "network", "gpu"))
INEXACT = (r"(?:pow|exp|exp2|expm1|log|log2|log10|log1p|cbrt|hypot|a?(?:sin|cos|tan)h?|atan2|erfc?|"
           r"[lt]gamma|beta|riemann_zeta)[fl]?")
INEXACT_ALLOWED = ("src/conclave/base/statistics.cpp",)  # tells about rows that are there already
BANNED = [(re.compile(pattern, re.M), *rest) for pattern, *rest in (
    (r"\b(?:mt19937\w*|random_device)\b|\bstd::(?:s?rand|\w+_distribution)\b|" + CALL
     + r"s?rand\s*\(", ALL_CODE, (), "randomness comes from base/random.hpp, bit for bit"),
    (r"\bstd::chrono\b|\bclock_gettime\b|\bstd::time\s*\(|"
     + CALL + r"time\s*\(\s*(?=(?:nullptr|NULL|0|&\w+)\s*\))",
     BELOW_EXPERIMENT, (), "no clock below experiment"),
    (r"\bstd::(?:cout|cerr|clog)\b|\bv?f?printf\s*\(|\bfmt::print\b|\b(?:secure_)?getenv\b|"
     + CALL + r"(?:_|quick_)?exit\s*\(", LIBRARY, (*FRONT_ENDS, ITS_TESTS),
     "the library never prints, exits or reads the environment"),
    (r"\bstd::" + INEXACT + r"\s*\(|" + CALL + INEXACT + r"\s*\(", DECIDES_ROWS,
     INEXACT_ALLOWED, "libm differs between machines, and this decides rows"),
    (r"^(?!.*(?:always_inline)).*\bvoid\s+\w*fetch\w*(?=\([^;{]*\{)", LIBRARY, (),
     "GCC 12 drops calls of a function that only prefetches unless it is [[gnu::always_inline]]"),
    (r"(?<![\w.>:])get_\w+\s*\(", LIBRARY, (), "name a function without get_"),
    (r"\b\w*(?:Manager|Helper|Util|Impl)\b", LIBRARY, (), "name what the thing is"),
)]
COLUMNS, FILE_LINES, FUNCTION_LINES, EXCUSE_LINES = 100, 400, 70, 15
# Leftovers, each pattern written so that it does not match itself.
LEFTOVERS = [(re.compile(pattern, re.M), sentence) for pattern, sentence in (
    (r"\b(?:TO[D]O|FIXM[E]|XX[X])\b", "unfinished work"),
    (r"\t", "tab"), (r"[ \t]+$", "white space at the end of the line"), (r"\r$", "CRLF line end"),
    (r"(?<![\w.~)}>*-])/(?:home|root|work|farm)/", "path of one machine"),
    (r"^(?:<{7}|>{7}|\|{7})(?: |$)", "merge marker"), (r"[^\n]\Z", "no newline at the end"),
)]
TABS_ALLOWED = re.compile(r"(?:^|/)(?:GNUm|M|m)akefile[^/]*$|\.(?:mk|tsv)$")
FOREIGN = re.compile(  # not ours, or the inputs of a fuzzer
    r"\.min\.(?:js|css)$|\.svg$|(?:^|/)package-lock\.json$|"
    r"^(?:tests/fuzz/\w+|election/tests/fuzz)/\w+/")
# How a comment or a docstring may not begin: such a sentence has no subject, or a riddle for one.
OPENING = re.compile(r'\s*(?:(?P<mark>//|#|/\*)\s|[rf]?""")\s*(?P<word>What|Of|Nobody)\s')
COMMENTED = ("hpp", "cpp", "cu", "cuh", "h", "py", "pyi", "ts", "js", "mjs", "cmake", "in", "txt",
             "toml")
LISTED_BY_BUILD = ("src/conclave/protocols/population/", "src/conclave/protocols/message/")
SKIPPED_FOLDERS = {".git", "build", "node_modules", "__pycache__"}  # only where git is absent
# Comments and literals; what is kept are includes, and numbers for the sake of the ' in 1'000.
TOKEN = re.compile(
    r'(?P<kept>#[ \t]*include[ \t]*[<"][^>"\n]*[>"]|\b\d[\w.\']*)|//(?:\\\n|[^\n])*|/\*.*?\*/|'
    r'R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
# Preprocessor lines, and every branch of an #if but the first: others may open the same brace.
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*el(?:se|if)\b(?:.|\n)*?\n[ \t]*#[ \t]*endif.*|"
                       r"^[ \t]*#(?:\\\n|.)*", re.M)
BRACE_KINDS = (  # the first that fits; \0 stands for a pair of brackets and what is in it
    (r"\bnamespace\b|\benum\b|\bextern\s*$", "scope"), (r"(?<![=!<>])=(?!=)", "table"),
    (r"\b(?:class|struct|union)\b[^\0]*$", "scope"),
    (r"\0[\s\w]*\0?\s*:(?!:).*\w\s*$", "part"),  # of a list of initializers, Name() : member_{
    (r"\0", "function"))

# Names of the standard library, and the headers of which any will do. Those of few uses, and those
# that come with almost any header, are left to the compiler.
STANDARD = {name: headers for names, *headers in (
    ("vector", "vector"), ("string", "string"), ("string_view", "string_view", "string"),
    ("array", "array"), ("map multimap", "map"), ("set multiset", "set"), ("span", "span"),
    ("unordered_map", "unordered_map"), ("unordered_set", "unordered_set"), ("deque", "deque"),
    ("queue priority_queue", "queue"), ("list", "list"), ("bitset", "bitset"), ("regex", "regex"),
    ("optional nullopt", "optional"), ("variant visit holds_alternative get_if", "variant"),
    ("unique_ptr make_unique shared_ptr make_shared weak_ptr", "memory"),
    ("function", "functional"), ("iota accumulate gcd lcm", "numeric"), ("tuple tie", "tuple"),
    ("bit_cast popcount countr_zero countl_zero bit_width bit_ceil bit_floor", "bit"),
    ("numeric_limits", "limits"), ("atomic atomic_ref", "atomic"),
    ("mutex lock_guard unique_lock scoped_lock", "mutex"), ("thread jthread", "thread"),
    ("condition_variable", "condition_variable"), ("chrono", "chrono"), ("complex", "complex"),
    ("uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t", "cstdint"),
    ("runtime_error logic_error invalid_argument out_of_range", "stdexcept"),
    ("ostringstream istringstream stringstream", "sstream"), ("filesystem", "filesystem"),
    ("ifstream ofstream fstream", "fstream"), ("from_chars to_chars", "charconv"),
    ("cout cerr cin", "iostream"), ("memcpy memset memcmp strerror", "cstring"),
    ("sqrt floor ceil isfinite isnan ldexp frexp", "cmath"), ("future async", "future"),
    ("same_as convertible_to integral unsigned_integral invocable", "concepts"),
    ("exchange pair", "utility", "map", "unordered_map"),
    ("clamp sort stable_sort all_of any_of none_of lower_bound upper_bound max_element "
     "min_element nth_element fill_n remove_if find_if", "algorithm"),
) for name in names.split()}
STANDARD_NAME = re.compile(r"\bstd::(?:ranges::)?(\w+)")
# Where a name begins to mean something: as a type, as a parameter of a template, as the suite or
# the name of a test.
MEANT = re.compile(r"\b(?:enum class|enum struct|enum|class|struct|union|concept|typename|using)\s+"
                   r"(?:\[\[[^]]*\]\]\s*)?(\w+)|\bTEST(?:_\w)?\((\w+),\s*(\w+)")
TYPE = re.compile(r"^(?:class|struct|enum class|concept|using)\s+(?:\[\[[^]]*\]\]\s*)?"
                  r"([A-Z]\w+)\s*(?:[:{=]|final\b)", re.M)
TYPE_NAME = re.compile(r"(?<![\w.>])(?<!\bhn::)[A-Z]\w+")  # hn is Highway


class Source:
    """One text file: its path from the root, and what the rules ask about it."""
    def __init__(self, path, text):
        self.path, self.text, self.lines = path, text, text.split("\n")
        self.ending = path.rpartition(".")[2]
        self.is_cpp = path.startswith(ALL_CODE) and self.ending in ("hpp", "cpp", "cu", "cuh")
        self.is_cmake = self.ending == "cmake" or path.endswith("CMakeLists.txt")
        self.is_library = path.startswith(LIBRARY) and not path.startswith(ITS_TESTS)
        folders = path.split("/")[:-1] + ["", "", ""]
        self.module = folders[2] if folders[:2] == ["src", "conclave"] else folders[0]
        # The tests of a module, tests/KIND/MODULE/, may include its detail/.
        self.detail_of = folders[2] if self.module == "tests" else self.module
        if path.startswith(ITS_TESTS):
            self.module = "tests"
        self.is_mutant = path.startswith("tests/mutants/")  # needs an engine's parts
        self.code = TOKEN.sub(lambda t: t["kept"] or blank(t), text) if self.is_cpp else ""
        self.includes = [(line_of(self.code, match.start(1)), match[1] == '"', match[2])
                         for match in INCLUDE.finditer(self.code)]  # (line, is quoted, path)


def blank(match):
    return " " + "\n" * match[0].count("\n")


def line_of(text, position):
    return text.count("\n", 0, position) + 1


class Layers:
    """The table of CONTRIBUTING.md, and what is wrong with it as (line, sentence)."""
    def __init__(self, files):
        page = next((file for file in files if file.path == LAYERS_PAGE), Source(LAYERS_PAGE, ""))
        self.modules, self.libraries, self.mistakes = {}, {}, []
        for line, cells in self.rows(page.lines):
            names, modules, libraries = (cell.replace("`", "").split(",") for cell in cells)
            for name in (name.strip() for name in names):
                self.modules[name] = {each.strip() for each in modules} - {"", name}
                self.libraries[name] = {each.strip() for each in libraries} - {""}
                home = f"{name}/" if f"{name}/" in ALL_CODE else f"src/conclave/{name}/"
                if not any(file.path.startswith(home) for file in files):
                    self.mistakes.append((line, f"{name}: there is no such module"))
                self.mistakes += [(line, f"{each}: no library of tools/tidy.py")
                                  for each in self.libraries[name] - set(LIBRARIES)]
        for name, included in self.modules.items():
            self.mistakes += [(1, f"{name} may include {each}, which is no module of the table")
                              for each in included - set(self.modules)]
        if not self.modules:
            self.mistakes.append((1, f"no table under {LAYERS_HEADING}"))

    @staticmethod
    def rows(lines):
        """(line number, the three cells) of each row of the table, its head aside."""
        inside = False
        for number, line in enumerate(lines, 1):
            inside = line == LAYERS_HEADING or inside and not line.startswith("#")
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if inside and line.startswith("| `") and len(cells) == 3:
                yield number, cells

    def may_include(self, module, header):
        """Whether a header that is not ours, <header>, is open to a module of the table."""
        library = next((name for name, prefix in LIBRARIES.items() if header.startswith(prefix)),
                       None)
        return library in self.libraries[module] if library \
            else SYSTEM_HEADER.fullmatch(header) is not None


def check_layers(files):
    """Yields (path, line, rule, sentence) for the table and for every include."""
    layers = Layers(files)
    for line, sentence in layers.mistakes:
        yield LAYERS_PAGE, line, "layers", sentence
    for file in files:
        for found in check_includes(file, layers):
            yield file.path, *found
        if file.is_cpp and file.path.startswith("src/") and file.module not in layers.modules:
            yield file.path, 1, "layers", f"lies in no module of the table in {LAYERS_PAGE}"


def check_includes(file, layers):
    allowed = {file.module} | layers.modules.get(file.module, set(layers.modules))
    homes = ("conclave/",) + HOMES.get(file.module, ())
    for line, quoted, path in file.includes:
        ours = OURS.match(path)
        if quoted and not path.startswith(homes):
            yield line, "layers", f'"{path}" does not start with {" or ".join(homes)}'
        elif path in FORBIDDEN_HEADERS.get(file.module, ()):
            yield line, "layers", f"{file.module} may not include <{path}>"
        elif ours and ours[1] not in allowed:
            yield line, "layers", f"{file.module} may not include {ours[1]}"
        elif ours and ours[2] and ours[1] not in (file.module, file.detail_of):
            if not file.is_mutant:
                yield line, "layers", f"{path} is private to {ours[1]}"
        elif not quoted and file.module in layers.modules:
            if not layers.may_include(file.module, path):
                yield line, "third-party", f"{file.module} may not include <{path}>"


def check_banned(file):
    for pattern, inside, outside, sentence in BANNED:
        applies = file.path.startswith(inside) and not file.path.startswith(outside)
        for match in pattern.finditer(file.code if applies else ""):
            name = re.findall(r"\w[\w:]*", match[0])[-1]
            yield line_of(file.code, match.end() - 1), "banned", f"{name}: {sentence}"


def check_detail(file):
    """The folder detail/ of a module is its namespace detail."""
    if file.is_cpp and file.is_library and "/detail/" in file.path:
        if not re.search(r"^namespace [\w:]*\bdetail\b", file.code, re.M):
            yield 1, "detail", "lies in detail/ and opens no namespace detail"


def check_lengths(file):
    if file.is_cpp or file.is_cmake or file.ending in ("py", "sh", "in"):
        for number, line in enumerate(file.lines, 1):
            if len(line) > COLUMNS and "://" not in line:  # an address cannot be broken
                yield number, "length", f"{len(line)} columns, at most {COLUMNS}"
    if file.is_cpp and file.is_library and len(file.lines) - 1 > FILE_LINES:
        if not any("long because" in line for line in file.lines[:EXCUSE_LINES]):
            yield 1, "length", f'over {FILE_LINES} lines without a reason, "long because ..."'
    for line, length in function_lengths(file.code):
        if length > FUNCTION_LINES:
            yield line, "length", f"function body of {length} lines, at most {FUNCTION_LINES}"


def function_lengths(code):
    """(line, lines of the body) of each outermost function, found by its braces."""
    code = DIRECTIVE.sub(blank, code)
    open_braces, parens, head = [], 0, 0  # (kind, position); the head of a brace begins at `head`
    for match in re.finditer(r"[{}();]", code):
        token, here, kind = match[0], match.start(), "part"
        outside = all(around == "scope" for around, _ in open_braces)
        if token == "{":
            kind = brace_kind(code[head:here]) if outside and not parens else "part"
            open_braces.append((kind, here))
        elif token == "}":
            kind, opened = open_braces.pop() if open_braces else ("scope", here)
            if kind == "function":
                yield line_of(code, opened), code.count("\n", opened, here) - 1
        elif outside:
            kind = "statement" if token == ";" and not parens else "part"
            parens = max(0, parens + {"(": 1, ")": -1, ";": 0}[token])
        if kind != "part":
            head = here + 1


def brace_kind(head):
    """The kind of thing a brace opens, from the text before it: scope, function, table or part."""
    head = re.sub(r"\boperator\s*(?:\(\s*\)|[^\w\s(]+)", "operator_", head)
    for brackets, filler in ((r"\([^()]*\)", "\0"), (r"\{[^{}]*\}", "\0"), (r"<[^<>]*>", " ")):
        while (shorter := re.sub(brackets, filler, head)) != head:
            head = shorter
    head = re.sub(r"\[\[[^\]]*\]\]|\b(?:alignas|__attribute__)\s*\0", " ", head)
    return next((kind for pattern, kind in BRACE_KINDS if re.search(pattern, head, re.S)), "table")


def check_leftovers(file):
    text = file.text.replace("\t", ".") if TABS_ALLOWED.search(file.path) else file.text
    for pattern, sentence in () if FOREIGN.search(file.path) else LEFTOVERS:
        for match in pattern.finditer(text):
            yield line_of(text, match.start()), "leftover", sentence


def check_comments(file):
    """Only the first line of a comment is looked at."""
    for number, line in enumerate(file.lines, 1) if file.ending in COMMENTED else ():
        opening = OPENING.match(line)
        before = file.lines[number - 2].lstrip() if number > 1 else ""
        if opening and not (opening["mark"] and before.startswith(opening["mark"] + " ")):
            yield number, "comment", f'begins with "{opening["word"]}": say it in a plain sentence'


def check_header(file):
    if file.is_cpp and file.ending == "hpp" and not re.search(r"(?m)^#pragma once$", file.code):
        yield 1, "header", "no #pragma once"
    if file.is_cpp and file.is_library:
        own_header = f'#include "{file.path.removeprefix("src/")[:-len(".cpp")]}.hpp"'
        if not file.text.startswith(("//", "/*", own_header)):
            yield 1, "header", "does not begin with a comment that says what it is"


def check_dead(files):
    """Yields (path, line, rule, sentence) for what nothing builds, includes or links to."""
    built, globbed, included, linked = set(), set(), set(), set()
    for file in files:
        folder = dirname(file.path)
        text = file.text if file.is_cmake or file.ending == "in" else file.code
        included |= {"src/" + path for path in re.findall(r"\bconclave/[\w/]+\.hpp", text)}
        included |= set(re.findall(r"\belection/[\w/]+\.hpp", text))
        if file.is_cmake:
            text = re.sub(r"(?m)(?:^|\s)#.*|\$\{\w+\}/?", " ", file.text)
            built |= {"/" + name for name in re.findall(r"\w[\w./+-]*\.(?:cpp|cu)\b", text)}
            for glob in re.findall(r"\bGLOB\b[^)]*\)", text):
                patterns = re.findall(r"[\w./-]*\*\.\w+", glob)
                globbed |= {normpath(join(start, p)) for p in patterns for start in ("", folder)}
        if re.match(r"README\.md$|docs/.*\.md$", file.path):
            targets = re.findall(r"(?m)(?:\]\(\s*<?|^\[[^\]]+\]:\s*)([^)#>\s]+)", file.text)
            linked |= {normpath(join(folder, target)) for target in targets} - {file.path}
    for file in files:
        path, ending = file.path, file.ending
        is_built = f"/{path}".endswith(tuple(built)) or f"{dirname(path)}/*.{ending}" in globbed
        is_used = path in included or path.startswith(LISTED_BY_BUILD)
        is_ours = file.is_library or path.startswith("bench/")
        if is_ours and ending in ("cpp", "cu") and not is_built:
            yield path, 1, "dead", "no CMake file names it"
        if file.is_library and ending == "hpp" and not is_used:
            yield path, 1, "dead", "no other file includes it"
        if path.startswith("docs/") and ending == "md" and path not in linked:
            yield path, 1, "dead", "neither README.md nor another page links to it"


class Reach:
    """The files that a file includes, by itself and through our headers that it includes."""
    def __init__(self, files):
        self.files = {file.path: file for file in files if file.is_cpp}

    def of(self, path):
        """(our files, itself among them; headers of others)"""
        ours, others, left = {path}, set(), [path]
        while left:
            for _, _, header in self.files[left.pop()].includes:
                homes = (home + header for home in ("src/", ""))
                found = next((home for home in homes if home in self.files), None)
                if not found:
                    others.add(header)
                elif found not in ours:
                    ours.add(found)
                    left.append(found)
        return ours, others


def homes_of_types(files):
    """Our types that a single header defines, whose names mean nothing else anywhere."""
    meant, homes = {}, {}
    for file in (file for file in files if file.is_cpp):
        for match in MEANT.finditer(file.code):
            for name in match.groups():
                meant.setdefault(name, set()).add(file.path)
        homes.update({name: file.path for name in TYPE.findall(file.code)})
    return {name: home for name, home in homes.items()
            if home.endswith(".hpp") and meant[name] == {home}}


def check_standalone(files):
    """Yields (path, line, rule, sentence) for names whose header a file does not reach: builds that
    compile several sources as one do not notice."""
    reach, homes = Reach(files), homes_of_types(files)
    for path, file in reach.files.items():
        ours, others = reach.of(path)
        missing = {}
        for match in STANDARD_NAME.finditer(file.code):
            headers = STANDARD.get(match[1])
            if headers and not others.intersection(headers):
                missing.setdefault(match[0], (match.start(), f"<{headers[0]}>"))
        for match in TYPE_NAME.finditer(file.code):
            if homes.get(match[0], path) not in ours:
                missing.setdefault(match[0], (match.start(), homes[match[0]]))
        for name, (position, header) in missing.items():
            yield path, line_of(file.code, position), "standalone", f"{name} without {header}"


def sources(root):
    """Every text file that git tracks or does not ignore; every one at all where git is absent."""
    listing = subprocess.run("test -e .git && git ls-files -co --exclude-standard -z", cwd=root,
                             shell=True, check=False, capture_output=True).stdout
    paths = listing.decode().split("\0")[:-1] or [
        path.relative_to(root).as_posix() for path in root.rglob("*")
        if not SKIPPED_FOLDERS & set(path.relative_to(root).parts)]
    for path in sorted(set(paths)):
        content = (root / path).read_bytes() if (root / path).is_file() else b"\0"
        if b"\0" not in content:
            yield Source(path, content.decode(errors="replace"))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[1])
    files = list(sources(parser.parse_args(arguments).root))
    checks = (check_banned, check_detail, check_lengths, check_leftovers, check_comments,
              check_header)
    violations = {(file.path, *found) for check in checks for file in files
                  for found in check(file)}
    violations.update(check_layers(files), check_dead(files), check_standalone(files))
    for path, line, rule, sentence in sorted(violations):
        print(f"{path}:{line}: {rule}: {sentence}")
    if not violations:
        print(f"tidy: {len(files)} files, no violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
