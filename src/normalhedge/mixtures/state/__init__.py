"""The settings and the state of a mixture, and the forms of its rounds."""

from normalhedge.mixtures.state._combining import combine as combine
from normalhedge.mixtures.state._contexts import (
    contexts_of as contexts_of,
    plan_cells as plan_cells,
    read_context as read_context,
    refuse_contexts as refuse_contexts,
    takes_contexts as takes_contexts,
    value_text as value_text,
)
from normalhedge.mixtures.state._core_settings import (
    RoundInput as RoundInput,
    RoundRecord as RoundRecord,
    Schedule as Schedule,
)
from normalhedge.mixtures.state._forecasts import (
    SUM_TOLERANCE as SUM_TOLERANCE,
    Keys as Keys,
    check_confidence as check_confidence,
    check_mapping as check_mapping,
    read as read,
    read_outcome as read_outcome,
)
from normalhedge.mixtures.state._mixture_state import (
    INSIDE as INSIDE,
    MixtureState as MixtureState,
    item_indices as item_indices,
    let_sleep as let_sleep,
    widen as widen,
)
from normalhedge.mixtures.state._operations import (
    CANNOT_BE_REPEATED as CANNOT_BE_REPEATED,
    Operation as Operation,
    id_text as id_text,
)
from normalhedge.mixtures.state._settings import (
    HISTORY as HISTORY,
    LIMITS as LIMITS,
    MAX_NAMES as MAX_NAMES,
    MAX_PENDING as MAX_PENDING,
    OPTIONS as OPTIONS,
    PLAIN as PLAIN,
    RECIPE as RECIPE,
    SINGLE as SINGLE,
    MixtureOptions,
    MixtureSettings,
    Option as Option,
)
from normalhedge.mixtures.state._table_facts import (
    DeferredOutcome as DeferredOutcome,
    LastTable as LastTable,
    TableFacts as TableFacts,
)
from normalhedge.mixtures.state._tickets import (
    PendingRound as PendingRound,
    Prediction,
    shape_values as shape_values,
)
from normalhedge.mixtures.state.sum_rows import (
    EXPERT_SUMS as EXPERT_SUMS,
    LAST as LAST,
    REGRET as REGRET,
    STEPS as STEPS,
    TOTAL_SUMS as TOTAL_SUMS,
    WILD as WILD,
)

__all__ = ["MixtureOptions", "MixtureSettings", "Prediction"]
