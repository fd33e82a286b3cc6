"""Mistakes in keywords, for all functions that take the options of a command."""

from __future__ import annotations

import difflib
import functools
import inspect
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
        signature = inspect.signature(function)

        @functools.wraps(function)
        def checked(*args: Any, **keywords: Any) -> Any:
            for name in keywords:
                _check_known(command, name, list(signature.parameters))
            for name, value in signature.bind_partial(*args, **keywords).arguments.items():
                if isinstance(value, (str, os.PathLike)):
                    _core.check_not_empty(name, os.fspath(value))
            return function(*args, **keywords)

        return cast(_Function, checked)

    return decorate


def _check_known(command: str, name: str, known: list[str]) -> None:
    if name in known:
        return
    near = difflib.get_close_matches(name, known, 1)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    raise _core.Error(f"{command} has no option '{name}'{hint}")
