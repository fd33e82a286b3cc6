"""Trials of one protocol: `conclave.run` and what it returns."""

from __future__ import annotations

import io
import json
import os
import warnings as _warnings
from typing import Any, Callable, Iterable, Iterator, Mapping

from . import _core, _words
from ._keywords import options_of
from ._optional import needed
from ._progress import Bar
from .protocol import Protocol, find

_FORMATS = ("table", "jsonl", "csv", "json")


class Text(str):
    """A string that a notebook or a prompt shows as it is."""

    def __repr__(self) -> str:
        return str(self).rstrip("\n")

    def _repr_html_(self) -> str:
        import html  # here and below: not when the package is imported
        lines = html.escape(str(self).rstrip("\n"))
        return f'<pre style="white-space: pre; overflow-x: auto">{lines}</pre>'


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while trials ran. `run` has the trials that were complete: the first ones, without a
    gap, as the command line keeps them."""

    def __init__(self, run: Run) -> None:
        super().__init__(f"{len(run)} trials were complete")
        self.run = run


class Run:
    """The trials of one run, in trial order. Rows are the bytes of the command line.

    >>> import conclave as cv
    >>> r = cv.run("fratricide", n=100, trials=3, seed=1)
    >>> len(r), r.rows[0]["interactions"], r.rows[0]["converged"]
    (3, 7547, True)
    """

    def __init__(self, trials: Any, protocol: Protocol, prepared: Any, kept: Mapping[str, bool],
                 history_by: str) -> None:
        self._trials, self._protocol, self._prepared = trials, protocol, prepared
        self._kept, self._history_by = dict(kept), history_by
        self._rows: list[dict[str, Any]] | None = None
        self._histories: dict[str, tuple[Any, ...]] = {}

    @property
    def protocol(self) -> Protocol:
        return self._protocol

    @property
    def engine(self) -> str:
        """The engine that ran: agents, counts, events, auto (which changes over), network, ..."""
        return str(self._prepared.engine)

    @property
    def n(self) -> int:
        return int(self._prepared.n)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dict per trial, as `--format jsonl` prints it; whole numbers are exact."""
        if self._rows is None:
            self._rows = [json.loads(line) for line in self.jsonl().splitlines()]
        return self._rows

    def __len__(self) -> int:
        return len(self._trials)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, trial: int) -> dict[str, Any]:
        return self.rows[trial]

    @property
    def converged(self) -> bool:
        """Whether every trial has converged, or has ended as planned."""
        return int(self._trials.not_converged) == 0

    def csv(self) -> str:
        """The rows as `--format csv` prints them; after an interrupt a last line reports it."""
        return str(self._trials.csv(True))

    def jsonl(self) -> str:
        """The rows as `--format jsonl` prints them; after an interrupt the last row reports it."""
        return str(self._trials.jsonl(True))

    def json(self) -> str:
        """Rows and summary as `--format json` prints them."""
        rows = ",\n".join(self._trials.jsonl(False).splitlines())
        return f'{{"rows":[\n{rows}\n],\n"summary":{self._trials.summary_json()}}}\n'

    def frame(self) -> Any:
        """A pandas DataFrame with the columns of `--format csv`."""
        pandas = needed("pandas", "frame()")
        return pandas.read_csv(io.StringIO(self._trials.csv(False)))

    def summary(self, width: int = 100) -> Text:
        """Statistics of times and observables, as `conclave run` prints them."""
        return Text(self._trials.summary_table(width))

    @property
    def statistics(self) -> dict[str, Any]:
        """The summary as data."""
        result: dict[str, Any] = json.loads(self._trials.summary_json())
        return result

    def trace(self) -> Any:
        """Leaders and observables over time, or the events of message passing (`trace=True`)."""
        self._need("trace")
        pandas = needed("pandas", "trace()")
        return pandas.read_csv(io.StringIO(self._trials.trace()))

    def history(self, by: str = "") -> Any:
        """How many agents were in each state at every sample (`history=True`): a DataFrame with the
        columns trial, time and one per state. The counts are NumPy's view of memory of this run,
        the same at every call."""
        self._need("history")
        numpy, pandas = needed("numpy", "history()"), needed("pandas", "history()")
        by = by or self._history_by
        if by not in self._histories:
            self._histories[by] = self._trials.history(by)
        columns, trials, times, counts = self._histories[by]
        frame = pandas.DataFrame(numpy.asarray(counts),
                                 columns=[self._protocol.object_of(name) for name in columns])
        frame.insert(0, "time", numpy.asarray(times))
        frame.insert(0, "trial", numpy.asarray(trials))
        return frame

    def final(self, trial: int = 0) -> dict[Any, int]:
        """How many agents are in which state at the end of a trial (`final=True`)."""
        self._need("final")
        census: dict[Any, int] = {}
        for name, count in self._trials.final_of(trial):
            state = self._protocol.object_of(name)
            census[state] = census.get(state, 0) + count
        return census

    def plot(self, ax: Any = None) -> Any:
        """The history as curves where one was kept, or the leaders over time of a trace; else the
        distribution of the time, or of the messages. Returns the axes of matplotlib."""
        pyplot = needed("matplotlib.pyplot", "plot()")
        if ax is None:
            _, ax = pyplot.subplots()
        if self._kept.get("history"):
            self._plot_curves(ax, self.history())
        elif self._kept.get("trace") and not self._protocol.is_network:
            frame = self.trace()
            if "time" not in frame:
                frame = frame.rename(columns={"parallel_time": "time"})
            self._plot_curves(ax, frame[["trial", "time", "leaders"]])
            ax.set_ylabel("leaders")
        else:
            self._plot_distribution(ax)
        ax.set_title(f"{self._protocol.name}, n = {self.n}", loc="left", fontsize="medium")
        return ax

    def space_time(self, trial: int = 0, ax: Any = None) -> Any:
        """Nodes over time with the messages between them (`trace=True`, message passing); at most
        2000 messages are drawn. Returns the axes of matplotlib."""
        if not self._protocol.is_network:
            raise _core.Error(f"{self._protocol.name} is a population protocol: it has no messages")
        frame = self.trace()
        pyplot = needed("matplotlib.pyplot", "space_time()")
        if ax is None:
            _, ax = pyplot.subplots()
        frame = frame[frame["trial"] == trial]
        sent = frame[frame["event"] == "deliver"]
        for kind, part in sent.head(2000).groupby("message"):
            lines = ([row.sent, row.time] for row in part.itertuples())
            nodes = ([row.peer, row.node] for row in part.itertuples())
            color = _core.message_colour(kind)
            ax.plot([], [], label=kind, color=color)
            for line, node in zip(lines, nodes):
                ax.plot(line, node, color=color, linewidth=0.6, alpha=0.6)
        for event, mark in (("wake", "^"), ("retire", "x"), ("elect", "*")):
            part = frame[frame["event"] == event]
            if len(part):
                ax.plot(part["time"], part["node"], mark, label=event, markersize=5)
        ax.set_xlabel("time, in units of the largest delay")
        ax.set_ylabel("node")
        ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5))
        ax.figure.tight_layout()
        return ax

    def _plot_curves(self, ax: Any, frame: Any) -> None:
        names = [name for name in frame.columns if name not in ("trial", "time")]
        for place, name in enumerate(names):
            for trial, part in frame.groupby("trial"):
                ax.plot(part["time"], part[name], color=f"C{place % 10}", linewidth=1,
                        label=str(name) if trial == 0 else None)
        has_clock = self._prepared.has_clock
        ax.set_xlabel("time" if has_clock else "parallel time")
        ax.set_ylabel("molecules" if has_clock else "agents")
        if 1 < len(names) <= 12:
            ax.legend(fontsize="small")

    def _plot_distribution(self, ax: Any) -> None:
        column = "messages" if self._protocol.is_network else "parallel_time"
        values = sorted(row[column] for row in self.rows)
        shares = [(place + 1) / len(values) for place in range(len(values))]
        ax.step([values[0], *values], [0, *shares], where="post")
        ax.set_xlabel(column.replace("_", " "))
        ax.set_ylabel("share of the trials")
        ax.set_ylim(0, 1.02)

    def _need(self, what: str) -> None:
        if not self._kept.get(what):
            raise _core.Error(f"nothing was kept of that: run it with {what}=True")

    def __repr__(self) -> str:
        trials = "trial" if len(self) == 1 else "trials"
        return f"<conclave.Run of {self._protocol.name}, n = {self.n}, {len(self)} {trials}>"


def run_options(protocol: Protocol, *, init: Any = None, init_from: Any = None, graph: Any = None,
                **given: Any) -> dict[str, Any]:
    """The options of a run for the core: keywords with the names of the table, None where one is
    not given. Where an option takes a file that is written, True keeps its content in memory."""
    options: dict[str, Any] = {}
    for name, value in given.items():
        if name in ("trace", "history", "final"):
            options[f"keeps_{name}"] = bool(value)
            value = None if isinstance(value, bool) else value
        if value is not None:
            options[name] = _words.option(name, value)
    options.update(_words.graph(graph))
    if init is None and init_from is None:
        init = protocol.init
    init = init if isinstance(init, str) else _words.counts(init, given.get("n"))
    if isinstance(init, str):
        options["init"] = init
    elif init is not None:
        protocol.give(options, init)
    if isinstance(init_from, Mapping):
        protocol.give(options, init_from)
    elif init_from is not None:
        options["init_from"] = os.fspath(init_from)
        options["given_label"], options["given"] = _core.read_configuration(options["init_from"])
    return options


def allow_files(size: Any) -> None:
    """`max_file_size`: from now on, files of this process may be as large."""
    if size is not None:
        _core.raise_file_limits(_words.number(size))


@options_of("run")
def run(protocol: str | os.PathLike[str] | Protocol, n: Any = None, *, trials: Any = 1,
        seed: Any = 1, param: Mapping[str, Any] | None = None, init: Any = None,
        engine: str = "auto", graph: Any = None, placement: str | None = None,
        max_parallel_time: Any = None, max_interactions: Any = None, until: Any = None,
        init_from: Any = None,
        threads: Any = None, format: str = "table", output: str | os.PathLike[str] | None = None,
        fault: str | Iterable[str] | None = None, trace: Any = False,
        trace_grid: str | None = None,
        every: Any = None, history: Any = False, history_by: str | None = None,
        history_format: str | None = None, final: Any = False, delay: str | None = None,
        wakeup: str | None = None, ids: str | None = None, count_edges: bool = False,
        max_file_size: Any = None, check: bool = False, quiet: bool = False) -> Run:
    """Runs trials of a protocol, as `conclave run` does: equal options give equal rows.

    Every option of the command line is a keyword with the same meaning. Where that takes a file
    (`trace`, `history`, `final`), `True` keeps it in memory, and a path writes the file as well.
    `init` may be a dict of states and counts or shares, or a function of n that returns one,
    `graph` a graph of networkx or an array of arcs. The GIL is released while trials run, on as
    many threads as the command line would take. Ctrl-C raises `Interrupted`, a KeyboardInterrupt
    that has the complete trials. With `check`, a property of the protocol file that fails is an
    error.

    >>> import conclave as cv
    >>> cv.run("pll", n=1000, trials=2).csv().splitlines()[1][:30]
    'pll,agents,1000,clean,1,0,true'
    >>> cv.run("pll", n=1000, init="cle")
    Traceback (most recent call last):
    conclave.Error: unknown initial configuration of pll 'cle' (did you mean 'clean'?); known: clean
    """
    given = dict(locals())
    del given["protocol"], given["max_file_size"]
    if format not in _FORMATS:
        raise _core.Error(f"unknown format '{format}'; known: {', '.join(_FORMATS)}")
    allow_files(max_file_size)
    chosen = find(protocol)
    options = run_options(chosen, **{**given, "trials": _words.number(trials)})
    ends = any(kind in ("limit", "horizon") and name in options
               for name, kind in _words.kinds().items())
    if chosen.runs_for_ever and not ends:
        raise _core.Error(f"{chosen.name} has no stop condition: give until=... or `leader`")
    prepared = _core.prepare(chosen.core, options)
    if not quiet:
        for warning in prepared.warnings:
            _warnings.warn(warning, stacklevel=3)
    steps = "messages" if chosen.is_network else "interactions"
    total = int(options["trials"]) if options["trials"].isdigit() else 0
    with Bar(f"{chosen.name} n = {prepared.n}", total, quiet, steps) as look:
        done = _core.run(prepared, options, look)
    kept = {name: options[f"keeps_{name}"] for name in ("trace", "history", "final")}
    result = Run(done, chosen, prepared, kept, history_by or "")
    _write_files(result, done, output, format, trace, history, history_by or "",
                 history_format or "", final)
    if done.was_interrupted:
        raise Interrupted(result)
    return result


def _write_files(result: Run, done: Any, output: Any, format: str, trace: Any, history: Any,
                 history_by: str, history_format: str, final: Any) -> None:
    from pathlib import Path
    if output is not None:
        texts: dict[str, Callable[[], str]] = {"csv": result.csv, "jsonl": result.jsonl,
                                               "json": result.json, "table": result.summary}
        Path(output).write_text(texts[format](), encoding="utf-8")
    if isinstance(trace, (str, os.PathLike)):
        Path(trace).write_text(done.trace(), encoding="utf-8")
    if isinstance(history, (str, os.PathLike)):
        done.write_history(os.fspath(history), history_by, history_format)
    if isinstance(final, (str, os.PathLike)):
        Path(final).write_text(done.final(), encoding="utf-8")
