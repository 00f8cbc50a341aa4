"""The laws that every loss obeys, as checks for your own loss."""

import json
import pickle
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.checks._promises import NATURES, check_bound
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.losses import (
    CLASSES,
    LABELS,
    NUMBERS,
    QUANTILES,
    WEALTH,
    Loss,
    loss_of,
    restored_loss,
)
from normalhedge.mixtures.summaries import best_convex

LossLaw = Callable[[Loss], None]

LOSS_LAWS: dict[str, LossLaw] = {}
"""Every law of losses, by its name."""

SCALES = (1e-3, 1.0, 1e3)
"""The sizes of the forecasts that are drawn, where forecasts are numbers."""

ROUNDING = 1e-9
"""How far two ways to compute a number may differ, relative to the numbers that take part."""


def check_loss(loss: Loss) -> None:
    """Check every law on a loss; raise an AssertionError that names the first broken law.

    Examples
    --------
    >>> check_loss(Loss("steep", function=lambda x, y: (x - y) ** 4,
    ...                 slope=lambda x, y: 4.0 * (x - y) ** 3, convex=True))
    """
    for name, law in LOSS_LAWS.items():
        try:
            law(loss)
        except Exception as error:
            raise AssertionError(f"{loss!r} breaks the law {name}: {error}") from error


def _law(law: LossLaw) -> LossLaw:
    """Register a law."""
    LOSS_LAWS[law.__name__] = law
    return law


class Rows(NamedTuple):
    """Forecasts, rows x numbers x experts, and the outcome and the item of each row."""

    forecasts: Floats
    outcomes: Floats
    items: np.ndarray


def draw_rows(loss: Loss, rows: int, experts: int, scale: float, seed: int) -> Rows:
    """Draw forecasts and outcomes that a loss takes."""
    rng = np.random.default_rng(seed)
    y = scale * rng.normal(size=rows)
    if loss.forecasts is NUMBERS:
        x = y[:, np.newaxis] + scale * rng.normal(size=(rows, experts))
        x = x[:, np.newaxis]
    elif loss.forecasts is QUANTILES:
        x = y[:, np.newaxis, np.newaxis] + scale * rng.normal(
            size=(rows, len(loss.levels), experts)
        )
        x.sort(axis=1)
    elif loss.forecasts is CLASSES:
        y = rng.integers(0, 3, rows).astype(float)
        x = rng.dirichlet(np.ones(3), (rows, experts)).transpose(0, 2, 1)
        x = 0.98 * x + 0.02 / 3.0
    elif loss.forecasts is LABELS:
        y = rng.integers(0, 3, rows).astype(float)
        x = rng.integers(0, 3, (rows, 1, experts)).astype(float)
    else:
        assert loss.forecasts is WEALTH
        y = np.exp(0.1 * rng.normal(size=rows))
        x = np.exp(0.3 * rng.normal(size=(rows, 1, experts)))
    assert loss.takes(y).all(), f"takes refuses some of {y[:3]}, ..."
    items = rng.integers(0, len(loss.settings), rows).astype(np.int32)
    return Rows(np.ascontiguousarray(x), y, items)


def _draws(loss: Loss, experts: int = 3) -> Iterator[Rows]:
    """Yield small tables of several scales."""
    scales = SCALES if loss.forecasts in {NUMBERS, QUANTILES} else (1.0,)
    for seed, scale in enumerate(scales):
        yield draw_rows(loss, 40, experts, scale, seed)


def _experts(rows: Rows) -> list[Floats]:
    """Return the forecasts of each expert; rows x numbers."""
    return [np.ascontiguousarray(x) for x in np.moveaxis(rows.forecasts, 2, 0)]


def _values(loss: Loss, rows: Rows) -> Floats:
    """Return the loss of each forecast in Python; rows x experts."""
    columns = [loss.value(x, rows.outcomes, rows.items) for x in _experts(rows)]
    return np.stack(columns, axis=1)


def _slopes(loss: Loss, rows: Rows) -> Floats:
    """Return the slopes in Python, in the shape of the forecasts."""
    columns = [loss.gradient_of(x, rows.outcomes, rows.items) for x in _experts(rows)]
    return np.stack(columns, axis=2)


def _require(holds: Any, sentence: str) -> None:
    if not np.all(holds):
        raise AssertionError(sentence)


@_law
def its_text_is_read_back(loss: Loss) -> None:
    """Check ``loss_of(str(loss)) == loss``, and the same for pickles and files."""
    try:
        setattr(loss, "name", "another")  # noqa: B010
    except AttributeError:
        pass
    else:
        raise AssertionError("its attributes can be set")
    if loss.own:
        return
    _require(loss_of(str(loss)) == loss, f"{str(loss)!r} is read as {loss_of(str(loss))!r}")
    _require(hash(loss_of(str(loss))) == hash(loss), "equal losses have different hashes")
    _require(pickle.loads(pickle.dumps(loss)) == loss, "its pickle is another loss")
    written = json.loads(json.dumps(loss.to_plain()))
    _require(restored_loss(written, None) == loss, f"{written} is read as another loss")


@_law
def values_lie_in_the_range(loss: Loss) -> None:
    """Check that no loss is below ``least``, and no two differ by more than a known ``width``."""
    for rows in _draws(loss):
        values = _values(loss, rows)
        _require(np.isfinite(values), "not all values are finite")
        _require(values >= loss.least, f"{values.min():g} is less than least, {loss.least:g}")
        spread = float(np.ptp(values))
        _require(not loss.width or spread <= loss.width + ROUNDING, f"losses differ by {spread:g}")


@_law
def the_slope_is_the_derivative(loss: Loss) -> None:
    """Check slopes against the change of the loss over a small change of the forecast."""
    if not loss.differentiable:
        return
    for rows in _draws(loss):
        slopes = _slopes(loss, rows)
        sizes = np.abs(rows.forecasts).mean()
        step = 1e-5 * sizes
        for number in range(rows.forecasts.shape[1]):
            change = np.zeros_like(rows.forecasts)
            change[:, number] = step
            above, below = (
                _values(loss, rows._replace(forecasts=rows.forecasts + sign * change))
                for sign in (1.0, -1.0)
            )
            measured = (above - below) / (2.0 * step)
            # A kink within a step is met by one point in ten thousand; rounding is 1e-16 / 1e-5.
            noise = 1e-9 * np.abs(above).mean() / step
            wrong = np.abs(measured - slopes[:, number]) > 1e-3 * np.abs(measured) + noise + 1e-9
            place = tuple(int(k) for k in np.argwhere(wrong)[0]) if wrong.any() else (0, 0)
            _require(
                wrong.sum() <= 1,
                f"at {rows.forecasts[place[0], number, place[1]]:g}, if the outcome is "
                f"{rows.outcomes[place[0]]:g}, the slope is {slopes[:, number][place]:g} and the "
                f"loss changes at the rate {measured[place]:g}",
            )


@_law
def it_is_convex_where_it_says_so(loss: Loss) -> None:
    """Check that the loss of a mean is at most the mean loss, and that tangents lie below."""
    for rows in _draws(loss, 2):
        if loss.convex:
            mean = rows._replace(forecasts=rows.forecasts.mean(axis=2, keepdims=True))
            ends, middle = _values(loss, rows), _values(loss, mean)[:, 0]
            size = ROUNDING * np.abs(ends).mean()
            _require(middle <= ends.mean(axis=1) + size, "the loss of a mean is more than the mean")
            straight = np.abs(middle - ends.mean(axis=1)) <= size
            _require(not loss.linear or straight.all(), "it is not linear")
        if not loss.has_best_convex:
            continue
        parts = loss.parts(*rows)
        y, setting = parts.outcomes, parts.settings
        a, b = parts.numbers[:, :, 0], parts.numbers[:, :, 1]
        at_a, at_b = loss.number_loss(a, y, setting), loss.number_loss(b, y, setting)
        tangent = at_a + loss.number_slope(a, y, setting) * (b - a)
        size = ROUNDING * (np.abs(at_a).mean() + np.abs(at_b).mean())
        _require(at_b >= tangent - size, "it lies below its tangent")


@_law
def its_shape_is_what_it_says(loss: Loss) -> None:
    """Check that `kink`, ``of_errors`` and ``quadratic`` are true of `number_loss`."""
    for rows in _draws(loss):
        parts = loss.parts(*rows)
        if not loss.has_best_convex:
            return
        x, y, setting = parts.numbers[:, :, 0], parts.outcomes, parts.settings
        values = loss.number_loss(x, y, setting)
        size = ROUNDING * np.abs(values).mean()
        kink = loss.kink(y, setting)
        if kink is not None:
            steep = np.where(x > y, kink.above, -kink.below)
            if kink.soft:
                steep = np.clip((x - y) / kink.soft, -kink.below, kink.above)
            lines = steep * (x - y) - 0.5 * kink.soft * steep * steep
            _require(np.abs(values - lines) <= size, "it is not linear on both sides of its kink")
        if loss.of_errors:
            moved = loss.number_loss(x + 1.0, y + 1.0, setting)
            _require(np.abs(moved - values) <= 1e-6 * (1.0 + np.abs(values)), "of_errors is not so")
        if loss.quadratic:
            _require(np.abs(values - np.square(x - y)) <= size, "it is not quadratic")


@_law
def the_core_has_the_same_loss(loss: Loss) -> None:
    """Check that core and Python give the same values and slopes, up to rounding."""
    if loss.own:
        return
    for rows in _draws(loss):
        values, table = _values(loss, rows), loss.table(*rows)
        _require(
            np.abs(values - table) <= ROUNDING * (np.abs(values) + np.abs(values).mean()),
            f"the value is {values.flat[0]:g} and the core's {table.flat[0]:g}, or others differ",
        )
        if loss.differentiable:
            slopes, core = _slopes(loss, rows), loss.slope_table(*rows)
            _require(
                np.abs(slopes - core) <= ROUNDING * (np.abs(slopes) + np.abs(slopes).mean()),
                f"the slope is {slopes.flat[0]:g}, the core's {core.flat[0]:g}, or others differ",
            )


def _mixtures(loss: Loss) -> Iterator[Mixture]:
    """Yield mixtures of several rules: the default, single ones, with the gradient trick or not."""
    yield Mixture(loss=loss)
    for hedger in ("normal-hedge", "squint"):
        yield Mixture(hedger, loss)
        yield Mixture(hedger, loss, gradient=False)
    if loss.differentiable:
        yield Mixture("squint", loss, combine="mean", gradient=True)


def _play(mixture: Mixture, rows: Rows) -> list[Any]:
    """Let a mixture predict and learn; return its predictions."""
    loss, made = mixture.settings.loss, []
    several = len(loss.levels) > 1 and not loss.of_levels
    for x, y in zip(rows.forecasts, rows.outcomes.tolist(), strict=True):
        rows_of_experts = x.T if x.shape[0] > 1 else x[0]
        if several:  # an item for each level
            rows_of_experts = np.repeat(x.T, len(loss.levels), axis=1)
        names = {f"expert {i}": one for i, one in enumerate(rows_of_experts.tolist())}
        prediction = mixture.predict(names)
        outcome = int(y) if loss.of_classes else y
        mixture.update(prediction.ticket, [outcome] * len(loss.levels) if several else outcome)
        made.append(np.asarray(prediction.value))
    return made


@_law
def mixtures_save_load_and_go_on(loss: Loss) -> None:
    """Check that a saved mixture goes on to the bit, and that its summary names the loss."""
    first, second = (draw_rows(loss, 30, 3, 1.0, seed) for seed in (1, 2))
    for mixture in _mixtures(loss):
        _play(mixture, first)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "mixture.json")
            mixture.save(path)
            loaded = Mixture.load(path, loss=loss) if loss.own else Mixture.load(path)
        _require(loaded.settings.loss == loss, f"the loss in the file is {loaded.settings.loss!r}")
        pairs = zip(_play(mixture, second), _play(loaded, second), strict=True)
        _require([np.array_equal(a, b) for a, b in pairs], f"{mixture!r} continues differently")
        _require(
            loss.brief in str(mixture.summary()), f"the summary of {mixture!r} does not name it"
        )


@_law
def summaries_have_its_means(loss: Loss) -> None:
    """Check that a summary has the mean losses of the forecasts."""
    rows = draw_rows(loss, 30, 3, 1.0, 1)
    if len(loss.levels) > 1 and not loss.of_levels:
        return  # one forecast counts for several items
    means = _values(loss, rows._replace(items=np.zeros(30, dtype=np.int32))).mean(axis=0)
    mixture = Mixture("squint", loss)
    _play(mixture, rows)
    losses = {row.name: row.loss for row in mixture.summary().experts}
    for i, mean in enumerate(means.tolist()):
        shown = losses[f"expert {i}"]
        _require(abs(shown - mean) <= 1e-9 * (1.0 + abs(mean)), f"{shown:g} is shown, not {mean:g}")


@_law
def bounds_hold(loss: Loss) -> None:
    """Check that `Mixture.bound` keeps its word under attack."""
    if len(loss.levels) > 1 and not loss.of_levels:
        return  # the attacks have one item
    for hedger in ("normal-hedge", "squint", "auto:guard=false"):
        for nature in NATURES.values():
            check_bound(Mixture(hedger, loss), nature, rounds=60)
    check_bound(Mixture("normal-hedge", loss), NATURES["contrary"], lag=2, rounds=60)


@_law
def outcomes_that_it_does_not_take_are_refused(loss: Loss) -> None:
    """Check that `takes` and mixtures agree, and that a refused outcome settles nothing."""
    if loss.forecasts in {CLASSES, LABELS} or len(loss.levels) > 1:
        return
    for outcome in (0.0, -1.0, 1.0):
        mixture = Mixture("squint", loss)
        mixture.update(mixture.predict({"a": 1.0, "b": 2.0}).ticket, 1.0)
        ticket = mixture.predict({"a": 1.0, "b": 2.0}).ticket
        try:
            mixture.update(ticket, outcome)
            refused = ""
        except ValueError as error:
            refused = str(error)
        _require(
            bool(refused) != bool(loss.takes(np.array([outcome])).all()),
            f"takes and update disagree about {outcome:g}: {refused}",
        )
        _require(refused == "" or ticket in mixture.pending, "a refused outcome settled its round")
        _require(not refused or loss.outcome_must[0] in refused, f"{refused!r} does not say why")


@_law
def the_best_convex_combination_is_proved(loss: Loss) -> None:
    """Check that no weights on a grid beat the best convex combination by more than its gap."""
    if not loss.has_best_convex:
        return
    steps = 12
    grid = [
        np.array([i, j, steps - i - j]) / steps
        for i in range(steps + 1)
        for j in range(steps + 1 - i)
    ]
    for rows in _draws(loss):
        best = best_convex(loss, *rows)
        size = float(np.abs(_values(loss, rows)).mean())
        means = [
            float(loss.value(rows.forecasts @ w, rows.outcomes, rows.items).mean())
            for w in (*grid, best.weights)
        ]
        _require(abs(means[-1] - best.loss) <= ROUNDING * size, "its loss belongs to other weights")
        least = min(means)
        _require(
            least >= best.loss - best.gap - ROUNDING * size,
            f"some weights have {least:.9g}, less than {best.loss:.9g} - {best.gap:.2g}",
        )
        is_exact = loss.own or best.gap <= 1e-5 * size
        _require(is_exact, f"the gap is {best.gap:.2g}: does it have a kink that it does not tell?")
