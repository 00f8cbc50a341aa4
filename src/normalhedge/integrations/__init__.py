"""Mixtures inside other libraries, by the rules of each; one file for each library.

A library is imported when one of its names is first used.
"""

from typing import TYPE_CHECKING

from normalhedge.boundary import extras

if TYPE_CHECKING:
    from normalhedge.integrations.darts import HedgeEnsembleModel, blend_forecasts
    from normalhedge.integrations.hmmlearn import to_hmmlearn
    from normalhedge.integrations.nixtla import HedgeEnsemble
    from normalhedge.integrations.river import RiverHedgeClassifier, RiverHedgeRegressor
    from normalhedge.integrations.scikit_learn import HedgeClassifier, HedgeRegressor
    from normalhedge.integrations.sktime import HedgeForecaster

__all__ = [
    "HedgeClassifier",
    "HedgeEnsemble",
    "HedgeEnsembleModel",
    "HedgeForecaster",
    "HedgeRegressor",
    "RiverHedgeClassifier",
    "RiverHedgeRegressor",
    "blend_forecasts",
    "to_hmmlearn",
]

_PLACES = {
    "HedgeClassifier": ("scikit_learn", "sklearn"),
    "HedgeEnsemble": ("nixtla", "narwhals"),
    "HedgeEnsembleModel": ("darts", "darts"),
    "HedgeForecaster": ("sktime", "sktime"),
    "HedgeRegressor": ("scikit_learn", "sklearn"),
    "RiverHedgeClassifier": ("river", "river"),
    "RiverHedgeRegressor": ("river", "river"),
    "blend_forecasts": ("darts", "darts"),
    "to_hmmlearn": ("hmmlearn", "hmmlearn"),
}
"""The file of each name, and the library that it needs."""


__getattr__ = extras.lazily(__name__, _PLACES)


def __dir__() -> list[str]:
    return __all__
