"""The client for threads: the verbs of `_asynchronous` over connections that block."""

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

from normalhedge.service.client._asynchronous import AsyncClient
from normalhedge.service.client._connection import Connection
from normalhedge.service.client._mixtures import AsyncServedMixture
from normalhedge.service.client._routers import AsyncServedRouter
from normalhedge.service.client._served import AsyncServed

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


def served_router(
    verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, AsyncServedRouter]],
) -> "Callable[Concatenate[Any, P], ServedRouter]":
    """Return a verb for asyncio that leads to a router as a method for threads."""

    def method(self: Any, /, *arguments: P.args, **options: P.kwargs) -> "ServedRouter":
        return ServedRouter(self, run(verb(self._verbs, *arguments, **options)).name)

    return _describe(method, verb, returns="ServedRouter")


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


class Client(Connection):
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

    _blocking = True

    @property
    def _verbs(self) -> AsyncClient:
        """The verbs over the same connection."""
        return AsyncClient.over(self)

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

    router = served_router(AsyncClient.router)
    router_names = blocking(AsyncClient.router_names)
    load_router = served_router(AsyncClient.load_router)
    rename_router = served_router(AsyncClient.rename_router)
    delete_router = blocking(AsyncClient.delete_router)


class Served:
    """A mixture or a router of a server."""

    _verbs: AsyncServed

    def __init__(self, client: Client, name: str) -> None:
        self.name = name
        self._verbs = self._kind(client, name)

    _kind: ClassVar[type[AsyncServed]]

    batch = blocking(AsyncServed.batch)
    alarms = blocking(AsyncServed.alarms)
    past_rounds = blocking(AsyncServed.past_rounds)
    save = blocking(AsyncServed.save)
    details = blocking(AsyncServed.details)

    @property
    def rounds(self) -> int:
        """The number of rounds that were begun."""
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
        """The rounds that wait, by ticket: their times, and ids if they have."""
        return run(self._verbs.pending())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class ServedMixture(Served):
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

    _kind = AsyncServedMixture

    predict = blocking(AsyncServedMixture.predict)
    peek = blocking(AsyncServedMixture.peek)
    update = blocking(AsyncServedMixture.update)
    correct = blocking(AsyncServedMixture.correct)
    leave = blocking(AsyncServedMixture.leave)
    retire = blocking(AsyncServedMixture.retire)
    rename = blocking(AsyncServedMixture.rename)
    inherit = blocking(AsyncServedMixture.inherit)
    summary = blocking(AsyncServedMixture.summary)
    alerts = blocking(AsyncServedMixture.alerts)
    local = blocking(AsyncServedMixture.local)
    next_weights = blocking(AsyncServedMixture.next_weights)

    @property
    def names(self) -> list[str]:
        """The experts, in the order in which they joined."""
        return list(self.details()["names"])

    @property
    def items(self) -> list[str]:
        """The names of the items, in the order in which they were first seen."""
        return list(self.details()["item_names"])


class ServedRouter(Served):
    """A router of a server, with the verbs of `Router`; made by `Client.router`.

    The same mistake raises the same error as with `Router`. A copy has the methods that have no
    verb here, such as `bound`: see `local`.

    Parameters
    ----------
    client
        The client.
    name
        The name of the router.
    """

    _kind = AsyncServedRouter

    choose = blocking(AsyncServedRouter.choose)
    reward = blocking(AsyncServedRouter.reward)
    correct = blocking(AsyncServedRouter.correct)
    join = blocking(AsyncServedRouter.join)
    leave = blocking(AsyncServedRouter.leave)
    summary = blocking(AsyncServedRouter.summary)
    local = blocking(AsyncServedRouter.local)

    @property
    def actions(self) -> list[str]:
        """The actions, in the order in which they joined."""
        return list(self.details()["names"])
