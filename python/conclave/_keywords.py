"""Mistakes in keywords, for all functions that take the options of a command."""

from __future__ import annotations

import functools
import os
from typing import Any, Callable, TypeVar, cast

from . import _core

_Function = TypeVar("_Function", bound=Callable[..., Any])


def options_of(command: str) -> Callable[[_Function], _Function]:
    """Before the function runs, refuses keywords that it does not have, naming the nearest one, and
    empty strings: no option has a meaning for them.

    >>> import conclave as cv
    >>> cv.run("pll", n=10, trails=3)
    Traceback (most recent call last):
    conclave.Error: run has no option 'trails' (did you mean 'trials'?)
    >>> cv.run("pll", n=10, init="")
    Traceback (most recent call last):
    conclave.Error: init needs a value, not an empty string
    """
    def decorate(function: _Function) -> _Function:
        code = function.__code__
        known = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]

        @functools.wraps(function)
        def checked(*args: Any, **keywords: Any) -> Any:
            for name, value in (*zip(known, args), *keywords.items()):
                if name not in known:
                    raise _unknown(command, name, known)
                if isinstance(value, (str, os.PathLike)):
                    _core.check_not_empty(name, os.fspath(value))
            return function(*args, **keywords)

        return cast(_Function, checked)

    return decorate


def _unknown(command: str, name: str, known: tuple[str, ...]) -> _core.Error:
    import difflib  # not when the package is imported: it takes milliseconds
    near = difflib.get_close_matches(name, known, 1)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    return _core.Error(f"{command} has no option '{name}'{hint}")
