"""Regimes on a stream of JSON lines: one line out for each line in.

Lines in::

    0.31                                an observation
    [0.31, -0.2]                        one with several columns
    "rain"                              a symbol
    null                                a round whose observation is missing
    {"y": 0.31}                         the same as 0.31

and out::

    {"line": 1, "round": 1, "state": 0, "probabilities": [0.97, 0.03], "switch": 0.01,
     "next": {"mean": 0.02, "interval": [-1.1, 1.2]}}
    {"line": 2, "error": "..."}

For symbols, ``next`` holds the probability of each.
"""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from normalhedge.boundary.terminal import clipped
from normalhedge.latent.regimes._inferred import Live
from normalhedge.latent.regimes._saved import from_journal
from normalhedge.live import json_lines
from normalhedge.live.journal import Operation


class RegimesStream:
    """Regimes that answer each line of a stream."""

    def __init__(
        self,
        live: Live,
        level: float = 0.9,
        note: Callable[[Operation], object] | None = None,
    ) -> None:
        self.live = live
        self.refused = 0
        self._level, self._note = level, note

    def answer(
        self, number: int, line: str | bytes, *, whole: bool = True
    ) -> dict[str, Any] | None:
        """Return the answer to a line; None if the line is empty."""
        answer: dict[str, Any] = {"line": number}
        try:
            text = json_lines.text(line, whole=whole)
            if not text:
                return None
            observation = self._observation(text)
            self.live.regimes.observe(from_journal(observation))
        except (ValueError, TypeError, OverflowError) as error:
            self.refused += 1
            return {**answer, "error": clipped(str(error).removesuffix(" in row 1"))}
        if self._note is not None:
            self._note({"observe": observation})
        return {**answer, **self._prediction()}

    def _observation(self, text: str) -> Any:
        """Return the observation of a line in the form of a journal, None where it is missing."""
        value = json_lines.parsed(text)
        if isinstance(value, dict):
            if list(value) != ["y"]:
                raise ValueError(
                    f'a line is an observation or {{"y": observation}}, got {clipped(text, 80)}'
                )
            value = value["y"]
        if isinstance(value, bool) and self.live.encoding.kind != "symbols":
            raise ValueError(f"the observation must be a number, got {json.dumps(value)}")
        if isinstance(value, list) and not self.live.encoding.columns:
            raise ValueError(f"the observation must be one number, got {clipped(text, 80)}")
        encoded = self.live.encoding.number(value)
        parts = encoded if isinstance(encoded, list) else [encoded]
        plain = [None if math.isnan(part) else part for part in parts]
        return plain if isinstance(encoded, list) else plain[0]

    def _prediction(self) -> dict[str, Any]:
        """Return the current regime and the prediction of the next round."""
        regimes, encoding = self.live.regimes, self.live.encoding
        ahead = regimes.predict()
        count = max(regimes.parameters(), default=-1) + 1
        count = max(count, int(np.flatnonzero(regimes.probabilities).max(initial=-1)) + 1)
        answer: dict[str, Any] = {
            "round": regimes.rounds,
            "state": regimes.state if regimes.state >= 0 else None,
            "probabilities": regimes.probabilities[:count],
            "switch": regimes.switching,
        }
        if not ahead.parts:
            answer["next"] = None
        elif encoding.labels:
            answer["next"] = dict(zip(encoding.labels, ahead.symbols.tolist(), strict=True))
        else:
            interval = np.asarray(ahead.interval(self._level))
            answer["next"] = {"mean": ahead.mean, "interval": interval}
        plain: dict[str, Any] = json_lines.plain(answer)
        return plain
