"""Modules whose doctests need a library that is not installed here are not collected."""

from importlib.util import find_spec

_PLACES = {"darts": ("darts", "_darts_tables"), "sktime": ("sktime",)}
"""Libraries that `make adapters` installs apart, and the adapters that import them."""

collect_ignore = [
    f"src/normalhedge/adapters/{name}.py"
    for library, names in _PLACES.items()
    if find_spec(library) is None
    for name in names
]
