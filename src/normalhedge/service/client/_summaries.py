"""The summaries of mixtures and routers of a server."""

import json
from dataclasses import dataclass
from html import escape
from typing import Any, Self


@dataclass(frozen=True)
class ServedRouterSummary:
    """A summary as of `normalhedge.Router.summary`, from a server; it prints as the same tables.

    Attributes
    ----------
    text
        The tables.
    details
        The whole answer of the server.
    """

    text: str
    details: dict[str, Any]

    @classmethod
    def of(cls, body: bytes) -> Self:
        """Return the summary that an answer holds."""
        answer = json.loads(body)
        return cls(answer["text"], answer)

    def __str__(self) -> str:
        """Return the tables."""
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text)}</pre>"


@dataclass(frozen=True)
class ServedSummary(ServedRouterSummary):
    """A summary as of `normalhedge.Mixture.summary`, from a server; it prints as the same tables.

    Attributes
    ----------
    text
        The tables.
    settings
        The settings of the mixture, in one line.
    rounds, rows, settled, silent, pending, expired
        As in the summary of a `Mixture`.
    blend, uniform
        The mean losses of the blend and of the plain mean; None before the first outcome.
    best
        The name of the best expert; None if there is none.
    warning
        A sentence about a problem; empty if there is none.
    experts, components
        The experts and the components, as dictionaries.
    details
        The whole answer of the server.
    """

    settings: str
    rounds: int
    rows: int
    settled: int
    silent: int
    pending: int
    expired: int
    blend: float | None
    uniform: float | None
    best: str | None
    warning: str
    experts: list[dict[str, Any]]
    components: list[dict[str, Any]]

    @classmethod
    def of(cls, body: bytes) -> Self:
        """Return the summary that an answer holds."""
        answer = json.loads(body)
        same = (
            "text", "settings", "rounds", "rows", "settled", "silent", "pending", "expired", "best",
            "warning", "experts", "components",
        )  # fmt: skip
        return cls(
            **{name: answer[name] for name in same},
            blend=answer["loss"],
            uniform=answer["plain_mean_loss"],
            details=answer,
        )
