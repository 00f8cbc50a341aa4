"""The verdict on a blend, in sentences."""

from collections.abc import Collection, Sequence
from math import expm1, isfinite, isinf
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.terminal import counted
from normalhedge.reports._wording import excess, moment, number, percent
from normalhedge.reports.analysis import MEAN, MEDIAN, ErrorComparison, Review

FEW = 30
"""With fewer rounds it is too early to say how good a blend is."""

MATCH = 0.9
"""If the error of the plain median is smaller than this share of the error of the plain mean, the
blend is compared with the median, too."""

MUCH = 0.25
"""A single row with this share of the error is mentioned."""

THIRD, POINTS, SIGN = 1.0 / 3.0, 0.05, 0.01
"""The headline speaks of a few rows if they change a share by more than a third of it and by more
than five points, or its sign and more than one point."""

OFTEN = 0.01
"""The guard clips good forecasts, too; a model is named from this share of the rows on."""

NAMED = 3
"""So many further models with absurd forecasts are named."""

WORSE = 0.01
"""A plain combination whose error is smaller by more than this share gets a warning."""

IN_WORDS = {
    "RMSE": "the root mean square error",
    "MAE": "the mean absolute error",
    "WIS": "the weighted interval score",
}


class BlendVerdict(NamedTuple):
    """The verdict on a blend."""

    sentence: str  # the verdict
    small: str  # the small print
    warnings: list[str]  # sentences about plain combinations that were better


def title_of(name: str) -> str:
    """Return the name of a forecaster: the plain mean is the plain average to most people."""
    return "plain average" if name == MEAN else name


def verdict(review: Review) -> BlendVerdict:
    """Return the verdict on a blend.

    With the errors E of the blend, of the best single model and of the plain average over the same
    rows, the sentence tells E(blend) / E(other) - 1.
    """
    errors = review.errors
    if not review.rows:
        text = "No row of this table has an outcome yet: nothing can be said about errors."
        return BlendVerdict(text, "", [])
    models = errors.names[1 + review.plain_count :]
    if len(models) == 1:
        error = f"{errors.measures[0].name} {number(float(errors.values[0, 0, 0]))}"
        text = f"There is one model only, so there is nothing to blend ({error})."
        return BlendVerdict(text, "", [])
    text = f"{_compare(review)}.{_chance(review)}"
    usual = review.usual
    if usual is not None and review.rounds >= FEW and (changes := _changes(review, usual)):
        left = review.rows - usual.rows
        rest = f"In {100.0 * usual.rows / review.rows:.3g} % of the rows"
        few = f"{counted(left, 'row')}{_while(review.stretch, left)}"
        if any(abs(after) < abs(before) for before, after in changes.values()):
            text = f"{rest}, the blend's error is {_phrases(usual)}.{_chance(usual)} Over all "
            text += f"rows it is {_phrases(review, changes)}: {few} make{'s' * (left == 1)} the "
            text += "difference."
        else:
            text += f" {rest} it is {_phrases(usual)}, without {few} with the largest errors."
    return BlendVerdict(text, _small(review), _warnings(review))


def _compare(review: Review) -> str:
    """Return the sentence that compares the blend with others over all rows, without full stop."""
    subject = "the blend's error is" if not review.of_wealth else "the blend earned"
    if review.rounds < FEW:
        start = f"After {counted(review.rounds, 'round')} it is too early to say how good the "
        return f"{start}blend is. So far {subject} {_phrases(review)}"
    return f"{subject[0].upper()}{subject[1:]} {_phrases(review)}"


def _yardsticks(comparison: ErrorComparison) -> list[tuple[str, str]]:
    """Return the forecasters of the headline, each with its words."""
    best = comparison.best
    parts = [] if best is None else [(best, f"the best single model ({best})")]
    parts.append((comparison.plain, f"the {title_of(comparison.plain)}"))
    if _median_matters(comparison):
        parts.append((MEDIAN, f"the {MEDIAN}"))
    return parts


def _phrases(comparison: ErrorComparison, names: Collection[str] | None = None) -> str:
    """Return how far the blend is above or below others, or some of them."""
    parts = [
        (_share(comparison, name) > 0.0, _phrase(comparison, name, words))
        for name, words in _yardsticks(comparison)
        if names is None or name in names
    ]
    alike = [words for above, words in parts if above == parts[0][0]]
    unlike = [words for above, words in parts if above != parts[0][0]]
    return ", but ".join(_join(words) for words in (alike, unlike) if words)


def _chance(comparison: ErrorComparison) -> str:
    """Return a sentence about differences that may be chance; empty if there are none."""
    parts = _yardsticks(comparison)
    unclear = [words for name, words in parts if not comparison.leads[name].clear]
    if not unclear or comparison.rounds < FEW:
        return ""
    return f" The difference from {_join(unclear)} is within the range of chance."


def _changes(review: Review, usual: ErrorComparison) -> dict[str, tuple[float, float]]:
    """Return the shares that a few rows change, over all rows and without these rows, by name.

    A change counts from a third of the larger share and five points on, or with its sign from one
    point on.
    """
    others = {review.plain: usual.plain, MEDIAN: MEDIAN}
    if review.best is not None and usual.best is not None:
        others[review.best] = usual.best
    changes = {}
    for name, _ in _yardsticks(review):
        if name in others:
            before, after = _share(review, name), _share(usual, others[name])
            size = max(abs(before), abs(after))
            least = SIGN if before * after < 0.0 else max(POINTS, THIRD * size)
            if isfinite(size) and abs(after - before) > least:
                changes[name] = before, after
    return changes


def _while(stretch: tuple[Any, Any] | None, rows: int) -> str:
    """Return words on the time of most of some rows, or of a single one; empty if it is long."""
    if stretch is None:
        return ""
    first, last = stretch
    if isinstance(first, np.datetime64) and last - first > np.timedelta64(1, "D"):
        first, last = (time.astype("M8[D]") for time in stretch)
    first, last = moment(first), moment(last)
    most = "most " if rows > 1 else ""
    return f" ({most}on {first})" if first == last else f" ({most}from {first} to {last})"


def absurdity(review: Review, moved: Sequence[tuple[str, int]] = ()) -> str:
    """Return a sentence about the models with absurd forecasts; empty if there are none.

    ``moved`` are experts with the number of their forecasts that the guard clipped.
    """
    if not review.absurd:
        if not moved or moved[0][1] < OFTEN * review.rows:
            return ""
        name, count = moved[0]
        return f"{name} had {counted(count, 'absurd forecast')}, which the guard clipped."
    worst, *others = review.absurd
    measure, when = review.errors.measures[0].name, _while(worst.stretch, len(worst.rows))
    text = (
        f"{worst.name} was absurd in {len(worst.rows):,} of {counted(worst.made, 'row')}{when}: "
        f"there its {measure} is {number(worst.error)}, and {number(worst.median)} for the median "
        "model."
    )
    if others:
        listed = [f"{model.name} ({counted(len(model.rows), 'row')})" for model in others[:NAMED]]
        more = len(others) - NAMED
        listed += [counted(more, "other model")] if more > 0 else []
        text += f" Absurd at times, too: {_join(listed)}."
    return text


def _join(words: Sequence[str]) -> str:
    """Return words with commas, and "and" before the last."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _median_matters(review: ErrorComparison) -> bool:
    """Tell whether the plain mean is no match: absurd models may spoil it, but not the median."""
    errors = review.errors
    if MEDIAN not in errors.names[1:3] or review.of_wealth:
        return False
    mean, median = (errors.values[0, 0, errors.names.index(name)] for name in (MEAN, MEDIAN))
    return bool(median < MATCH * mean)


def _share(review: ErrorComparison, name: str) -> float:
    """Return how far the blend is above another forecaster, as a share."""
    if not review.of_wealth:
        return float(review.errors.excess(name)[0])
    k = review.errors.names.index(name)
    gap = float(review.errors.values[0, 0, k] - review.errors.blend[0, 0, k])
    return expm1(min(gap * int(review.errors.counts[0, k]), 700.0))


def _phrase(review: ErrorComparison, name: str, words: str) -> str:
    share = _share(review, name)
    if review.of_wealth:
        return f"{percent(abs(share))} {'more' if share > 0 else 'less'} than {words}"
    if isinf(share):
        return f"above {words}, which made no error"
    ratio = excess(share)
    if ratio == "less than 1 % of" or ratio.endswith(" times"):
        ratio += " the error of"
    return f"{ratio} {words}"


def _small(review: Review) -> str:
    errors, measure, best = review.errors, review.errors.measures[0].name, review.best
    words = f"the mean {measure}"
    if measure in IN_WORDS:
        words = f"{measure}, {IN_WORDS[measure]}, in the units of {review.target}"
    rows = counted(review.rows, "row")
    text = [f"Error: {words}: {_values(review)}, over {rows} with an outcome."]
    if review.usual is not None and review.rounds >= FEW and _changes(review, review.usual):
        rows = counted(review.usual.rows, "row")
        text.append(
            f"In the {rows} without the largest errors of the blend and of the others: "
            f"{_values(review.usual)}."
        )
    if best is not None:
        k, where = errors.names.index(best), "the same rows."
        if errors.counts[0, k] < review.rows:
            where = (
                f"the {counted(int(errors.counts[0, k]), 'row')} in which it made a forecast, "
                f"where the blend has {number(float(errors.blend[0, 0, k]))}."
            )
        text.append(f"The best single model is chosen in hindsight, and compared over {where}")
    if review.series is not None:
        there = review.series.counts[:, 0] > 0
        ahead = (review.series.excess(review.plain) < 0.0) & there
        text.append(
            f"The blend has a smaller error than the {title_of(review.plain)} in "
            f"{int(ahead.sum()):,} of the {int(there.sum()):,} series."
        )
    text += _outlier(review)
    return " ".join(text)


def _values(comparison: ErrorComparison) -> str:
    """Return the errors of the blend, of the best single model and of the plain average."""
    errors, best = comparison.errors, comparison.best
    shown = [("the blend", 0), (f"the {title_of(comparison.plain)}", 1)]
    shown[1:1] = [] if best is None else [(best, errors.names.index(best))]
    return ", ".join(f"{number(float(errors.values[0, 0, k]))} for {name}" for name, k in shown)


def _outlier(review: Review) -> list[str]:
    """Return a sentence about a single row that makes up much of the error; none otherwise."""
    worst = review.worst
    if worst is None or worst.share < MUCH or review.rounds < FEW:
        return []
    squares = "squared " * (review.errors.measures[0].name == "RMSE")
    where = moment(worst.time) + (f", {worst.series}" if worst.series else "")
    return [
        f"A single row makes up {percent(worst.share)} of the {squares}errors of the blend: "
        f"{where}, where the blend was {number(worst.forecast)} and {review.target} "
        f"{number(worst.outcome)}."
    ]


def _warnings(review: Review) -> list[str]:
    """Return a sentence about plain combinations that were better than the blend, if any were."""
    if review.rounds < FEW:
        return []
    errors = review.errors
    plain = errors.names[1 : 1 + review.plain_count]
    if review.of_wealth:
        better = [name for name in plain if _share(review, name) < -WORSE]
        return [f"Warning: the {title_of(name)} earned more than the blend." for name in better]
    better = [name for name in plain if _share(review, name) > WORSE]
    if not better:
        return []
    parts = [
        f"the {title_of(name)} ({number(float(errors.values[0, 0, errors.names.index(name)]))})"
        for name in better
    ]
    verb = "was" if len(parts) == 1 else "were"
    error = f"the error of the blend is {number(float(errors.values[0, 0, 0]))}"
    return [f"Warning: {' and '.join(parts)} {verb} better than the blend: {error}."]
