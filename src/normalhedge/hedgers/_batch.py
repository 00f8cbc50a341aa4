"""Many games of one hedger at once: a loop over `run` in threads."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.threads import cores
from normalhedge.hedgers._protocol import Hedger, Run


class BatchRun(NamedTuple):
    """The records of many games, with a first axis for the games.

    Attributes
    ----------
    states
        The state after the last round of each game.
    gains, best_regret, log_potential
        As in `Run`, games x rounds.
    weights
        As in `Run`, games x rounds x experts; None unless ``keep_weights``.
    """

    states: tuple[Any, ...]
    gains: Floats
    best_regret: Floats
    log_potential: Floats
    weights: Floats | None


def run_batch(
    hedger: Hedger[Any],
    gains: npt.ArrayLike,
    confidence: npt.ArrayLike | None = None,
    *,
    keep_weights: bool = False,
    jobs: int | None = None,
) -> BatchRun:
    """Play many games of the same size, such as one for each seed.

    The numbers are those of `run` on each game, for any number of jobs.

    Parameters
    ----------
    hedger
        The hedger that plays.
    gains, confidence
        Games x rounds x experts.
    keep_weights
        Whether to return the distribution of every round.
    jobs
        How many games are played in parallel. None: one on each core.

    Examples
    --------
    >>> from normalhedge import NormalHedge
    >>> gains = np.random.default_rng(0).choice([-1.0, 1.0], (20, 100, 5))
    >>> batch = run_batch(NormalHedge(memory=50), gains)
    >>> batch.best_regret.shape, batch.best_regret[:, -1].mean().round(2)
    ((20, 100), np.float64(5.7))
    """
    table = inputs.numbers_array("gains", gains)
    if table.ndim != 3 or 0 in table.shape:
        raise ValueError(
            f"gains must be games x rounds x experts, at least one of each, got shape {table.shape}"
        )
    heard = None if confidence is None else np.asarray(confidence)
    if heard is not None and heard.shape != table.shape:
        raise ValueError(
            f"confidence must have the shape of gains, {table.shape}, got {heard.shape}"
        )
    threads = cores() if jobs is None else inputs.count("jobs", jobs)

    def play(game: int) -> Run[Any]:
        awake = None if heard is None else heard[game]
        try:
            return hedger.run(table[game], awake, keep_weights=keep_weights)
        except ValueError as error:
            raise ValueError(f"game {game}: {error}") from error

    with ThreadPoolExecutor(min(threads, len(table))) as pool:
        runs = list(pool.map(play, range(len(table))))
    played = [run.weights for run in runs if run.weights is not None]
    return BatchRun(
        tuple(run.state for run in runs),
        np.stack([run.gains for run in runs]),
        np.stack([run.best_regret for run in runs]),
        np.stack([run.log_potential for run in runs]),
        np.stack(played) if keep_weights else None,
    )
