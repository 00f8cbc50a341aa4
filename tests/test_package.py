import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import normalhedge
from normalhedge import hedgers, latent, mixtures


def test_public_names_are_sorted_and_there() -> None:
    for module in (normalhedge, hedgers, latent, mixtures):
        assert list(module.__all__) == sorted(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)


def test_importing_is_light() -> None:
    program = (
        "import sys, numpy; before = set(sys.modules); import normalhedge\n"
        "extra = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "heavy = extra & {'hypothesis', 'matplotlib', 'pandas', 'polars', 'pyarrow', 'scipy'}\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_module_stands_in_a_room() -> None:
    package = Path(normalhedge.__file__).parent
    loose = {path.name for path in package.iterdir() if path.is_file()}
    assert {name for name in loose if not name.startswith("_core.")} == {
        "__init__.py",
        "__main__.py",
        "py.typed",
    }
    assert len([path for path in package.iterdir() if (path / "__init__.py").exists()]) <= 13


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
