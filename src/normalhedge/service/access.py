"""Rights: bearer tokens, the host names to which the server answers, and rates."""

import hashlib
import json
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from normalhedge.boundary import whole_files
from normalhedge.boundary.terminal import counted
from normalhedge.service import _logs as logs
from normalhedge.service._limits import Limits
from normalhedge.service._problems import Problem, no_object

SCOPES = ("read", "write", "admin")  # the scopes of tokens; each includes the scopes before it
SETTLED = 0.05  # a changed file of tokens is believed once it has stayed the same for so long
PREFIX = "nh_"  # the beginning of each token, by which searches for secrets find it


class Holder(NamedTuple):
    """The sender of a request."""

    name: str  # the name of the token, or the address of the client if there are no tokens
    scope: str  # the largest scope; empty if nothing is allowed
    # the names of the mixtures to which the token is restricted; None for all
    mixtures: frozenset[str] | None = None
    digest: str = ""  # the digest of the token; empty without one

    def sees(self, mixture: str) -> bool:
        """Tell whether the token may use a mixture."""
        return self.mixtures is None or mixture in self.mixtures

    def check_name(self, mixture: str) -> None:
        """Refuse a new name for which the token is not."""
        if not self.sees(mixture):
            raise Problem(403, "this token is for other names")


NOBODY = Holder("", "")


class Token(NamedTuple):
    """A line of the file of tokens."""

    name: str  # the name of the token, for people
    # The digest of the token, in hexadecimal. A token has 256 random bits, so that nobody can find
    # it by trying, and a slow digest is not needed.
    sha256: str
    scope: str  # one of `SCOPES`
    mixtures: list[str] | None  # the names of the mixtures to which it is restricted; None for all
    # created, expires: in seconds since 1970; ``expires`` is None if it never does
    created: float
    expires: float | None


def new_token(
    path: Path,
    name: str,
    scope: str,
    mixtures: list[str] | None = None,
    expires: float | None = None,
) -> str:
    """Add a token to a file of tokens, and return it; the file holds only its digest."""
    if scope not in SCOPES:
        raise ValueError(f"scope must be one of {', '.join(SCOPES)}, got {scope!r}")
    tokens = read_tokens(path) if path.exists() else []
    if any(token.name == name for token in tokens):
        raise ValueError(f"{path} has a token {name!r} already: remove it first")
    text = PREFIX + secrets.token_urlsafe(32)
    token = Token(name, _digest(text), scope, mixtures, round(time.time(), 3), expires)
    write_tokens(path, [*tokens, token])
    return text


def remove_token(path: Path, name: str) -> None:
    """Remove a token from a file of tokens."""
    tokens = read_tokens(path)
    kept = [token for token in tokens if token.name != name]
    if len(kept) == len(tokens):
        raise ValueError(f"{path} has no token {name!r}")
    write_tokens(path, kept)


def write_tokens(path: Path, tokens: list[Token]) -> None:
    """Write a file of tokens, which its owner alone may read."""
    lines = "".join(f"{json.dumps(token._asdict())}\n" for token in tokens)
    if not path.exists():
        path.touch(0o600)
    whole_files.write_whole(path, lambda part: part.write_text(lines, "utf-8"))


def read_tokens(path: Path) -> list[Token]:
    """Return the tokens of a file; raise a ValueError that names a line that is wrong."""
    if whole_files.refuse_special(path) is None:
        raise ValueError(f"there is no file of tokens {path}: 'normalhedge token' makes one")
    return _parse(path.read_text("utf-8"), path)


def _parse(text: str, path: Path) -> list[Token]:
    lines = enumerate(text.splitlines(), start=1)
    return [_parse_line(line, f"line {number} of {path}") for number, line in lines if line.strip()]


def _parse_line(line: str, where: str) -> Token:
    try:
        entry = json.loads(line)
        token = Token(**entry)
    except (ValueError, TypeError):
        entry = {}
    fine = (
        isinstance(entry.get("name"), str)
        and isinstance(entry.get("sha256"), str)
        and len(entry["sha256"]) == 64
        and entry.get("scope") in SCOPES
        and isinstance(entry.get("mixtures"), list | None)
        and isinstance(entry.get("expires"), int | float | None)
    )
    if not fine:
        raise ValueError(f"{where} is not a token: 'normalhedge token' writes them")
    return token


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


class Access:
    """The rights of all senders."""

    def __init__(
        self, limits: Limits, path: Path | None = None, hosts: frozenset[str] | None = None
    ) -> None:
        self.limits = limits
        self.path = path
        self.hosts = hosts
        self._buckets: dict[tuple[bool, str], tuple[float, float]] = {}
        self._fine: set[bytes] = set()  # names of the server that were found to be allowed
        self._tokens: dict[str, Token] = {}
        self._content = ""
        self._trouble = ""
        if path is not None:
            self._take(read_tokens(path), path.read_text("utf-8"))

    def _take(self, tokens: list[Token], content: str) -> None:
        self._tokens, self._content = {token.sha256: token for token in tokens}, content

    def check_source(self, headers: Mapping[bytes, bytes], method: str) -> None:
        """Refuse requests that a page of another site made a browser send.

        A browser says where a request comes from (``Sec-Fetch-Site``) over HTTPS and on this
        machine; elsewhere its ``Origin`` must be the host that was asked.
        """
        host, origin = headers.get(b"host", b""), headers.get(b"origin")
        if self.hosts is not None and host not in self._fine:
            if _without_port(host.decode("latin-1").lower()) not in self.hosts:
                raise Problem(403, "this server does not answer to that name: see --allow-host")
            if len(self._fine) < 100:  # a name with each port
                self._fine.add(host)
        site = headers.get(b"sec-fetch-site")
        if site == b"same-origin" or (site is None and origin is None):
            return
        other = origin is not None and origin.lower().partition(b"://")[2] != host.lower()
        crossing = site in {b"cross-site", b"same-site"} and method not in {"GET", "HEAD"}
        if other or crossing:
            raise Problem(403, "requests of pages of other sites are not answered")

    def holder(self, headers: Mapping[bytes, bytes], client: Any) -> Holder:
        """Return the sender of a request, and count the request."""
        address = client[0] if client else ""
        if self.path is None:
            holder = Holder(address, "admin")
        else:
            holder = self._by_token(headers.get(b"authorization"))
        if self.limits.rate:
            self._count((bool(holder.digest), holder.name or address))
        return holder

    def _by_token(self, authorization: bytes | None) -> Holder:
        if authorization is None:
            return NOBODY
        word, _, text = authorization.decode("latin-1").partition(" ")
        if word.lower() != "bearer":
            return NOBODY
        # Looking a digest up takes a time that depends on the digest, and that tells nothing about
        # the token: nobody can choose a token with a given digest.
        return self._valid(_digest(text.strip()))

    def _valid(self, digest: str) -> Holder:
        """Return the holder of the token with a digest; nobody if there is none, or it expired."""
        token = self._tokens.get(digest)
        if token is None or (token.expires is not None and token.expires < time.time()):
            return NOBODY
        mixtures = None if token.mixtures is None else frozenset(token.mixtures)
        return Holder(token.name, token.scope, mixtures, token.sha256)

    def allows(self, holder: Holder, scope: str, mixture: str) -> bool:
        """Tell whether a sender may still do what it was allowed before."""
        if not holder.digest:
            return True
        now = self._valid(holder.digest)
        if now.name != holder.name:  # the log would go on to name a token that nobody has
            return False
        if not now.scope or SCOPES.index(now.scope) < SCOPES.index(scope):
            return False
        if mixture:
            return now.sees(mixture)
        if now.mixtures is None:
            return True
        # An answer about all mixtures is about the ones that the token had when it began.
        return holder.mixtures is not None and holder.mixtures <= now.mixtures

    def read_again(self) -> None:
        """Read the file of tokens again; keep the tokens as they were if it cannot be read.

        The content is compared, as a file may be replaced by one of the same size and time.
        """
        if self.path is None:
            return
        trouble = ""
        try:
            content = self.path.read_text("utf-8")
            while content != self._content:
                time.sleep(SETTLED)
                before, content = content, self.path.read_text("utf-8")
                if before != content:  # it is being written
                    continue
                self._take(_parse(content, self.path), content)
                logs.info(
                    "tokens", sentence=f"{self.path} has {counted(len(self._tokens), 'token')}"
                )
            if self.path.stat().st_nlink == 0:
                trouble = (
                    f"{self.path} was replaced outside of this container, which still sees the old "
                    "file: mount its folder, not the file"
                )
        except (OSError, ValueError) as error:
            trouble = f"the tokens stay as they were: {error}"
        if trouble and trouble != self._trouble:
            logs.error("tokens", sentence=trouble)
        self._trouble = trouble

    def check(self, holder: Holder, scope: str, mixture: str, word: str = "mixture") -> None:
        """Refuse a request that the token does not allow."""
        if not holder.scope:
            raise Problem(
                401,
                "this server wants a token: send the header 'Authorization: Bearer TOKEN'",
                {"www-authenticate": "Bearer"},
            )
        if mixture and not holder.sees(mixture):
            raise no_object(mixture, word)
        if SCOPES.index(holder.scope) < SCOPES.index(scope):
            raise Problem(403, f"this needs a token with scope {scope}, not {holder.scope}")

    def _count(self, name: tuple[bool, str]) -> None:
        """Refuse requests above the rate: each client has a bucket that fills steadily."""
        now = time.monotonic()
        left, since = self._buckets.get(name, (float(self.limits.burst), now))
        left = min(left + (now - since) * self.limits.rate, float(self.limits.burst))
        if left < 1.0:
            wait = (1.0 - left) / self.limits.rate
            raise Problem(
                429,
                f"at most {self.limits.rate:g} requests in a second are answered: wait a moment",
                {"retry-after": f"{max(1, round(wait))}"},
            )
        if len(self._buckets) > 10_000:
            self._buckets.clear()
        self._buckets[name] = left - 1.0, now


def _without_port(host: str) -> str:
    """Return the name of a host without its port: ``[::1]:8008`` is ``[::1]``."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
