"""Leader election between real processes: one member of a cluster."""

from __future__ import annotations

import os
from typing import Any, Callable, Sequence

from . import _core


class Election:
    """A member that elects with others and keeps a leader through crashes (elections.md).

    `members` lists "host:port" of all, in the same order everywhere; `self_` is this process's
    place, and `listen` where it listens if not at its address there. Callbacks run in a thread of
    the election, one at a time, and must return soon: `won` and `lost` get the fencing token,
    `follows` the leader's place and the term, `log` a line. As a
    context manager it takes part from the first line of the block to its end:

        with cv.Election("demo", members, 0, won=lambda token: print("leading", token)) as member:
            while working:
                token = member.token     # None: it may not act now
                if token is not None:
                    store.write(data, fence=token)

    `state` is a file in which the member remembers what it has promised. `founds` says that the
    cluster has never run, and makes the first one: for the first start of each member and never
    again, since a member that has lost its file must ask the others.

    Ask before each action. A process that was stopped between asking and acting is caught by
    whoever refuses a token smaller than the largest it has seen, and by nothing else. An exception
    of a callback ends the member's part and is raised by `stop`, or at the end of the block.
    """

    def __init__(self, cluster: str, members: Sequence[str], self_: int, *, listen: str = "",
                 authority: str | os.PathLike[str] = "", certificate: str | os.PathLike[str] = "",
                 key: str | os.PathLike[str] = "", state: str | os.PathLike[str] = "",
                 founds: bool = False, wakes: bool = True, lease: float = 3.0,
                 won: Callable[[int], Any] | None = None, lost: Callable[[int], Any] | None = None,
                 follows: Callable[[int, int], Any] | None = None,
                 log: Callable[[str], Any] | None = None) -> None:
        options = {"cluster": cluster, "self": self_, "members": list(members),
                   "listen": listen,
                   "authority_file": os.fspath(authority),
                   "certificate_file": os.fspath(certificate), "key_file": os.fspath(key),
                   "state_file": os.fspath(state), "founds": founds, "wakes": wakes,
                   "lease_ms": round(lease * 1000)}
        self._core = _core.Election(options, won, lost, follows, log)

    def start(self) -> Election:
        """Takes part from now on, in a thread of its own."""
        self._core.start()
        return self

    def stop(self, *, hand_over: bool = True) -> None:
        """Leaves; with `hand_over` another member leads before this one is gone, if it led."""
        self._core.stop(hand_over)

    def resign(self) -> None:
        """Hands leadership over, if it leads, and stays as a follower."""
        self._core.resign()

    @property
    def may_act(self) -> bool:
        """Whether it may act as the leader at this moment; from any thread, never blocking."""
        return bool(self._core.may_act)

    @property
    def token(self) -> int | None:
        """The fencing token to mark an action with; None: it may not act now."""
        token = self._core.token
        return None if token is None else int(token)

    @property
    def term(self) -> int:
        return int(self._core.term)

    @property
    def lease_left(self) -> float:
        """Seconds for which it may act without asking again; 0 unless it may."""
        return float(self._core.lease_left)

    def __enter__(self) -> Election:
        return self.start()

    def __exit__(self, *_: Any) -> None:
        self.stop()
