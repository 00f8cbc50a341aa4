"""Build the arrays of a mixture with more experts, more items or fewer experts.

Nothing is changed in place: the mixture takes the new arrays over in one step.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from normalhedge._core import Games
from normalhedge._inputs import Floats
from normalhedge.hedgers import CompiledHedger
from normalhedge.mixtures._sums import EXPERT_SUMS, MARKS, TOTAL_SUMS
from normalhedge.mixtures.automatic import Automatic
from normalhedge.mixtures.recipe import Recipe

ARRAYS = (
    "weights", "ledgers", "totals", "marks", "pool_ranges", "ranges", "expert_sums", "total_sums",
    "loss_regrets", "delays",
)  # fmt: skip
"""The arrays that the core keeps of a mixture; see ``src/core/games_object.cpp``."""

OF_EXPERTS = ("weights", "ledgers", "marks", "expert_sums", "loss_regrets")
"""The arrays with a column for each expert."""

DELAYS = 4
"""The number of columns of `delays`: the largest delay, the number after the last settled round,
whether a round was settled after a later one, and how many rounds were predicted."""

SPACIOUS = 16
"""From this number of experts on, arrays have spare columns for more."""


class Growth(NamedTuple):
    """The changes that new experts and new items bring to a mixture.

    Attributes
    ----------
    arrays
        All arrays of the core, and the number of experts; None if nothing changes.
    changes
        New values of attributes.
    states
        The states of a hedger written by the user; None for a compiled hedger.
    merges
        Pairs of dictionaries: an index, and the entries to add to it.
    """

    arrays: tuple[Any, ...] | None = None
    changes: Mapping[str, Any] = {}
    states: list[Any] | None = None
    merges: tuple[dict[str, int], ...] = ()


def make_games(recipe: Recipe) -> Games:
    """Return the compiled part of a mixture, without arrays."""
    loss, hedger = recipe.loss, recipe.hedger
    engine: Any = hedger
    if isinstance(hedger, Automatic):
        engine = hedger.engine(loss)
    elif isinstance(hedger, CompiledHedger):
        engine = recipe.rule._engine
    return Games(
        engine,
        loss.kind,
        None if loss.kind else recipe.own_losses,
        recipe.combine,
        recipe.gradient,
        loss.width,
        recipe.even,
        loss.levels or (0.5,),
        recipe.include,
        recipe.shared,
        recipe.patience,
    )


def first_arrays(recipe: Recipe, games: Games, count: int) -> tuple[Any, ...]:
    """Return the arrays of games without experts and items.

    Parameters
    ----------
    recipe, games
        The settings and the compiled part of the mixture.
    count
        The number of games.
    """
    rows, totals, item_size, _ = games.shape
    return (
        np.empty((count, 0)),
        np.empty((count, rows, 0)),
        np.zeros((count, totals)),
        np.empty((count, MARKS, 0), dtype=np.int64),
        np.zeros((count, 2)),
        np.zeros((0, item_size)),
        np.zeros((EXPERT_SUMS + recipe.loss.of_levels, 0)),  # and CROSSED
        np.zeros(TOTAL_SUMS),
        np.empty((count, 0)),
        np.zeros((count, DELAYS)),
        0,
    )


def game_count(recipe: Recipe, items: int) -> int:
    """Return the number of games.

    Items share one game, or have one each; an automatic mixture has both from two items on.

    Parameters
    ----------
    recipe
        The settings of the mixture.
    items
        The number of items.
    """
    if not recipe.shared:
        return items
    return 1 + items if items > 1 and isinstance(recipe.hedger, Automatic) else 1


def with_experts(
    recipe: Recipe, games: Games, n: int, states: list[Any] | None, *, has_learned: bool
) -> dict[str, np.ndarray]:
    """Return the arrays that change when the number of experts grows.

    Parameters
    ----------
    recipe, games
        The settings and the compiled part of the mixture.
    n
        The new number of experts.
    states
        The states of a hedger written by the user, updated in place; None for a compiled hedger.
    has_learned
        Whether the mixture has learned from an outcome already.
    """
    hedger = recipe.rule
    count, before = games.weights.shape
    arrays = {
        "marks": _widened(games.marks, n, -1),
        "expert_sums": _widened(games.expert_sums, n),
        "loss_regrets": _widened(games.loss_regrets, n),
    }
    if states is not None:
        states[:] = [_joined(hedger, state, n, has_learned=has_learned) for state in states]
        arrays["weights"] = np.array([state.weights for state in states]).reshape(count, n)
        arrays["ledgers"] = _widened(games.ledgers, n)
        return arrays
    if isinstance(hedger, Automatic):
        arrays["weights"] = _widened(games.weights, n)
        arrays["ledgers"] = _widened(games.ledgers, n)
        return arrays | weighed(games, arrays["weights"], arrays["ledgers"])
    assert isinstance(hedger, CompiledHedger)
    if not has_learned:  # all experts count as present from the start
        arrays["weights"] = np.full((count, n), 1.0 / n)
        arrays["ledgers"] = np.tile(hedger.init(n).ledger, (count, 1, 1))
        return arrays
    # Hedgers that remember weights give a newcomer the mean weight of the present experts.
    even = np.full((count, n - before), 1.0 / before)
    newcomers = np.tile(hedger.newcomers(n - before, before), (count, 1, 1))
    arrays["weights"] = np.concatenate([games.weights, even], axis=1)
    arrays["ledgers"] = np.concatenate([games.ledgers, newcomers], axis=2)
    return arrays | weighed(games, arrays["weights"], arrays["ledgers"])


def _widened(array: np.ndarray, columns: int, fill: int = 0) -> np.ndarray:
    """Return an array with more columns; `np.pad` takes longer than all the rest of a join."""
    wider = np.full((*array.shape[:-1], columns), fill, dtype=array.dtype)
    wider[..., : array.shape[-1]] = array
    return wider


def with_games(
    recipe: Recipe,
    games: Games,
    arrays: Mapping[str, np.ndarray],
    more: int,
    states: list[Any] | None,
) -> dict[str, np.ndarray]:
    """Return the arrays that change when the number of games grows.

    Parameters
    ----------
    recipe, games
        The settings and the compiled part of the mixture.
    arrays
        Arrays that were changed already; they replace those of the compiled part.
    more
        The number of new games.
    states
        The states of a hedger written by the user, updated in place; None for a compiled hedger.
    """
    now = {name: arrays.get(name, getattr(games, name)) for name in ARRAYS}
    hedger: Any = recipe.rule
    n = now["weights"].shape[1]
    rows, totals, _, _ = games.shape
    ledger, own_totals = np.zeros((rows, n)), np.zeros(totals)
    if isinstance(hedger, CompiledHedger) and n:
        state = hedger.init(n)
        ledger, own_totals = state.ledger, state.totals
    weights = np.full((more, n), 1.0 / max(n, 1))
    if states is not None:
        states.extend(hedger.init(n) if n else None for _ in range(more))
        if n:
            weights = np.array([state.weights for state in states[-more:]])
    grown = {
        "weights": np.concatenate([now["weights"], weights]),
        "ledgers": np.concatenate([now["ledgers"], np.tile(ledger, (more, 1, 1))]),
        "totals": np.concatenate([now["totals"], np.tile(own_totals, (more, 1))]),
    }
    if isinstance(hedger, Automatic):
        games.weigh_arrays(*grown.values())
    return {
        **grown,
        "marks": np.pad(now["marks"], ((0, more), (0, 0), (0, 0)), constant_values=-1),
        **{
            k: np.pad(now[k], ((0, more), (0, 0)))
            for k in ("pool_ranges", "loss_regrets", "delays")
        },
    }


def with_inheritance(
    games: Games, arrays: Mapping[str, np.ndarray], target: int, source: int
) -> dict[str, np.ndarray]:
    """Return the arrays that change when an expert gets the ledger of another.

    Parameters
    ----------
    games
        The compiled part of the mixture.
    arrays
        Arrays that were changed already; they replace those of the compiled part.
    target, source
        The columns of the expert that inherits, and of the other.
    """
    inherited = ("weights", "ledgers", "loss_regrets")
    changed = {k: arrays.get(k, getattr(games, k)).copy() for k in inherited}
    for array in changed.values():
        array[..., target] = array[..., source]
    return changed | weighed(games, changed["weights"], changed["ledgers"])


def without_experts(
    recipe: Recipe, games: Games, places: Sequence[int]
) -> tuple[dict[str, np.ndarray], list[Any] | None]:
    """Return the arrays and states that change when experts leave.

    Parameters
    ----------
    recipe, games
        The settings and the compiled part of the mixture.
    places
        The columns of the experts that leave.
    """
    stay = np.delete(np.arange(games.weights.shape[1]), places)
    arrays = {part: getattr(games, part).take(stay, axis=-1) for part in OF_EXPERTS}
    if games.states is None:
        return arrays | weighed(games, arrays["weights"], arrays["ledgers"]), None
    states = [_left(recipe.hedger, state, places) for state in games.states]
    arrays["weights"] = np.array([state.weights for state in states])
    return arrays, states


def weighed(games: Games, weights: Floats, ledgers: Floats) -> dict[str, np.ndarray]:
    """Return the weights, and the totals, that the hedger computes from the ledgers of all games.

    Parameters
    ----------
    games
        The compiled part of the mixture.
    weights, ledgers
        Arrays for all games; the weights are overwritten.
    """
    totals = games.totals.copy()
    games.weigh_arrays(weights, ledgers, totals)
    return {"weights": weights, "totals": totals}


def whole(games: Games, arrays: Mapping[str, np.ndarray]) -> tuple[Any, ...]:
    """Return all arrays of the core, and the number of experts.

    Arrays of many experts get spare columns, so that a long series of newcomers does not copy the
    arrays each time.

    Parameters
    ----------
    games
        The compiled part of the mixture.
    arrays
        The arrays that change, by name; the others stay as they are.
    """
    all_arrays = {name: arrays.get(name, getattr(games, name)) for name in ARRAYS}
    n = all_arrays["weights"].shape[1]
    spare = n // 2 if n >= SPACIOUS else 0
    for name in OF_EXPERTS if spare else ():
        room = np.zeros((*all_arrays[name].shape[:-1], n + spare), dtype=all_arrays[name].dtype)
        room[..., :n] = all_arrays[name]
        all_arrays[name] = room
    return (*(owned(all_arrays[name]) for name in ARRAYS), n)


def owned(array: np.ndarray) -> np.ndarray:
    """Return an array of the kind and in the memory layout that the core needs.

    A file of joblib may be read as a map of memory, which is an array of another class.
    """
    fits = type(array) is np.ndarray and array.flags.carray
    return array if fits else np.require(array, requirements=["C", "A", "W", "E"])


def _joined(hedger: Any, state: Any, n: int, *, has_learned: bool) -> Any:
    """Return the state of a hedger written by the user, with n experts."""
    join = getattr(hedger, "join", None)
    if has_learned and join is not None:
        return join(state, n - len(state.weights))
    if has_learned:
        warnings.warn(
            f"{type(hedger).__name__} has no join: it begins anew with {n} experts",
            RuntimeWarning,
            stacklevel=6,
        )
    return hedger.init(n)


def _left(hedger: Any, state: Any, places: Sequence[int]) -> Any:
    """Return the state of a hedger written by the user, without some experts."""
    leave = getattr(hedger, "leave", None)
    if leave is not None:
        return leave(state, list(places))
    return hedger.init(len(state.weights) - len(places))
