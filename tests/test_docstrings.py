"""Every public function with two or more arguments documents each of them."""

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from normalhedge import checks

SOURCE = Path(checks.__file__).parent

EXEMPT = {
    "command",  # of click: its docstring is the help text, and its options have theirs
    "_law",  # turns the function into a law, whose only argument is the hedger
    "overload",  # the implementation has the docstring
}
"""Functions with these decorators are not checked."""

MODULES = sorted(SOURCE.rglob("*.py"))

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, Function]]:
    """Yield the public functions, and the public methods of public classes, by name."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from functions(node.body, f"{node.name}.")
        elif isinstance(node, Function) and not node.name.startswith("_"):
            yield owner + node.name, node


def arguments(function: Function, *, method: bool) -> list[str]:
    """Return the names of the arguments, without self and cls."""
    given = function.args
    every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
    names = [argument.arg for argument in every if argument is not None]
    static = "staticmethod" in decorators(function)
    return names[1:] if method and not static else names


def decorators(function: Function) -> set[str]:
    """Return the last parts of the names of the decorators."""
    return {ast.unparse(node).split("(")[0].split(".")[-1] for node in function.decorator_list}


def documented(docstring: str) -> dict[str, str]:
    """Return the descriptions in the Parameters section of a numpydoc docstring, by argument."""
    lines = inspect.cleandoc(docstring).splitlines()
    heads = [k for k in range(len(lines) - 1) if re.fullmatch(r"-{3,}", lines[k + 1].strip())]
    start = next((k for k in heads if lines[k].strip() == "Parameters"), None)
    if start is None:
        return {}
    end = next((k for k in heads if k > start), len(lines))
    found: dict[str, str] = {}
    names: list[str] = []
    for line in lines[start + 2 : end]:
        if line and not line[0].isspace():
            names = [name.strip().lstrip("*") for name in line.split(":")[0].split(",")]
            found |= dict.fromkeys(names, "")
        else:
            found |= {name: f"{found[name]} {line.strip()}".strip() for name in names}
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_arguments_are_documented(path: Path) -> None:
    missing = []
    for name, function in functions(ast.parse(path.read_text(encoding="utf-8")).body):
        names = arguments(function, method="." in name)
        if len(names) < 2 or decorators(function) & EXEMPT:
            continue
        described = documented(ast.get_docstring(function) or "")
        missing += [f"{name}: {argument}" for argument in names if not described.get(argument)]
    assert not missing, f"{path.relative_to(SOURCE)} does not describe {', '.join(missing)}"


def test_no_public_class_name_is_defined_twice() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in MODULES]
    names = Counter(
        node.name
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert not [name for name, count in names.items() if count > 1]


def test_the_check_finds_what_is_missing() -> None:
    found = documented(
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
    assert found == {"one": "Both described.", "two": "Both described.", "three": ""}
