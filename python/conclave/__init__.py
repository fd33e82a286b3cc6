"""A laboratory for randomized leader election: population protocols and message passing.

>>> import conclave as cv
>>> r = cv.run("pll", n=1000, trials=20, seed=1)
>>> print(r.summary(72).splitlines()[1])
20 of 20 trials converged
"""

import importlib
from typing import TYPE_CHECKING, Any

from ._core import Error, version as __version__
from ._core import names as _names
from ._run import Interrupted, Run, run
from .protocol import Protocol

if TYPE_CHECKING:
    from .election import Election
    from .exact import (Claim, EngineTest, Exploration, Found, Property, Solution, Verification,
                        explore, search, solve, verify)
    from .reactions import Reaction, Species, species
    from .results import Results, report, sweep
    from .simulation import Simulation

__all__ = ["Claim", "Election", "EngineTest", "Error", "Exploration", "Found", "Interrupted",
           "Property", "Protocol", "Reaction", "Results", "Run", "Simulation", "Solution",
           "Species", "Verification", "explore", "protocols", "report", "run", "search", "solve",
           "species", "sweep", "verify"]

# Modules are imported when a name of theirs is first asked for: half of the time of the import.
_MODULES = {"election": ("Election",), "reactions": ("Reaction", "Species", "species"),
            "results": ("Results", "report", "sweep"), "simulation": ("Simulation",),
            "exact": ("Claim", "EngineTest", "Exploration", "Found", "Property", "Solution",
                      "Verification", "explore", "search", "solve", "verify")}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name == module or name in names:
            home = importlib.import_module(f".{module}", __name__)
            globals().update({each: getattr(home, each) for each in names})
            return home if name == module else globals()[name]
    raise AttributeError(f"module 'conclave' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def protocols() -> list[str]:
    """The names of the catalog; `Protocol(name).describe()` describes one."""
    return list(_names())
