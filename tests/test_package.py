import subprocess
import sys
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
