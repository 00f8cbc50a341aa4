"""Many series on a cluster, on engines that exist: Dask and Spark.

A library is imported when one of its names is, and not before.
"""

import importlib
from typing import TYPE_CHECKING, Any

from normalhedge import _extras
from normalhedge.clusters.summary import ClusterSummary
from normalhedge.clusters.tables import blend

if TYPE_CHECKING:
    from normalhedge.clusters.dask import DaskBlend
    from normalhedge.clusters.spark import blend_stream

__all__ = ["ClusterSummary", "DaskBlend", "blend", "blend_stream"]

_PLACES = {"DaskBlend": ("dask", "dask"), "blend_stream": ("spark", "pyspark")}
"""The file of each name, and the library that it needs."""


def __getattr__(name: str) -> Any:
    """Import the file of a name, or say what must be installed for it."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    file, library = _PLACES[name]
    _extras.require(library)
    return getattr(importlib.import_module(f"{__name__}.{file}"), name)


def __dir__() -> list[str]:
    return __all__
