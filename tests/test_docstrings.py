"""Exported functions document each of their arguments; inside the package one line is enough."""

import ast
import importlib
import inspect
import pydoc
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import normalhedge
from tests.test_site import listed

SOURCE = Path(normalhedge.__file__).parent
EXEMPT = {
    # A hypothesis strategy fills the arguments of a law; its caller gives a hedger or a loss alone.
    "normalhedge.checks.Law",
    "normalhedge.checks.LossLaw",
}


def exported() -> Iterator[tuple[str, Any]]:
    """Yield the functions, and the classes, on the pages of the reference whose library is here."""
    for name in sorted(listed() - EXEMPT):
        module, _, attribute = name.rpartition(".")
        try:
            thing = getattr(importlib.import_module(module), attribute)
        except ImportError:
            continue
        if inspect.isclass(thing) or inspect.isfunction(thing):
            yield name, thing


def functions(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield a function, or the public methods of a class that the package defines."""
    if inspect.isfunction(thing):
        yield name, thing
        return
    for attribute, method in inspect.getmembers(thing):
        inside = getattr(method, "__module__", None) or ""
        if not attribute.startswith("_") and inside.startswith("normalhedge"):
            function = getattr(method, "__func__", method)
            if inspect.isfunction(function):
                yield f"{name}.{attribute}", function


def documented(docstring: str) -> dict[str, str]:
    """Return the descriptions in the Parameters section of a numpydoc docstring, by argument."""
    lines = inspect.cleandoc(docstring).splitlines()
    heads = [k for k in range(len(lines) - 1) if re.fullmatch(r"-{3,}", lines[k + 1].strip())]
    start = next((k for k in heads if lines[k].strip() == "Parameters"), None)
    if start is None:
        return {}
    end = next((k for k in heads if k > start), len(lines))
    descriptions: dict[str, str] = {}
    names: list[str] = []
    for line in lines[start + 2 : end]:
        if line and not line[0].isspace():
            names = [name.strip().lstrip("*") for name in line.split(":")[0].split(",")]
            descriptions |= dict.fromkeys(names, "")
        else:
            descriptions |= {name: f"{descriptions[name]} {line.strip()}".strip() for name in names}
    return descriptions


def descriptions(thing: Any, function: Any) -> dict[str, str]:
    """Return the descriptions of a function, or of the methods that a method overrides."""
    owners = reversed(thing.__mro__) if inspect.isclass(thing) else ()
    overridden = [vars(owner).get(function.__name__) for owner in owners]
    described: dict[str, str] = {}
    for version in (*overridden, function):
        described |= documented(getattr(version, "__doc__", None) or "")
    return described


@pytest.mark.parametrize("name", [name for name, _ in exported()])
def test_arguments_are_documented(name: str) -> None:
    missing = []
    thing = dict(exported())[name]
    for full_name, function in functions(name, thing):
        arguments = [p for p in inspect.signature(function).parameters if p not in {"self", "cls"}]
        if len(arguments) < 2:
            continue
        described = descriptions(thing, function)
        if "options" in described:  # described with the settings that they belong to
            continue
        missing += [
            f"{full_name}: {argument}" for argument in arguments if not described.get(argument)
        ]
    assert not missing


def test_no_public_class_name_is_defined_twice() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))]
    names = Counter(
        node.name
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert not [name for name, count in names.items() if count > 1]


def test_the_check_finds_what_is_missing() -> None:
    descriptions = documented(
        """Do it.

        Parameters
        ----------
        one, two
            Both described.
        three

        Returns
        -------
        four
            Not an argument.
        """
    )
    assert descriptions == {"one": "Both described.", "two": "Both described.", "three": ""}


def test_help_does_not_send_readers_to_the_core() -> None:
    """Nobody who asks for help has the C++ files of this repository."""
    texts = {name: pydoc.plain(pydoc.render_doc(thing)) for name, thing in exported()}
    for module in {name.rpartition(".")[0] for name in texts}:
        texts[module] = importlib.import_module(module).__doc__ or ""
    assert any(name.endswith(".Mixture") for name in texts)
    assert [name for name, text in texts.items() if re.search(r"src/core|[.][hc]pp", text)] == []
