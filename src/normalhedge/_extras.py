"""Libraries that only some users need, imported where they are used."""

import importlib
from typing import Any

EXTRAS = {
    "click": "cli",
    "flint": "certify",
    "jinja2": "cli",
    "matplotlib": "cli",
    "narwhals": "frames",
    "plotext": "cli",
    "plotly": "cli",
    "pyarrow": "frames",
    "rich": "cli",
    "scipy": "certify",
}
"""Which extra of this package brings which library."""


def require(module: str) -> Any:
    """Import a module, or say how to install what it belongs to."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".", maxsplit=1)[0]
        raise ImportError(
            f"this needs {package}: pip install 'normalhedge[{EXTRAS[package]}]'"
        ) from error
