"""Options that are written once: a frozen dataclass of settings, from which the rest is derived.

A field has its default and its texts; ``__post_init__`` checks it. The class that the settings are
of takes the same arguments (`from_options`), and its docstring lists them (`documented`). Functions
that make such an object pass options on (`with_options`), and so does the command line.
"""

import inspect
import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, field, fields
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., Any])

HERE = "{options}"
"""The line of a docstring that `documented` replaces."""


def option(
    default: Any, text: str, *, short: str = "", shown: str = "", by_name: bool = True
) -> Any:
    """Return a field of settings."""
    texts = {"text": text, "short": short, "shown": shown or str(default)}
    return field(default=default, metadata=texts, kw_only=by_name)


def options(settings: Any) -> dict[str, Field[Any]]:
    """Return the fields of a class of settings, by name."""
    return {part.name: part for part in fields(settings)}


def from_options(
    settings: Callable[P, S],
) -> Callable[[Callable[[T, S], None]], Callable[Concatenate[T, P], None]]:
    """Let a method that takes settings take their options instead."""

    def change(method: Callable[[T, S], None]) -> Callable[Concatenate[T, P], None]:
        signature = inspect.signature(settings)

        @wraps(method)
        def call(self: T, /, *args: P.args, **kwargs: P.kwargs) -> None:
            _check(type(self).__name__, signature, args, kwargs)
            method(self, settings(*args, **kwargs))

        itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        parameters = [itself, *signature.parameters.values()]
        call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return call

    return change


def with_options(settings: Any, *, without: Collection[str]) -> Callable[[F], F]:
    """Let a function with ``**options`` say which ones there are, and refuse others."""

    def change(function: F) -> F:
        every = inspect.signature(settings).parameters.values()
        passed = [
            parameter.replace(kind=parameter.KEYWORD_ONLY)
            for parameter in every
            if parameter.name not in without
        ]
        own_signature = inspect.signature(function)
        fixed = [
            parameter
            for parameter in own_signature.parameters.values()
            if parameter.kind is not parameter.VAR_KEYWORD
        ]
        signature = own_signature.replace(parameters=[*fixed, *passed])

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            _check(function.__name__, signature, args, kwargs)
            return function(*args, **kwargs)

        call.__signature__ = signature  # type: ignore[attr-defined]
        return cast("F", call)

    return change


def documented(settings: Any) -> Callable[[C], C]:
    """Put the texts of the options into the docstring of a class, in place of ``{options}``."""

    def change(cls: C) -> C:
        if cls.__doc__ is not None:  # there is none with python -OO
            # Python 3.13 takes the indentation away when it compiles; older ones do not.
            doc = inspect.cleandoc(cls.__doc__)
            cls.__doc__ = doc.replace(f"{HERE}\n", _entries(settings))
        return cls

    return change


def _check(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Refuse arguments that a signature does not have, by the name of the called function."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}() {error}") from None


def _entries(settings: Any) -> str:
    """Return the entries of a numpydoc section."""
    text = ""
    for name, part in options(settings).items():
        body = textwrap.fill(part.metadata["text"], 92)
        text += f"{name}\n{textwrap.indent(body, '    ')}\n"
    return text
