"""Packages that only some functions need: an error that names a missing one."""

from __future__ import annotations

import importlib
from typing import Any


def needed(package: str, what: str) -> Any:
    """The package; an ImportError that names who needs it and how to get it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        name = package.split(".")[0]
        raise ImportError(f"{what} needs {name}: apt-get install python3-{name}, or pip install "
                          f"{name}") from None
