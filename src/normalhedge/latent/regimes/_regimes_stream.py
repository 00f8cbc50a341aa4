"""Regimes on a stream of JSON lines: one line out for each line in.

Lines in::

    0.31                                an observation
    [0.31, -0.2]                        one with several columns
    "rain"                              a symbol
    null                                a round whose observation is missing
    {"y": 0.31}                         the same as 0.31
    {"y": 0.31, "given": [1, 0.2], "next": [0, 0.3]}    with its covariates, and the next ones

and out::

    {"line": 1, "round": 1, "state": 0, "probabilities": [0.97, 0.03], "switch": 0.01,
     "next": {"mean": 0.02, "interval": [-1.1, 1.2]}}
    {"line": 2, "error": "..."}

For symbols, ``next`` holds the probability of each. With covariates it needs those of the next
round, a list or an object with their names, and is null without them.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge.boundary.terminal import clipped
from normalhedge.latent.models.emissions import Regression
from normalhedge.latent.regimes._encoding import KINDS, Encoding
from normalhedge.latent.regimes._inferred import Live
from normalhedge.latent.regimes._regimes import Regimes
from normalhedge.latent.regimes._saved import from_journal, read, write
from normalhedge.live import json_lines, state_file
from normalhedge.live.journal import Operation
from normalhedge.live.line_stream import LineStream

# a journal of this many bytes is folded into the state: a longer one takes seconds to replay
FOLDED = 1 << 16


class RegimesStream(LineStream):
    """Regimes that answer each line of a stream."""

    def __init__(
        self,
        live: Live,
        level: float = 0.9,
        note: Callable[[Operation], object] | None = None,
    ) -> None:
        super().__init__(note)
        self.live = live
        self._level = level

    def reply(self, request: Any, answer: dict[str, Any]) -> None:
        observation, given, later = self._observation(request)
        self.live.regimes.observe(from_journal(observation), given)
        covariates = {} if given is None else {"given": given}
        self._note({"observe": observation, **covariates})
        answer |= self._prediction(later)

    def sentence(self, error: Exception) -> str:
        return super().sentence(error).removesuffix(" in row 1")

    def _observation(self, request: Any) -> tuple[Any, list[float] | None, list[float] | None]:
        """Return the observation of a line in the form of a journal, None where it is missing.

        Its covariates and those of the next round follow; None if there are none.
        """
        value, encoding = request, self.live.encoding
        given = later = None
        if isinstance(value, dict):
            if "y" not in value or set(value) > {"y", *(("given", "next") * bool(encoding.given))}:
                form = '"y": observation' + ', "given": covariates' * bool(encoding.given)
                text = clipped(json.dumps(request), 80)
                raise ValueError(f"a line is an observation or {{{form}}}, got {text}")
            given, later = value.get("given"), value.get("next")
            value = value["y"]
        given = encoding.covariates(given)
        later = None if later is None else encoding.covariates(later)
        if isinstance(value, bool) and self.live.encoding.kind != "symbols":
            raise ValueError(f"the observation must be a number, got {json.dumps(value)}")
        if isinstance(value, list) and not self.live.encoding.columns:
            raise ValueError(
                f"the observation must be one number, got {clipped(json.dumps(request), 80)}"
            )
        encoded = self.live.encoding.number(value)
        parts = encoded if isinstance(encoded, list) else [encoded]
        plain = [None if math.isnan(part) else part for part in parts]
        return plain if isinstance(encoded, list) else plain[0], given, later

    def _prediction(self, later: list[float] | None) -> dict[str, Any]:
        """Return the current regime and the prediction of the next round, given its covariates."""
        regimes, encoding = self.live.regimes, self.live.encoding
        unknown = [math.nan] * len(encoding.given) or None
        ahead = regimes.predict(unknown if later is None else later)
        count = max(regimes.parameters(), default=-1) + 1
        count = max(count, int(np.flatnonzero(regimes.probabilities).max(initial=-1)) + 1)
        answer: dict[str, Any] = {
            "round": regimes.rounds,
            "state": regimes.state if regimes.state >= 0 else None,
            "probabilities": regimes.probabilities[:count],
            "switch": regimes.switching,
        }
        if regimes.settings.patience is not None:
            answer |= {"novelty": regimes.novelty, "alarm": regimes.alarm}
        if not ahead.parts:
            answer["next"] = None
        elif encoding.labels:
            answer["next"] = dict(zip(encoding.labels, ahead.symbols.tolist(), strict=True))
        else:
            interval = np.asarray(ahead.interval(self._level))
            answer["next"] = {"mean": ahead.mean, "interval": interval}
        plain: dict[str, Any] = json_lines.plain(answer)
        return plain


class RegimesFile(state_file.StateFile[Live]):
    """Regimes on disk, with the encoding of their observations and a journal."""

    def read(self) -> tuple[Live, int, str]:
        rule, state, extra = read(self.path)
        regimes = Regimes.at(rule, state)
        if not extra:  # as `Regimes.save` wrote it
            return Live(regimes, _plain_encoding(regimes)), 0, ""
        try:
            sequence, journal = extra["sequence"], extra["journal"]
            if type(sequence) is not int or sequence < 0 or not isinstance(journal, str):
                raise ValueError("sequence and journal must be a number and a word")
            return Live(regimes, Encoding.from_plain(extra["code"])), sequence, journal
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{self.path} cannot be read: {error}") from None

    def write(self, thing: Live, sequence: int, journal: str, target: Path) -> int:
        regimes, encoding = thing
        extra = {"code": encoding.to_plain(), "sequence": sequence, "journal": journal}
        return write(regimes.settings, regimes._state, target, extra)

    def redo(self, thing: Live, operation: Operation) -> None:
        thing.regimes.observe(from_journal(operation["observe"]), operation.get("given"))

    def limit(self, size: int) -> int:
        return max(FOLDED, size // 4)


def _plain_encoding(regimes: Regimes) -> Encoding:
    """Return the encoding of regimes that learned plain numbers."""
    columns, symbols = len(regimes._state.previous), regimes.settings.symbols
    if regimes.emission == Regression.family:
        return Encoding("numbers", given=tuple(f"covariate {k}" for k in range(1, columns)))
    if symbols is not None:
        return Encoding("symbols", tuple(str(k) for k in range(symbols)))
    if columns > 1:
        return Encoding("numbers", columns=tuple(f"column {k}" for k in range(columns)))
    if regimes.emission == "negative_binomial":
        return Encoding("counts")
    kind = next((kind for kind, family in KINDS.items() if family == regimes.emission), "numbers")
    return Encoding(kind)
