"""Hedgers by name: the default, single rules, and how fast they forget."""

from typing import Any

from normalhedge.boundary import specs
from normalhedge.hedgers import HEDGERS, Hedger, NormalHedge, named
from normalhedge.mixtures.rules._automatic import Automatic

MEMORY = 20.0
"""The default memory of a single rule, in rounds."""


def is_automatic(hedger: object) -> bool:
    """Tell whether a hedger is named ``auto``, with or without settings."""
    return isinstance(hedger, str) and hedger.partition(":")[0] == "auto"


def automatic_of(text: str) -> Automatic:
    """Return the automatic mixture that ``auto:key=value,...`` describes."""
    return specs.make("hedger", text, {"auto": Automatic})


def with_memory(hedger: Any, memory: float | None, half_life: float | None) -> Any:
    """Return a hedger that forgets at the given rate; the hedger itself if none is given."""
    rates = {"memory": memory, "half_life": half_life}
    names = [name for name, value in rates.items() if value is not None]
    if not names:
        return hedger
    if len(names) == 2:
        raise TypeError("give memory or half_life, not both")
    if isinstance(hedger, Automatic) or is_automatic(hedger):
        raise ValueError(f"{names[0]} belongs to a single rule, and auto hedges over many")
    if hedger is not None and not isinstance(hedger, str):
        raise TypeError(f"{names[0]} belongs to the hedger: give it to {type(hedger).__name__}")
    alpha = NormalHedge(memory=memory, half_life=half_life).alpha
    if hedger is None:
        return NormalHedge(alpha)
    _, settings = specs.settings_in(hedger)
    if settings.keys() & {"alpha", "memory", "half_life"}:
        raise ValueError(f"{names[0]} is given twice: {hedger!r} has one, too")
    return f"{hedger}{',' if ':' in hedger else ':'}alpha={alpha!r}"


def hedger_of(hedger: object, experts: int | None = None) -> Hedger[Any]:
    """Return a hedger, given itself or by its name."""
    if hedger is None:
        return NormalHedge(memory=MEMORY)
    if isinstance(hedger, str):
        name = hedger.partition(":")[0]
        if name not in HEDGERS:
            raise specs.nearest("hedger", name, ["auto", *HEDGERS])
        return named(hedger, experts, alpha=1.0 / MEMORY)
    if isinstance(hedger, type) or not isinstance(hedger, Hedger):
        raise TypeError(
            "hedger must be a hedger, such as NormalHedge(memory=20), or a name; "
            f"got {type(hedger).__name__}"
        )
    return hedger
