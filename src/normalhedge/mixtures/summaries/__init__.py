"""The summary of a mixture: its bound, its comparison with plain and best combinations."""

from normalhedge.mixtures.summaries._best_convex import best_convex as best_convex
from normalhedge.mixtures.summaries._bounds import regret_bound as regret_bound
from normalhedge.mixtures.summaries._comparison import (
    OFTEN as OFTEN,
    Settled as Settled,
    plain_means as plain_means,
    plain_medians as plain_medians,
    plain_votes as plain_votes,
)
from normalhedge.mixtures.summaries._components import (
    RECENT as RECENT,
    ComponentLosses as ComponentLosses,
    component_names as component_names,
    score_components as score_components,
)
from normalhedge.mixtures.summaries._plotting import (
    forecast_curves as forecast_curves,
    mixture_panels as mixture_panels,
)
from normalhedge.mixtures.summaries._summarising import (
    TablePart as TablePart,
    expert_weights as expert_weights,
    summarise as summarise,
)
from normalhedge.mixtures.summaries._summary import Summary, Table as Table

__all__ = ["Summary"]
