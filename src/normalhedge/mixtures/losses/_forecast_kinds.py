"""Kinds of forecasts: numbers, quantiles, class probabilities, labels and price relatives.

The kind of forecasts alone decides how they can be combined, which plain combinations the blend is
compared with, and whether errors can be subtracted. Losses of one kind share these facts.
"""

from dataclasses import dataclass

PLAIN_MEAN, PLAIN_MEDIAN, PLAIN_VOTE = "plain mean", "plain median", "plain vote"


@dataclass(frozen=True)
class ForecastKind:
    """A kind of forecasts, with its facts."""

    noun: str  # their name, for error messages
    # the plain combinations to compare the blend with
    plain: tuple[str, ...] = (PLAIN_MEAN, PLAIN_MEDIAN)
    # the plain combination that takes the place of a sleeping expert in these comparisons
    substitute: str = PLAIN_MEDIAN
    combine: str = "mean"  # how an automatic mixture combines the forecasts of its components
    medians: bool = True  # whether hedged components may use weighted medians and inverse losses
    guarded: bool = True  # whether the guard may move a wild forecast
    # whether forecast minus outcome is an error, so that MAE, RMSE and intervals have a meaning
    numeric: bool = True
    only_mean: bool = False  # whether forecasts can be combined by their weighted mean alone
    reason: str = ""  # why, if the noun does not tell

    def check_combine(self, way: str) -> None:
        """Refuse a way to combine that these forecasts do not have."""
        if self.only_mean and way != "mean":
            where = "" if self.reason else f" for {self.noun}"
            raise ValueError(f"combine must be 'mean'{where}, got {way!r}{self._because}")

    def check_include(self, name: str) -> None:
        """Refuse a plain combination that these forecasts do not have."""
        if self.only_mean and name == "median":
            where = "" if self.reason else f" of {self.noun}"
            raise ValueError(f"include must not name the median{where}{self._because}")

    def check_interval(self) -> None:
        """Refuse an interval around forecasts that are no numbers."""
        if not self.numeric:
            raise ValueError(
                f"interval is for forecasts of numbers, not for {self.noun}: leave it out"
            )

    @property
    def _because(self) -> str:
        return f": {self.reason}" if self.reason else ""


NUMBERS = ForecastKind("numbers")
QUANTILES = ForecastKind("quantiles")
CLASSES = ForecastKind(
    "class probabilities", substitute=PLAIN_MEAN, guarded=False, numeric=False, only_mean=True
)
LABELS = ForecastKind(
    "labels",
    plain=(PLAIN_VOTE,),
    substitute=PLAIN_VOTE,
    combine="vote",
    medians=False,
    guarded=False,
    numeric=False,
)
WEALTH = ForecastKind(
    "portfolios",
    plain=(PLAIN_MEAN,),
    substitute=PLAIN_MEAN,
    medians=False,
    guarded=False,
    numeric=False,
    only_mean=True,
    reason="only a mean of price relatives is a portfolio that can be bought",
)
