"""The settings of a server: from a file, from the environment, and from the command line."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from normalhedge.boundary import specs
from normalhedge.service._limits import Limits

PREFIX = "NORMALHEDGE_"
"""The beginning of the variables of the environment: ``NORMALHEDGE_PORT``,
``NORMALHEDGE_LIMITS_BODY``."""

LOCAL = ("localhost", "127.0.0.1", "::1")
"""The addresses of this machine."""


@dataclass(frozen=True)
class Settings:
    """The settings of a server."""

    db: str = "normalhedge.db"  # A file of SQLite, or the address of a database of PostgreSQL
    # host, port: where to listen; port 0 for any that is free
    host: str = "127.0.0.1"
    port: int = 8008
    # the file of tokens; None if everybody who reaches the server may do everything
    token_file: str | None = None
    insecure: bool = False  # whether to listen elsewhere than on this machine without tokens
    allow_host: tuple[str, ...] = ()  # further names by which the server may be asked
    # whether to wait until the present owner of the database has gone, and to take over
    wait: bool = False
    # For how many days the log is kept; 0 for ever. What is older is removed once a day.
    keep_days: float = 0.0
    # whether each request is a line of the log, and not only what goes wrong
    log_requests: bool = False
    # how long to wait for requests that are being answered when the server stops
    stop_seconds: float = 10.0
    limits: Limits = field(default_factory=Limits)

    @property
    def is_local(self) -> bool:
        """Whether the server listens on this machine only."""
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def hosts(self) -> frozenset[str] | None:
        """The names by which the server may be asked; None for any."""
        if self.token_file is not None or (not self.is_local and not self.allow_host):
            return None
        return frozenset({"localhost", "127.0.0.1", "[::1]", self.host, *self.allow_host})

    def check(self) -> None:
        """Raise a ValueError if the settings are not safe, or do not fit each other."""
        if not self.is_local and self.token_file is None and not self.insecure:
            raise ValueError(
                f"{self.host} can be reached from other machines, where everybody could change "
                "everything: give --token-file ('normalhedge token' makes one), or say --insecure"
            )
        if not 0 <= self.port <= 65535:
            raise ValueError(f"port must be from 0 to 65535, got {self.port}")


def read_settings(
    path: Path | None, environment: Mapping[str, str] = os.environ, **given: Any
) -> Settings:
    """Return the settings: those given, then those of the environment, then those of a file."""
    settings = Settings()
    if path is not None:
        try:
            content = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"{path} cannot be read as a file of settings: {error}") from None
        limits = content.pop("limits", {})
        settings = _with(settings, content, str(path))
        settings = replace(settings, limits=_with(settings.limits, limits, f"limits of {path}"))
    words = {
        name[len(PREFIX) :].lower(): text
        for name, text in environment.items()
        if name.startswith(PREFIX)
    }
    limits = {n.removeprefix("limits_"): t for n, t in words.items() if n.startswith("limits_")}
    known = {one.name for one in fields(Settings)} - {"limits"}
    plain = {name: text for name, text in words.items() if name in known}
    settings = _with(settings, _parsed(plain, settings, PREFIX), "the environment")
    limits = _with(
        settings.limits, _parsed(limits, settings.limits, f"{PREFIX}LIMITS_"), "the environment"
    )
    settings = replace(settings, limits=limits)
    chosen = {name: value for name, value in given.items() if value is not None}
    found: Settings = _with(settings, chosen, "the command line")
    return found


def _parsed(words: Mapping[str, str], settings: Any, prefix: str) -> dict[str, Any]:
    """Return texts of the environment as values of the types that the settings have."""
    found: dict[str, Any] = {}
    for name, text in words.items():
        now = getattr(settings, name, "")
        try:
            if isinstance(now, bool):
                found[name] = {"1": True, "true": True, "0": False, "false": False}[text.lower()]
            elif isinstance(now, int | float):
                found[name] = type(now)(text)
            else:
                found[name] = text.split(",") if isinstance(now, tuple) else text
        except (KeyError, ValueError):
            raise ValueError(f"{prefix}{name.upper()} cannot be {text!r}") from None
    return found


def _with(settings: Any, changes: Mapping[str, Any], where: str) -> Any:
    """Return settings with some changes; refuse names and types that are not known."""
    known = [one.name for one in fields(settings) if one.name != "limits"]
    found: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in known:
            raise ValueError(f"{where}: {specs.nearest('setting', name, known)}")
        now = getattr(settings, name)
        if isinstance(now, tuple) and isinstance(value, list | tuple):
            value = tuple(map(str, value))  # noqa: PLW2901
        elif isinstance(now, float) and type(value) is int:
            value = float(value)  # noqa: PLW2901
        wanted = str if now is None else type(now)
        if type(value) is not wanted:
            raise ValueError(f"{where}: {name} must be of type {wanted.__name__}, got {value!r}")
        if isinstance(value, int | float) and value < 0:
            raise ValueError(f"{where}: {name} must not be negative, got {value!r}")
        found[name] = value
    return replace(settings, **found)
