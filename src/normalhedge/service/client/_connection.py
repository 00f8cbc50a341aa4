"""What the two clients share: how they are made, and how long they try."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from normalhedge.service.client._transport import File, Transport, check_patience


class Connection:
    """A connection to a server."""

    _blocking: ClassVar[bool] = False

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
        self._transport = Transport(
            url, token, blocking=self._blocking, timeout=timeout, patience=patience, ca=ca,
            certificate=certificate, options=options,
        )  # fmt: skip

    @property
    def patience(self) -> float:
        """The seconds after which a request is not repeated any more."""
        return self._transport.patience

    @patience.setter
    def patience(self, seconds: float) -> None:
        self._transport.patience = check_patience(seconds)

    @classmethod
    def over(cls, other: "Connection") -> Self:
        """Return a client of this class over the connection of another client."""
        client = cls.__new__(cls)
        client.url, client._transport = other.url, other._transport
        return client

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"
