"""Mixtures in the middle of their games, and what is done to them: made anew at each call."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from normalhedge import blend
from normalhedge.hedgers import fold
from normalhedge.mixtures import Mixture

Make = Callable[[], Mixture]
Act = Callable[[Mixture], object]


class Totals(NamedTuple):
    """The state of `Softmax`."""

    weights: np.ndarray
    gains: np.ndarray


@dataclass(frozen=True)
class Softmax:
    """A hedger of one's own, as in the README; ``disturb`` is called at every turn."""

    disturb: Callable[[str], object] | None = None

    def _tell(self, where: str) -> None:
        if self.disturb is not None:
            self.disturb(where)

    def init(self, n: int) -> Totals:
        self._tell("init")
        return Totals(np.full(n, 1 / n), np.zeros(n))

    def join(self, state: Totals, count: int) -> Totals:
        self._tell("join")
        n = len(state.weights) + count
        return Totals(np.full(n, 1 / n), np.pad(state.gains, (0, count)))

    def play(self, state: Totals, confidence: Any = None) -> np.ndarray:
        self._tell("play")
        heard: np.ndarray = state.weights * (1.0 if confidence is None else confidence)
        return heard / heard.sum() if heard.any() else heard

    def step(self, state: Totals, gains: Any, confidence: Any = None) -> Totals:
        self._tell("step")
        awake = np.ones(len(gains)) if confidence is None else np.asarray(confidence)
        gains = np.where(awake > 0, gains, 0.0)
        totals = state.gains + awake * (gains - self.play(state, awake) @ gains)
        weights = np.exp(totals - totals.max())
        return Totals(weights / weights.sum(), totals)

    def run(self, gains: Any, confidence: Any = None, **options: Any) -> Any:
        return fold(self, gains, confidence, **options)


def own_loss(forecasts: Any, outcome: Any) -> Any:
    """Return a loss of one's own."""
    return abs(forecasts - outcome)


def play_on(mixture: Mixture, rounds: int = 6, *, wait: int = 2) -> Mixture:
    """Play some rounds with three experts; the last ones wait."""
    for k in range(rounds):
        ticket = mixture.predict({"a": 1.0 + k, "b": 2.0 - k, "c": 0.5 * k}).ticket
        if k < rounds - wait:
            mixture.update(ticket, 1.0 + 0.5 * k)
    return mixture


def numbers(**options: Any) -> Mixture:
    """Return a mixture of numbers."""
    return play_on(Mixture(**options))


def late() -> Mixture:
    """Return a mixture in which experts joined after rounds that wait."""
    mixture = numbers()
    mixture.join(["d", "e"])
    return mixture


def things(**options: Any) -> Mixture:
    """Return a mixture of things by name."""
    mixture = Mixture(**options)
    for k in range(5):
        ticket = mixture.predict({"a": {"x": 1.0 + k, "y": 2.0}, "b": {"x": 2.0, "y": 1.0}}).ticket
        if k < 3:
            mixture.update(ticket, {"x": 1.5, "y": 1.0 + k})
    return mixture


def table(first: int, last: int, *, series: bool = False) -> Any:
    """Return a table of rounds; the outcomes of the last two are not known."""
    import pyarrow as pa  # noqa: PLC0415

    rows = [(t, s) for t in range(first, last) for s in (("u", "v") if series else ("u",))]
    columns = {
        "t": [t for t, _ in rows],
        "y": [None if t >= last - 2 else float(t % 3) for t, _ in rows],
        "a": [float(t % 3) + 0.1 for t, _ in rows],
        "b": [1.0 for _ in rows],
        f"n{first}": [0.5 * (t % 4) for t, _ in rows],
    }
    return pa.table({"s": [s for _, s in rows], **columns} if series else columns)


def blended(*, series: bool = False, **options: Any) -> Mixture:
    """Return a mixture that has blended a table, with rounds that wait."""
    by: dict[str, Any] = {"by": "s"} if series else {}
    found = blend(table(0, 8, series=series), target="y", time="t", lag=1, **by, **options)
    return found.mixture


def warm_up() -> None:
    """Import what is imported when it is first used, before forking many times."""
    blended().summary()


def blend_more(*, series: bool = False) -> Act:
    """Return what blends a further table into a mixture; it overlaps the one before."""
    by: dict[str, Any] = {"by": "s"} if series else {}

    def act(mixture: Mixture) -> object:
        return blend(
            table(5, 12, series=series), target="y", time="t", lag=1, mixture=mixture, **by
        )

    return act


def leave(mixture: Mixture) -> None:
    """Let an expert leave."""
    mixture.leave("b")


def saved(path: Path) -> Act:
    """Return what saves a mixture to a file."""
    return lambda mixture: mixture.save(path)


def scenes() -> dict[str, tuple[Make, Act]]:
    """Return the calls that are interrupted, by name."""
    plain: dict[str, float] = {"a": 3.0, "b": 1.0, "c": 2.0}
    new = {**plain, "d": 7.0}
    more = {"a": {"x": 1.0, "z": 3.0}, "e": {"x": 2.0, "z": 0.0}}
    found: dict[str, tuple[Make, Act]] = {
        "predict": (numbers, lambda m: m.predict(plain)),
        "predict, fewer": (numbers, lambda m: m.predict({"b": 1.0})),
        "predict, first": (Mixture, lambda m: m.predict(plain)),
        "predict, a new name": (numbers, lambda m: m.predict(new)),
        "predict, confidence": (numbers, lambda m: m.predict(new, {"a": 0.5})),
        "predict, expiring": (lambda: numbers(max_pending=2), lambda m: m.predict(plain)),
        "predict, too old": (lambda: numbers(max_age=1), lambda m: m.predict(new)),
        "predict, new things": (things, lambda m: m.predict(more)),
        "predict, new games": (lambda: things(shared=False), lambda m: m.predict(more)),
        "predict, a second thing": (numbers, lambda m: m.predict({"a": {"x": 1.0, "y": 2.0}})),
        "predict, single rule": (lambda: numbers(hedger="normal-hedge"), lambda m: m.predict(new)),
        "predict, plain experts": (
            lambda: numbers(include=("mean", "median")),
            lambda m: m.predict(new),
        ),
        "predict, own hedger": (lambda: numbers(hedger=Softmax()), lambda m: m.predict(new)),
        "update": (numbers, lambda m: m.update(5, 2.5)),
        "update, late": (late, lambda m: m.update(4, 2.5)),
        "update, single rule": (
            lambda: numbers(hedger="normal-hedge"),
            lambda m: m.update(4, 1e6),
        ),
        "update, wider range": (numbers, lambda m: m.update(4, 1e6)),
        "update, things": (things, lambda m: m.update(3, {"x": 2.5})),
        "update, games": (lambda: things(shared=False), lambda m: m.update(3, {"x": 9.0, "y": 0})),
        "update, own loss": (lambda: numbers(loss=own_loss), lambda m: m.update(4, 2.5)),
        "update, own hedger": (lambda: numbers(hedger=Softmax()), lambda m: m.update(4, 2.5)),
        "join": (numbers, lambda m: m.join(["d", "e", "a"])),
        "join, games": (lambda: things(shared=False), lambda m: m.join(["d", "e"])),
        "join, first": (Mixture, lambda m: m.join(["d", "e"])),
        "join, own hedger": (lambda: numbers(hedger=Softmax()), lambda m: m.join(["d"])),
        "blend": (blended, blend_more()),
        "blend, first": (Mixture, blend_more()),
        "blend, games": (lambda: blended(series=True), blend_more(series=True)),
        "blend, single rule": (
            lambda: blended(series=True, hedger="normal-hedge"),
            blend_more(series=True),
        ),
        "blend, own loss": (lambda: blended(loss=own_loss), blend_more()),
    }
    found["leave"] = (numbers, leave)
    found["leave, games"] = (lambda: things(shared=False), leave)
    found["leave, own hedger"] = (lambda: numbers(hedger=Softmax()), leave)
    found["correct"] = (numbers, lambda m: m.correct(2, 9.0))
    found["correct, games"] = (
        lambda: things(shared=False),
        lambda m: m.correct(1, {"x": 3.0, "y": 1.0}),
    )
    found["correct, own hedger"] = (
        lambda: numbers(hedger=Softmax()),
        lambda m: m.correct(2, 9.0),
    )
    found |= _with_intervals(more)
    found["predict and update by id"] = (numbers, _by_id)
    found["rename"] = (numbers, lambda m: m.rename("b", "z"))
    found["inherit, new"] = (numbers, lambda m: m.inherit("z", "b"))
    found["inherit, known"] = (late, lambda m: m.inherit("d", "b"))
    found["retire"] = (numbers, lambda m: m.retire("b"))
    found["peek"] = (numbers, lambda m: m.peek({"a": 1.0, "z": 2.0}))
    return found


def _with_intervals(more: dict[str, dict[str, float]]) -> dict[str, tuple[Make, Act]]:
    """Return calls of mixtures with intervals; ``more`` are forecasts of a new thing."""
    several: dict[str, Any] = {"interval": (0.5, 0.9), "season": 3}
    return {
        "predict, intervals": (lambda: numbers(interval=0.9), lambda m: m.predict({"a": 3.0})),
        "predict, intervals of new things": (lambda: things(**several), lambda m: m.predict(more)),
        "update, intervals": (lambda: things(**several), lambda m: m.update(3, {"x": 2.5})),
        "update, intervals and own loss": (
            lambda: numbers(interval=0.9, loss=own_loss),
            lambda m: m.update(4, 2.5),
        ),
        "correct, intervals": (lambda: numbers(**several), lambda m: m.correct(2, 9.0)),
        "blend, intervals": (lambda: blended(**several), blend_more()),
    }


def _by_id(mixture: Mixture) -> object:
    return mixture.predict({"a": 1.0, "b": 2.0, "c": 3.0}, id="today")
