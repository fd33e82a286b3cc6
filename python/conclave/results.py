"""Sweeps and what they have found: plans, files of results, reports."""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
import warnings as _warnings
from pathlib import Path
from typing import Any, Iterable, Mapping

from . import _core, _words
from ._optional import needed
from ._progress import Bar
from ._keywords import options_of
from ._run import allow_files
from .protocol import Protocol, State, find


def _toml(value: Any) -> str:
    """A value of a plan in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, range) and len(value) > 1 and value.step > 0:
        return f"{{ from = {value[0]}, to = {value[-1]}, step = {value.step} }}"
    if isinstance(value, (list, tuple, range)) or hasattr(value, "tolist"):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    text = _words.number(value)
    return f'"{text}"' if "/" in text else text


class _Plan:
    """A plan that is a dict, as TOML in a folder, with the files that it needs beside it."""

    def __init__(self, plan: Mapping[str, Any], folder: Path) -> None:
        self._folder = folder
        runs = plan.get("run")
        if runs is None:
            lines = self._lines(plan)
        else:
            runs = [runs] if isinstance(runs, Mapping) else runs
            own = {key: plan[key] for key in ("protocol", "n", "init") if key in plan}
            rest = {key: value for key, value in plan.items() if key not in ("run", *own)}
            lines = self._lines(rest)
            for run in runs:
                lines += ["[[run]]", *self._lines({**own, **run})]
        (folder / "plan.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _lines(self, run: Mapping[str, Any]) -> list[str]:
        run = dict(run)
        init = run.get("init")
        is_given = callable(init) or isinstance(init, Mapping)
        if is_given:
            del run["init"]
        protocol = run.get("protocol")
        if isinstance(protocol, (list, tuple)):
            run["protocol"] = [self._written(each, run, init if is_given else None)
                               for each in protocol]
        elif protocol is not None:
            run["protocol"] = self._written(protocol, run, init if is_given else None)
        graph = run.get("graph")
        if isinstance(graph, str) and graph.startswith("file:"):
            run["graph"] = "file:" + os.path.abspath(graph[5:])
        return [f"{key} = {_toml(value)}" for key, value in run.items()]

    def _written(self, protocol: Any, run: dict[str, Any], init: Any) -> str:
        """The name of a protocol, which becomes a file where it was made in Python, or where it
        gets an initial configuration."""
        if not isinstance(protocol, Protocol):
            word = str(os.fspath(protocol))
            if init is None:
                return os.path.abspath(word) if word.endswith((".pp", ".crn", ".rules")) else word
            protocol = find(word)
        if protocol.is_listed:
            if init is None:
                return str(protocol.name)
            raise _core.Error(f"{protocol.name} has initial configurations with names; init as "
                              "numbers of agents is for protocols of one's own")
        text = protocol.text(protocol._stop)
        init = protocol.init if init is None and "init" not in run else init
        if init is not None:
            text = protocol.text(protocol._stop, _start_of(protocol, init, run.get("n")))
            if protocol._text is not None:
                run["init"] = "given"  # not the first of the file
        name = os.path.basename(protocol.name)
        path = self._folder / name
        for number in range(2, 1000):
            if not path.exists() or path.read_text(encoding="utf-8") == text:
                break
            path = self._folder / str(number) / name  # another one of the same name
            path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path.relative_to(self._folder))


def _start_of(protocol: Protocol, init: Any, n: Any) -> dict[str, Any]:
    """How many agents begin in each state, by its name: where that depends on n, an expression that
    has the number for each size of the plan."""
    if isinstance(init, Mapping) and all(_words.fraction(count).denominator == 1
                                         for count in init.values()):
        return {protocol.name_of(state): int(count) for state, count in init.items()}
    sizes = [n] if isinstance(n, (int, float, str)) else n
    if not isinstance(sizes, (list, tuple, range)) or any(isinstance(each, Mapping)
                                                          for each in sizes):
        raise _core.Error("init as shares or as a function of n needs n as numbers")
    given = {int(_words.fraction(_words.number(size))): _words.counts(init, size) for size in sizes}
    states = list(dict.fromkeys(state for counts in given.values() for state in counts))
    protocol._add_states(states)

    def chosen(state: State, among: list[int]) -> str:
        if len({given[size].get(state, 0) for size in among}) == 1:
            return str(given[among[0]].get(state, 0))
        middle = len(among) // 2
        return (f"(if n < {among[middle]} then {chosen(state, among[:middle])} else "
                f"{chosen(state, among[middle:])})")

    return {protocol.name_of(state): chosen(state, sorted(given)) for state in states}


@options_of("sweep")
def sweep(plan: Mapping[str, Any] | str | os.PathLike[str],
          output: str | os.PathLike[str] | None = None, *, threads: Any = None, shard: str = "",
          dry_run: bool = False, extend: bool = False, mix_versions: bool = False,
          allow_outside: bool = False,
          plot: str | os.PathLike[str] = "", law: str | Iterable[str] = (),
          max_file_size: Any = None, quiet: bool = False) -> Any:
    """Carries out a plan, from where it was left, and returns its results.

    The plan is the path of a TOML file as `conclave sweep` reads it, or a dict of the same shape;
    protocols in it may be `Protocol` objects, `init` shares or a function of n. With
    `kind = "rare"` its rows are repetitions of estimates of rare failures, see `Results.estimates`.
    `output` may be left out where the plan is a file: the results then lie beside the caller under
    the plan's name with `.db`. The other keywords are the options of `conclave sweep`; with
    `dry_run=True` nothing is stored, and the result is a list with a dict per cell: its trials, and
    how long one of them takes, judging by the first. `plot` is a picture of the growth, with the
    laws that fit best or those of `law`, and `Results.growth` returns the fits.

    >>> import conclave as cv, tempfile, os
    >>> plan = {"trials": 5, "run": {"protocol": "fratricide", "n": [10, 20]}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = cv.sweep(plan, os.path.join(folder, "results.db"))
    ...     print(len(found), list(found.frame().groupby("n")["trial"].count()))
    10 [5, 5]
    >>> [cell["trials"] for cell in cv.sweep(plan, dry_run=True)]
    [5, 5]
    """
    allow_files(max_file_size)
    options = {"threads": "" if threads is None else _words.number(threads), "shard": shard,
               "extend": extend, "mix_versions": mix_versions,
               "law": _conditions(law), "plot": os.fspath(plot)}
    if output is None and not dry_run:
        output = _default_output(plan, shard)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.toml" if isinstance(plan, Mapping) else Path(plan)
        allow_outside = allow_outside or isinstance(plan, Mapping)
        options["allow_outside"] = allow_outside
        try:
            if isinstance(plan, Mapping):
                _Plan(plan, Path(folder))
            if dry_run:
                return _core.sweep_estimate(str(path), shard, allow_outside)
            _carry_out(path, str(output), options, quiet)
        except _core.Error as error:
            sentence = re.sub(rf"^{re.escape(folder)}/plan.toml:(\d+:)? ", "", str(error))
            raise _core.Error(sentence) from None
    results = Results(str(output))
    if plot or law:
        results.growth(law, plot)
    return results


def _default_output(plan: Any, shard: str) -> str:
    if isinstance(plan, Mapping):
        raise _core.Error("a plan that is a dict has no name: say where the results are to go")
    stem = Path(plan).stem
    return f"{stem}.{shard.replace('/', '-of-')}.db" if shard else f"{stem}.db"


def _carry_out(path: Path, output: str, options: dict[str, Any], quiet: bool) -> None:
    with Bar("sweep", 0, quiet) as bar:
        def look(done: int, total: int) -> None:
            if bar is not None:
                bar.__self__._total = total  # type: ignore[attr-defined]
                bar(done, 0)
        found = _core.sweep(str(path), output, options, None if bar is None else look)
    for warning in [] if quiet else found:
        _warnings.warn(warning, stacklevel=4)


class Results:
    """A file of results that `sweep` has written, in Python or on the command line."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        about = _core.results_about(self.path)
        self.name: str = about["name"]
        self.plan: str = about["plan"]
        self.versions: list[str] = about["versions"]

    def __len__(self) -> int:
        return int(_core.results_about(self.path)["rows"])

    @property
    def cells(self) -> list[dict[str, Any]]:
        """The cells, each with how many trials it is to have and how many rows there are."""
        result: list[dict[str, Any]] = _core.results_cells(self.path)
        return result

    def csv(self, where: str | Iterable[str] = (), quote_formulas: bool = False) -> str:
        """The rows as CSV, for a spreadsheet with a ' before texts that it would compute."""
        return str(_core.results_csv(self.path, _conditions(where), quote_formulas))

    @staticmethod
    def salvage(damaged: str | os.PathLike[str], new: str | os.PathLike[str]) -> Results:
        """Saves the whole rows of a damaged file into a new one, from which a sweep goes on."""
        _core.results_salvage(os.fspath(damaged), os.fspath(new))
        return Results(new)

    def frame(self, where: str | Iterable[str] = ()) -> Any:
        """The rows as a pandas DataFrame; `where` is a condition such as "n>=1000" or
        "protocol=pll", or a list of conditions that must all hold."""
        pandas = needed("pandas", "frame()")
        return pandas.read_csv(io.StringIO(self.csv(where)))

    def estimates(self, where: str | Iterable[str] = ()) -> list[dict[str, Any]]:
        """The estimates of rare failures that a plan with `kind = "rare"` asks for: for each cell a
        dict of what `conclave rare --format jsonl` prints.

        >>> import conclave as cv, tempfile, os
        >>> plan = {"kind": "rare", "protocol": "ppl", "n": 4, "particles": 20, "repetitions": 3,
        ...         "params": {"t_max": 6, "t_virus": 2, "t_emit": 10}}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found = cv.sweep(plan, os.path.join(folder, "results.db")).estimates()
        >>> [way["way"] for way in found[0]["ways"]], found[0]["ln_low"] < found[0]["ln_holding"]
        (['timeout', 'suicide'], True)
        """
        rows = _core.results_estimates(self.path, _conditions(where))
        return [json.loads(row) for row in rows.splitlines()]

    def growth(self, law: str | Iterable[str] = (),
               picture: str | os.PathLike[str] = "") -> str:
        """Which laws the first measure follows over n, in words, and as a picture."""
        return str(_core.draw_growth(self.path, os.fspath(picture), _conditions(law)))

    def report(self, page: str | os.PathLike[str], **options: Any) -> None:
        report(self, page, **options)

    def __repr__(self) -> str:
        return f"<conclave.Results {self.path}, {len(self)} rows>"


def _conditions(where: str | Iterable[str]) -> list[str]:
    return [where] if isinstance(where, str) else list(where)


@options_of("report")
def report(files: Results | str | os.PathLike[str] | Iterable[Any],
           page: str | os.PathLike[str] = "", *, figures: str | os.PathLike[str] = "",
           kinds: Iterable[str] = (), only: Iterable[str] = (), where: str | Iterable[str] = (),
           by: str = "", law: str | Iterable[str] = (), title: str = "", explorer: str = "",
           axes: str = "", size: Any = "",
           font_size: Any = "", no_title: bool = False, bands: bool = False,
           max_file_size: Any = None) -> None:
    """Writes a report with tables, fitted laws and figures of results, as `conclave report`
    does, with its options as keywords. `figures` is a folder for the figures as files of the given
    kinds, `size` is such as "640x430" or a pair of numbers; `by` a field of the rows that takes
    the first measure apart."""
    allow_files(max_file_size)
    if isinstance(files, (Results, str, os.PathLike)):
        files = [files]
    if not os.fspath(page) and not os.fspath(figures):
        raise _core.Error("nothing to write: give page, figures, or both")
    paths = [each.path if isinstance(each, Results) else os.fspath(each) for each in files]
    if not isinstance(size, str):
        size = "x".join(_words.number(each) for each in size)
    _core.report(paths, {"page": os.fspath(page), "figures": os.fspath(figures),
                         "kinds": _conditions(kinds), "only": _conditions(only),
                         "where": _conditions(where), "by": by, "law": _conditions(law),
                         "title": title,
                         "explorer": explorer, "axes": axes, "size": size,
                         "font_size": str(font_size), "no_title": no_title, "bands": bands})
