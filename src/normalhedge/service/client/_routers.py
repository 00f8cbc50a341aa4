"""The verbs of a router of a server."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from normalhedge.routing import Choice, Router, read_snapshot_text
from normalhedge.service.client._encoding import plain, skip
from normalhedge.service.client._served import AsyncServed
from normalhedge.service.client._summaries import ServedRouterSummary


class RouterOptions(TypedDict, total=False):
    """The settings of a `Router`, as a server takes them."""

    actions: Iterable[str]
    rule: str
    gains: tuple[float, float]
    shows: Mapping[str, Sequence[str]] | None
    costs: Mapping[str, float] | None
    budget: float | None
    max_pending: int
    history: int
    seed: int


class AsyncServedRouter(AsyncServed):
    """A router of a server, with the verbs of `ServedRouter`, awaited.

    Parameters
    ----------
    client
        The client.
    name
        The name of the router.
    """

    word = "router"

    async def choose(
        self,
        context: Any = None,
        awake: Iterable[str] | None = None,
        seen: Iterable[str] | str | None = None,
        *,
        key: str | None = None,
    ) -> Choice:
        """Draw an action.

        Parameters
        ----------
        context, awake, seen
            As for `Router.choose`.
        key
            The idempotency key, if the call repeats an earlier one; by default a new one.
        """
        wishes = {"context": context, "awake": awake, "seen": seen}
        body = {name: plain(value, name) for name, value in wishes.items() if value is not None}
        return await self._change("choose", body, key, _choice)

    async def reward(
        self, ticket: int, gain: float | Mapping[str, float], *, key: str | None = None
    ) -> None:
        """Learn the gain of a choice.

        Parameters
        ----------
        ticket, gain, key
            As for `Router.reward`; the key as for `choose`.
        """
        await self._change("reward", _gains(ticket, gain), key, skip)

    async def correct(
        self, ticket: int, gain: float | Mapping[str, float], *, key: str | None = None
    ) -> None:
        """Replace the gain of a settled round by the right one.

        Parameters
        ----------
        ticket, gain, key
            As for `Router.correct`; the key as for `choose`.
        """
        await self._change("correct", _gains(ticket, gain), key, skip)

    async def join(self, action: str, *, key: str | None = None) -> None:
        """Let an action join.

        Parameters
        ----------
        action, key
            Its name; the key as for `choose`.
        """
        await self._change("actions", {"join": action}, key, skip)

    async def leave(self, action: str, *, key: str | None = None) -> None:
        """Let an action leave.

        Parameters
        ----------
        action, key
            Its name; the key as for `choose`.
        """
        await self._change("actions", {"leave": action}, key, skip)

    async def summary(self) -> ServedRouterSummary:
        """Return a summary of the router, which prints as tables."""
        return await self._read("/summary", ServedRouterSummary.of)

    async def local(self) -> Router:
        """Return a copy as a `Router` of this process, which draws the same actions."""
        snapshot = read_snapshot_text(await self._read("/state", bytes), self.name)
        return Router.of(snapshot.settings, snapshot.core)


def check_same_router(name: str, wanted: Mapping[str, Any], present: Mapping[str, Any]) -> None:
    """Refuse settings that a router, which is there already, does not have."""
    for option, value in wanted.items():
        there = present.get(option, value)  # an imported router does not name its rule or actions
        if value not in (there, None) and not isinstance(there, dict | None):
            raise ValueError(
                f"router {name!r} is there already, with {option} {there!r} and not {value!r}"
            )


def _gains(ticket: int, gain: Any) -> dict[str, Any]:
    return {"ticket": plain(ticket, "ticket"), "gain": plain(gain, "gain")}


def _choice(body: bytes) -> Choice:
    """Return the choice that an answer holds."""
    answer = json.loads(body)
    probabilities = np.array(list(answer["probabilities"].values()), dtype=np.float64)
    return Choice(answer["action"], answer["probability"], probabilities, answer["ticket"])
