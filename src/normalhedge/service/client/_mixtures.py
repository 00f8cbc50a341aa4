"""The verbs of a mixture of a server."""

from collections.abc import Iterable, Mapping
from typing import Any

from normalhedge.mixtures import Mixture
from normalhedge.mixtures.alerts import Alert
from normalhedge.mixtures.files import read_snapshot_text
from normalhedge.mixtures.state import Prediction
from normalhedge.service.client._encoding import (
    check_experts,
    encode_forecasts,
    encode_id,
    encode_outcome,
    read_prediction,
    skip,
)
from normalhedge.service.client._served import AsyncServed
from normalhedge.service.client._summaries import ServedSummary
from normalhedge.service.client._transport import Request


class AsyncServedMixture(AsyncServed):
    """A mixture of a server, with the verbs of `ServedMixture`, awaited.

    Parameters
    ----------
    client
        The client.
    name
        The name of the mixture.
    """

    word = "mixture"

    async def predict(
        self,
        forecasts: Mapping[str, Any],
        confidence: Mapping[str, float] | None = None,
        *,
        id: Any = None,  # noqa: A002
        context: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Prediction:
        """Return the blend of the forecasts, the weights of the experts and a ticket.

        Parameters
        ----------
        forecasts, confidence, id, context
            As for `Mixture.predict`.
        key
            The idempotency key, if the call repeats an earlier one; by default a new one.
        """
        body = encode_forecasts(forecasts, confidence, context) | encode_id(id)
        return await self._change("predict", body, key, read_prediction)

    async def peek(
        self,
        forecasts: Mapping[str, Any],
        confidence: Mapping[str, float] | None = None,
        *,
        context: Mapping[str, Any] | None = None,
    ) -> Prediction:
        """Return the result that `predict` would have, and change nothing; the ticket is -1.

        Parameters
        ----------
        forecasts, confidence, context
            As for `predict`.
        """
        body = encode_forecasts(forecasts, confidence, context)
        request = Request("POST", f"{self._path}/peek", read_prediction, body)
        return await self._transport.send(request)

    async def update(
        self,
        ticket: int | None = None,
        outcome: Any = None,
        *,
        id: Any = None,  # noqa: A002
        key: str | None = None,
    ) -> None:
        """Learn from an outcome.

        Parameters
        ----------
        ticket, outcome, id, key
            As for `Mixture.update`; the key as for `predict`.
        """
        await self._change("outcome", encode_outcome(ticket, outcome, id), key, skip)

    async def correct(
        self,
        ticket: int | None = None,
        outcome: Any = None,
        *,
        id: Any = None,  # noqa: A002
        key: str | None = None,
    ) -> None:
        """Replace the outcome of a settled round by the right one.

        Parameters
        ----------
        ticket, outcome, id, key
            As for `Mixture.correct`; the key as for `predict`.
        """
        await self._change("correct", encode_outcome(ticket, outcome, id), key, skip)

    async def leave(self, name: str, *, key: str | None = None) -> None:
        """Remove an expert; its weight goes to the others, and its name is free again.

        Parameters
        ----------
        name, key
            The expert; the key as for `predict`.
        """
        check_experts(name)
        await self._change("experts", {"leave": name}, key, skip)

    async def retire(self, name: str, *, key: str | None = None) -> None:
        """Let an expert sleep for good, whatever is forecast in its name.

        Parameters
        ----------
        name, key
            The expert; the key as for `predict`.
        """
        check_experts(name)
        await self._change("experts", {"retire": name}, key, skip)

    async def rename(self, old: str, new: str, *, key: str | None = None) -> None:
        """Give an expert another name; its weight, its record and its pending forecasts stay.

        Parameters
        ----------
        old, new, key
            The present name, and a name that no expert has; the key as for `predict`.
        """
        check_experts(old, new)
        await self._change("experts", {"rename": [old, new]}, key, skip)

    async def inherit(self, new: str, old: str, *, key: str | None = None) -> None:
        """Let an expert start where another stands, as a new version of a model does.

        Parameters
        ----------
        new, old, key
            The new expert, which joins if it is not present, and the old one; the key as for
            `predict`.
        """
        check_experts(new, old)
        await self._change("experts", {"inherit": [new, old]}, key, skip)

    async def summary(self) -> ServedSummary:
        """Return a summary of the mixture, which prints as tables."""
        return await self._read("/summary", ServedSummary.of)

    async def alerts(self) -> tuple[Alert, ...]:
        """Return the experts that got worse, that stopped, or that repeat another one."""
        return (await self.local()).alerts()

    async def local(self) -> Mixture:
        """Return a copy as a `Mixture` of this process, exact to the bit; it goes its own way."""
        return Mixture.of(read_snapshot_text(await self._read("/state", bytes), self.name).state)

    async def next_weights(self, names: Iterable[str] | None = None) -> dict[str, float]:
        """Return the weights with which `predict` would combine these experts in the next round."""
        return (await self.local()).next_weights(names)
