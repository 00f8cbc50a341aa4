"""Make objects from texts on a command line: ``name:key=value,key=value``."""

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


def nearest(kind: str, name: str, known: Iterable[str]) -> ValueError:
    """Return the error for an unknown name, with the most similar known name."""
    known = list(known)
    close = [other for other in known if other.strip().casefold() == name.strip().casefold()]
    close = close or difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    meant = "".join(close[:1])
    hint = f": did you mean {meant if meant == meant.strip() else repr(meant)}?" if close else "."
    return ValueError(f"unknown {kind} {name!r}{hint} Known: {', '.join(known)}.")


OWN = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*):([A-Za-z_]\w*)(?=:|$)")
"""The form of an object of the user's own, ``module:name``, before its settings."""


def settings_in(text: str, known: Iterable[str] = ()) -> tuple[str, dict[str, str]]:
    """Return the name and the settings of ``name:key=value,...``, as text.

    A known name may be ``module:name``.

    Examples
    --------
    >>> settings_in("normal-hedge:memory=50,c=1")
    ('normal-hedge', {'memory': '50', 'c': '1'})
    """
    name, _, rest = text.partition(":")
    own = OWN.match(text)
    if own and own[0] in known:
        name, rest = own[0], text[own.end() + 1 :]
    settings = {}
    for pair in filter(None, rest.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"{pair!r} in {text!r} must be key=value")
        settings[key] = value
    return name, settings


def make(kind: str, text: str, known: Mapping[str, Callable[..., T]], **defaults: object) -> T:
    """Make the object that ``name:key=value,...`` describes.

    Examples
    --------
    >>> make("colour", "grey:level=0.5", {"grey": lambda level, alpha: (level, alpha)}, alpha=1)
    (0.5, 1)
    >>> make("colour", "grey:dark=false", {"grey": lambda dark=True: dark})
    False
    """
    own = OWN.match(text)
    name = own[0] if own and own[0] in known else text.partition(":")[0]
    if name not in known:
        raise nearest(kind, name, known)
    _, texts = settings_in(text, known)
    factory = known[name]
    accepted = inspect.signature(factory).parameters
    settings: dict[str, object] = {k: v for k, v in defaults.items() if k in accepted}
    for key, value in texts.items():
        if key not in accepted:
            raise nearest(f"setting of {name},", key, accepted)
        settings[key] = _value(value)
    missing = [
        k for k, p in accepted.items() if p.default is inspect.Parameter.empty and k not in settings
    ]
    if missing:
        raise ValueError(f"{name} needs {' and '.join(missing)}, as in {name}:{missing[0]}=...")
    return factory(**settings)


def _value(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)
