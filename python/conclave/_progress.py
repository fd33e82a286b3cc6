"""How far a computation is, on a terminal or in a notebook; silent everywhere else."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any, Callable


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _count(value: float) -> str:
    return f"{value:.0f}" if value < 1e6 else f"{value:.3g}"


class Bar:
    """A context whose value is called with (done, steps). It shows nothing in the first half
    second, and leaves nothing behind."""

    def __init__(self, label: str, total: int, quiet: bool, steps: str = "interactions") -> None:
        self._label, self._total, self._steps = label, total, steps
        self._begin = time.monotonic()
        self._display: Any = None
        self._is_shown = False
        self._paint: Callable[[str], None] | None = None
        if quiet:
            return
        if _in_notebook():
            self._paint = self._in_cell
        elif sys.stderr is not None and sys.stderr.isatty():
            self._paint = self._on_terminal

    def __enter__(self) -> Callable[[int, float], None] | None:
        return None if self._paint is None else self._show

    def __exit__(self, *_: Any) -> None:
        if not self._is_shown:
            return
        if self._display is not None:
            display = importlib.import_module("IPython.display")
            self._display.update(display.HTML(""))
        else:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def _show(self, done: int, steps: float) -> None:
        seconds = time.monotonic() - self._begin
        if seconds < 0.5 or self._paint is None:
            return
        text = f"{self._label}   {done} of {self._total}"
        if steps > 0:
            text += f"   {_count(steps / seconds)} {self._steps}/s"
        if done > 0:
            text += f"   about {seconds / done * (self._total - done):.0f} s left"
        self._is_shown = True
        self._paint(f"{self._drawn(done)} {text}")

    def _drawn(self, done: int, width: int = 20) -> str:
        filled = min(width, int(width * done / max(1, self._total)))
        return "[" + "#" * filled + "-" * (width - filled) + "]"

    def _on_terminal(self, text: str) -> None:
        sys.stderr.write(f"\r\033[K{text[:110]}")
        sys.stderr.flush()

    def _in_cell(self, text: str) -> None:
        import html  # not when the package is imported
        notebook = importlib.import_module("IPython.display")
        shown = notebook.HTML(f"<pre>{html.escape(text)}</pre>")
        if self._display is None:
            self._display = notebook.display(shown, display_id=True)
        else:
            self._display.update(shown)
