"""The doctests of adapters to libraries that `make adapters` installs apart."""

from importlib.util import find_spec

import pytest

_PLACES = {"darts": ("darts", "_darts_tables"), "sktime": ("sktime",)}
"""These libraries, and the adapters that import them."""

collect_ignore = [
    f"src/normalhedge/adapters/{name}.py"
    for library, names in _PLACES.items()
    if find_spec(library) is None
    for name in names
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let sktime warn: it says of each forecaster what will change in its next version."""
    for item in items:
        if item.path.name == "sktime.py":
            item.add_marker(pytest.mark.filterwarnings("ignore"))
