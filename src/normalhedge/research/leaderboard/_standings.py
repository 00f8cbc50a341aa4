"""The standings of the hedgers in each contest, the leaderboard, and a recommendation."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.rules import is_automatic
from normalhedge.research.leaderboard._contests import Contest, NatureContest, PanelContest
from normalhedge.research.leaderboard._yardsticks import GAME_SCORES

TIED = 2.0
"""A hedger within so many standard errors of the best one, run by run, counts as tied with it."""

BETTER = 0.05
"""A single rule is recommended only if auto loses more by this share of the rule's loss, on the
whole panel and in its second half. Among many rules some are better by chance, and the best one is
known only afterwards."""


@dataclass(frozen=True, eq=False)
class Standing:
    """The scores of all hedgers in one contest.

    Attributes
    ----------
    contest
        The contest.
    hedgers
        The names of the hedgers.
    scores
        Hedgers x runs x scores of the contest; NaN if a hedger could not take part.
    curves
        Hedgers x points: the mean over the runs.
    yardsticks
        The mean losses in hindsight, by name; empty for a game.
    """

    contest: Contest
    hedgers: tuple[str, ...]
    scores: Floats
    curves: Floats
    yardsticks: Mapping[str, float]

    def mean(self, score: str) -> Floats:
        """Return the mean of a score over the runs, for each hedger."""
        return np.asarray(self._of(score).mean(axis=1))

    def error(self, score: str) -> Floats:
        """Return the standard error of the mean for each hedger; NaN if there was only one run."""
        values = self._of(score)
        runs = values.shape[1]
        if runs < 2:
            return np.full(len(values), math.nan)
        return np.asarray(values.std(axis=1, ddof=1) / math.sqrt(runs))

    def worst(self, score: str) -> Floats:
        """Return the largest score of each hedger in any run."""
        return np.asarray(self._of(score).max(axis=1))

    def _of(self, score: str) -> Floats:
        return np.asarray(self.scores[:, :, self.contest.scores.index(score)])

    @cached_property
    def ranks(self) -> Floats:
        """The place of each hedger by its first score; 1 is the best, and equal scores share.

        All hedgers that are tied with the best one share the first places. In a game of fair coins,
        where no hedger can be told from another, all of them have the same place.
        """
        values = np.where(self.tied, -math.inf, self.mean(self.contest.scores[0]))
        lower = (values[:, None] > values).sum(axis=1)
        same = (values[:, None] == values).sum(axis=1)
        return np.where(np.isnan(values), math.nan, lower + (same + 1) / 2)

    @cached_property
    def tied(self) -> np.ndarray:
        """Whether each hedger is the best one, or cannot be told from it."""
        values = self._of(self.contest.scores[0])
        means = values.mean(axis=1)
        if np.isnan(means).all():
            return np.zeros(len(means), dtype=bool)
        behind = values - values[np.nanargmin(means)]
        runs = values.shape[1]
        error = behind.std(axis=1, ddof=1) / math.sqrt(runs) if runs > 1 else np.zeros(len(values))
        return np.asarray(behind.mean(axis=1) <= TIED * error + 1e-12)


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """The standings of all contests together.

    Attributes
    ----------
    hedgers
        The names of the hedgers.
    standings
        One for each contest.
    """

    hedgers: tuple[str, ...]
    standings: tuple[Standing, ...]

    @cached_property
    def games(self) -> list[Standing]:
        """The standings of the contests against natures."""
        return [s for s in self.standings if isinstance(s.contest, NatureContest)]

    @cached_property
    def panels(self) -> list[Standing]:
        """The standings of the contests on panels."""
        return [s for s in self.standings if isinstance(s.contest, PanelContest)]

    @cached_property
    def mean_rank(self) -> Floats:
        """The mean place of each hedger over the contests it took part in."""
        return _mean([standing.ranks for standing in self.standings])

    @cached_property
    def order(self) -> np.ndarray:
        """The numbers of the hedgers, from the best mean place to the last."""
        return np.argsort(self.mean_rank, kind="stable")

    def overall(self) -> dict[str, np.ndarray]:
        """Return the leaderboard, best first; regrets are means over the games, or the worst."""
        games, order = self.games, self.order
        columns: dict[str, np.ndarray] = {
            "hedger": np.array(self.hedgers),
            "mean_rank": self.mean_rank,
            "best_or_tied": np.sum([s.tied for s in self.standings], axis=0),
            "contests": np.sum([~np.isnan(s.ranks) for s in self.standings], axis=0),
        }
        if games:
            columns |= {
                "discounted_regret": _mean([s.mean("mean") for s in games]),
                "worst_discounted_regret": np.fmax.reduce([s.worst("worst") for s in games]),
                "ordinary_regret": _mean([s.mean("ordinary") for s in games]),
                "regret_after_switch": _mean([s.mean("after") for s in games]),
                "seconds_per_round": _mean([s.mean("seconds") for s in games]),
            }
        return {name: values[order] for name, values in columns.items()}

    def columns(self) -> dict[str, np.ndarray]:
        """Return all scores of the games as a table, with a row for each game and hedger."""
        parts: list[dict[str, np.ndarray]] = []
        for standing in self.games:
            contest, count = standing.contest, len(self.hedgers)
            part = {
                "game": np.full(count, contest.name),
                "hedger": np.array(self.hedgers),
                **{k: np.full(count, getattr(contest, k)) for k in ("experts", "rounds", "runs")},
                "rank": standing.ranks,
                "best_or_tied": standing.tied,
                "discounted_regret_worst": standing.worst("worst"),
            }
            for score, name in GAME_COLUMNS.items():
                part[name] = standing.mean(score)
                part[f"{name}_error"] = standing.error(score)
            parts.append(part)
        return _join(parts)

    def panel_columns(self) -> dict[str, np.ndarray]:
        """Return all scores of the panels as a table: the hedgers, then the yardsticks."""
        parts: list[dict[str, np.ndarray]] = []
        for standing in self.panels:
            names = [*self.hedgers, *(PANEL_YARDSTICKS[name] for name in standing.yardsticks)]
            nothing = np.full(len(standing.yardsticks), math.nan)
            loss = np.append(standing.mean("loss"), list(standing.yardsticks.values()))
            part = {
                "panel": np.full(len(names), standing.contest.name),
                "hedger": np.array(names),
                "hindsight": np.arange(len(names)) >= len(self.hedgers),
                "rank": np.append(standing.ranks, nothing),
                "mean_loss": loss,
                "mean_loss_in_second_half": np.append(standing.mean("late"), nothing),
                "relative_to_uniform": loss / (standing.yardsticks["uniform"] or math.nan),
                "worst_own_regret": np.append(standing.mean("worst"), nothing),
                "seconds_per_row": np.append(standing.mean("seconds"), nothing),
            }
            parts.append(part)
        return _join(parts)


GAME_COLUMNS = {
    "mean": "discounted_regret",
    "ordinary": "ordinary_regret",
    "quantile": "quantile_regret",
    "sequence": "sequence_regret",
    "after": "regret_after_switch",
    "seconds": "seconds_per_round",
    "best_expert": "best_expert_gain",
    "best_quantile": "best_quantile_gain",
    "best_sequence": "best_sequence_gain",
}
assert set(GAME_COLUMNS) | {"worst"} == set(GAME_SCORES)

PANEL_YARDSTICKS = {
    "uniform": "uniform weights",
    "expert": "best expert of each series",
    "quantile": "best quantile of experts",
    "convex": "best convex combination",
    "sequence": "best sequence of experts",
}


def _mean(rows: Sequence[Floats]) -> Floats:
    """Return the mean of each column without NaN; NaN for a column of NaN alone."""
    table = np.array(rows)
    finite = ~np.isnan(table)
    count = finite.sum(axis=0)
    total = np.where(finite, table, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), math.nan)


def _join(parts: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class Recommendation(NamedTuple):
    """The name of the hedger to use, and the reason in words."""

    hedger: str
    reason: str


def recommend(standing: Standing) -> Recommendation | None:
    """Return the hedger to use on a panel; none if auto or all single rules were left out."""
    losses = dict(zip(standing.hedgers, standing.mean("loss").tolist(), strict=True))
    late = dict(zip(standing.hedgers, standing.mean("late").tolist(), strict=True))
    played = [name for name, loss in losses.items() if math.isfinite(loss)]
    automatic = [name for name in played if is_automatic(name)]
    rules = sorted((name for name in played if not is_automatic(name)), key=losses.__getitem__)
    if not automatic or not rules:
        return None
    auto, best = min(automatic, key=losses.__getitem__), rules[0]
    for rule in rules:
        if _far(losses[auto], losses[rule]) and _far(late[auto], late[rule]):
            whole, half = _gap(losses[auto], losses[rule]), _gap(late[auto], late[rule])
            reason = f"{auto} loses {whole} {rule}, and {half} it in the second half"
            return Recommendation(rule, f"on this panel {reason}")
    gap = _gap(losses[auto], losses[best])
    reason = f"on this panel {auto} loses {gap} the best single rule, {best}"
    if _far(losses[auto], losses[best]):
        reason += f", but in the second half {_gap(late[auto], late[best])} it"
    if losses[auto] > losses[best]:
        reason += "; nobody knows that beforehand"
    return Recommendation(auto, reason)


def _far(auto: float, rule: float) -> bool:
    """Tell whether a rule is clearly better; an unknown loss is not."""
    return auto - rule > BETTER * abs(rule)


def _gap(auto: float, rule: float) -> str:
    """Return the difference of the losses in words, to be followed by the name of the rule."""
    if not math.isfinite(auto) or not math.isfinite(rule):
        return "nothing that is known beside"
    if auto == rule:
        return "as much as"
    if rule == 0.0:
        return f"{auto:.4g}, where nothing is lost by"
    share = abs((auto - rule) / rule)
    points = f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:,.0f} %"
    return f"{points} {'more' if auto > rule else 'less'} than"
