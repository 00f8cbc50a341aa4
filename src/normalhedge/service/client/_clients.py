"""The client: mixtures of a server with the verbs of `normalhedge.Mixture`."""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, Unpack

from normalhedge.boundary import extras, whole_files
from normalhedge.mixtures import Mixture, MixtureOptions
from normalhedge.mixtures.state import Prediction
from normalhedge.service.client import _verbs as verbs
from normalhedge.service.client._retrying import (
    AGAIN,
    Answer,
    Ask,
    Attempts,
    result,
    sentence_of,
    wait_of,
)
from normalhedge.service.client._summaries import ServedSummary


def options(url: str, token: str | None, timeout: float) -> dict[str, Any]:
    """Return the arguments of the clients of httpx."""
    if not str(url).startswith(("http://", "https://")):
        raise ValueError(f"url must begin with http:// or https://, got {url!r}")
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    return {"base_url": url, "timeout": timeout, "headers": headers}


def answer_of(response: Any) -> Answer:
    """Return an answer of httpx as data."""
    wait = wait_of(response.headers.get("retry-after"))
    return Answer(response.status_code, response.content, wait)


class Client:
    """A server of ``normalhedge serve``.

    A request that gets no answer, or one that asks to come back later, is repeated with the same
    idempotency key: the server does it once, however often it arrives. So a server may restart, and
    connections may break, without any outcome being lost or learned twice. Threads may share a
    client. ``Client(url).mixture("load", loss="absolute")`` stands in the place of
    ``Mixture(loss="absolute")``.

    Parameters
    ----------
    url
        The address of the server, such as ``"http://localhost:8008"``.
    token
        The token, if the server asks for one.
    timeout
        The seconds to wait for the answer to one attempt.
    patience
        The seconds after which a request is not repeated any more.

    Raises
    ------
    NotAcknowledged
        By every verb, if the server gives no answer for so long. It is a ConnectionError; its
        ``key`` can be given to the same verb later.

    Examples
    --------
    >>> from normalhedge import Client
    >>> client = Client("http://localhost:8008")
    >>> mixture = client.mixture("load", loss="absolute")                   # doctest: +SKIP
    >>> for day in range(30):                                               # doctest: +SKIP
    ...     prediction = mixture.predict({"gam": 51.0, "ar": 49.0, "naive": 40.0})
    ...     mixture.update(prediction.ticket, outcome=50.8)
    """

    def __init__(
        self, url: str, token: str | None = None, *, timeout: float = 30.0, patience: float = 60.0
    ) -> None:
        httpx = extras.require("httpx")
        self.url = url
        self.patience = patience
        self._http = httpx.Client(**options(url, token, timeout))
        self._trouble: type[Exception] = httpx.TransportError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, ask: Ask) -> Any:
        """Send a request until there is an answer, and return the result."""
        attempts, arguments = Attempts(self.patience, ask.key or None), ask.arguments()
        while True:
            try:
                answer = answer_of(self._http.request(**arguments))
            except self._trouble as error:
                trouble, wait = str(error) or type(error).__name__, None
            else:
                if answer.status not in AGAIN:
                    return result(ask, answer)
                trouble, wait = sentence_of(answer)[0], answer.wait
            time.sleep(attempts.pause(trouble, wait))

    def mixture(
        self, name: str, *, create: bool = True, **settings: Unpack[MixtureOptions]
    ) -> "ServedMixture":
        """Return a mixture of the server; make it if there is none of this name.

        Parameters
        ----------
        name
            Its name: letters, digits, dots, hyphens and underscores.
        create
            Whether to make it if there is none.
        **settings
            The settings, as for `Mixture`; hedgers and losses by name. If the mixture is there
            already, those given must be the ones that it has.

        Raises
        ------
        KeyError
            If there is no such mixture, and it should not be made.
        ValueError, TypeError
            If a setting is not as described, or the mixture has another one.
        """
        given = verbs.checked(settings)
        mixture = ServedMixture(self, name)
        try:
            known = mixture.details()["settings"]
        except KeyError:
            if not create:
                raise
            try:
                self.send(verbs.create(name, given))
                return mixture
            except ValueError as error:
                try:  # another client may have made it meanwhile
                    known = mixture.details()["settings"]
                except KeyError:
                    raise error from None
        verbs.check_same(name, given, known)
        return mixture

    def names(self) -> list[str]:
        """Return the names of the mixtures that the token may see."""
        found: list[str] = self.send(verbs.names())
        return found

    def load(self, name: str, path: str | Path) -> "ServedMixture":
        """Make a mixture of a file that `Mixture.save` wrote.

        Parameters
        ----------
        name
            The name of the new mixture; it must be free.
        path
            The file.
        """
        self.send(verbs.upload(verbs.path_of(name), path))
        return ServedMixture(self, name)

    def rename(self, old: str, new: str) -> "ServedMixture":
        """Give a mixture another name.

        Parameters
        ----------
        old, new
            The present name, and a name that is free.
        """
        self.send(verbs.rename(verbs.path_of(old), new))
        return ServedMixture(self, new)

    def delete(self, name: str) -> None:
        """Delete a mixture."""
        self.send(verbs.delete(verbs.path_of(name)))

    def __repr__(self) -> str:
        """Return the address."""
        return f"Client({self.url!r})"


class ServedMixture:
    """A mixture of a server, with the verbs of `Mixture`; made by `Client.mixture`.

    Errors are those of `Mixture` for the same mistake. What has no verb here, such as `bound` or
    the arrays of weights, a copy has: see `local`.

    Parameters
    ----------
    client
        The client.
    name
        The name of the mixture.
    """

    def __init__(self, client: Client, name: str) -> None:
        self.name = name
        self._path = verbs.path_of(name)
        self._send = client.send

    def predict(
        self,
        forecasts: Mapping[str, Any],
        confidence: Mapping[str, float] | None = None,
        *,
        id: Any = None,  # noqa: A002
        key: str | None = None,
    ) -> Prediction:
        """Return the blend of the forecasts, the weights of the experts and a ticket.

        Parameters
        ----------
        forecasts, confidence, id
            As for `Mixture.predict`.
        key
            The idempotency key, if the call repeats an earlier one; by default a new one.
        """
        found: Prediction = self._send(verbs.predict(self._path, forecasts, confidence, id, key))
        return found

    def peek(
        self, forecasts: Mapping[str, Any], confidence: Mapping[str, float] | None = None
    ) -> Prediction:
        """Return what `predict` would return, and change nothing; the ticket is -1.

        Parameters
        ----------
        forecasts, confidence
            As for `predict`.
        """
        ask = verbs.predict(self._path, forecasts, confidence, None, None, peek=True)
        found: Prediction = self._send(ask)
        return found

    def update(
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
        ticket, outcome, id
            As for `Mixture.update`.
        key
            The idempotency key, if the call repeats an earlier one; by default a new one.
        """
        self._send(verbs.settle(self._path, "outcome", ticket, outcome, id, key))

    def correct(
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
        ticket, outcome, id
            As for `Mixture.correct`.
        key
            The idempotency key, if the call repeats an earlier one; by default a new one.
        """
        self._send(verbs.settle(self._path, "correct", ticket, outcome, id, key))

    def batch(
        self, lines: Sequence[Mapping[str, Any]], *, key: str | None = None
    ) -> list[dict[str, Any]]:
        """Do many things in one request, in order; return an answer to each.

        Parameters
        ----------
        lines
            Each as a line of ``normalhedge blend -``: ``{"forecasts": {...}}``, ``{"ticket": 0,
            "outcome": 50.8}``, ``{"retire": "gam"}``. What is refused is answered by ``{"error":
            ...}``, and the others are done.
        key
            The idempotency key, if the call repeats an earlier one; by default a new one.
        """
        found: list[dict[str, Any]] = self._send(verbs.batch(self._path, lines, key))
        return found

    def leave(self, name: str, *, key: str | None = None) -> None:
        """Remove an expert; its weight goes to the others, and its name is free again.

        Parameters
        ----------
        name
            The expert.
        key
            The idempotency key, if the call repeats an earlier one; by default a new one.
        """
        self._send(verbs.experts(self._path, "leave", name, key))

    def retire(self, name: str, *, key: str | None = None) -> None:
        """Let an expert sleep for good, whatever is forecast in its name.

        Parameters
        ----------
        name
            The expert.
        key
            The idempotency key, if the call repeats an earlier one; by default a new one.
        """
        self._send(verbs.experts(self._path, "retire", name, key))

    def rename(self, old: str, new: str, *, key: str | None = None) -> None:
        """Give an expert another name; its weight, its record and its pending forecasts stay.

        Parameters
        ----------
        old, new
            The present name, and a name that no expert has.
        key
            The idempotency key, if the call repeats an earlier one; by default a new one.
        """
        self._send(verbs.experts(self._path, "rename", [old, new], key))

    def inherit(self, new: str, old: str, *, key: str | None = None) -> None:
        """Let an expert start where another stands, as a new version of a model does.

        Parameters
        ----------
        new, old
            The name of the new expert, which joins if it is not present, and that of the old one.
        key
            The idempotency key, if the call repeats an earlier one; by default a new one.
        """
        self._send(verbs.experts(self._path, "inherit", [new, old], key))

    def summary(self) -> ServedSummary:
        """Return a summary of the mixture, which prints as tables."""
        found: ServedSummary = self._send(verbs.summary(self._path))
        return found

    def past_rounds(
        self, since: float | None = None, until: float | None = None, limit: int = 500
    ) -> list[dict[str, Any]]:
        """Return settled rounds with their losses and weights, the oldest first.

        Parameters
        ----------
        since, until
            The times between which they were settled, in seconds since 1970.
        limit
            The largest number of rounds; the last ones.
        """
        found: list[dict[str, Any]] = self._send(verbs.past(self._path, since, until, limit))
        return found

    def local(self) -> Mixture:
        """Return a copy as a `Mixture` of this process, exact to the bit; it goes its own way."""
        return verbs.local(self._send(verbs.state(self._path)), self.name)

    def save(self, path: str | Path) -> None:
        """Write the state to a JSON file that `Mixture.load` reads, all or nothing."""
        content: bytes = self._send(verbs.state(self._path))
        whole_files.write_whole(Path(path), lambda file: file.write_bytes(content))

    def next_weights(self, names: Iterable[str] | None = None) -> dict[str, float]:
        """Return the weights with which `predict` would combine these experts in the next round."""
        return self.local().next_weights(names)

    def details(self) -> dict[str, Any]:
        """Return the settings, the experts and the health of the mixture."""
        found: dict[str, Any] = self._send(verbs.details(self._path))
        return found

    @property
    def names(self) -> list[str]:
        """The experts, in the order in which they joined."""
        return list(self.details()["names"])

    @property
    def items(self) -> list[str]:
        """The names of the items, in the order in which they were first seen."""
        return list(self.details()["item_names"])

    @property
    def rounds(self) -> int:
        """The number of rounds that were predicted."""
        return int(self.details()["rounds"])

    @property
    def next_ticket(self) -> int:
        """The ticket of the next round."""
        return int(self.details()["next_ticket"])

    @property
    def expired(self) -> int:
        """The number of rounds that were given up."""
        return int(self.details()["expired"])

    @property
    def pending(self) -> dict[int, dict[str, Any]]:
        """The rounds that wait for their outcomes, by ticket: their times, and ids if they have."""
        found: dict[int, dict[str, Any]] = self._send(verbs.pending(self._path))
        return found

    def __repr__(self) -> str:
        """Return the name."""
        return f"ServedMixture({self.name!r})"
