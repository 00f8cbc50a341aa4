"""Mixtures in a forked process: their locks are free, whatever the parent was doing."""

import os
import weakref

from normalhedge.mixtures.state import MixtureState

_alive: "set[weakref.ref[MixtureState]]" = set()
"""All mixtures. Python would lose the exception of a signal handler in the callback of a `WeakSet`,
which is written in Python."""


def free_in_children(mixture: MixtureState) -> None:
    """Give a mixture a lock that no thread holds, in each process that is forked from now on.

    The mixture is consistent there: one call of the core makes each change, and no fork interrupts
    it.
    """
    _alive.add(weakref.ref(mixture, _alive.discard))


def _free_turns() -> None:
    for mixture in [alive() for alive in tuple(_alive)]:
        if mixture is not None:
            mixture.live.free_turn()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_turns)
