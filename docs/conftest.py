"""Pages are doctests; a page about another library is run where that library is installed."""

from importlib.util import find_spec

import pytest

collect_ignore = ["conf.py", "check_site.py", "rooms.py"]
collect_ignore += ["gallery", "note", "notebooks", "reference/api"]

NEEDS = {
    "clusters.md": ("distributed",),
    "coming-from/hmmlearn.md": ("hmmlearn",),
    "coming-from/nixtla.md": ("statsforecast",),
    "coming-from/river.md": ("river",),
    "coming-from/sktime.md": ("sktime",),
}
collect_ignore += [
    page for page, libraries in NEEDS.items() if any(find_spec(name) is None for name in libraries)
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let other libraries warn of their own future."""
    for item in items:
        if item.path.parent.name == "coming-from":
            item.add_marker(pytest.mark.filterwarnings("ignore::FutureWarning"))
