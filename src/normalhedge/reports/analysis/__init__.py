"""The analysis behind the page of a blend: errors, scores, coverage and weights over time."""

from normalhedge.reports.analysis._coverage import CoverageReview as CoverageReview
from normalhedge.reports.analysis._errors import MEAN as MEAN, MEDIAN as MEDIAN, Errors as Errors
from normalhedge.reports.analysis._outliers import Absurd as Absurd
from normalhedge.reports.analysis._review import (
    ErrorComparison as ErrorComparison,
    Review as Review,
    review as review,
)
from normalhedge.reports.analysis._tracks import (
    SeriesCurves as SeriesCurves,
    SeriesTrack as SeriesTrack,
)
