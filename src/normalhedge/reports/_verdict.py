"""The verdict on a blend, in sentences."""

from collections.abc import Sequence
from math import expm1, isinf
from typing import NamedTuple

from normalhedge.boundary.terminal import counted
from normalhedge.reports._wording import excess, moment, number, percent
from normalhedge.reports.analysis import MEAN, MEDIAN, Review

FEW = 30
"""With fewer rounds it is too early to say how good a blend is."""

MATCH = 0.9
"""If the error of the plain median is smaller than this share of the error of the plain mean, the
blend is compared with the median, too."""

MUCH = 0.25
"""A single row with this share of the error is mentioned."""

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
    parts = [] if review.best is None else [(review.best, f"the best single model ({review.best})")]
    parts.append((review.plain, f"the {title_of(review.plain)}"))
    if _median_matters(review):
        parts.append((MEDIAN, f"the {MEDIAN}"))
    phrases = [(_share(review, name) > 0.0, _phrase(review, name, words)) for name, words in parts]
    alike = [words for above, words in phrases if above == phrases[0][0]]
    unlike = [words for above, words in phrases if above != phrases[0][0]]
    joined = ", but ".join(_join(words) for words in (alike, unlike) if words)
    subject = "the blend's error is" if not review.of_wealth else "the blend earned"
    if review.rounds < FEW:
        start = (
            f"After {counted(review.rounds, 'round')} it is too early to say how good the blend "
        )
        start += f"is. So far {subject}"
    else:
        start = subject[0].upper() + subject[1:]
    sentences = [f"{start} {joined}."]
    unclear = [words for name, words in parts if not review.leads[name].clear]
    if unclear and review.rounds >= FEW:
        words = _join(unclear)
        sentences.append(f"The difference from {words} is within the range of chance.")
    return BlendVerdict(" ".join(sentences), _small(review), _warnings(review))


def _join(words: Sequence[str]) -> str:
    """Return words with commas, and "and" before the last."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _median_matters(review: Review) -> bool:
    """Tell whether the plain mean is no match: absurd models may spoil it, but not the median."""
    errors = review.errors
    if MEDIAN not in errors.names[1:3] or review.of_wealth:
        return False
    mean, median = (errors.values[0, 0, errors.names.index(name)] for name in (MEAN, MEDIAN))
    return bool(median < MATCH * mean)


def _share(review: Review, name: str) -> float:
    """Return how far the blend is above another forecaster, as a share."""
    if not review.of_wealth:
        return float(review.errors.excess(name)[0])
    k = review.errors.names.index(name)
    gap = float(review.errors.values[0, 0, k] - review.errors.blend[0, 0, k])
    return expm1(min(gap * int(review.errors.counts[0, k]), 700.0))


def _phrase(review: Review, name: str, words: str) -> str:
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
    shown = [("the blend", 0), (f"the {title_of(review.plain)}", 1)]
    shown[1:1] = [] if best is None else [(best, errors.names.index(best))]
    values = ", ".join(f"{number(float(errors.values[0, 0, k]))} for {name}" for name, k in shown)
    words = f"the mean {measure}"
    if measure in IN_WORDS:
        words = f"{measure}, {IN_WORDS[measure]}, in the units of {review.target}"
    text = [f"Error: {words}: {values}, over {counted(review.rows, 'row')} with an outcome."]
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
