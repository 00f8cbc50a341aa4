"""The errors that a client is told: a status of HTTP and a sentence."""

from typing import Literal

Kind = Literal["key", "type", "value"]
"""The errors of `Mixture` and `Router`."""


class Problem(Exception):  # noqa: N818 -- it is an answer
    """An answer other than success."""

    def __init__(
        self,
        status: int,
        sentence: str,
        headers: dict[str, str] | None = None,
        kind: Kind | None = None,
    ) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.status = status
        self.sentence = sentence
        self.headers = headers or {}


class StorageFailure(Exception):  # noqa: N818 -- as `Problem`
    """The database could not be read or written."""

    def __init__(self, sentence: str, *, lost: bool = False) -> None:
        super().__init__(sentence)
        self.lost = lost


class DamagedLog(Exception):  # noqa: N818 -- as `Problem`
    """An object cannot be recovered, because its snapshots or events do not fit each other."""


class InUseError(ValueError):
    """The database has another owner."""


def unavailable() -> Problem:
    """Return the answer to a request that could not be written to the log."""
    return Problem(
        503,
        "the database cannot be used at the moment: this request was not acknowledged, so send it "
        "again later, with the same Idempotency-Key if it had one",
        {"retry-after": "1"},
    )


def no_object(name: str, word: str) -> Problem:
    """Return the answer to a request about a mixture or a router that is not there."""
    return Problem(404, f"there is no {word} {name[:100]!r}")
