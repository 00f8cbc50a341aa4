"""The settings of a server: from a file, from the environment, and from the command line."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, TypeVar

from normalhedge.boundary import specs
from normalhedge.service._limits import Limits
from normalhedge.service._telling import target_of

S = TypeVar("S", "Settings", Limits)

PREFIX = "NORMALHEDGE_"
"""The beginning of the variables of the environment: ``NORMALHEDGE_PORT``,
``NORMALHEDGE_LIMITS_BODY``."""


@dataclass(frozen=True)
class Settings:
    """The settings of a server."""

    db: str = "normalhedge.db"  # A file of SQLite, or the address of a database of PostgreSQL
    # the seconds that a statement of PostgreSQL may take; requests get 503 after that
    db_seconds: float = 15.0
    # host, port: where to listen; port 0 for any that is free
    host: str = "127.0.0.1"
    port: int = 8008
    # the file of tokens; None if everybody who reaches the server may do everything
    token_file: str | None = None
    insecure: bool = False  # whether to listen elsewhere than on this machine without tokens
    allow_host: tuple[str, ...] = ()  # further names by which the server may be asked
    # tls_cert, tls_key: the files of a certificate and of its key, to speak HTTPS; None for HTTP
    tls_cert: str | None = None
    tls_key: str | None = None
    # the file of the authorities whose certificates clients must have; None for no certificates
    tls_client_ca: str | None = None
    # the addresses of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed
    trust_proxy: tuple[str, ...] = ()
    # whether to wait until the present owner of the database has gone, and to take over
    wait: bool = False
    # For how many days the log is kept; 0 for ever. Older events are removed once a day.
    keep_days: float = 0.0
    # whether each request is a line of the log, and not only each failure
    log_requests: bool = False
    # Whom an alarm is told to: an address that gets a POST, signed with the secret in a file, or a
    # command that gets JSON on its stdin
    alarm_url: str | None = None
    alarm_secret_file: str | None = None
    alarm_command: str | None = None
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
                "everything: give --token-file ('normalhedge token' makes one), or pass --insecure"
            )
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("give tls_cert and tls_key together: a certificate and its key")
        if self.tls_client_ca is not None and self.tls_cert is None:
            raise ValueError("tls_client_ca needs tls_cert and tls_key: HTTP has no certificates")
        for proxy in self.trust_proxy:
            _check_network(proxy)
        if not 0.1 <= self.db_seconds <= 3600:
            raise ValueError(f"db_seconds must be from 0.1 to 3600, got {self.db_seconds:g}")
        if not 0 <= self.port <= 65535:
            raise ValueError(f"port must be from 0 to 65535, got {self.port}")
        target_of(self.alarm_url, self.alarm_secret_file, self.alarm_command)


def _check_network(text: str) -> None:
    """Refuse a text that is neither an address nor a network: a name would never match."""
    try:
        ip_network(text)
    except ValueError:
        raise ValueError(
            f"trust_proxy must be an address or a network such as 10.0.0.0/8, got {text!r}"
        ) from None


def read_settings(
    path: Path | None, environment: Mapping[str, str] = os.environ, **options: Any
) -> Settings:
    """Return the settings: of the options, else of the environment, else of a file."""
    settings = Settings()
    if path is not None:
        try:
            content = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"{path} cannot be read as a file of settings: {error}") from None
        settings = _with(settings, content, str(path))
    settings = _with(settings, _read_environment(environment), "the environment")
    chosen = {name: value for name, value in options.items() if value is not None}
    return _with(settings, chosen, "the command line")


def _read_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of the environment; other variables with our prefix are left alone."""
    settings: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    for name, text in environment.items():
        word = name.removeprefix(PREFIX).lower()
        if name.startswith(f"{PREFIX}LIMITS_"):
            word = word.removeprefix("limits_")
            limits[word] = _parse(text, getattr(Limits, word, ""), name)
        elif name.startswith(PREFIX) and word in _names(Settings):
            settings[word] = _parse(text, getattr(Settings, word), name)
    return settings | {"limits": limits}


def _names(settings: Any) -> list[str]:
    return [field.name for field in fields(settings) if field.name != "limits"]


def _parse(text: str, default: Any, variable: str) -> Any:
    """Convert the text of an environment variable to the type of its default."""
    try:
        if isinstance(default, bool):
            return {"1": True, "true": True, "0": False, "false": False}[text.lower()]
        if isinstance(default, int | float):
            return type(default)(text)
    except (KeyError, ValueError):
        raise ValueError(f"{variable} cannot be {text!r}") from None
    return text.split(",") if isinstance(default, tuple) else text


def _with(settings: S, changes: Mapping[str, Any], where: str) -> S:
    """Return settings with some changes; refuse unknown names and wrong types."""
    values: dict[str, Any] = {}
    for name, value in changes.items():
        if name == "limits" and isinstance(settings, Settings):
            values[name] = _with(settings.limits, value, f"limits of {where}")
            continue
        if name not in _names(settings):
            raise ValueError(f"{where}: {specs.nearest('setting', name, _names(settings))}")
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
        values[name] = value
    return replace(settings, **values)
