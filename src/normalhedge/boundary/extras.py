"""Optional libraries, imported when they are used."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

EXTRAS = {
    "click": "cli",
    "darts": "darts",
    "dask": "dask",
    "distributed": "dask",
    "flint": "certify",
    "hmmlearn": "hmmlearn",
    "httpx": "client",
    "jinja2": "cli",
    "matplotlib": "cli",
    "msgspec": "serve",
    "narwhals": "frames",
    "plotext": "cli",
    "plotly": "cli",
    "prometheus_client": "serve",
    "psycopg": "postgres",
    "pyarrow": "frames",
    "pyspark": "spark",
    "python_calamine": "excel",
    "rich": "cli",
    "river": "river",
    "scipy": "certify",
    "sklearn": "sklearn",
    "sktime": "sktime",
    "starlette": "serve",
    "uvicorn": "serve",
}
"""The extra of this package that installs each library."""


def require(module: str) -> Any:
    """Import a module, or raise an ImportError that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".", maxsplit=1)[0]
        install = f"'normalhedge[{EXTRAS[package]}]'" if package in EXTRAS else package
        raise ImportError(f"this needs {package}: pip install {install}") from error


def lazily(package: str, places: Mapping[str, tuple[str, str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names are imported when they are used."""

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        file, library = places[name]
        require(library)
        return getattr(importlib.import_module(f"{package}.{file}"), name)

    return find
