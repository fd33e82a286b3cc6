"""A laboratory for randomized leader election: population protocols and message passing.

>>> import conclave as cv
>>> r = cv.run("pll", n=1000, trials=20, seed=1)
>>> print(r.summary(72).splitlines()[1])
20 of 20 trials converged
"""

from ._core import Error, version as __version__
from ._core import names as _names
from ._run import Interrupted, Run, run
from .election import Election
from .exact import (Claim, EngineTest, Exploration, Found, Property, Solution, Verification,
                    explore, search, solve, verify)
from .protocol import Protocol
from .reactions import Reaction, Species, species
from .results import Results, report, sweep
from .simulation import Simulation

__all__ = ["Claim", "Election", "EngineTest", "Error", "Exploration", "Found", "Interrupted",
           "Property", "Protocol", "Reaction", "Results", "Run", "Simulation", "Solution",
           "Species", "Verification", "explore", "protocols", "report", "run", "search", "solve",
           "species", "sweep", "verify"]


def protocols() -> list[str]:
    """The names of the catalog; `Protocol(name).describe()` describes one."""
    return list(_names())
