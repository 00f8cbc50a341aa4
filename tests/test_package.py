import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import normalhedge
from normalhedge import hedgers, latent, mixtures


def test_public_names_are_sorted_and_there() -> None:
    for module in (normalhedge, hedgers, latent, mixtures):
        assert list(module.__all__) == sorted(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)


def loaded(program: str) -> set[str]:
    """Return the modules, NumPy's aside, that a program loads."""
    code = f"import numpy, sys; old = {{*sys.modules}}; {program}; print(*{{*sys.modules}} - old)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(run.stdout.split())


def test_importing_loads_no_name_before_it_is_used() -> None:
    package = {name for name in loaded("import normalhedge") if name.startswith("normalhedge")}
    assert package == {
        "normalhedge",
        "normalhedge.boundary",
        "normalhedge.boundary.former_names",
    }
    mixture = loaded("from normalhedge import Mixture")
    rooms = {name.split(".")[1] for name in mixture if name.startswith("normalhedge.")}
    assert rooms == {"_core", "boundary", "guarantees", "hedgers", "live", "mixtures"}
    heavy = {"asyncio", "hypothesis", "matplotlib", "pandas", "polars", "pyarrow", "scipy"}
    assert not heavy & {name.split(".")[0] for name in mixture}


def test_names_load_from_the_place_that_type_checkers_see() -> None:
    source = ast.parse(Path(normalhedge.__file__).read_text("utf-8"))
    seen = [node for block in source.body if isinstance(block, ast.If) for node in block.body]
    named = {
        alias.name: node.module
        for node in seen
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(named) == list(normalhedge.__all__)
    for name, module in named.items():
        assert getattr(normalhedge, name) is getattr(importlib.import_module(str(module)), name)


def test_names_that_left_the_top_level_are_there_for_one_more_release() -> None:
    with pytest.warns(DeprecationWarning, match=r"import Squint from normalhedge\.hedgers; "):
        assert normalhedge.Squint is normalhedge.hedgers.Squint  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match=r"from normalhedge\.guarantees; "):
        assert normalhedge.Bound is normalhedge.guarantees.Bound  # type: ignore[attr-defined]
    assert "Squint" not in dir(normalhedge)


def test_packages_are_attributes_and_other_names_are_refused() -> None:
    folder = Path(normalhedge.__file__).parent
    rooms = {path.parent.name for path in folder.glob("*/__init__.py")}
    assert rooms <= set(dir(normalhedge))
    assert "infer" in dir(normalhedge.latent)
    with pytest.raises(AttributeError, match="module 'normalhedge' has no attribute 'Mixtur'"):
        _ = normalhedge.Mixtur  # type: ignore[attr-defined]
    assert set(normalhedge.__all__) <= set(dir(normalhedge))


def test_every_module_stands_in_a_room() -> None:
    package = Path(normalhedge.__file__).parent
    loose = {path.name for path in package.iterdir() if path.is_file()}
    assert {name for name in loose if not name.startswith("_core.")} == {
        "__init__.py",
        "__main__.py",
        "py.typed",
    }
    assert len([path for path in package.iterdir() if (path / "__init__.py").exists()]) <= 14


def imports(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, and the names it imports from them."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_private_modules_are_imported_within_their_own_package() -> None:
    """A package exports names in its `__init__`; its modules begin with an underscore."""
    package = Path(normalhedge.__file__).parent
    intruders = []
    for path in package.rglob("*.py"):
        importer = ".".join(path.relative_to(package.parent).parent.parts)
        for name in imports(path):
            parts = name.split(".")
            private = [k for k, part in enumerate(parts) if part.startswith("_")]
            if parts[0] != "normalhedge" or not private or parts[1] in {"_core", "__version__"}:
                continue
            owner = ".".join(parts[: private[0]])
            if not f"{importer}.".startswith(f"{owner}."):
                intruders.append(f"{path.relative_to(package)} imports {name}")
    assert not intruders


def test_mixtures_have_no_public_modules() -> None:
    folder = Path(mixtures.__file__).parent
    names = {path.stem for path in folder.rglob("*.py") if not path.stem.startswith("_")}
    assert names == {"sum_rows"}
