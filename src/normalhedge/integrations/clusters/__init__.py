"""Many series on a cluster, on engines that exist: Dask and Spark.

A library is imported when one of its names is first used.
"""

from typing import TYPE_CHECKING

from normalhedge.boundary import extras
from normalhedge.integrations.clusters._summary import ClusterSummary
from normalhedge.integrations.clusters._sweeps import dask_workers as dask_workers
from normalhedge.integrations.clusters._tables import blend

if TYPE_CHECKING:
    from normalhedge.integrations.clusters._dask import DaskBlend
    from normalhedge.integrations.clusters._spark import blend_stream

__all__ = ["ClusterSummary", "DaskBlend", "blend", "blend_stream"]

_PLACES = {"DaskBlend": ("_dask", "dask"), "blend_stream": ("_spark", "pyspark")}
"""The file of each name, and the library that it needs."""


__getattr__ = extras.lazily(__name__, _PLACES)


def __dir__() -> list[str]:
    return __all__
