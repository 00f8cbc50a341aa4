"""The client for threads: the verbs of `_asynchronous` over connections that block."""

import inspect
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from normalhedge.service.client._asynchronous import AsyncClient, AsyncServedMixture
from normalhedge.service.client._transport import File

P = ParamSpec("P")
T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that never suspends, as it awaits blocking requests only."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise RuntimeError("a verb over blocking connections was suspended")


def blocking(
    verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Any, P], T]:
    """Return a verb for asyncio as a method for threads."""

    def method(self: Any, /, *arguments: P.args, **options: P.kwargs) -> T:
        return run(verb(self._verbs, *arguments, **options))

    return _describe(method, verb)


def served(
    verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, AsyncServedMixture]],
) -> "Callable[Concatenate[Any, P], ServedMixture]":
    """Return a verb for asyncio that leads to a mixture as a method for threads."""

    def method(self: Any, /, *arguments: P.args, **options: P.kwargs) -> "ServedMixture":
        return ServedMixture(self, run(verb(self._verbs, *arguments, **options)).name)

    return _describe(method, verb, returns="ServedMixture")


F = TypeVar("F", bound=Callable[..., Any])


def _describe(method: F, verb: Callable[..., Any], returns: str | None = None) -> F:
    """Give a method the name, the text and the signature of a verb."""
    # Not functools.wraps alone: its __wrapped__ lets documentation call the method "async".
    wraps(verb)(method)
    del method.__wrapped__  # type: ignore[attr-defined]
    method.__qualname__ = verb.__qualname__.removeprefix("Async")
    signature = inspect.signature(verb)
    if returns is not None:
        signature = signature.replace(return_annotation=returns)
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


class _BlockingClient(AsyncClient):
    _blocking = True


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
        The seconds after which a request is not repeated any more; infinity repeats it for ever.
    ca
        A file with the certificates, in PEM, that vouch for the server, as of a company's own
        authority; by default the usual authorities do.
    certificate
        The certificate that this client shows: a file in PEM with its key, or a tuple of two files
        and, if the key has one, its password.
    options
        Further arguments of ``httpx.Client``, such as ``{"proxy": "http://proxy:3128"}`` or
        ``{"headers": {"x-team": "load"}}``.

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
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 60.0,
        ca: File | None = None,
        certificate: File | tuple[File, ...] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.url = url
        self._verbs: AsyncClient = _BlockingClient(
            url, token, timeout=timeout, patience=patience, ca=ca, certificate=certificate,
            options=options,
        )  # fmt: skip

    @property
    def patience(self) -> float:
        """The seconds after which a request is not repeated any more."""
        return self._verbs.patience

    @patience.setter
    def patience(self, seconds: float) -> None:
        self._verbs.patience = seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    close = blocking(AsyncClient.close)
    send = blocking(AsyncClient.send)
    mixture = served(AsyncClient.mixture)
    names = blocking(AsyncClient.names)
    alarms = blocking(AsyncClient.alarms)
    load = served(AsyncClient.load)
    rename = served(AsyncClient.rename)
    delete = blocking(AsyncClient.delete)

    def __repr__(self) -> str:
        return f"Client({self.url!r})"


class ServedMixture:
    """A mixture of a server, with the verbs of `Mixture`; made by `Client.mixture`.

    The same mistake raises the same error as with `Mixture`. A copy has the methods that have no
    verb here, such as `bound`, and the arrays of weights: see `local`.

    Parameters
    ----------
    client
        The client.
    name
        The name of the mixture.
    """

    def __init__(self, client: Client, name: str) -> None:
        self.name = name
        self._verbs = AsyncServedMixture(client._verbs, name)

    predict = blocking(AsyncServedMixture.predict)
    peek = blocking(AsyncServedMixture.peek)
    update = blocking(AsyncServedMixture.update)
    correct = blocking(AsyncServedMixture.correct)
    batch = blocking(AsyncServedMixture.batch)
    leave = blocking(AsyncServedMixture.leave)
    retire = blocking(AsyncServedMixture.retire)
    rename = blocking(AsyncServedMixture.rename)
    inherit = blocking(AsyncServedMixture.inherit)
    summary = blocking(AsyncServedMixture.summary)
    alarms = blocking(AsyncServedMixture.alarms)
    alerts = blocking(AsyncServedMixture.alerts)
    past_rounds = blocking(AsyncServedMixture.past_rounds)
    local = blocking(AsyncServedMixture.local)
    save = blocking(AsyncServedMixture.save)
    next_weights = blocking(AsyncServedMixture.next_weights)
    details = blocking(AsyncServedMixture.details)

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
        return run(self._verbs.pending())

    def __repr__(self) -> str:
        return f"ServedMixture({self.name!r})"
