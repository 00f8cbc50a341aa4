"""The doctests of modules whose libraries may not be there: `nox -s adapters` has some apart."""

from importlib.util import find_spec

import pytest

_PLACES = {
    "darts": ("integrations/darts", "integrations/_darts_tables"),
    "sktime": ("integrations/sktime",),
    "dask": ("integrations/clusters/_dask", "integrations/clusters/_tables"),
}
"""These libraries, and the modules whose doctests need them."""

collect_ignore = [
    f"src/normalhedge/{name}.py"
    for library, names in _PLACES.items()
    if find_spec(library) is None
    for name in names
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let sktime warn: it says of each forecaster what will change in its next version."""
    for item in items:
        if item.path.name == "sktime.py":
            item.add_marker(pytest.mark.filterwarnings("ignore"))
