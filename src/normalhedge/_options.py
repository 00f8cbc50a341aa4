"""Options that are written once: a frozen dataclass of settings, from which the rest is derived.

A field has its default and its text; ``__post_init__`` checks it. The class that the settings are
of takes the same arguments (`from_options`), and its docstring lists them (`documented`).
"""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import Field, field, fields
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
C = TypeVar("C", bound=type)

HERE = "{options}"
"""The line of a docstring that `documented` replaces."""


def option(default: Any, text: str, *, short: str = "", by_name: bool = True) -> Any:
    """Return a field of settings.

    Parameters
    ----------
    default
        The default.
    text
        The description, for docstrings.
    short
        A shorter one, for the command line; empty if there is no such option.
    by_name
        Whether the option is given by its name only.
    """
    return field(default=default, metadata={"text": text, "short": short}, kw_only=by_name)


def options(settings: Any) -> dict[str, Field[Any]]:
    """Return the fields of a class of settings, by name."""
    return {one.name: one for one in fields(settings)}


def from_options(
    settings: Callable[P, S],
) -> Callable[[Callable[[T, S], None]], Callable[Concatenate[T, P], None]]:
    """Let a method that takes settings take their options instead."""

    def change(method: Callable[[T, S], None]) -> Callable[Concatenate[T, P], None]:
        @wraps(method)
        def call(self: T, /, *args: P.args, **kwargs: P.kwargs) -> None:
            method(self, settings(*args, **kwargs))

        given = inspect.signature(settings)
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        parameters = [own, *given.parameters.values()]
        call.__signature__ = given.replace(parameters=parameters)  # type: ignore[attr-defined]
        return call

    return change


def documented(settings: Any) -> Callable[[C], C]:
    """Put the texts of the options into the docstring of a class, in place of ``{options}``."""

    def change(cls: C) -> C:
        if cls.__doc__ is not None:  # there is none with python -OO
            cls.__doc__ = cls.__doc__.replace(f"    {HERE}\n", _entries(settings))
        return cls

    return change


def _entries(settings: Any) -> str:
    """Return the entries of a numpydoc section."""
    text = ""
    for name, one in options(settings).items():
        body = textwrap.fill(one.metadata["text"], 92)
        text += f"{name}\n{textwrap.indent(body, '    ')}\n"
    return textwrap.indent(text, "    ")
